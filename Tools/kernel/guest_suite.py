#!/usr/bin/env python3
"""The tests that run inside the guest: `bletool` on a real Linux Bluetooth subsystem, beside BlueZ's daemon.

  guest_suite.py BLETOOL BTVIRT-OPTION…

hci0 belongs to bluetoothd, which advertises on it; hci1 is ours. Prints a line a test and ends with `N passed, N failed,
N skipped`; exit status 75, without that line, when the adapters did not come up: another boot may do.
No test framework: the guest has no more Python than the interpreter and its core library."""
import json, os, re, signal, subprocess, sys, time

from guest_bluez import BLUEZ_ADDRESS, BLUEZ_NAME, BlueZ, has_agent, paired_with_bluez, said, start_bluez, the_advertiser
from guest_harness import (OUR_ADDRESS, PROFILE, TESTS, TOOL, Served, bring_up_adapters, check, claim_user_channel, has_sets,
                           is_up, says, shell, test, tool, wait_until)

NOBODY = 65534       # the user of this number
NO_ADAPTERS = 75     # exit status; guest-tests knows it too


# Adapters, without a daemon

@test
def dev_lists_the_adapters():
    """`dev` lists both adapters with index, name, address, state and bus"""
    lines = tool('dev').lines
    check([l['index'] for l in lines] == [0, 1], f'{lines}')
    for line, address in zip(lines, (BLUEZ_ADDRESS, OUR_ADDRESS)):
        check(line['name'] == f'hci{line["index"]}' and line['address'] == address and line['up'] is False, f'{line}')
        check('virtual' in line['bus'].lower(), f'bus: {line}')


@test
def info_over_the_user_channel():
    """`-t user:1 info` says what the controller is, and leaves the adapter down as it was found"""
    info = tool('info', transport='user:1').lines[0]
    check(info['address'] == OUR_ADDRESS, f'{info["address"]}')
    for key in ('version', 'manufacturer', 'features', 'commands', 'aclLength', 'aclCount'):
        check(key in info, f'no {key}: {info}')
    check(info['aclLength'] >= 27 and info['aclCount'] >= 1, f'{info["aclLength"]} × {info["aclCount"]}')
    check(not is_up(1), 'the adapter was left up')


@test
def without_transport_the_first_adapter():
    """without `-t` the first adapter is taken"""
    check(tool('info').lines[0]['address'] == BLUEZ_ADDRESS, 'not hci0')


@test
def no_such_adapter():
    """an adapter that does not exist is named, with status 3"""
    for transport in ('user:7', 'raw:7'):
        says(tool('info', transport=transport, status=3), 'hci7')


@test
def no_permission():
    """an ordinary user is told which capability is missing, with status 3"""
    says(tool('info', transport='user:1', status=3, user=NOBODY), 'CAP_NET_ADMIN')
    shell('hciconfig hci1 up')
    try:
        says(tool('lescan', '--duration', '1', transport='raw:1', status=3, user=NOBODY), 'CAP_NET_RAW')
    finally:
        shell('hciconfig hci1 down')


@test
def adapter_is_up():
    """the user channel of an adapter that is up is refused with the remedy, and the adapter stays up"""
    shell('hciconfig hci1 up')
    try:
        says(tool('info', transport='user:1', status=3), 'hci1', r'\bup\b', r'\bdown\b')
        check(is_up(1), 'the adapter was taken down')
    finally:
        shell('hciconfig hci1 down')


@test
def adapter_is_busy():
    """an adapter whose user channel another process holds is busy, and the process is named"""
    held = claim_user_channel(1)
    try:
        says(tool('info', transport='user:1', status=3), 'hci1', ('busy', 'held', 'in use'), ('python', str(os.getpid())))
    finally:
        os.close(held)
    tool('info', transport='user:1')


@test
def power_on_and_off():
    """`power` brings an adapter up and takes it down, also twice in a row, and says who may do so and which adapters exist"""
    for word in ('on', 'on', 'off', 'off'):
        line = tool('power', word, transport='hci1').lines[0]
        check(line['event'] == 'power' and line['up'] is (word == 'on'), f'{line}')
        check(is_up(1) is (word == 'on'), f'hciconfig says otherwise after {word}')
    says(tool('power', 'on', transport='hci7', status=3), 'hci7')
    says(tool('power', 'on', transport='hci1', status=3, user=NOBODY), 'CAP_NET_ADMIN')


@test
def monitor_shows_what_another_program_does():
    """`monitor` decodes what another bletool sends through hci1, and captures it; ^C and --duration end it with status 0"""
    capture = '/tmp/monitor.btsnoop'
    watching = subprocess.Popen([TOOL, '--json', '-t', 'hci1', '-w', capture, 'monitor'], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        # The kernel tells at once which adapters there are.
        check(watching.stdout.readline(), 'the monitor says nothing')
        tool('lescan', '--duration', '1', transport='hci1')
    finally:
        watching.send_signal(signal.SIGINT)
        said, errors = watching.communicate(timeout=120)
    check(watching.returncode == 0, f'status {watching.returncode}: {errors[-300:]}')
    packets = [json.loads(line) for line in said.splitlines()]
    check(any(p.get('name', '').startswith('LE Set') and p['direction'] == 'sent' and p['adapter'] == 1 for p in packets),
          f'no scan in {len(packets)} packets')
    check(tool('decode', capture, '--summary').lines[0]['by_packet_type']['command'] > 5, 'the capture lacks the commands')
    # Alone, and while packets come all the time.
    tool('monitor', '--duration', '1', transport='hci1')
    scanning = subprocess.Popen([TOOL, '-t', 'hci1', 'lescan', '--duplicates'], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        tool('monitor', '--duration', '2', transport='hci1')
    finally:
        scanning.send_signal(signal.SIGINT)
        scanning.wait(120)
    says(tool('monitor', status=3, user=NOBODY), 'CAP_NET_RAW')


@test
def an_empty_air():
    """a scan without any device ends with status 0 and leaves the adapter down"""
    run = tool('lescan', '--duration', '1', transport='user:1')
    check(not run.events('discovered'), f'{run}')
    check(not is_up(1), 'the adapter was left up')


import guest_trains, guest_hosts   # noqa: E402, F401, their tests run here, before the daemon


# Beside BlueZ's daemon

@test
def lescan_sees_bluez():
    """`-t user:1 lescan` sees the advertiser of BlueZ's daemon on hci0, and gives the adapter back"""
    found = the_advertiser(tool('lescan', '--name', BLUEZ_NAME, '--count', '1', '--duration', '30', transport='user:1'))
    check(found['name'] == BLUEZ_NAME, f'name {found["name"]!r}')
    check(not is_up(1), 'the adapter was left up')
    check(is_up(0), "the daemon's adapter was touched")


@test
def gatt_discovers_bluez():
    """`gatt` connects to BlueZ and prints its services, twice in a row"""
    for _ in range(2):
        services = tool('gatt', f'{BLUEZ_ADDRESS}', 'discover', transport='user:1').lines[0]['services']
        check({'1800', '1801'} <= {s['uuid'] for s in services}, f'{[s["uuid"] for s in services]}')
        generic = next(s for s in services if s['uuid'] == '1800')
        check('2A00' in {c['uuid'] for c in generic['characteristics']}, f'{generic}')
    check(not is_up(1), 'the adapter was left up')


@test
def gatt_reads_bluez():
    """`gatt NAME read 2A00` reads the daemon's name"""
    run = tool('gatt', BLUEZ_NAME, 'read', '2A00', transport='user:1')
    check(bytes.fromhex(run.events('value')[0]['value']).decode() == BLUEZ_NAME, f'{run}')


@test
def interrupt_gives_the_adapter_back():
    """^C during a scan ends it with status 0 and gives the adapter back"""
    process = subprocess.Popen([TOOL, '-t', 'user:1', '--json', 'lescan', '--duplicates'], stdout=subprocess.PIPE)
    check(b'discovered' in process.stdout.readline(), 'nothing discovered')
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=180)
    check(process.returncode == 0, f'status {process.returncode}')
    check(not is_up(1), 'the adapter was left up')
    os.close(claim_user_channel(1))


@test
def bluez_is_a_client_of_serve():
    """`bluetoothctl` scans, connects to `-t user:1 serve`, lists its attributes, reads, writes and is notified"""
    served = Served()
    try:
        BlueZ.finds_and_connects()
        served.wait_for('connected')
        BlueZ.types('menu gatt', 'acquire-notify')
        BlueZ.types(f'list-attributes {OUR_ADDRESS}', *(
            # Bluetooth's own UUIDs are printed in their long form too.
            (u if len(u) > 4 else f'0000{u}-0000-1000-8000-00805F9B34FB').lower()
            for s in PROFILE['services'] for u in (s['uuid'], *(c['uuid'] for c in s['characteristics']))))
        def select(uuid):
            BlueZ.types(f'select-attribute {uuid}')
            BlueZ.types('attribute-info', f'UUID: {uuid}')

        select('00002a38-0000-1000-8000-00805f9b34fb')
        BlueZ.types('read', 'Attempting to read', r'\b01 02\b')
        select('6b7a0003-9d1c-4f5e-8a2b-3c4d5e6f7081')
        BlueZ.types('read', 'Attempting to read', r'\baa 55\b')
        BlueZ.types('write "0x10 0x20 0x30"', 'Attempting to write')
        check(served.wait_for('written')[-1]['value'] == '102030', f'{served.events("written")}')
        BlueZ.types('read', 'Attempting to read', r'\b10 20 30\b')
        select('00002a37-0000-1000-8000-00805f9b34fb')
        BlueZ.types('notify on', 'Notify started')
        served.wait_for('subscribed')
        BlueZ.hears(len(said()), 'notifications', r'(?s)Value:\s+00 48\b.*Value:\s+00 48\b')
        BlueZ.types('notify off', 'Notify stopped|Notifying: no')
        BlueZ.types('back')
        BlueZ.types(f'disconnect {OUR_ADDRESS}', 'Successful disconnected|Disconnection successful|Connected: no')
        served.wait_for('disconnected')
    finally:
        BlueZ.types('back')
        BlueZ.types(f'remove {OUR_ADDRESS}', 'has been removed|not available')
        served.stop()


@test
def serve_ends_a_link_of_bluez():
    """^C ends `serve` under a connected BlueZ: it sees the link end, and the adapter is given back"""
    served = Served()
    try:
        BlueZ.finds_and_connects()
        before = len(said())
        served.stop()
        BlueZ.hears(before, 'the end of the link', f'{OUR_ADDRESS} Connected: no')
    finally:
        served.process.kill()
        BlueZ.types(f'remove {OUR_ADDRESS}', 'has been removed|not available')


# Pairing with BlueZ

@test
def bluez_pairs_with_serve():
    """BlueZ pairs with `serve`; after both have disconnected, the bond encrypts the next link, and the encrypted value is read"""
    has_agent('NoInputNoOutput')
    served = Served()
    try:
        BlueZ.finds_and_connects()
        BlueZ.types(f'pair {OUR_ADDRESS}', 'Pairing successful', seconds=180)
        paired = served.wait_for('paired')[0]
        check(paired['keySize'] == 16 and not paired['authenticated'], f'{paired}')
        check(paired['identity'] == BLUEZ_ADDRESS and paired['identityType'] == 'public', f'{paired}')
        BlueZ.types(f'disconnect {OUR_ADDRESS}', 'Successful disconnected|Disconnection successful|Connected: no')
        served.wait_for('disconnected')
        served.stop()
        bonds = tool('bonds').events('bond')
        check([b['identity'] for b in bonds] == [BLUEZ_ADDRESS], f'{bonds}')
        served = Served()
        BlueZ.finds_and_connects()
        check(served.wait_for('encrypted')[0]['bonded'], f'{served.events("encrypted")}')
        BlueZ.types('menu gatt', 'acquire-notify')
        uuid = '6b7a0006-9d1c-4f5e-8a2b-3c4d5e6f7081'
        BlueZ.types(f'select-attribute {uuid}')
        BlueZ.types('attribute-info', f'UUID: {uuid}')
        BlueZ.types('read', 'Attempting to read', r'\b5e c2 e7\b')
        check(not served.events('paired'), 'a second pairing')
        BlueZ.types('back')
        BlueZ.types(f'disconnect {OUR_ADDRESS}', 'Successful disconnected|Disconnection successful|Connected: no')
        served.wait_for('disconnected')
    finally:
        BlueZ.types('back')
        BlueZ.types(f'remove {OUR_ADDRESS}', 'has been removed|not available')
        served.stop()
        tool('unpair', BLUEZ_ADDRESS, status=None)


@test
def pair_with_bluez():
    """`bletool pair` pairs with BlueZ and keeps the bond, which encrypts the next link; `unpair` removes it"""
    BlueZ.types('pairable on')
    try:
        run = paired_with_bluez()
        paired = run.events('paired')[0]
        check(paired['identity'] == BLUEZ_ADDRESS and paired['keySize'] == 16, f'{paired}')
        check([b['identity'] for b in tool('bonds').events('bond')] == [BLUEZ_ADDRESS], 'no bond')
        run = tool('gatt', BLUEZ_ADDRESS, 'read', '2A00', transport='user:1')
        check(bytes.fromhex(run.events('value')[0]['value']).decode() == BLUEZ_NAME, f'{run}')
        # BlueZ forgets its half: the remedy is told.
        BlueZ.types(f'remove {OUR_ADDRESS}', 'has been removed|not available')
        wait_until(lambda: the_advertiser(tool('lescan', '--duration', '2', transport='user:1')), 'the advertiser')
    finally:
        tool('unpair', BLUEZ_ADDRESS, status=None)
    check(not tool('bonds').events('bond'), 'the bond is still there')


# Their tests run here, with the daemon up and hci1 down.
import guest_bleak, guest_breadth, guest_caching, guest_channels, guest_pairing   # noqa: E402, F401


@test
def raw_scan_beside_bluez():
    """`-t raw:1 lescan` scans beside the daemon, twice in a row, and leaves the adapter up"""
    for _ in range(2):
        the_advertiser(tool('lescan', '--count', '1', '--duration', '30', transport='raw:1'))
    check(is_up(1), 'the adapter was taken down')
    check(is_up(0), "the daemon's adapter was touched")


@test
def up_with_the_daemon_about():
    """the user channel of an adapter that is up beside BlueZ is refused, and BlueZ is named"""
    says(tool('info', transport='user:1', status=3), 'hci1', r'\bup\b', ('bluez', 'bluetoothd'))


@test
def accept_list_over_raw():
    """`lealsz`, `lealadd`, `lealrm`, `lealclr` act on the kernel's controller"""
    check(re.search(r'\d', tool('lealsz', transport='raw:1').out), 'no size')
    for command in (['lealclr'], ['lealadd', BLUEZ_ADDRESS], ['lealrm', BLUEZ_ADDRESS], ['lealclr']):
        tool(*command, transport='raw:1')


@test
def resolving_list_over_raw():
    """`lerlsz`, `lerladd`, `lerlrm`, `lerlclr`, `lerlon`, `lerloff` are carried out, or fail with a message"""
    for command in (['lerlsz'], ['lerlclr'], ['lerladd', BLUEZ_ADDRESS], ['lerlrm', BLUEZ_ADDRESS], ['lerlon'], ['lerloff']):
        run = tool(*command, transport='raw:1', status=None)
        check(run.status == 0 or run.status == 1 and run.words().strip(), f'{command}: {run}')


@test
def connections_over_raw():
    """`lecc`, `con`, `leinfo`, `rssi`, `lecup` and `ledc` act on the kernel's connections, from one process to the next"""
    tool('lecc', BLUEZ_ADDRESS, transport='raw:1')
    listed = tool('con', transport='raw:1')
    check(BLUEZ_ADDRESS in listed.out, f'{listed}')
    handle = next((str(l['handle']) for l in listed.lines if 'handle' in l), None)
    check(handle, f'con prints no handle: {listed}')
    check(BLUEZ_ADDRESS in shell('hcitool -i hci1 con'), 'the kernel does not know the connection')
    tool('leinfo', BLUEZ_ADDRESS, transport='raw:1')
    for command in (['rssi', BLUEZ_ADDRESS],
                    ['lecup', '--handle', handle, '--min', '24', '--max', '40', '--latency', '0', '--timeout', '42']):
        run = tool(*command, transport='raw:1', status=None)
        check(run.status == 0 or run.status == 1 and run.words().strip(), f'{command}: {run}')
    tool('ledc', handle, transport='raw:1')
    wait_until(lambda: BLUEZ_ADDRESS not in tool('con', transport='raw:1').out, 'the end of the connection')


@test
def gatt_over_raw():
    """`-t raw:1 gatt` is refused: the link's channels are the kernel's, and the message names the user channel"""
    says(tool('gatt', BLUEZ_ADDRESS, 'discover', transport='raw:1', status=1), 'user:')
    check(is_up(1), 'the adapter was taken down')


def main():
    os.environ['PATH'] = '/usr/sbin:/sbin:' + os.environ['PATH']
    btvirt = subprocess.Popen(['btvirt', *sys.argv[2:]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        bring_up_adapters()
        has_sets()
    except (AssertionError, subprocess.TimeoutExpired) as e:
        print(f'          the adapters do not come up: {e}', flush=True)
        print('\n'.join(f'          {l}' for l in shell('dmesg').splitlines() if 'hci' in l.lower())[-1000:], flush=True)
        btvirt.terminate()
        return NO_ADAPTERS

    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    background = []
    for function in TESTS:
        if reason := getattr(function, 'cannot_run', lambda: None)():
            counts['skipped'] += 1
            print(f'skipped {function.__doc__.splitlines()[0]} [{function.__name__}]: {reason}', flush=True)
            continue
        started = time.monotonic()
        os.environ['JELLING_TEST'] = function.__name__     # Tools/record names its recordings by it
        outcome, message = 'passed', ''
        try:
            if function is lescan_sees_bluez:
                background = start_bluez()
            if function is raw_scan_beside_bluez:
                shell('hciconfig hci1 up')
            function()
        except Exception as e:
            outcome, message = 'failed', f'{type(e).__name__}: {e}' if not isinstance(e, AssertionError) else str(e)
        counts[outcome] += 1
        print(f'{outcome:7} {function.__doc__.splitlines()[0]} [{function.__name__}, {time.monotonic() - started:.1f} s]', flush=True)
        for line in message.splitlines():
            print(f'          {line}', flush=True)
    for process in (*background, btvirt):
        process.terminate()
    print(f'{counts["passed"]} passed, {counts["failed"]} failed, {counts["skipped"]} skipped', flush=True)
    return 1 if counts['failed'] else 0


sys.exit(main())
