"""`bletool` on the adapters of a real Linux Bluetooth subsystem: hci1 is ours, hci0 will be BlueZ's. No daemon runs."""
import json, os, signal, subprocess

from kernel.bluez import BLUEZ_ADDRESS
from kernel.harness import OUR_ADDRESS, claim_user_channel, is_up, running, says, shell, tool

NOBODY = 65534       # the user of this number


def test_dev_lists_the_adapters():
    """`dev` lists both adapters with index, name, address, state and bus"""
    lines = tool('dev').lines
    assert [l['index'] for l in lines] == [0, 1], lines
    for line, address in zip(lines, (BLUEZ_ADDRESS, OUR_ADDRESS)):
        assert line['name'] == f'hci{line["index"]}' and line['address'] == address and line['up'] is False, line
        assert 'virtual' in line['bus'].lower(), f'bus: {line}'


def test_info_over_the_user_channel():
    """`-t user:1 info` says what the controller is, and leaves the adapter down as it was found"""
    info = tool('info', transport='user:1').lines[0]
    assert info['address'] == OUR_ADDRESS, info["address"]
    for key in ('version', 'manufacturer', 'features', 'commands', 'aclLength', 'aclCount'):
        assert key in info, f'no {key}: {info}'
    assert info['aclLength'] >= 27 and info['aclCount'] >= 1, f'{info["aclLength"]} × {info["aclCount"]}'
    assert not is_up(1), 'the adapter was left up'


def test_without_transport_the_first_adapter():
    """without `-t` the first adapter is taken"""
    assert tool('info').lines[0]['address'] == BLUEZ_ADDRESS, 'not hci0'


def test_no_such_adapter():
    """an adapter that does not exist is named, with status 3"""
    for transport in ('user:7', 'raw:7'):
        says(tool('info', transport=transport, status=3), 'hci7')


def test_no_permission():
    """an ordinary user is told which capability is missing, with status 3"""
    says(tool('info', transport='user:1', status=3, user=NOBODY), 'CAP_NET_ADMIN')
    shell('hciconfig hci1 up')
    try:
        says(tool('lescan', '--duration', '1', transport='raw:1', status=3, user=NOBODY), 'CAP_NET_RAW')
    finally:
        shell('hciconfig hci1 down')


def test_adapter_is_up():
    """the user channel of an adapter that is up is refused with the remedy, and the adapter stays up"""
    shell('hciconfig hci1 up')
    try:
        says(tool('info', transport='user:1', status=3), 'hci1', r'\bup\b', r'\bdown\b')
        assert is_up(1), 'the adapter was taken down'
    finally:
        shell('hciconfig hci1 down')


def test_adapter_is_busy():
    """an adapter whose user channel another process holds is busy, and the process is named"""
    held = claim_user_channel(1)
    try:
        says(tool('info', transport='user:1', status=3), 'hci1', ('busy', 'held', 'in use'), ('python', str(os.getpid())))
    finally:
        os.close(held)
    tool('info', transport='user:1')


def test_power_on_and_off():
    """`power` brings an adapter up and takes it down, also twice in a row, and says who may do so and which adapters exist"""
    for word in ('on', 'on', 'off', 'off'):
        line = tool('power', word, transport='hci1').lines[0]
        assert line['event'] == 'power' and line['up'] is (word == 'on'), line
        assert is_up(1) is (word == 'on'), f'hciconfig says otherwise after {word}'
    says(tool('power', 'on', transport='hci7', status=3), 'hci7')
    says(tool('power', 'on', transport='hci1', status=3, user=NOBODY), 'CAP_NET_ADMIN')


def test_monitor_shows_what_another_program_does():
    """`monitor` decodes what another bletool sends through hci1, and captures it; ^C and --duration end it with status 0"""
    capture = '/tmp/monitor.btsnoop'
    with running('-w', capture, 'monitor', transport='hci1', stderr=subprocess.PIPE) as watching:
        # The kernel tells at once which adapters there are.
        assert watching.stdout.readline(), 'the monitor says nothing'
        tool('lescan', '--duration', '1', transport='hci1')
        watching.send_signal(signal.SIGINT)
        said, errors = watching.communicate(timeout=120)
    assert watching.returncode == 0, f'status {watching.returncode}: {errors[-300:]}'
    packets = [json.loads(line) for line in said.splitlines()]
    assert any(p.get('name', '').startswith('LE Set') and p['direction'] == 'sent' and p['adapter'] == 1 for p in packets), (
        f'no scan in {len(packets)} packets')
    assert tool('decode', capture, '--summary').lines[0]['by_packet_type']['command'] > 5, 'the capture lacks the commands'
    # Alone, and while packets come all the time.
    tool('monitor', '--duration', '1', transport='hci1')
    with running('lescan', '--duplicates', transport='hci1', stdout=subprocess.DEVNULL) as scanning:
        tool('monitor', '--duration', '2', transport='hci1')
        scanning.send_signal(signal.SIGINT)
        scanning.wait(120)
    says(tool('monitor', status=3, user=NOBODY), 'CAP_NET_RAW')


def test_an_empty_air():
    """a scan without any device ends with status 0 and leaves the adapter down"""
    run = tool('lescan', '--duration', '1', transport='user:1')
    assert not run.events('discovered'), run
    assert not is_up(1), 'the adapter was left up'
