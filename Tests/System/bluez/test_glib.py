"""bluez-tools, unmodified: programs of GLib, whose GDBus keeps proxies of the objects with their properties."""
import os, re, signal, subprocess

from jelling.bluez import CACHE, DEVICE, PEER as PATH
from jelling.child import PATIENCE, wait_until

from bluez.test_bluetoothctl import PEER, Shell


def program(name):
    return os.path.join(CACHE, 'root', 'usr', 'bin', name)


def says(name, *words, wanted, status=0):
    """Runs a program to its end; all that is wanted must be among what it prints."""
    done = subprocess.run([program(name), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == status, done
    for pattern in wanted:
        assert re.search(pattern, done.stdout), f'{name} {words}: {pattern} is not in {done.stdout!r}'


class Discovering(Shell):
    """bt-adapter, which prints devices until ^C."""

    def __init__(self):
        super().__init__('--discover', program=program('bt-adapter'))

    def __enter__(self):
        return self

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)


def test_a_session(desk):
    """Adapter, discovery, list, connect, trust, disconnect, remove"""
    def state(name):
        return desk.busctl('get-property', 'org.bluez', PATH, DEVICE, name).stdout.strip()
    says('bt-adapter', '--list', wanted=[r'\([0-9A-F:]{17}\)'])
    says('bt-adapter', '--info', wanted=[r'\[hci0\]', 'Powered: 1', 'Discovering: 0', 'UUIDs: .*00001800'])
    says('bt-adapter', '--set', 'Alias', 'Desk', wanted=['Alias: .* -> Desk'])
    with Discovering() as discovering:
        discovering.expect(rf'\[{PEER}\]')
        discovering.expect('Name: BumblePeer')
        discovering.expect(r'RSSI: -?\d+')
        discovering.stop()
    says('bt-device', '--list', wanted=[rf'BumblePeer \({PEER}\)'])
    says('bt-device', f'--connect={PEER}', wanted=['Done'])
    wait_until(lambda: state('Connected') == 'b true', 'the link')
    wait_until(lambda: state('ServicesResolved') == 'b true', 'the services')
    says('bt-device', '--set', 'BumblePeer', 'Trusted', '1', wanted=['Trusted: 0 -> 1'])
    assert state('Trusted') == 'b true'
    says('bt-device', '--disconnect=BumblePeer', wanted=['Done'])
    wait_until(lambda: state('Connected') == 'b false', 'the end of the link')
    says('bt-device', f'--remove={PEER}', wanted=['Done'])
    says('bt-device', '--list', wanted=['No devices found'], status=1)
