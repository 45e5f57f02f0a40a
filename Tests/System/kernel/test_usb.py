"""Bluetooth controllers at USB: dongles with one of Bumble's controllers behind, which the guest's kernel gets over USB/IP. First BlueZ
has one, through btusb; then `bletool` and `bled` take the same dongle with `usb:`."""
import json, os, pathlib, re, shutil, signal, struct, subprocess, time

from pytest import fixture

from jelling.client import is_listening
from kernel import usb
from kernel.bluez import BlueZ
from kernel.harness import TOOL, running, says, shell, tool, wait_until

PEER, NAME = 'F2:F1:F0:00:00:02', 'BumblePeer'
ENCRYPTED, CONTROL, STREAM = (f'6b7a{number:04x}-9d1c-4f5e-8a2b-3c4d5e6f7081' for number in (6, 8, 9))
# 10.2 MB, in notifications of as many octets as fit into one packet of the link layer.
STREAM_SIZE, PART, PARTS = 244, 2000, 21
STREAMING = f'write {CONTROL} 01{struct.pack("<IH", PART * STREAM_SIZE, STREAM_SIZE).hex()}'
LIBRARY = '/usr/lib/x86_64-linux-gnu/libusb-1.0.so.0'
NOBODY = 65534
PLACE = 'usb:1-1'
# Seconds: ends what hangs. The guest runs without acceleration.
LIMIT = 300


@fixture(scope='module', autouse=True)
def host():
    if 'JELLING_GUEST' in os.environ:
        usb.set_up()


@fixture
def dongle():
    if 'JELLING_GUEST' not in os.environ:
        yield None
        return
    with usb.Dongle() as one:
        is_the_kernels(one)
        yield one


def is_the_kernels(dongle):
    wait_until(lambda: dongle.driver == 'btusb' and dongle.adapter is not None, "the kernel's adapter")


def finds_the_peer(transport):
    run = tool('lescan', '--count', '1', '--duration', '60', '--name', NAME, transport=transport)
    assert [e['address'] for e in run.events('discovered')] == [PEER], run


def script(*lines):
    pathlib.Path('/tmp/script').write_text('\n'.join(lines) + '\n')
    return '/tmp/script'


def test_bluez_accepts_the_dongle(dongle):
    """the kernel's driver makes an adapter of the emulated dongle, and BlueZ finds the peer through it and connects"""
    os.makedirs('/etc/bluetooth', exist_ok=True)
    pathlib.Path('/etc/bluetooth/main.conf').write_text('[Policy]\nAutoEnable=false\n')
    shell('dbus-daemon --system --fork --nopidfile')
    daemon = subprocess.Popen(['/usr/libexec/bluetooth/bluetoothd', '-n'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    control = subprocess.Popen(['bluetoothctl'], stdin=subprocess.PIPE, stdout=open('/tmp/bluetoothctl.log', 'wb'), stderr=subprocess.STDOUT)
    try:
        BlueZ.control = control
        BlueZ.hears(0, 'the adapter', '00:1B:DC:00:00:01')
        BlueZ.types('power on', 'power on succeeded')
        BlueZ.types('scan le', f'Device {PEER} {NAME}')
        BlueZ.types('scan off', 'Discovery stopped|Discovering: no')
        BlueZ.types(f'connect {PEER}', 'Connection successful')
        BlueZ.types(f'disconnect {PEER}', 'Successful disconnected|Disconnection successful|Connected: no')
        BlueZ.types('power off', 'power off succeeded')
    finally:
        for process in control, daemon:
            process.terminate()
            process.wait()


def test_dev_lists_the_dongle(dongle):
    """`dev` lists the dongle with what opens it, its ids, and the kernel's driver and adapter"""
    line, = tool('dev').events('usb')
    assert (line['transport'], line['port'], line['id']) == (PLACE, '1-1', '1209:0001'), line
    assert (line['driver'], line['kernelAdapter']) == ('btusb', f'hci{dongle.adapter}'), line
    assert line['name'] == 'Emulated Bluetooth dongle', line


def test_scan_and_give_back(dongle):
    """`usb`, `usb:VID:PID` and `usb:BUS-PORT` take the dongle from the kernel and find the peer; the driver has it again at the end"""
    for transport in 'usb', 'usb:first', 'usb:1209:0001', PLACE:
        finds_the_peer(transport)
        is_the_kernels(dongle)
    with running('lescan', '--duration', '300', transport=PLACE) as process:
        # From its first report on the scan is at work, and ^C is its regular end; before, it is a failure.
        assert json.loads(process.stdout.readline())['event'] == 'discovered'
        assert dongle.driver == 'usbfs'
        assert dongle.adapter is None, 'the kernel still has its adapter'
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 0
    is_the_kernels(dongle)


def test_connect_read_and_pair(dongle):
    """through `usb:`, values are read, a peer is paired with, and a value that needs encryption is read with the bond"""
    assert [e['value'] for e in tool('gatt', PEER + '/random', 'read', '2A38', transport=PLACE).events('value')] == ['01']
    paired = tool('pair', PEER + '/random', transport=PLACE, status=None)
    assert paired.status == 0, paired
    read = tool('gatt', PEER + '/random', 'read', ENCRYPTED, transport=PLACE)
    assert [e['value'] for e in read.events('value')] == [b'secret'.hex()], read
    tool('unpair', PEER + '/random', transport=PLACE)


def test_a_stream_of_notifications(dongle):
    """10 MB of notifications arrive through `usb:`, none lost, doubled or out of order"""
    # In parts: a program that reads too slowly has the oldest of its values dropped, and this guest is slow.
    part = STREAMING, f'wait --count {PART} --duration 600'
    began = time.monotonic()
    run = tool('gatt', PEER + '/random', 'script', script(f'subscribe {STREAM}', *part * PARTS), transport=PLACE, timeout=2400)
    took, octets = time.monotonic() - began, PARTS * PART * STREAM_SIZE
    values = [bytes.fromhex(e['value']) for e in run.events('notified') if e['uuid'].lower() == STREAM]
    assert [struct.unpack('<I', value[:4])[0] for value in values] == list(range(PART)) * PARTS, f'{len(values)} of {PART * PARTS}'
    assert all(len(value) == STREAM_SIZE for value in values)
    print(f'{octets} octets in {took:.0f} s: {octets / took / 1000:.1f} kB/s')


def test_unplugged_and_back(dongle):
    """a dongle that is pulled out in the middle of a stream ends the tool with its word; plugged in again, it is found at the same
    place"""
    lines = script(f'subscribe {STREAM}', STREAMING, f'wait --count {PART} --duration 600')
    with running('gatt', PEER + '/random', 'script', lines, transport=PLACE, stderr=subprocess.PIPE) as process:
        arrived = 0
        while arrived < PART // 4:
            line = process.stdout.readline()
            assert line, process.communicate()
            arrived += json.loads(line)['event'] == 'notified'
        dongle.pull_out()
        out, err = process.communicate(timeout=LIMIT)
        assert process.returncode not in (0, -signal.SIGSEGV, -signal.SIGILL, -signal.SIGTRAP), process.returncode
        assert re.search('1-1 .*(unplugged|disappeared)', out + err), out[-500:] + err
    says(tool('lescan', transport=PLACE, status=3), 'there is no USB device 1-1')
    dongle.plug_in()
    # Ours may be faster than the kernel's driver.
    finds_the_peer(PLACE)
    is_the_kernels(dongle)


class Daemon:
    """`bled` on a dongle."""
    socket, log_file = '/tmp/usb.sock', '/tmp/usb.log'
    transport = f'bled:{socket}'

    def __init__(self, place):
        self.process = subprocess.Popen(['/tmp/bled', '--adapter', place, '--socket', self.socket, '--state', '/tmp/usb.state'],
                                        stdin=subprocess.DEVNULL, stdout=open(self.log_file, 'wb'), stderr=subprocess.STDOUT)

    def log(self):
        return pathlib.Path(self.log_file).read_text()

    def __enter__(self):
        try:
            wait_until(lambda: is_listening(self.socket), 'bled listens')
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, failure, *_):
        self.process.terminate()
        status = self.process.wait(LIMIT)
        assert failure or status == 0, self.log()[-500:]


def resets():
    """How many resets of a device at USB the kernel has logged."""
    return len(re.findall('usb 1-1: reset full-speed USB device', shell('dmesg')))


def test_bled_finds_it_again(dongle):
    """`bled` shares a dongle, and opens it again by itself when it was unplugged and comes back; at its end the kernel has it"""
    with Daemon(PLACE) as daemon:
        finds_the_peer(daemon.transport)
        dongle.pull_out()
        wait_until(lambda: 'unplugged' in daemon.log(), 'the word of bled')
        dongle.plug_in()
        finds_the_peer(daemon.transport)
        assert dongle.driver == 'usbfs'
    is_the_kernels(dongle)


def test_bled_resets_it(dongle):
    """`power reset` through `bled` resets the dongle on its bus; a scan that runs goes on, and so do other programs afterwards"""
    with Daemon(PLACE) as daemon, running('lescan', '--duplicates', '--duration', '600', transport=daemon.transport) as scan:
        def found():
            while NAME not in (line := scan.stdout.readline()):
                assert line, f'the scan ended: {daemon.log()}'
        found()
        before = resets()
        assert tool('power', 'reset', transport=daemon.transport).events('reset'), daemon.log()
        wait_until(lambda: resets() == before + 1, lambda: 'the reset: ' + daemon.log())
        wait_until(lambda: dongle.driver == 'usbfs', 'bled has the dongle again')
        found()
        read = tool('gatt', PEER + '/random', 'read', '2A38', transport=daemon.transport)
        assert [e['value'] for e in read.events('value')] == ['01'], read
        scan.send_signal(signal.SIGINT)
        scan.wait(LIMIT)
        assert resets() == before + 1, daemon.log()
    is_the_kernels(dongle)


def test_bled_heals_one_that_hangs():
    """a dongle that answers nothing any more is reset on its bus by `bled` itself, and the scan that it hung at finds the peer"""
    with usb.Dongle('1-6') as dongle:
        is_the_kernels(dongle)
        before = resets()
        with Daemon('usb:' + dongle.identifiers) as daemon:
            finds_the_peer(daemon.transport)
            assert resets() > before, daemon.log()
        is_the_kernels(dongle)


def test_busy_and_forbidden(dongle):
    """a dongle that another process has, or that the user may not open, is refused with status 3 and the remedy"""
    with running('lescan', '--duration', '300', transport=PLACE) as process:
        wait_until(lambda: dongle.driver == 'usbfs', 'the tool has the dongle')
        says(tool('info', transport=PLACE, status=3), 'busy', rf'bletool \(process {process.pid}\)', 'stop')
        process.send_signal(signal.SIGINT)
        process.wait(LIMIT)
    is_the_kernels(dongle)
    says(tool('info', transport=PLACE, status=3, user=NOBODY), 'no permission', '60-jelling-usb.rules')
    is_the_kernels(dongle)


def test_killed(dongle):
    """after a tool that was killed, the dongle can be opened again; the driver gets back what it had when the kernel binds it"""
    with running('lescan', '--duration', '300', transport=PLACE) as process:
        wait_until(lambda: dongle.driver == 'usbfs', 'the tool has the dongle')
        process.kill()
        process.wait(LIMIT)
    wait_until(lambda: dongle.driver is None, 'nobody has the dongle')
    finds_the_peer(PLACE)
    assert dongle.driver is None, 'a driver that was not there was put there'
    pathlib.Path('/sys/bus/usb/drivers/btusb/bind').write_text('1-1:1.0')
    is_the_kernels(dongle)


def test_without_libusb(dongle):
    """without libusb the programs start and do everything else; `usb` says what to install, and leaves the dongle alone"""
    real = os.path.realpath(LIBRARY)
    shutil.move(real, '/tmp/libusb')
    try:
        tool('dev')
        says(tool('info', transport=PLACE, status=3), 'libusb', 'apt install libusb-1.0-0')
        is_the_kernels(dongle)
    finally:
        shutil.move('/tmp/libusb', real)


def test_other_makes():
    """class and endpoints of the vendor's own; an octet behind each event, as of Barrot's; joined events: each finds the peer"""
    for bus in '1-2', '1-3', '1-4':
        with usb.Dongle(bus) as dongle:
            finds_the_peer('usb:' + dongle.identifiers)
            read = tool('gatt', PEER + '/random', 'read', '2A38', transport=PLACE)
            assert [e['value'] for e in read.events('value')] == ['01'], f'{bus}: {read}'


def test_a_fake():
    """one that sends nonsense ends the tool with a word or is survived; nothing crashes or hangs"""
    with usb.Dongle('1-5'):
        run = tool('lescan', '--duration', '10', transport=PLACE, status=None)
        assert run.status in (0, 1, 3), run
        assert run.status == 0 or run.words().strip(), run
