"""USB Bluetooth dongles over USB/IP: a Linux kernel takes them with `vhci_hcd`. Behind each is a controller on an H4 socket.

  usbip.py unix:/tmp/x/hci0 [--port N]

Prints `READY {"port": N}` when it listens on 127.0.0.1. The client names the dongle by its bus id, of which each is another make:

  1-1   class E0/01/01, 1209:0001, events in packets of 16 octets, voice on interface 1
  1-2   as a vendor-specific device of Broadcom's (0a5c:bd01, FF/01/01) with other endpoints: events 0x84, data 0x85 and 0x06
  1-3   33fa:0010: an extra octet follows each event, as behind Barrot's (Linux btusb.c, bazzite#3905)
  1-4   events of one turn are joined in one transfer, with packets of 64 octets
  1-5   a fake: after the answer to the third command it sends what no controller would
  1-6   it hangs when it is to scan, and answers nothing more until it is reset on its bus; then it works

Each attachment has a connection of its own to the controller, which is fresh therefore, and so it is after a reset. A dongle that is taken
again leaves the kernel that had it: one that was started again does not say that it has gone. USB/IP:
Documentation/usb/usbip_protocol.rst in Linux. Only the standard library is used."""
import argparse, asyncio, collections, json, random, signal, struct

VERSION, REQ_IMPORT, REP_IMPORT = 0x0111, 0x8003, 0x0003
CMD_SUBMIT, CMD_UNLINK, RET_SUBMIT, RET_UNLINK = 1, 2, 3, 4
EPIPE, ECONNRESET, ENOENT = -32, -104, -2
FULL_SPEED, DEVICE_NUMBER = 2, 2
COMMAND, ACL, EVENT = 1, 2, 4

Make = collections.namedtuple('Make', 'vendor product device_class interface_class events packet data_in data_out stray joined fake '
                              'hangs', defaults=(0, False, False, False))
E0 = (0xE0, 1, 1)
MAKES = {
    '1-1': Make(0x1209, 0x0001, E0, E0, 0x81, 16, 0x82, 0x02),
    '1-2': Make(0x0A5C, 0xBD01, (0xFF, 1, 1), (0xFF, 1, 1), 0x84, 16, 0x85, 0x06),
    '1-3': Make(0x33FA, 0x0010, E0, E0, 0x81, 16, 0x82, 0x02, 1),
    '1-4': Make(0x1209, 0x0004, (0, 0, 0), E0, 0x81, 64, 0x82, 0x02, 0, True),
    '1-5': Make(0x1209, 0x0005, E0, E0, 0x81, 16, 0x82, 0x02, 0, False, True),
    '1-6': Make(0x1209, 0x0006, E0, E0, 0x81, 16, 0x82, 0x02, hangs=True),
}
RESET, IS_RESET = b'\x01\x03\x0c\x00', b'\x04\x0e\x04\x01\x03\x0c\x00'
# LE Set Scan Enable and LE Set Extended Scan Enable.
SCANS = b'\x0c\x20', b'\x42\x20'
DATA_PACKET = 64
STRINGS = {0: b'\x09\x04', 1: 'Jelling'.encode('utf-16-le'), 2: 'Emulated Bluetooth dongle'.encode('utf-16-le')}


def device_descriptor(make):
    return struct.pack('<BBHBBBBHHHBBBB', 18, 1, 0x0200, *make.device_class, 64, make.vendor, make.product, 0x0100, 1, 2, 0, 1)


def configuration_descriptor(make):
    def interface(number, setting, kind, *endpoints):
        return struct.pack('<BBBBBBBBB', 9, 4, number, setting, len(endpoints), *kind, 0) + b''.join(
            struct.pack('<BBBBHB', 7, 5, address, attributes, size, interval) for address, attributes, size, interval in endpoints)
    body = interface(0, 0, make.interface_class, (make.events, 3, make.packet, 1), (make.data_in, 2, DATA_PACKET, 0),
                     (make.data_out, 2, DATA_PACKET, 0))
    for setting, size in enumerate((0, 9, 17, 25, 33, 49)):
        body += interface(1, setting, make.interface_class, (0x83, 1, size, 1), (0x03, 1, size, 1))
    return struct.pack('<BBHBBBBB', 9, 2, 9 + len(body), 2, 1, 0, 0x80, 50) + body


class Dongle:
    """One attachment: the kernel at one side, the controller's H4 socket at the other."""

    def __init__(self, make, reader, writer, endpoint):
        self.make, self.kernel_reader, self.kernel, self.endpoint = make, reader, writer, endpoint
        self.configuration, self.settings, self.commands = 0, {}, 0
        self.is_hanging, self.was_reset, self.controller, self.reception = False, False, None, None
        # What waits to be taken, and the transfers that wait for it, by endpoint.
        self.pieces = {make.events: collections.deque(), make.data_in: collections.deque()}
        self.transfers = {endpoint: collections.OrderedDict() for endpoint in (make.events, make.data_in, 0x83)}

    # To the kernel

    def answer(self, sequence, status=0, data=b'', count=None):
        self.kernel.write(struct.pack('>IIIII iiiii 8x', RET_SUBMIT, sequence, 0, 0, 0, status,
                                      len(data) if count is None else count, 0, 0, 0) + data)

    def give(self, endpoint, piece):
        self.pieces[endpoint].append(piece)
        self.match(endpoint)

    def match(self, endpoint):
        while self.pieces[endpoint] and self.transfers[endpoint]:
            sequence, room = self.transfers[endpoint].popitem(last=False)
            piece = self.pieces[endpoint].popleft()
            if len(piece) > room:
                self.pieces[endpoint].appendleft(piece[room:])
            self.answer(sequence, 0, piece[:room])

    def event(self, packet):
        packet += bytes([0xA5] * self.make.stray)
        if self.make.joined and self.pieces[self.make.events]:
            # What waits already and this come in one transfer, as far as they fit.
            packet = self.pieces[self.make.events].pop() + packet
        for at in range(0, len(packet), self.make.packet):
            self.give(self.make.events, packet[at:at + self.make.packet])

    def noise(self):
        """What a fake or broken one may send."""
        chance = random.Random(1)
        for _ in range(300):
            self.give(self.make.events, chance.randbytes(chance.randrange(self.make.packet + 1)))
            self.give(self.make.data_in, chance.randbytes(chance.randrange(DATA_PACKET + 1)))
        self.give(self.make.data_in, b'\x01\x00\xff\xff' + bytes(60))

    async def power_up(self):
        """A controller as after power-on."""
        for waiting in self.pieces.values():
            waiting.clear()
        self.is_hanging = False
        # A client at a time: the one before may not have been missed yet.
        while not await self.connect():
            await asyncio.sleep(0.05)
        self.reception = asyncio.create_task(self.receive())

    async def connect(self):
        self.controller = await asyncio.open_unix_connection(self.endpoint.removeprefix('unix:'))
        try:
            self.controller[1].write(RESET)
            return await self.controller[0].readexactly(len(IS_RESET)) == IS_RESET
        except (asyncio.IncompleteReadError, ConnectionError):
            # Refused.
            return False

    async def power_down(self):
        if self.reception:
            self.reception.cancel()
        if self.controller:
            self.controller[1].close()

    async def receive(self):
        try:
            await self.pass_packets_on()
        except (asyncio.IncompleteReadError, ConnectionError):
            # Without its controller a dongle is gone.
            self.kernel.close()

    async def pass_packets_on(self):
        while True:
            kind = (await self.controller[0].readexactly(1))[0]
            head = await self.controller[0].readexactly(2 if kind == EVENT else 4)
            length = head[1] if kind == EVENT else struct.unpack('<H', head[2:])[0]
            packet = head + await self.controller[0].readexactly(length)
            if self.is_hanging:
                continue
            if kind == EVENT:
                self.event(packet)
            elif kind == ACL:
                self.give(self.make.data_in, packet)

    # From the kernel

    async def serve(self):
        while True:
            head = await self.kernel_reader.readexactly(48)
            command, sequence, _, direction, endpoint = struct.unpack('>IIIII', head[:20])
            if command == CMD_UNLINK:
                self.unlink(sequence, struct.unpack('>I', head[20:24])[0])
                continue
            _, length, _, packets, _ = struct.unpack('>Iiiii', head[20:40])
            data = await self.kernel_reader.readexactly(length) if direction == 0 and length > 0 else b''
            if 0 < packets < 1024:
                await self.kernel_reader.readexactly(16 * packets)
            if endpoint == 0 and head[40:42] == b'\0\x09' and self.configuration:
                # The kernel configures a device again when it has reset its port.
                await self.power_down()
                await self.power_up()
                self.was_reset = True
            self.submit(sequence, direction, endpoint, length, head[40:48], data)
            await self.kernel.drain()

    def unlink(self, sequence, victim):
        status = 0
        for waiting in self.transfers.values():
            if waiting.pop(victim, None) is not None:
                status = ECONNRESET
        self.kernel.write(struct.pack('>IIIII i 24x', RET_UNLINK, sequence, 0, 0, 0, status))

    def submit(self, sequence, direction, endpoint, length, setup, data):
        if endpoint == 0:
            return self.control(sequence, length, setup, data)
        address = endpoint | (0x80 if direction else 0)
        if address in self.transfers:
            self.transfers[address][sequence] = length
            if address in self.pieces:
                self.match(address)
        elif address == self.make.data_out:
            self.controller[1].write(bytes([ACL]) + data)
            self.answer(sequence, count=len(data))
        else:
            self.answer(sequence, EPIPE)

    def control(self, sequence, length, setup, data):
        kind, request, value, index, _ = struct.unpack('<BBHHH', setup)
        if (kind, request) == (0x20, 0):
            self.commands += 1
            if self.make.hangs and not self.was_reset and data[:2] in SCANS and data[3:4] == b'\1':
                self.is_hanging = True
            self.controller[1].write(bytes([COMMAND]) + data)
            self.answer(sequence, count=len(data))
            if self.make.fake and self.commands == 3:
                self.noise()
        elif (kind, request) == (0x80, 6):
            found = {1: device_descriptor(self.make), 2: configuration_descriptor(self.make)}.get(value >> 8)
            if value >> 8 == 3 and value & 0xFF in STRINGS:
                text = STRINGS[value & 0xFF]
                found = bytes([len(text) + 2, 3]) + text
            self.answer(sequence, EPIPE) if found is None else self.answer(sequence, 0, found[:length])
        elif (kind, request) == (0x00, 9):
            self.configuration = value
            self.answer(sequence)
        elif (kind, request) == (0x80, 8):
            self.answer(sequence, 0, bytes([self.configuration])[:length])
        elif (kind, request) == (0x01, 11):
            self.settings[index] = value
            self.answer(sequence)
        elif (kind, request) == (0x81, 10):
            self.answer(sequence, 0, bytes([self.settings.get(index, 0)])[:length])
        elif request == 0 and kind & 0x80:
            self.answer(sequence, 0, bytes(2)[:length])
        elif request in (1, 3):
            self.answer(sequence)
        else:
            self.answer(sequence, EPIPE)


# The connections of the kernels that have them, by bus id.
TAKEN = {}


async def attached(reader, writer, endpoint):
    """A connection of a kernel, from the choice of the dongle on."""
    dongle = None
    try:
        version, code, _ = struct.unpack('>HHI', await reader.readexactly(8))
        if code != REQ_IMPORT:
            return
        bus = (await reader.readexactly(32)).rstrip(b'\0').decode()
        make = MAKES.get(bus)
        writer.write(struct.pack('>HHI', version, REP_IMPORT, 0 if make else 1))
        if not make:
            return
        if bus in TAKEN:
            TAKEN[bus].close()
        TAKEN[bus] = writer
        writer.write(struct.pack('>256s32sIIIHHHBBBBBB', f'/sys/devices/emulated/{bus}'.encode(), bus.encode(), 1, DEVICE_NUMBER,
                                 FULL_SPEED, make.vendor, make.product, 0x0100, *make.device_class, 0, 1, 2))
        dongle = Dongle(make, reader, writer, endpoint)
        await dongle.power_up()
        await dongle.serve()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        if dongle:
            await dongle.power_down()
            if TAKEN[bus] is writer:
                del TAKEN[bus]
        writer.close()


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('endpoint')
    parser.add_argument('--port', type=int, default=0)
    arguments = parser.parse_args()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = await asyncio.start_server(lambda r, w: attached(r, w, arguments.endpoint), '127.0.0.1', arguments.port)
    print('READY ' + json.dumps({'port': server.sockets[0].getsockname()[1]}), flush=True)
    await stop.wait()
    server.close()


if __name__ == '__main__':
    asyncio.run(main())
