"""Plugs dongles that are served over USB/IP (jelling/usbip.py, outside) into the guest's kernel, and pulls them out."""
import glob, os, pathlib, socket, struct

from kernel.harness import shell, wait_until

HOST = '10.0.2.2'
VHCI = '/sys/devices/platform/vhci_hcd.0'
REQ_IMPORT, REP_IMPORT = 0x8003, 0x0003
ROOT_PORT = 0    # of vhci_hcd: the bus and port that the dongle gets do not change


def set_up():
    """The network to the machine outside, and a host controller without hardware."""
    shell('modprobe -a virtio_net vhci_hcd btusb')
    wait_until(lambda: os.path.exists('/sys/class/net/eth0') or glob.glob('/sys/class/net/e*'), 'a network card')
    card = os.path.basename(glob.glob('/sys/class/net/e*')[0])
    shell(f'ip link set {card} up; ip addr add 10.0.2.15/24 dev {card}', False)


class Dongle:
    """One that is plugged in; see usbip.py for its makes."""

    def __init__(self, bus='1-1'):
        self.bus = bus
        self.plug_in()

    def plug_in(self):
        connection = socket.create_connection((HOST, int(pathlib.Path('/host/usbip').read_text())), 60)
        connection.sendall(struct.pack('>HHI32s', 0x0111, REQ_IMPORT, 0, self.bus.encode()))
        answer = b''
        while len(answer) < 8 + 312:
            more = connection.recv(8 + 312 - len(answer))
            assert more, f'no dongle {self.bus}'
            answer += more
        speed, = struct.unpack('>I', answer[8 + 296:8 + 300])
        bus_number, device_number = struct.unpack('>II', answer[8 + 288:8 + 296])
        connection.settimeout(None)
        pathlib.Path(f'{VHCI}/attach').write_text(f'{ROOT_PORT} {connection.fileno()} {bus_number << 16 | device_number} {speed}')
        # The kernel has the connection now.
        connection.close()
        wait_until(lambda: self.port, 'the kernel has the dongle')
        wait_until(lambda: os.path.exists(f'/sys/bus/usb/devices/{self.port}:1.0'), 'its configuration')
        self.identifiers = ':'.join(pathlib.Path(f'/sys/bus/usb/devices/{self.port}/{name}').read_text().strip()
                                    for name in ('idVendor', 'idProduct'))

    @property
    def port(self):
        """Its place, as the kernel writes it."""
        found = [os.path.basename(path) for path in glob.glob(f'{VHCI}/usb*/[0-9]*-[0-9]*') if ':' not in path]
        return found[0] if found else None

    @property
    def driver(self):
        try:
            return os.path.basename(os.readlink(f'/sys/bus/usb/devices/{self.port}:1.0/driver'))
        except OSError:
            return None

    @property
    def adapter(self):
        """The kernel's number of the adapter, while its driver has the dongle."""
        found = glob.glob(f'/sys/bus/usb/devices/{self.port}:1.0/bluetooth/hci*')
        return int(os.path.basename(found[0])[3:]) if found else None

    def pull_out(self):
        if self.port:
            pathlib.Path(f'{VHCI}/detach').write_text(str(ROOT_PORT))
            wait_until(lambda: not self.port, 'the dongle is gone')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pull_out()
