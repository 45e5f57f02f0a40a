"""`bletool` on the kernel's own controller, hci1, which is up beside BlueZ's daemon."""
import re

from pytest import mark

from kernel.bluez import BLUEZ_ADDRESS, the_advertiser
from kernel.harness import is_up, says, shell, tool, wait_until

pytestmark = mark.usefixtures('bluez', 'hci1_is_up')


def test_raw_scan_beside_bluez():
    """`-t raw:1 lescan` scans beside the daemon, twice in a row, and leaves the adapter up"""
    for _ in range(2):
        the_advertiser(tool('lescan', '--count', '1', '--duration', '30', transport='raw:1'))
    assert is_up(1), 'the adapter was taken down'
    assert is_up(0), "the daemon's adapter was touched"


def test_up_with_the_daemon_about():
    """the user channel of an adapter that is up beside BlueZ is refused, and BlueZ is named"""
    says(tool('info', transport='user:1', status=3), 'hci1', r'\bup\b', ('bluez', 'bluetoothd'))


def test_accept_list_over_raw():
    """`lealsz`, `lealadd`, `lealrm`, `lealclr` act on the kernel's controller"""
    assert re.search(r'\d', tool('lealsz', transport='raw:1').out), 'no size'
    for command in (['lealclr'], ['lealadd', BLUEZ_ADDRESS], ['lealrm', BLUEZ_ADDRESS], ['lealclr']):
        tool(*command, transport='raw:1')


def test_resolving_list_over_raw():
    """`lerlsz`, `lerladd`, `lerlrm`, `lerlclr`, `lerlon`, `lerloff` are carried out, or fail with a message"""
    for command in (['lerlsz'], ['lerlclr'], ['lerladd', BLUEZ_ADDRESS], ['lerlrm', BLUEZ_ADDRESS], ['lerlon'], ['lerloff']):
        run = tool(*command, transport='raw:1', status=None)
        assert run.status == 0 or run.status == 1 and run.words().strip(), f'{command}: {run}'


def test_connections_over_raw():
    """`lecc`, `con`, `leinfo`, `rssi`, `lecup` and `ledc` act on the kernel's connections, from one process to the next"""
    tool('lecc', BLUEZ_ADDRESS, transport='raw:1')
    listed = tool('con', transport='raw:1')
    assert BLUEZ_ADDRESS in listed.out, listed
    handle = next((str(l['handle']) for l in listed.lines if 'handle' in l), None)
    assert handle, f'con prints no handle: {listed}'
    assert BLUEZ_ADDRESS in shell('hcitool -i hci1 con'), 'the kernel does not know the connection'
    tool('leinfo', BLUEZ_ADDRESS, transport='raw:1')
    for command in (['rssi', BLUEZ_ADDRESS],
                    ['lecup', '--handle', handle, '--min', '24', '--max', '40', '--latency', '0', '--timeout', '42']):
        run = tool(*command, transport='raw:1', status=None)
        assert run.status == 0 or run.status == 1 and run.words().strip(), f'{command}: {run}'
    tool('ledc', handle, transport='raw:1')
    wait_until(lambda: BLUEZ_ADDRESS not in tool('con', transport='raw:1').out, 'the end of the connection')


def test_gatt_over_raw():
    """`-t raw:1 gatt` is refused: the link's channels are the kernel's, and the message names the user channel"""
    says(tool('gatt', BLUEZ_ADDRESS, 'discover', transport='raw:1', status=1), 'user:')
    assert is_up(1), 'the adapter was taken down'
