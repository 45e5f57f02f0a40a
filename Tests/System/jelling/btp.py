"""Matter's Bluetooth Transport Protocol, both sides, and the octets of PASE's first two messages. Independent of our stack.

  request(244, 255)                          a handshake request on C1; response(244, 6) is what the device indicates on C2
  side = Side(size, sent, received)          one side after the handshake: gives packets of at most `size` octets
  side.send(message)                         the packets of a message, with what is due to be acknowledged
  side.take(packet)                          a packet of the other side: the message that it ends, or None
  side.acknowledge()                         a packet that only acknowledges; None where nothing is due

The order of sequence numbers: the handshake response is the device's number 0, so the device goes on with 1 and the commissioner
begins with 0, and its first packet acknowledges number 0."""
import struct

SERVICE = 'FFF6'
C1, C2, C3 = (f'18EE2EF5-263D-4559-959F-4F9C429F9D1{n}' for n in (1, 2, 3))
BEGIN, CONTINUE, END, ACKNOWLEDGE, HANDSHAKE = 0x01, 0x02, 0x04, 0x08, 0x65
VERSION = 4


def advertised(discriminator, vendor, product, more=False):
    """The data of Matter's service in an advertisement of a device that can be commissioned."""
    return struct.pack('<BHHHB', 0, discriminator, vendor, product, 1 if more else 0)


def request(size, window):
    return bytes([HANDSHAKE, 0x6C, VERSION, 0, 0, 0]) + struct.pack('<HB', size, window)


def response(size, window):
    return bytes([HANDSHAKE, 0x6C, VERSION]) + struct.pack('<HB', size, window)


class Side:
    def __init__(self, size, sent, received):
        self.size, self.sent, self.received, self.due = size, sent, received, received is not None
        self.length, self.parts = None, b''

    def head(self, flags):
        if self.due:
            flags |= ACKNOWLEDGE
        packet = bytes([flags]) + (bytes([self.received]) if self.due else b'')
        self.sent, self.due = (self.sent + 1) % 256, False
        return packet + bytes([self.sent])

    def send(self, message):
        packets, rest = [], message
        while rest or not packets:
            head = self.head(CONTINUE if packets else BEGIN)
            if not packets:
                head += struct.pack('<H', len(message))
            part, rest = rest[:self.size - len(head)], rest[self.size - len(head):]
            packets.append(bytes([head[0] | (0 if rest else END)]) + head[1:] + part)
        return packets

    def acknowledge(self):
        return self.head(0) if self.due else None

    def take(self, packet):
        assert len(packet) <= self.size, f'{len(packet)} octets, more than {self.size}'
        flags, at = packet[0], 1
        if flags & ACKNOWLEDGE:
            assert packet[at] == self.sent, f'acknowledges {packet[at]}, not {self.sent}: {packet.hex()}'
            at += 1
        assert packet[at] == (self.received + 1) % 256, f'number {packet[at]} after {self.received}: {packet.hex()}'
        self.received, at = packet[at], at + 1
        if not flags & (BEGIN | CONTINUE | END):
            return None
        self.due = True
        assert bool(flags & BEGIN) == (self.length is None), packet.hex()
        if flags & BEGIN:
            self.length, at = struct.unpack_from('<H', packet, at)[0], at + 2
        self.parts += packet[at:]
        if not flags & END:
            return None
        message, length, self.parts, self.length = self.parts, self.length, b'', None
        assert len(message) == length, f'{len(message)} of {length} octets'
        return message


def octets(tag, value):
    return struct.pack('<BBB', 0x30, tag, len(value)) + value


def exchange(opcode, counter, source, destination, initiator, payload):
    """An unencrypted message of the secure channel protocol. BTP is reliable: nothing is to be acknowledged by messages."""
    flags, nodes = (0x04, source) if initiator else (0x01, destination)
    return struct.pack('<BHBIQBBHH', flags, 0, 0, counter, nodes, 1 if initiator else 0, opcode, 0x1234, 0) + payload


def parameter_request(random, session, node=0x1122334455667788):
    """PBKDFParamRequest: the commissioner does not know the parameters."""
    return exchange(0x20, 1, node, None, True,
                    b'\x15' + octets(1, random) + struct.pack('<BBHBBBBB', 0x25, 2, session, 0x24, 3, 0, 0x28, 4) + b'\x18')


def parameter_response(request, random, session, iterations, salt):
    """PBKDFParamResponse to it, with the parameters."""
    node, = struct.unpack_from('<Q', request, 8)
    theirs = request[request.index(b'\x15\x30\x01\x20') + 4:][:32]
    return exchange(0x21, 7, None, node, False, b'\x15' + octets(1, theirs) + octets(2, random) + struct.pack('<BBH', 0x25, 3, session)
                    + b'\x35\x04' + struct.pack('<BBI', 0x26, 1, iterations) + octets(2, salt) + b'\x18\x18')
