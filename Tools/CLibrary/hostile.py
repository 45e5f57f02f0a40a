"""Controllers that break the rules: ble-gw and ble-beacon must end with an error, or go on, and never crash.

Each controller listens on loopback (tcp:), takes one connection after the other, and says what its case says. A case fails
when the program is killed by a signal, reports a fault of memory (AddressSanitizer), or does not end at all."""
import functools, os, random, socket, subprocess, threading

PATIENCE = 300
COMMANDS = 'scan 1\nconnect C1:00:00:00:00:01/random timeout=2\nread 0x0003\nrssi\ndisconnect\nscan 1\nquit\n'
OK = {0x1001: bytes([9, 0, 0, 9, 0, 0, 0, 0]), 0x1002: bytes(64), 0x1003: bytes(8), 0x1009: bytes([0xC1] * 6),
      0x2002: bytes([251, 0, 8]), 0x2003: bytes(8), 0x200F: bytes([8]), 0x201C: bytes(8)}
PENDING = {0x0406, 0x200D, 0x2016, 0x041D}


def event(code, parameters):
    return bytes([4, code, len(parameters)]) + parameters


def report(number, data=b'\x02\x01\x06\x05\x09Test'):
    address = number.to_bytes(5, 'little') + b'\xC1'
    return event(0x3E, bytes([2, 1, 0, 1]) + address + bytes([len(data)]) + data + b'\xC5')


def answers(packet):
    """What a good controller says to a packet: a list."""
    if packet[0] == 2:
        handle = packet[1:3]
        said = [event(0x13, bytes([1, handle[0], handle[1] & 0x0F, 1, 0]))]
        opcode = packet[9] if len(packet) > 9 else 0
        reply = {0x02: b'\x03\x05\x02', 0x0A: b'\x0B\x01\x02', 0x10: b'\x01\x10\x01\x00\x0A'}.get(opcode)
        if reply:
            frame = len(reply).to_bytes(2, 'little') + b'\x04\x00' + reply
            said.append(b'\x02' + bytes([handle[0], handle[1] & 0x0F | 0x20]) + len(frame).to_bytes(2, 'little') + frame)
        return said
    opcode = int.from_bytes(packet[1:3], 'little')
    if opcode not in PENDING:
        return [event(0x0E, bytes([1]) + packet[1:3] + b'\0' + OK.get(opcode, b''))]
    said = [event(0x0F, bytes([0, 1]) + packet[1:3])]
    if opcode == 0x0406:
        said.append(event(0x05, b'\0' + packet[4:6] + b'\x16'))
    elif opcode == 0x200D:
        said.append(event(0x3E, bytes([1, 0, 0x40, 0, 0, 1]) + packet[10:16] + bytes([24, 0, 0, 0, 200, 0, 0])))
    elif opcode == 0x2016:
        said.append(event(0x3E, bytes([4, 0]) + packet[4:6] + bytes(8)))
    return said


class Gone(Exception):
    pass


class Line:
    """One connection of the program under test."""
    def __init__(self, connection):
        self.connection = connection
        self.connection.settimeout(PATIENCE)

    def say(self, octets):
        try:
            self.connection.sendall(octets)
        except OSError:
            raise Gone

    def exactly(self, count):
        octets = b''
        while len(octets) < count:
            try:
                more = self.connection.recv(count - len(octets))
            except OSError:
                raise Gone
            if not more:
                raise Gone
            octets += more
        return octets

    def hear(self):
        kind = self.exactly(1)
        head = self.exactly(3 if kind == b'\x01' else 4)
        length = head[2] if kind == b'\x01' else int.from_bytes(head[2:4], 'little')
        return kind + head + self.exactly(length)


def obedient(line, change=lambda octets: octets, after=lambda line: None):
    while True:
        for said in answers(line.hear()):
            line.say(change(said))
        after(line)


# Cases: each a function of a connection and of a generator of random numbers.

def garbage(line, numbers):
    """Octets without a meaning, instead of answers."""
    while True:
        line.say(numbers.randbytes(4096))


def garbage_that_frames(line, numbers):
    """Packets of the right lengths with random contents."""
    for _ in range(3000):
        body = numbers.randbytes(numbers.randrange(256))
        line.say(event(numbers.randrange(256), body) if numbers.random() < 0.7 else
                 b'\x02' + numbers.randbytes(2) + len(body).to_bytes(2, 'little') + body)
    obedient(line)


def half_a_packet(line, numbers):
    """The beginning of an event, then the end of the connection."""
    line.hear()
    line.say(event(0x0E, bytes(20))[:9])


def drop_by_drop(line, numbers):
    """Right answers, octet by octet."""
    line.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def split(said):
        for octet in said[:-1]:
            line.say(bytes([octet]))
        return said[-1:]
    obedient(line, split)


def nothing(line, numbers):
    """No answer at all."""
    while True:
        line.hear()


def deaf(line, numbers):
    """Nothing is read, so that the program cannot write."""
    threading.Event().wait(20)


def at_once_gone(line, numbers):
    """The connection ends as soon as it is made."""


def cut_answers(line, numbers):
    """Each answer lacks its last octets, and says so in its length."""
    def cut(said):
        kept = said[3:-numbers.randrange(1, 4)] if said[0] == 4 else said[5:-1]
        return event(said[1], kept) if said[0] == 4 else said[:3] + len(kept).to_bytes(2, 'little') + kept
    obedient(line, lambda said: cut(said) if numbers.random() < 0.3 else said)


def wrong_lengths(line, numbers):
    """Good answers, and between them reports, counts and frames whose inner lengths are wrong."""
    bad = [event(0x3E, bytes([2, 255])), event(0x3E, bytes([2, 9, 0, 1]) + bytes(6) + b'\xFF'), event(0x13, b'\xFF\x40\0'),
           event(0x3E, bytes([13, 3]) + bytes(20)), b'\x02\x40\x20\x04\x00\xFF\xFF\x04\x00', b'\x02\x40\x20\x02\x00\x01\x00',
           b'\x02\x40\x10\x05\x00abcde', event(0x05, b''), event(0x0E, b'\x01'), event(0x3E, b''), b'\x02\x41\x20\x00\x00',
           b'\x02\x40\x20\x05\x00\x01\x00\x06\x00\xFF', b'\x02\x40\x20\x08\x00\x04\x00\x05\x00\xFF\xFF\xFF\xFF']

    def more(line):
        line.say(numbers.choice(bad))
    obedient(line, after=more)


def flood(line, numbers):
    """A hundred thousand reports of as many devices, and data of links that do not exist."""
    def pour(line):
        octets = b''.join(report(numbers.randrange(1 << 40)) for _ in range(2500))
        line.say(octets + b'\x02\x77\x20\x05\x00\x01\x00\x04\x00\x0A' * 2000)
    left = [40]

    def after(line):
        if left[0]:
            left[0] -= 1
            pour(line)
    obedient(line, after=after)


def storms(line, numbers):
    """Events that no command led to: links that come and go, credits from nowhere, hardware errors."""
    def storm(line):
        octets = b''
        for _ in range(40):
            handle = bytes([numbers.randrange(4) + 0x40, 0])
            octets += numbers.choice([
                event(0x3E, bytes([1, 0]) + handle + bytes([numbers.randrange(2), 1]) + numbers.randbytes(6)
                      + bytes([24, 0, 0, 0, 200, 0, 0])),
                event(0x05, b'\0' + handle + b'\x13'), event(0x13, b'\x01' + handle + b'\xFF\xFF'),
                event(0x0F, bytes([0, 255, 0, 0])), event(0x08, b'\0' + handle + b'\x01'), event(0x30, b'\0' + handle),
                event(0x3E, bytes([5]) + handle + bytes(10)), report(numbers.randrange(9))])
        line.say(octets + (event(0x10, b'\x01') if numbers.random() < 0.05 else b''))
    obedient(line, after=storm)


def flipped_bits(line, numbers):
    """A good conversation in which some octets arrive changed, but not those that frame a packet."""
    def flip(said):
        octets = bytearray(said)
        first = 3 if said[0] == 4 else 5
        for place in range(first, len(octets)):
            if numbers.random() < 0.02:
                octets[place] ^= 1 << numbers.randrange(8)
        return bytes(octets)
    obedient(line, flip, lambda line: line.say(flip(report(1))))


CASES = [garbage, garbage_that_frames, half_a_packet, drop_by_drop, nothing, deaf, at_once_gone, cut_answers, wrong_lengths,
         flood, storms, flipped_bits]
WITHOUT_CHANCE = [half_a_packet, drop_by_drop, nothing, deaf, at_once_gone]


def serve(listener, case, numbers):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            try:
                case(Line(connection), numbers)
            except (Gone, IndexError):
                pass


def run(case, seed, command, commands):
    """How the program ended, and what it said."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        endpoint = f'tcp:127.0.0.1:{listener.getsockname()[1]}'
        threading.Thread(target=serve, args=(listener, case, random.Random(seed)), daemon=True).start()
        environment = {**os.environ, 'ASAN_OPTIONS': 'exitcode=99', 'UBSAN_OPTIONS': 'halt_on_error=1:exitcode=99'}
        try:
            done = subprocess.run([*command, '-t', endpoint], input=commands, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors='replace', timeout=PATIENCE, env=environment)
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired as error:
            return None, str(error.stdout)[-2000:]


def survives(case, seed, command):
    """(whether it is good, why not)"""
    status, said = run(case, seed, command, COMMANDS)
    return status in (0, 1, 3), f'status {status}\n{said}'


def all_cases(runner, folder):
    """(what, case) of each."""
    command = [*runner, os.path.join(folder, 'ble-gw')]
    for case in CASES:
        for seed in (1,) if case in WITHOUT_CHANCE else (1, 2):
            what = f'a hostile controller: {case.__name__.replace("_", " ")}, seed {seed}'
            yield what, functools.partial(survives, case, seed, command)
