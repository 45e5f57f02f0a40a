"""A client of bled in another language: the frames and the messages of Protocol/bled.proto, with no library.

  python3 Tests/System/jelling/client.py SOCKET      prints what three seconds of scanning find

A message is written as a dictionary from field numbers to values: integers are varints, `Fixed64` eight octets, `bytes` themselves,
dictionaries messages. It is read as a dictionary from field numbers to lists of integers and `bytes`."""
import socket, struct, sys, time


class Fixed64(int):
    pass


def varint(value):
    octets = bytearray()
    while value > 0x7F:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*octets, value])


def encode(message):
    octets = b''
    for number, value in message.items():
        if isinstance(value, Fixed64):
            octets += varint(number << 3 | 1) + struct.pack('<Q', value)
        elif isinstance(value, int):
            octets += varint(number << 3) + varint(value)
        else:
            content = encode(value) if isinstance(value, dict) else value
            octets += varint(number << 3 | 2) + varint(len(content)) + content
    return octets


def decode(octets):
    message, place = {}, 0

    def read_varint():
        nonlocal place
        value = shift = 0
        while True:
            value |= (octets[place] & 0x7F) << shift
            shift += 7
            place += 1
            if octets[place - 1] < 0x80:
                return value

    while place < len(octets):
        key = read_varint()
        if key & 7 == 0:
            value = read_varint()
        else:
            length = {1: 8, 5: 4}[key & 7] if key & 7 != 2 else read_varint()
            value = octets[place:place + length]
            place += length
            if key & 7 == 1:
                value = struct.unpack('<Q', value)[0]
        message.setdefault(key >> 3, []).append(value)
    return message


def is_listening(path):
    """A socket has its path before it listens."""
    with open('/proc/net/unix') as sockets:
        return any(line.split()[3] == '00010000' and line.rstrip().endswith(' ' + path) for line in list(sockets)[1:])


class Client:
    def __init__(self, path, timeout=60):
        self.socket = socket.socket(socket.AF_UNIX)
        # This limits the wait for a place where many programs connect; with settimeout a full queue is an error at once.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', timeout, 0))
        self.socket.connect('\0' + path[1:] if path.startswith('@') else path)
        self.socket.settimeout(timeout)
        self.number = 0

    def send(self, message):
        self.send_octets(encode(message))

    def send_octets(self, content):
        self.socket.sendall(self.framed(content))

    @staticmethod
    def framed(content):
        return struct.pack('<I', len(content)) + content

    def receive(self):
        """The next message; None at the end of the connection."""
        content = self.receive_octets()
        return None if content is None else decode(content)

    def receive_octets(self):
        header = self.read(4)
        return header and self.read(struct.unpack('<I', header)[0])

    def read(self, count):
        octets = b''
        while len(octets) < count:
            more = self.socket.recv(count - len(octets))
            if not more:
                return None
            octets += more
        return octets

    def greet(self, version=1):
        """The daemon's answer: `welcome` is 1, `refusal` 2."""
        self.send({1: {1: version, 2: 1}})
        return self.receive()

    def request(self, command):
        """Begins an operation; returns its number."""
        self.number += 1
        self.send({2: {1: self.number, **command}})
        return self.number

    def end(self, operation):
        """What `completed` says of an operation; other messages are skipped."""
        while (message := self.receive()) is not None:
            if 3 in message and (end := decode(message[3][0]))[1][0] == operation:
                return end


if __name__ == '__main__':
    client = Client(sys.argv[1])
    assert 1 in client.greet(), 'refused'
    client.request({2: {1: 1}})
    ends = time.monotonic() + 3
    while (left := ends - time.monotonic()) > 0:
        client.socket.settimeout(left)
        try:
            message = client.receive()
        except TimeoutError:
            break
        if message is None:
            break
        for found in map(decode, message.get(4, [])):
            print(f'{decode(found[2][0])[1][0]:012X}  {(found[3][0] >> 1) ^ -(found[3][0] & 1)} dBm  {found.get(6, [b""])[0].hex()}')
