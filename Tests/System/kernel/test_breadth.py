"""Enhanced bearers and advertising sets with BlueZ's daemon.

BlueZ has enhanced bearers where the kernel has enhanced credit-based channels, which a parameter of its module switches
on, and `[GATT] Channels` in main.conf asks for more than one."""
import os, re, signal, subprocess

from pytest import mark

from kernel.bluez import BLUEZ_ADDRESS, ECRED, BlueZ, forget, has_agent, paired_with_bluez, said
from kernel.harness import TOOL, Served, btmgmt, has_sets, tool, wait_until

pytestmark = mark.usefixtures('bluez')


def bearers_in(capture):
    """How many ATT packets of each opcode crossed enhanced bearers, from `decode --summary`."""
    return tool('decode', capture, '--summary').lines[0].get('eatt_opcodes') or {}


def crossed(capture, *opcodes):
    """Checks that each of these crossed enhanced bearers."""
    found = bearers_in(capture)
    assert {int(o, 16) for o in opcodes} <= {int(o, 16) for o in found}, (
        f'enhanced bearers carried {found}: {tool("decode", capture, "--summary").out[-600:]}')


def test_bluez_opens_enhanced_bearers():
    """BlueZ pairs with `serve --eatt`, opens enhanced bearers, and reads over them, is notified and confirms indications"""
    assert os.path.exists(ECRED) and open(ECRED).read().strip() in ('Y', '1'), 'the kernel has no enhanced channels'
    has_agent('NoInputNoOutput')
    capture = '/tmp/eatt-served.btsnoop'
    served = Served('--eatt', capture=capture)
    try:
        before = len(said())
        BlueZ.finds_and_connects()
        # BlueZ asks for encryption by itself, for the enhanced bearers that it saw offered; its kernel then pairs.
        BlueZ.hears(before, 'the question', 'Accept pairing')
        BlueZ.types('yes')
        served.wait_event('paired')
        BlueZ.types('menu gatt', 'acquire-notify')
        BlueZ.selects('6b7a0006-9d1c-4f5e-8a2b-3c4d5e6f7081')
        for _ in range(6):
            BlueZ.reads('5e c2 e7')
        for uuid, value in ('00002a37-0000-1000-8000-00805f9b34fb', '00 48'), ('6b7a0004-9d1c-4f5e-8a2b-3c4d5e6f7081', '1d 1c'):
            BlueZ.selects(uuid)
            BlueZ.types('notify on', 'Notify started', rf'(?s)Value:\s+{value}\b.*Value:\s+{value}\b')
        BlueZ.disconnects(served)
    finally:
        BlueZ.types('back')
        served.stop()
        forget()
    # Notifications, indications and their confirmations (Core 5.4, Vol 3, Part F, 3.4.7).
    crossed(capture, '0a', '1b', '1d', '1e')


def test_gatt_opens_enhanced_bearers_of_bluez():
    """`gatt --eatt 2`, once paired with BlueZ, opens its enhanced bearers and reads and discovers over them"""
    BlueZ.types('pairable on')
    capture = '/tmp/eatt-client.btsnoop'
    try:
        paired_with_bluez()
        run = tool('-w', capture, 'gatt', BLUEZ_ADDRESS, 'read', *['2A00'] * 6, '--eatt', '2', transport='user:1')
        assert len(run.events('value')) == 6, run
    finally:
        forget()
    crossed(capture, '0a', '0b')


# The characteristics of an app of bluetoothctl: UUID, property, and what its value becomes.
OFFERED = [('6b7a0011-9d1c-4f5e-8a2b-3c4d5e6f7081', 'notify', '0b'), ('6b7a0012-9d1c-4f5e-8a2b-3c4d5e6f7081', 'indicate', '1d')]


def test_bluez_notifies_over_enhanced_bearers():
    """`gatt --eatt 2 subscribe` gets notifications and indications of BlueZ's server over enhanced bearers"""
    BlueZ.types('pairable on')
    capture = '/tmp/eatt-notified.btsnoop'
    try:
        BlueZ.types('menu gatt', 'acquire-notify')
        BlueZ.types('register-service 6b7a0010-9d1c-4f5e-8a2b-3c4d5e6f7081', 'Primary .yes/no')
        BlueZ.types('yes')
        for place, (uuid, mode, _) in enumerate(OFFERED):
            BlueZ.types(f'register-characteristic {uuid} read,write,{mode}', f'chrc{place}', 'Enter value')
            BlueZ.types('0x00')
        BlueZ.types('register-application', 'Application registered')
        BlueZ.types('back')
        paired_with_bluez()
        # bluetoothctl tells its subscribers what is written to it.
        with open('/tmp/script', 'w') as script:
            script.writelines(f'subscribe {uuid}\n' for uuid, _, _ in OFFERED)
            script.writelines(f'write {uuid} {value}\n' for uuid, _, value in OFFERED)
            script.write('wait --count 2\n')
        run = tool('-w', capture, 'gatt', BLUEZ_ADDRESS, 'script', '/tmp/script', '--eatt', '2', transport='user:1')
        values = {(e['event'], e['value']) for e in (*run.events('notified'), *run.events('indicated'))}
        assert values == {('notified', '0b'), ('indicated', '1d')}, values
    finally:
        BlueZ.types('back')
        BlueZ.types('menu gatt', 'acquire-notify')
        BlueZ.types('unregister-application', 'Application unregistered')
        BlueZ.types('unregister-service /org/bluez/app/service0')
        BlueZ.types('back')
        forget()
    # BlueZ sends a value as one of several (Multiple Handle Value Notification) to a client that takes them.
    crossed(capture, '23', '1d', '1e')


def test_bluez_advertises_in_extended_packets(sets):
    """What BlueZ's kernel advertises in extended packets is found by `lescan` with its PHY and SID"""
    # bluetoothctl loses its advertisement when an adapter goes to us; the kernel's own interface does not. btvirt has few
    # sets, and the first one is bluetoothd's.
    try:
        for attempts_left in (2, 1, 0):
            said = btmgmt('add-adv', '-c', '-u', '180f', '-P', '1M', '2')
            # btvirt reports an advertiser once each time that scanning is switched on.
            run = tool('lescan', '--service', '180F', '--count', '1', '--duration', '30', transport='user:1')
            if found := run.events('discovered'):
                break
        assert found and found[0]['address'] == BLUEZ_ADDRESS, f'{found}; btmgmt: {said[-300:]}'
        assert 'sid' in found[0] and found[0].get('phy') == 'LE 1M', found
    finally:
        btmgmt('rm-adv', '2')


def test_bluez_finds_our_sets():
    """BlueZ finds two sets of `advertise --set` in extended packets, each under its address; without sets they are refused"""
    sets = {'C0:DE:00:00:00:01': 'DoorOne', 'C0:DE:00:00:00:02': 'DoorTwo'}
    options = [o for address, name in sets.items()
               for o in ('--set', f'name={name},service=180F,connectable,interval=50,address={address}')]
    if not has_sets():
        run = tool('advertise', *options, transport='user:1', status=None, timeout=60)
        assert run.status != 0, run
        return
    process = subprocess.Popen([TOOL, '-t', 'user:1', '--json', 'advertise', *options], stdin=subprocess.DEVNULL,
                               stdout=open('/tmp/sets.out', 'wb'), stderr=subprocess.STDOUT,
                               env={**os.environ, 'XDG_STATE_HOME': '/tmp/state'})
    try:
        wait_until(lambda: open('/tmp/sets.out').read().count('"started"') >= 2, 'two sets')
        # btvirt reports an advertiser once each time that scanning is switched on.
        missing, before = dict(sets), len(said())
        for _ in range(3):
            BlueZ.types('scan on', 'Discovery started|Failed to start')
            try:
                wait_until(lambda: not [a for a, n in missing.items() if not re.search(f'Device {a} {n}', said()[before:])],
                           'both sets', 20)
                missing = {}
                break
            except AssertionError:
                pass
            finally:
                BlueZ.types('scan off', 'Discovery stopped|Discovering: no')
        assert not missing, f'BlueZ said {said()[before:][-800:]!r}; sets: {open("/tmp/sets.out").read()[-400:]}'
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        for address in sets:
            BlueZ.forgets(address)
