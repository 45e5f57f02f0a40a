"""The kernel's own hosts on serial ports, H4 and the three-wire transport (H5), with simulated controllers behind pseudo-terminals:
hci0 speaks H5, hci1 H4, and both are on one air."""
import contextlib, ctypes, fcntl, os, pathlib, select, struct, subprocess, tty, zlib

from pytest import fixture

from jelling.lines import Line
from kernel.bluez import BlueZ, said
from kernel.harness import AF_BLUETOOTH, shell, wait_until

PORTS = {'h5': '/tmp/h5', 'h4': '/tmp/h4'}
ADDRESSES = {'h5': '00:AA:01:00:00:01', 'h4': '00:AA:01:00:00:02'}
# Of the kernel's include/uapi and drivers/bluetooth/hci_uart.h.
TIOCSETD, N_HCI, N_TTY = 0x5423, 15, 0
HCIUARTSETPROTO, HCIUARTGETDEVICE, HCIUARTSETFLAGS = 0x400455C8, 0x800455CA, 0x400455CB
H4, THREE_WIRE = 0, 2
# Otherwise the kernel resets a controller when it gives it back, which a bad line, or the end of a test that failed, prevents.
RESET_ON_INIT = 1 << 1


def attach(device, protocol):
    """Gives a serial port to the kernel, as btattach does; it has it as long as the descriptor is open."""
    descriptor = os.open(device, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(descriptor)
    fcntl.ioctl(descriptor, TIOCSETD, struct.pack('i', N_HCI))
    fcntl.ioctl(descriptor, HCIUARTSETFLAGS, RESET_ON_INIT)
    fcntl.ioctl(descriptor, HCIUARTSETPROTO, protocol)
    return descriptor


def detach(descriptor):
    fcntl.ioctl(descriptor, TIOCSETD, struct.pack('i', N_TTY))
    os.close(descriptor)


def adapter(port):
    """The index of the adapter behind a port; None while the kernel has made none of it."""
    try:
        return fcntl.ioctl(port, HCIUARTGETDEVICE)
    except OSError:
        return None


def bring_up(port, address, seconds=120):
    wait_until(lambda: adapter(port) is not None, f'the adapter {address}', seconds)
    name = f'hci{adapter(port)}'
    wait_until(lambda: {'UP', address} <= set(shell(f'hciconfig {name} up; hciconfig {name}', False).split()), f'{name} up', seconds)


IS_INSIDE = 'JELLING_GUEST' in os.environ


@fixture(scope='module')
def simulator():
    if not IS_INSIDE:
        yield
        return
    shell('modprobe hci_uart', False)
    process = subprocess.Popen(['/tmp/simulated-controllers', f'pty:{PORTS["h5"]},h5', f'pty:{PORTS["h4"]}'],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith('READY')
    yield process
    process.terminate()


@fixture(scope='module')
def bluez(simulator):
    if not IS_INSIDE:
        yield
        return
    pathlib.Path('/etc/bluetooth').mkdir(exist_ok=True)
    # A device that was found is not forgotten while a slow line connects to it.
    pathlib.Path('/etc/bluetooth/main.conf').write_text('[General]\nTemporaryTimeout=0\n[Policy]\nAutoEnable=false\n')
    shell('dbus-daemon --system --fork --nopidfile')
    daemon = subprocess.Popen(['/usr/libexec/bluetooth/bluetoothd', '-n'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=open('/tmp/bluetoothd.log', 'wb'))
    BlueZ.control = subprocess.Popen(['bluetoothctl'], stdin=subprocess.PIPE, stdout=open('/tmp/bluetoothctl.log', 'wb'),
                                     stderr=subprocess.STDOUT)
    wait_until(lambda: 'Agent registered' in said() or ADDRESSES['h4'] in said(), 'bluetoothctl')
    yield
    BlueZ.control.terminate()
    daemon.terminate()


class Hosts:
    """Both hosts, up; that of H5 behind a line."""

    def __init__(self, per_thousand=0):
        self.line = Line(os.path.realpath(PORTS['h5']), per_thousand)
        self.ports = [attach(self.line.device, THREE_WIRE), attach(os.path.realpath(PORTS['h4']), H4)]
        self.logged = len(self.log())
        try:
            for port, address in zip(self.ports, ADDRESSES.values()):
                bring_up(port, address)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def log():
        return shell('dmesg', False)

    def has_timed_out(self):
        """Whether a command of the kernel's was not answered in time since the hosts are up."""
        return 'tx timeout' in self.log()[self.logged:]

    def close(self):
        for port in self.ports:
            detach(port)
        self.line.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def connect():
    """BlueZ on the H5 adapter finds the H4 adapter, connects to it and reads its services."""
    near, far = ADDRESSES['h5'], ADDRESSES['h4']
    BlueZ.types('list', f'Controller {near}', f'Controller {far}')
    BlueZ.types(f'select {far}')
    BlueZ.types('power on', 'power on succeeded')
    BlueZ.types('discoverable on', 'discoverable on succeeded')
    BlueZ.types('advertise on', 'Advertising object registered')
    BlueZ.types(f'select {near}')
    BlueZ.types('power on', 'power on succeeded')
    BlueZ.types('scan le', f'Device {far}')
    BlueZ.types('scan off', 'Discovery stopped|Discovering: no')
    BlueZ.types(f'connect {far}', 'Connection successful', 'ServicesResolved: yes')


def disconnect():
    far = ADDRESSES['h4']
    BlueZ.types(f'disconnect {far}', 'Disconnection successful|Successful disconnected')
    BlueZ.types(f'remove {far}', 'removed')
    BlueZ.types(f'select {far}')
    BlueZ.types('advertise off', 'unregistered')


def test_three_wire_host(simulator, bluez, guests):
    """The kernel's three-wire host brings a simulated controller up over H5, scans and connects through BlueZ"""
    with Hosts() as hosts:
        connect()
        disconnect()
        assert not hosts.has_timed_out(), hosts.log()[-1000:]


def test_three_wire_host_on_a_bad_line(simulator, bluez, guests):
    """The kernel's three-wire host does the same on a line that loses 2 % of the octets in both directions: at more, its commands may time
    out while BlueZ sets it up"""
    with Hosts(per_thousand=20) as hosts:
        connect()
        disconnect()
        assert hosts.line.hurt > 10, hosts.line
        print(hosts.line)
        assert not hosts.has_timed_out(), hosts.log()[-1000:]


# Channels of L2CAP between the two hosts

PSM, LE_PUBLIC, SOCK_SEQPACKET, BTPROTO_L2CAP = 0x80, 1, 5, 0
MESSAGES = 40


def address_of(name, psm):
    """A `sockaddr_l2`."""
    return struct.pack('<HH6sHBx', AF_BLUETOOTH, psm, bytes.fromhex(ADDRESSES[name].replace(':', ''))[::-1], 0, LE_PUBLIC)


def channel():
    """The descriptors of both ends of a channel with credits: of the host with H5, and of that with H4."""
    libc = ctypes.CDLL(None, use_errno=True)

    def succeeds(result, what):
        assert result >= 0, f'{what}: {os.strerror(ctypes.get_errno())}'
        return result

    listener, near = (succeeds(libc.socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP), 'socket') for _ in range(2))
    for descriptor, name, psm in (listener, 'h4', PSM), (near, 'h5', 0):
        own = address_of(name, psm)
        succeeds(libc.bind(descriptor, own, len(own)), 'bind')
    succeeds(libc.listen(listener, 1), 'listen')
    peer = address_of('h4', PSM)
    succeeds(libc.connect(near, peer, len(peer)), 'connect')
    far = succeeds(libc.accept(listener, None, None), 'accept')
    os.close(listener)
    return near, far


def message(direction, number):
    """Text: an octet that needs an escape can turn into another one unseen, since the kernel's host sends no check of payloads."""
    text = f'{direction}{number:04}'
    return f'{text}{zlib.crc32(text.encode()):08x}'.encode()


def test_nothing_is_lost_above_at_5_percent(simulator, bluez, guests):
    """While the line of the kernel's three-wire host loses 5 % of the octets in both directions, all messages on a channel arrive both
    ways, once, whole and in order"""
    with Hosts() as hosts:
        connect()
        ends = channel()
        hosts.line.hurts(50)
        sent = {end: [message('><'[place], number) for number in range(MESSAGES)] for place, end in enumerate(ends)}
        arrived, written = {end: [] for end in ends}, dict.fromkeys(ends, 0)
        for end in ends:
            os.set_blocking(end, False)
        # As long as something comes or goes: what is doubled would come late.
        while True:
            writers = [end for end in ends if written[end] < MESSAGES]
            is_complete = min(map(len, arrived.values())) >= MESSAGES
            readable, writable, _ = select.select(ends, writers, [], 5 if is_complete else 120)
            if not readable and not writable:
                break
            for end in readable:
                arrived[end].append(os.read(end, 1000))
            for end in writable:
                # Writable is a guess: the credits may be gone when the kernel tries.
                with contextlib.suppress(BlockingIOError):
                    os.write(end, sent[end][written[end]])
                    written[end] += 1
        lossy = str(hosts.line)
        hurt, octets = hosts.line.hurt, hosts.line.octets
        hosts.line.hurts(0)
        for end, other in zip(ends, reversed(ends)):
            assert arrived[end] == sent[other], (lossy, len(arrived[end]), arrived[end][-3:])
        print(f'{lossy}, none of {2 * MESSAGES} messages')
        assert 0.04 * octets < hurt < 0.06 * octets, lossy
        for end in ends:
            os.close(end)
        disconnect()
