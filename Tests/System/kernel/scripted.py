"""Scripted controllers (jelling/controller.py) as adapters of the guest's kernel, each as its test wants it."""
import errno, os, select, socket, tempfile, threading, time

from jelling.controller import RESET, SILENT, Controller
from jelling.relay import split_packets
from kernel.bled import LIMIT, PLUGS, shell, wait_until

# Commands that read something of the controller.
VERSION, COMMANDS, FEATURES, EXTENDED_FEATURES, READ_ADDRESS = 0x1001, 0x1002, 0x1003, 0x1004, 0x1009
# Read Local Name has 248 octets, and so has everything that this does not know.
UNKNOWN = b'\0' + bytes(248)
# (octet, octet's value) in the list of supported commands: the least that an LE host needs (Core 5.4, Vol 4, Part E, 6.27).
LE_COMMANDS = bytearray(64)
for octet, value in (0, 0x20), (2, 0x80), (5, 0xC0), (14, 0xA8), (15, 0x02), (25, 0xFF), (26, 0xFF), (27, 0xFF), (28, 0x7F):
    LE_COMMANDS[octet] = value
LE_COMMANDS = bytes(LE_COMMANDS)
CLASSIC = range(0x0C00, 0x1400)
# Of a chip of Bluetooth 2.1: bit 38, LE Supported, is clear (Core 5.4, Vol 2, Part C, 3.3).
CLASSIC_FEATURES = bytes.fromhex('ffff8dfe9bf90080')


class Adapter:
    """A controller behind /dev/vhci. `index` is its number as long as it is plugged in."""

    def __init__(self, address, has_le=True):
        self.folder = tempfile.mkdtemp()
        self.controller = Controller(f'{self.folder}/c', address)
        # `drops` is the command at which it leaves its bus, when a program sends it.
        self.index, self.plugs, self.drops, self.kernel = None, 0, None, None
        self.asked = []
        for opcode in RESET, VERSION:
            self.controller.answers[opcode] = lambda parameters, opcode=opcode: self.answer(opcode, parameters)
        # The kernel uses what is claimed, and does not set an adapter up that answers too little.
        self.controller.answers[COMMANDS] = lambda _: b'\0' + LE_COMMANDS
        if not has_le:
            del self.controller.answers[COMMANDS]
            self.make_classic()

    def make_classic(self):
        """As BR/EDR controllers are that know nothing of LE."""
        honest = self.controller.honest

        def answer(opcode, parameters):
            if opcode == FEATURES:
                return b'\0' + CLASSIC_FEATURES
            if opcode == EXTENDED_FEATURES:
                # The page and the last one; an answer for page 0 would replace what the kernel knows.
                return b'\0' + parameters[:1] + b'\1' + bytes(8)
            if opcode == COMMANDS:
                return b'\0' + bytes(64)
            if opcode >> 10 == 8:
                return b'\1'
            known = honest(opcode, parameters)
            return UNKNOWN if known == b'\1' and opcode in CLASSIC else known
        self.controller.honest = answer

    def answer(self, opcode, parameters):
        # The kernel sends each of them once, when it sets the adapter up.
        is_kernels = opcode not in self.asked
        self.asked.append(opcode)
        if opcode == self.drops and not is_kernels:
            # It is back a moment later.
            threading.Thread(target=self.replug, daemon=True).start()
            return SILENT
        return self.controller.honest(opcode, parameters)

    def replug(self):
        self.unplug()
        time.sleep(0.1)
        self.plug(waits=False)

    def plug(self, waits=True):
        # The kernel gives up on one that answers late, as the machine is busy.
        for is_last in PLUGS if waits else [True]:
            before = numbers()
            self.kernel = os.open('/dev/vhci', os.O_RDWR)
            os.write(self.kernel, bytes([0xFF, 0]))
            self.line = socket.socket(socket.AF_UNIX)
            self.line.connect(f'{self.folder}/c')
            self.is_in, self.asked = True, []
            self.carrier = threading.Thread(target=self.carry, daemon=True)
            self.carrier.start()
            self.plugs += 1
            if not waits:
                return self
            try:
                wait_until(lambda: numbers() - before, 'the kernel has the adapter', 60)
                self.index, = numbers() - before
                # Set up, and let go of.
                wait_until(lambda: 'DOWN' in shell(f'hciconfig hci{self.index}').split() and self.has_been_asked(), 'it is set up',
                           LIMIT if is_last else 60)
                return self
            except AssertionError:
                if is_last:
                    raise
                self.unplug()

    def has_been_asked(self):
        return any(opcode == READ_ADDRESS for opcode, _ in list(self.controller.commands))

    def carry(self):
        waiting, kernel, line = b'', self.kernel, self.line
        while self.is_in:
            ready, _, _ = select.select([kernel, line], [], [], 0.05)
            if kernel in ready:
                packet = os.read(kernel, 4096)
                # Its own report of the number.
                if packet[0] == 0xFF:
                    self.index = packet[2] | packet[3] << 8
                else:
                    line.sendall(packet)
            if line in ready:
                waiting += line.recv(65536)
                packets, waiting = split_packets(waiting)
                for packet in packets:
                    try:
                        os.write(kernel, packet)
                    except OSError as error:
                        # The kernel refuses what comes for an adapter that is down.
                        if error.errno != errno.ENXIO:
                            raise
        os.close(kernel)
        line.close()

    def unplug(self):
        self.is_in = False
        self.carrier.join(LIMIT)

    def close(self):
        self.drops = None
        time.sleep(0.5)
        self.unplug()
        self.controller.close()


def numbers():
    return {int(name[3:]) for name in os.listdir('/sys/class/bluetooth') if name.startswith('hci') and ':' not in name}
