"""BlueZ's daemon on hci0, and the operator at its `bluetoothctl`."""
import os, pathlib, re, subprocess, time

from kernel.harness import OUR_ADDRESS, OUR_NAME, Run, running, shell, tool, wait_until

BLUEZ_ADDRESS, BLUEZ_NAME = '00:AA:01:00:00:00', 'JELLING'


# Whether the kernel has enhanced credit-based channels, which BlueZ's enhanced bearers need.
ECRED = '/sys/module/bluetooth/parameters/enable_ecred'


def start_bluez():
    shell(f'echo 1 > {ECRED}', False)
    os.makedirs('/etc/bluetooth', exist_ok=True)
    with open('/etc/bluetooth/main.conf', 'w') as f:
        f.write('[Policy]\nAutoEnable=false\n')     # else it powers hci1 each time that we give it back
        f.write('[GATT]\nChannels=3\n')
    shell('dbus-daemon --system --fork --nopidfile')
    daemon = subprocess.Popen(['/usr/libexec/bluetooth/bluetoothd', '-n'], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=open('/tmp/bluetoothd.log', 'wb'))
    objects = ('dbus-send --system --dest=org.bluez --print-reply / '
               'org.freedesktop.DBus.ObjectManager.GetManagedObjects')
    wait_until(lambda: '/org/bluez/hci0' in shell(objects, False), 'bluetoothd on the bus')
    control = subprocess.Popen(['bluetoothctl'], stdin=subprocess.PIPE, stdout=open('/tmp/bluetoothctl.log', 'wb'),
                               stderr=subprocess.STDOUT)

    wait_until(lambda: BLUEZ_ADDRESS in said(), 'bluetoothctl and its adapter')
    for command, answer in ((f'select {BLUEZ_ADDRESS}', ''), ('power on', 'power on succeeded'),
                            (f'system-alias {BLUEZ_NAME}', f'{BLUEZ_NAME} succeeded'), ('discoverable on', 'discoverable on succeeded'),
                            ('advertise.name on', ''), ('advertise on', 'Advertising object registered')):
        control.stdin.write(command.encode() + b'\n')
        control.stdin.flush()
        time.sleep(0.3)
        wait_until(lambda: answer in said(), f'bluetoothctl: {command}')
    BlueZ.control = control
    return daemon, control


class BlueZ:
    """The operator at `bluetoothctl`."""
    control = None

    @classmethod
    def types(cls, command, *answers, seconds=180):
        """Gives one command and waits until each of the answers has come; returns all that was said since."""
        before = len(said())
        cls.control.stdin.write(command.encode() + b'\n')
        cls.control.stdin.flush()
        return cls.hears(before, command, *answers, seconds=seconds)

    @staticmethod
    def hears(before, what, *answers, seconds=180):
        end = time.monotonic() + seconds
        while True:
            new = said()[before:]
            missing = [a for a in answers if not re.search(a, new)]
            if not missing:
                return new
            assert time.monotonic() < end, f'bluetoothctl: {what}: not {missing} within {seconds} s; it said {new[-500:]!r}'
            time.sleep(0.1)

    @classmethod
    def finds_and_connects(cls):
        # btvirt reports an advertiser once each time that scanning is switched on: what is missed then comes never.
        for attempts_left in (2, 1, 0):
            try:
                # A device that BlueZ has met before, as the central of an earlier test, is only said to be near.
                cls.types('scan on', f'Device {OUR_ADDRESS} ({OUR_NAME}|RSSI)', seconds=20)
                break
            except AssertionError:
                if not attempts_left:
                    raise
            finally:
                cls.types('scan off', 'Discovery stopped|Discovering: no')
        cls.types(f'connect {OUR_ADDRESS}', 'Connection successful', 'ServicesResolved: yes')

    @classmethod
    def disconnects(cls, served):
        """From whatever menu it is in."""
        cls.types('back')
        cls.types(f'disconnect {OUR_ADDRESS}', 'Successful disconnected|Disconnection successful|Connected: no')
        served.wait_event('disconnected')

    @classmethod
    def forgets(cls, address=OUR_ADDRESS):
        cls.types(f'remove {address}', 'has been removed|not available')

    @classmethod
    def selects(cls, uuid):
        cls.types(f'select-attribute {uuid}')
        cls.types('attribute-info', f'UUID: {uuid}')

    @classmethod
    def reads(cls, value):
        cls.types('read', 'Attempting to read', rf'\b{value}\b')


def forget():
    """Neither side has a bond any more."""
    BlueZ.forgets()
    tool('unpair', BLUEZ_ADDRESS, status=None)


def has_agent(kind):
    BlueZ.types('agent off', 'Agent unregistered|No agent is registered')
    BlueZ.types(f'agent {kind}', 'Agent registered')
    BlueZ.types('default-agent', 'Default agent request successful')


def said():
    """All that bluetoothctl has printed, without its colours and the prompts between the lines."""
    plain = re.sub(r'\x1b\[[0-9;]*[A-Za-z]|[\x01\x02\r]', '', pathlib.Path('/tmp/bluetoothctl.log').read_bytes().decode(errors='replace'))
    return re.sub(r'\[[^\]\n]*\]# *', '', plain)


def the_advertiser(run):
    found = [e for e in run.events('discovered') if e['address'] == BLUEZ_ADDRESS]
    assert found and found[-1]['addressType'] == 'public' and found[-1]['connectable'], run
    return found[-1]


def paired_with_bluez():
    """`bletool pair` with BlueZ, whose daemon asks its own user, whatever the agent can show: the run."""
    before = len(said())
    with running('pair', BLUEZ_ADDRESS, stderr=subprocess.PIPE) as process:
        BlueZ.hears(before, 'the question', 'Accept pairing|Authorize|Confirm')
        BlueZ.types('yes')
        out, err = process.communicate(timeout=180)
    run = Run(process.returncode, out, err)
    assert run.status == 0 and run.events('paired'), f'pair: {run}'
    return run
