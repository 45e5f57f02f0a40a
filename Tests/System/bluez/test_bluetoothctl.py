"""bluetoothctl of BlueZ 5.66, in a terminal."""
import os, pathlib, pty, re, select, subprocess, time

import pytest

from jelling.bluez import BLUETOOTHCTL
from jelling.child import PATIENCE, Failure

from bluez.test_bleak import PEER, characteristics


class Shell:
    """bluetoothctl, or another program, at work: `ask` types a line and waits for what it prints."""

    def __init__(self, *words, program=BLUETOOTHCTL):
        self.terminal, device = pty.openpty()
        self.process = subprocess.Popen([program, *words], stdin=device, stdout=device, stderr=device, start_new_session=True,
                                        env={**os.environ, 'TERM': 'dumb'})
        os.close(device)
        self.text, self.seen = '', 0

    def __enter__(self):
        self.expect('Agent registered')
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.terminal)

    def read(self, limit):
        if select.select([self.terminal], [], [], limit)[0]:
            try:
                octets = os.read(self.terminal, 65536)
            except OSError:
                octets = b''
            self.text += re.sub(r'\x1b\[[0-9;?]*[a-zA-Z]|[\x01\x02\r]', '', octets.decode('utf-8', 'replace'))

    def expect(self, pattern, limit=PATIENCE):
        end = time.monotonic() + limit
        while not (found := re.search(pattern, self.text[self.seen:])):
            if time.monotonic() > end:
                raise Failure(f'{pattern} was not printed: {self.text[-1500:]}')
            self.read(0.2)
        self.seen += found.end()
        return found

    def ask(self, line, *patterns):
        os.write(self.terminal, line.encode() + b'\n')
        return [self.expect(pattern) for pattern in patterns][-1] if patterns else None


def test_a_session(desk):
    """Scan, info, connect, attributes, read, write, notify, disconnect, remove"""
    names = characteristics(desk)
    with Shell() as shell:
        shell.ask('show', r'Controller [0-9A-F:]{17} \(public\)', 'Powered: yes', 'Roles: central', 'Roles: peripheral', 'ActiveInstances')
        shell.ask('scan on', 'Discovery started', r'\[CHG\] Controller .* Discovering: yes', rf'\[NEW\] Device {PEER} BumblePeer')
        shell.ask('scan off', 'Discovery stopped', 'Discovering: no')
        shell.ask(f'info {PEER}', 'Name: BumblePeer', 'Paired: no', 'Trusted: no', 'Connected: no', 'Heart Rate')
        shell.ask(f'connect {PEER}', 'Attempting to connect', 'Connected: yes', 'Connection successful', 'ServicesResolved: yes')
        shell.ask('menu gatt')
        shell.ask(f'list-attributes {PEER}', 'Body Sensor Location')
        shell.ask('select-attribute 00002a38-0000-1000-8000-00805f9b34fb')
        shell.ask('read', 'Attempting to read', '01')
        shell.ask(f'select-attribute {names["LONG_W"].lower()}')
        shell.ask('write "0x61 0x62 0x63"', 'Attempting to write')
        shell.ask('read', '61 62 63')
        shell.ask(f'select-attribute {names["STREAM"].lower()}')
        shell.ask('notify on', 'Notifying: yes', 'Notify started')
        shell.ask('notify off', 'Notify stopped')
        shell.ask('acquire-notify', r'AcquireNotify success: fd \d+ MTU 517')
        shell.ask('release-notify')
        shell.ask('back')
        shell.ask(f'trust {PEER}', 'Trusted: yes', 'trust succeeded')
        shell.ask('disconnect', 'Attempting to disconnect', 'ServicesResolved: no', 'Successful disconnected', 'Connected: no')
        shell.ask(f'remove {PEER}', rf'\[DEL\] Device {PEER}', 'Device has been removed')


def test_pairing(desk):
    """Pairing without questions"""
    with Shell('--agent=NoInputNoOutput') as shell:
        shell.ask('scan on', rf'\[NEW\] Device {PEER}')
        shell.ask('scan off', 'Discovery stopped')
        shell.ask(f'pair {PEER}', 'Attempting to pair', 'Paired: yes', 'Pairing successful')
        shell.ask(f'info {PEER}', 'Paired: yes', 'Bonded: yes')
        shell.ask(f'remove {PEER}', 'Device has been removed')


@pytest.mark.desk(peer=False)
@pytest.mark.parametrize('capability, io, question, answer', [
    ('KeyboardOnly', 'display', 'Enter passkey', '123456'),
    ('DisplayOnly', 'keyboard', r'Passkey: (\d{6})', None),
    ('DisplayYesNo', 'yesno', 'Confirm passkey', 'yes'),
])
def test_agents(desk, capability, io, question, answer):
    """Each question of a pairing reaches the person: a passkey to type, one to show, one to compare"""
    typed = pathlib.Path(desk.path('typed'))
    desk.start_peer('--io', io, '--mitm', '--passkey', '123456', *(['--passkey-from', str(typed)] if io == 'keyboard' else []))
    with Shell(f'--agent={capability}') as shell:
        shell.ask('default-agent', 'Default agent request successful')
        shell.ask('scan on', rf'\[NEW\] Device {PEER}')
        shell.ask('scan off', 'Discovery stopped')
        asked = shell.ask(f'pair {PEER}', 'Attempting to pair', question)
        if answer:
            shell.ask(answer)
        else:
            # What is there is whole.
            typed.with_suffix('.part').write_text(asked[1])
            typed.with_suffix('.part').rename(typed)
        shell.expect('Pairing successful')


@pytest.mark.desk(peer=False)
def test_advertise(desk):
    """Advertising and an application by hand"""
    with Shell() as shell:
        shell.ask('advertise on', 'Advertising object registered')
        shell.ask('show', r'ActiveInstances: 0x01 \(1\)')
        shell.ask('advertise off', 'Advertising object unregistered')
        shell.ask('menu gatt')
        shell.ask('register-service 0x1815', 'Primary')
        shell.ask('yes')
        shell.ask('register-characteristic 0x2a56 read,write,notify')
        shell.expect('Enter value')
        shell.ask('01 02')
        shell.ask('register-application', 'Application registered')
        shell.ask('unregister-application', 'Application unregistered')


@pytest.mark.desk(peer=False)
def test_power(desk):
    """Off and on again, as bluetoothctl prints it"""
    with Shell() as shell:
        shell.ask('power off', 'PowerState: on-disabling', 'Powered: no', 'Changing power off succeeded')
        shell.ask('scan on', 'Failed to start discovery: org.bluez.Error.NotReady')
        shell.ask('power on', 'PowerState: off-enabling', 'Changing power on succeeded')


def test_consent(desk):
    """A read that needs a pairing asks the default agent; without consent it fails as BlueZ's does"""
    names = characteristics(desk)
    with Shell('--agent=NoInputNoOutput') as shell:
        shell.ask('default-agent', 'Default agent request successful')
        shell.ask('scan on', rf'\[NEW\] Device {PEER}')
        shell.ask('scan off', 'Discovery stopped')
        shell.ask(f'connect {PEER}', 'Connection successful', 'ServicesResolved: yes')
        shell.ask('menu gatt')
        shell.ask(f'select-attribute {names["ENC"].lower()}')
        shell.ask('read', 'Attempting to read', 'Accept pairing')
        shell.ask('no', 'Failed to read: org.bluez.Error.NotPermitted')
        shell.ask('read', 'Attempting to read')
