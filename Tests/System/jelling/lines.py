"""Serial lines that lose or change octets, and the other end of the three-wire transport in another language.

  lines.py PATH unix:CONTROLLER       a three-wire controller: a link at PATH to a pseudo-terminal, behind which is a controller with H4

Prints `READY {"port": PATH}`. Only the standard library is used."""
import asyncio, json, os, random, select, signal, struct, sys, threading, tty


class Line:
    """A line between a host, which gets `device`, and the port of a controller. Of a thousand octets it loses or changes so many, in both
    directions; that may be changed at any time."""

    def __init__(self, port, per_thousand=0, changes=False, seed=1):
        self.per_thousand, self.changes, self.dice, self.octets, self.hurt = per_thousand, changes, random.Random(seed), 0, 0
        self.far = os.open(port, os.O_RDWR | os.O_NOCTTY)
        self.near, device = os.openpty()
        for one in (self.far, device):
            tty.setraw(one)
        # The descriptor keeps the device open while no host has it.
        self.device, self.keeper = os.ttyname(device), device
        self.is_running = True
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while self.is_running:
            for one in select.select([self.near, self.far], [], [], 0.2)[0]:
                rest = bytes(self.damaged(os.read(one, 4096)))
                while rest:
                    rest = rest[os.write(self.far if one == self.near else self.near, rest):]

    def damaged(self, octets):
        self.octets += len(octets)
        for octet in octets:
            if self.dice.randrange(1000) < self.per_thousand:
                self.hurt += 1
                if self.changes:
                    yield self.dice.randrange(256)
            else:
                yield octet

    def hurts(self, per_thousand):
        """From now on; what is counted begins anew."""
        self.per_thousand, self.octets, self.hurt = per_thousand, 0, 0

    def __str__(self):
        return f'{self.hurt} of {self.octets} octets were lost'

    def close(self):
        self.is_running = False
        self.thread.join()
        for one in (self.near, self.far, self.keeper):
            os.close(one)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# The three-wire transport (Core 5.4, Vol 4, Part D), as the specification has it: no line is shared with the project's own.

END, ESCAPE = 0xC0, 0xDB
ACKNOWLEDGEMENT, LINK_CONTROL = 0, 15
SYNC, SYNC_RESPONSE, CONFIG, CONFIG_RESPONSE = b'\x01\x7e', b'\x02\x7d', b'\x03\xfc', b'\x04\x7b'
WAKE_UP, WOKEN = b'\x05\xfa', b'\x06\xf9'
WINDOW, CRC_FLAG = 7, 0x10
ACL, FRAGMENT = 2, 27
PAUSE, RESEND = 0.1, 0.03


def crc(octets):
    value = 0xFFFF
    for octet in octets:
        value ^= int(f'{octet:08b}'[::-1], 2) << 8
        for _ in range(8):
            value = (value << 1 ^ 0x1021 if value & 0x8000 else value << 1) & 0xFFFF
    return struct.pack('>H', value)


class ThreeWireController:
    """A controller's side of the link; what it receives goes to `deliver(type, octets)`."""

    def __init__(self, port, deliver, established):
        self.port, self.deliver, self.established = port, deliver, established
        self.loop = asyncio.get_running_loop()
        self.frame, self.is_escaped = None, False
        self.resend = self.loop.create_task(self.repeat())
        self.reset()
        self.loop.add_reader(port, self.read)

    def reset(self):
        self.state, self.window, self.has_crc = 'uninitialized', 1, False
        self.number = self.expected = 0     # of the first that is not acknowledged, and of what comes next
        self.waiting, self.flying = [], []

    # The line

    def read(self):
        for octet in os.read(self.port, 4096):
            if octet == END:
                frame, self.frame, self.is_escaped = self.frame, bytearray(), False
                if frame:
                    self.receive(bytes(frame))
            elif self.frame is None:
                pass
            elif self.is_escaped:
                self.is_escaped = False
                self.frame = None if octet not in (0xDC, 0xDD) else self.frame + bytes([END if octet == 0xDC else ESCAPE])
            elif octet == ESCAPE:
                self.is_escaped = True
            else:
                self.frame.append(octet)

    def write(self, kind, content=b'', number=None):
        has_crc = self.has_crc and kind != LINK_CONTROL
        flags = (number or 0) | self.expected << 3 | has_crc << 6 | (number is not None) << 7
        head = bytes([0 if kind == LINK_CONTROL else flags, kind | (len(content) & 15) << 4, len(content) >> 4])
        frame = head + bytes([~sum(head) & 0xFF]) + content
        frame += crc(frame) if has_crc else b''
        frame = frame.replace(b'\xdb', b'\xdb\xdd').replace(b'\xc0', b'\xdb\xdc')
        os.write(self.port, bytes([END]) + frame + bytes([END]))

    # Packets

    def send(self, kind, content):
        if self.state == 'active':
            self.waiting.append((kind, content))
            self.fill()

    def fill(self):
        while self.waiting and len(self.flying) < self.window:
            self.flying.append(self.waiting.pop(0))
            self.write(*self.flying[-1], number=(self.number + len(self.flying) - 1) % 8)

    async def repeat(self):
        while True:
            await asyncio.sleep(PAUSE if self.state != 'active' else RESEND)
            if self.state == 'uninitialized':
                self.write(LINK_CONTROL, SYNC)
            elif self.state == 'initialized':
                self.write(LINK_CONTROL, CONFIG + bytes([WINDOW | CRC_FLAG]))
            for place, one in enumerate(self.flying):
                self.write(*one, number=(self.number + place) % 8)

    def receive(self, frame):
        if len(frame) < 4 or sum(frame[:4]) & 0xFF != 0xFF:
            return
        length, has_crc = frame[1] >> 4 | frame[2] << 4, frame[0] >> 6 & 1
        if len(frame) != 4 + length + 2 * has_crc or has_crc and crc(frame[:-2]) != frame[-2:]:
            return
        kind, content = frame[1] & 15, frame[4:4 + length]
        if kind == LINK_CONTROL:
            return self.control(content)
        if self.state != 'active':
            return
        acknowledged = ((frame[0] >> 3 & 7) - self.number) % 8
        if acknowledged <= len(self.flying):
            del self.flying[:acknowledged]
            self.number = (self.number + acknowledged) % 8
        if frame[0] & 0x80:
            if frame[0] & 7 == self.expected:
                self.expected = (self.expected + 1) % 8
                self.deliver(kind, content)
            self.write(ACKNOWLEDGEMENT)
        self.fill()

    def control(self, message):
        kind = message[:2]
        if kind == SYNC:
            if self.state == 'active':
                self.reset()
            self.write(LINK_CONTROL, SYNC_RESPONSE)
        elif kind == SYNC_RESPONSE and self.state == 'uninitialized':
            self.state = 'initialized'
            self.write(LINK_CONTROL, CONFIG + bytes([WINDOW | CRC_FLAG]))
        elif kind == CONFIG and self.state != 'uninitialized':
            field = message[2] if len(message) > 2 else 0
            self.agree(field)
            self.write(LINK_CONTROL, CONFIG_RESPONSE + bytes([self.window | field & CRC_FLAG]))
        elif kind == CONFIG_RESPONSE and self.state == 'initialized':
            self.agree(message[2] if len(message) > 2 else 0)
            self.state = 'active'
            self.established()
        elif kind == WAKE_UP:
            self.write(LINK_CONTROL, WOKEN)

    def agree(self, field):
        self.window, self.has_crc = max(min(field & 7, WINDOW), 1), field & CRC_FLAG != 0


def fragments(kind, head, content):
    """ACL data in packets of the shortest length that a link has: Bumble's never divides any, and a long one hardly passes a bad line."""
    if kind != ACL:
        return [head + content]
    handle, = struct.unpack('<H', head[:2])
    parts = [content[at:at + FRAGMENT] for at in range(0, len(content), FRAGMENT)]
    return [struct.pack('<HH', handle if not number else handle & 0x0FFF | 0x1000, len(part)) + part for number, part in enumerate(parts)]


async def serve(path, controller):
    """Each link that is established has a fresh controller."""
    near, device = os.openpty()
    tty.setraw(device)
    os.symlink(os.ttyname(device), path)
    behind = {}

    async def connect():
        if behind:
            behind.pop('task').cancel()
            behind.pop('writer').close()
        reader, behind['writer'] = await asyncio.open_unix_connection(controller.removeprefix('unix:'))
        behind['task'] = asyncio.create_task(pass_on(reader))
        for kind, content in early:
            behind['writer'].write(bytes([kind]) + content)
        early.clear()

    async def pass_on(reader):
        while True:
            kind, = await reader.readexactly(1)
            head = await reader.readexactly(2 if kind == 4 else 4)
            length = head[1] if kind == 4 else struct.unpack('<H', head[2:])[0]
            for packet in fragments(kind, head, await reader.readexactly(length)):
                link.send(kind, packet)

    def deliver(kind, content):
        if 'task' in behind:
            behind['writer'].write(bytes([kind]) + content)
        else:
            early.append((kind, content))

    early = []
    link = ThreeWireController(near, deliver, lambda: asyncio.create_task(connect()))
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    print('READY ' + json.dumps({'port': path}), flush=True)
    await stop.wait()
    link.resend.cancel()
    os.unlink(path)


if __name__ == '__main__':
    asyncio.run(serve(*sys.argv[1:]))
