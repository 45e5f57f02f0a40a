"""A real bled under messages that are mutated from real ones, in sessions of all three kinds at once, beside an app that is told
everything as if nothing else were there."""
import contextlib, json, os, pathlib, random, select, signal, socket, subprocess, tempfile, threading, time

from jelling import options
from jelling.daemon import Daemon, LIMIT
from jelling.programs import BLETOOL, EXAMPLES
from jelling.client import Client, decode, encode, varint

# A short run takes some seconds.
FEW = 6_000
SEED = 14
# Messages in one write, and in one session.
BURST, SESSION = 32, 640
# Names of the apps that it may be: each stays known to the daemon.
NAMES = [b'org.example.fuzz%d' % number for number in range(8)]
NUMBERS = [0, 1, 2, 3, 7, 127, 128, 255, 256, 0x7FFF, 0xFFFF, 0x10000, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1]
TOOL, APP, OPERATOR = 1, 2, 3
# REASON_SILENT of a refusal.
SILENT = 7


def count():
    return options.MESSAGES or FEW


# Real messages

class Tap:
    """A socket in front of the daemon's, which keeps what programs send."""

    def __init__(self, path, daemon):
        self.daemon, self.streams, self.listener = daemon, [], socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                program, _ = self.listener.accept()
                daemon = socket.socket(socket.AF_UNIX)
                daemon.connect(self.daemon)
                kept = bytearray()
                self.streams.append(kept)
                threading.Thread(target=self.carry, args=(program, daemon, kept), daemon=True).start()

    def carry(self, program, daemon, kept):
        with contextlib.suppress(OSError), program, daemon:
            while True:
                for side in select.select([program, daemon], [], [])[0]:
                    data = side.recv(65536)
                    if not data:
                        return
                    if side is program:
                        kept += data
                    (daemon if side is program else program).sendall(data)

    def messages(self):
        """By kind of session, each once."""
        found = {TOOL: {}, APP: {}, OPERATOR: {}}
        for stream in map(bytes, list(self.streams)):
            kind, place = None, 0
            while place + 4 <= len(stream) and place + 4 + (length := int.from_bytes(stream[place:place + 4], 'little')) <= len(stream):
                message, place = stream[place + 4:place + 4 + length], place + 4 + length
                if kind is None:
                    kind = decode(decode(message)[1][0])[2][0]
                else:
                    found[kind][message] = None
        return {kind: list(messages) for kind, messages in found.items()}


# Of the simulator: programs that name it by its address share a link.
HEART = 'C0:DE:00:00:00:01/random'
PROFILE = {'services': [{'uuid': 'FFF0', 'characteristics': [
    {'uuid': 'FFF1', 'properties': ['read', 'write', 'notify'], 'permissions': ['readable', 'writeable'], 'value': '6c616d70'}]}]}
COMMANDS = [('gatt', HEART, 'discover'), ('gatt', HEART, 'subscribe', '2A37', '--count', '2'),
            ('gatt', HEART, 'write', '6A656C6C-696E-6700-8000-000000000002', 'cafe'), ('pair', HEART),
            ('lescan', '--service', '180D', '--duplicates', '--duration', '0.5'), 
            ('app', 'list'), ('alerts',), ('status',)]


def recorded(daemon):
    """What bletool and the samples for Core Bluetooth say, of each kind; and what the generator adds, as the tools do not."""
    with tempfile.TemporaryDirectory() as folder:
        tap = Tap(path := os.path.join(folder, 'tap'), daemon.path)
        pathlib.Path(profile := os.path.join(folder, 'profile.json')).write_text(json.dumps(PROFILE))
        quiet = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
        for process in [subprocess.Popen([BLETOOL, '-t', f'bled:{path}', *words], **quiet) for words in COMMANDS]:
            process.wait(LIMIT)
        serving(daemon, [BLETOOL, '-t', f'bled:{path}', '--json', 'serve', '--profile', profile, '--name', 'Fuzz', '--advertise',
                         'FFF0'], folder, ['advertising'])
        # Both roles, with restore identifiers.
        serving(daemon, [os.path.join(EXAMPLES, 'heart-rate-relay')], folder, ['beat', 'advertising'], JELLING_SOCKET=path)
        messages = tap.messages()
        tap.listener.close()
    manager = {1: 90, 2: 5}
    messages[APP] += [encode({3: {**manager, **request}}) for request in (
        {5: {}}, {7: {}}, {9: bytes(16)}, {11: {1: 1, 2: bytes(16)}}, {12: {1: 1, 2: b'\x18\x0d'}}, {13: {2: b'\x18\x0d'}}, {18: {}},
        {20: {}}, {21: {1: 1, 3: b'x'}}, {23: {1: bytes(16), 2: 1}}, {24: 1}, {25: 0x80})]
    messages[APP] += [encode({5: {1: place}}) for place in (1, 2, 3)] + [encode({6: {1: 1, 2: {1: 3, 2: 1}}})]
    messages[OPERATOR] += [encode({8: {number: NAMES[0]}}) for number in range(2, 7)]
    assert min(map(len, messages.values())) >= 3, {kind: len(found) for kind, found in messages.items()}
    return messages


def serving(daemon, command, folder, events, **environment):
    """Runs a program that does not end by itself until it has said all this."""
    with open(os.path.join(folder, 'said'), 'w+') as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={**os.environ, **environment})

        def said():
            return pathlib.Path(output.name).read_text()
        try:
            daemon.wait_for(f'{command[0]} says {events}', lambda: all(f'"{event}"' in said() for event in events))
        except AssertionError as error:
            raise AssertionError(f'{error}; {said()}') from None
        finally:
            # SIGINT may be ignored, where a shell has started this beside others.
            process.terminate()
            process.wait(LIMIT)


# Mutations

def parsed(octets, depth=0):
    """Fields as lists of number, kind of value and value, as deep as it looks like messages; `None` if it is none."""
    fields, place = [], 0
    while place < len(octets):
        key, place = read_varint(octets, place)
        if place is None or not key >> 3 or key & 7 not in (0, 1, 2, 5):
            return None
        if key & 7 == 0:
            value, place = read_varint(octets, place)
            if place is None:
                return None
        else:
            length = {1: 8, 5: 4}.get(key & 7)
            if length is None:
                length, place = read_varint(octets, place)
            if place is None or place + length > len(octets):
                return None
            value, place = octets[place:place + length], place + length
            if key & 7 == 2 and depth < 5 and (inner := parsed(value, depth + 1)):
                value = inner
        fields.append([key >> 3, key & 7, value])
    return fields


def read_varint(octets, place):
    value = shift = 0
    while place < len(octets) and shift < 70:
        value |= (octets[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if octets[place - 1] < 0x80:
            return value, place
    return 0, None


def written(fields):
    octets = b''
    for number, kind, value in fields:
        octets += varint(number << 3 | kind)
        if kind == 0:
            octets += varint(value)
        elif kind == 2:
            content = written(value) if isinstance(value, list) else value
            octets += varint(len(content)) + content
        else:
            octets += value
    return octets


def copied(fields):
    return [[number, kind, copied(value) if isinstance(value, list) else value] for number, kind, value in fields]


def all_lists(fields):
    found = [fields]
    for _, _, value in fields:
        if isinstance(value, list):
            found += all_lists(value)
    return found


class Generator:
    """Mutated messages of one kind of session."""

    def __init__(self, seeds, kind, seed):
        self.rng, self.kind = random.Random(seed), kind
        self.seeds = [fields for fields in map(parsed, seeds) if fields]
        self.parts = [part for fields in self.seeds for part in all_lists(fields)]
        self.number = 0

    def next(self):
        """The octets of a message."""
        rng = self.rng
        fields = copied(rng.choice(self.seeds))
        for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 2, 2, 3, 8))):
            self.change(fields)
        # A tool's requests are numbered; with another number its session ends.
        if self.kind == TOOL and rng.random() < 0.98:
            self.number += 1
            for field in fields:
                if field[0] == 2 and isinstance(field[2], list):
                    field[2][:] = [[1, 0, self.number]] + [one for one in field[2] if one[0] != 1]
        octets = written(fields)
        return self.damaged(octets) if rng.random() < 0.03 else octets

    def change(self, fields):
        rng = self.rng
        # What a message is says its outermost field; of another kind it only ends the session.
        parts = all_lists(fields)
        part = rng.choice(parts[1:] if len(parts) > 1 and rng.random() < 0.95 else parts)
        if not part or rng.random() < 0.15:
            # A part of another message.
            return part.extend(copied(rng.choice(self.parts)))
        field = rng.choice(part)
        what = rng.random()
        if what < 0.1:
            part.remove(field)
        elif what < 0.2:
            part.append(copied([field])[0])
        elif what < 0.3:
            field[0] = rng.randrange(1, 34)
        elif field[1] == 0:
            field[2] = rng.choice(NUMBERS) if what < 0.7 else rng.randrange(40) if what < 0.9 else rng.getrandbits(64)
        elif field[1] in (1, 5):
            # Links are numbered from 1.
            length = 8 if field[1] == 1 else 4
            field[2] = (rng.randrange(8) if what < 0.8 else rng.getrandbits(8 * length)).to_bytes(length, 'little')
        elif isinstance(field[2], list):
            field[2] = copied(rng.choice(self.parts))
        else:
            old = field[2]
            place = rng.randrange(len(old) + 1)
            field[2] = (old[:place] if what < 0.5
                        else old[:place] + rng.randbytes(rng.choice((1, 2, 4, 16))) + old[place + 1:] if what < 0.8
                        else old * rng.randrange(3) if what < 0.9 else rng.randbytes(rng.choice((0, 1, 2, 16, 20, 300, 600))))

    def damaged(self, octets):
        rng = self.rng
        octets = bytearray(octets)
        for _ in range(rng.randrange(1, 4)):
            if octets:
                octets[rng.randrange(len(octets))] = rng.randrange(256)
        return bytes(octets[:rng.randrange(len(octets) + 1)] if rng.random() < 0.3 else octets)


# Sessions

class Fuzzer:
    """One kind of session, again and again, until so many messages have been taken."""

    def __init__(self, path, kind, seeds, wanted):
        self.path, self.kind, self.wanted = path, kind, wanted
        self.generator = Generator(seeds, kind, SEED + kind)
        self.rng = random.Random(SEED)
        self.taken = self.sessions = self.refused = self.late = 0

    def run(self):
        while self.taken < self.wanted:
            self.session()
        return self.taken, self.sessions, self.refused

    def session(self):
        self.sessions += 1
        client = Client(self.path, LIMIT)
        with contextlib.closing(client.socket):
            app = {3: {1: self.rng.choice(NAMES)}} if self.kind == APP else {}
            try:
                client.send({1: {1: 1, 2: self.kind, **app}})
                welcome = client.receive()
            except (BrokenPipeError, ConnectionResetError):
                welcome = None
            if not welcome or 2 in welcome and decode(welcome[2][0])[1] == [SILENT]:
                # The machine was so busy that the greeting came too late.
                self.late += 1
                assert self.late < 1000, f'not welcome: {welcome}'
                return
            assert 2 not in welcome, f'not welcome: {welcome}'
            self.generator.number = 0
            for _ in range(SESSION // BURST):
                if not self.burst(client, BURST):
                    self.refused += 1
                    return
            if self.rng.random() < 0.1:
                # Half a frame, or one that is longer than the limit; then the program is gone.
                with contextlib.suppress(OSError):
                    client.socket.sendall(self.rng.choice((b'\x10\0', b'\xff\0\0\0ab', b'\xff\xff\xff\xff' + bytes(100))))

    def burst(self, client, count):
        """Whether the session takes them all: after each of them comes a request that is right, and its answer shows that the one
        before has been taken. What the session refuses ends it."""
        octets, marks = b'', []
        for _ in range(count):
            message, marker = self.generator.next(), self.marker()
            marks.append(self.mark)
            octets += b''.join(len(one).to_bytes(4, 'little') + one for one in (message, marker))
        sender = threading.Thread(target=self.send, args=(client, octets), daemon=True)
        sender.start()
        taken = 0
        try:
            while taken < len(marks) and (message := client.receive()) is not None:
                if self.answers(message, marks[taken]):
                    taken += 1
        except ConnectionResetError:
            pass
        sender.join()
        self.taken += min(taken + 1, len(marks))
        return taken == len(marks)

    def send(self, client, octets):
        with contextlib.suppress(OSError):
            client.socket.sendall(octets)

    def marker(self):
        if self.kind == TOOL:
            self.mark = self.generator.number = self.generator.number + 1
            # Cancels what does not exist.
            return encode({2: {1: self.mark, 5: {1: 1 << 40}}})
        self.mark = (1 << 62) + self.rng.getrandbits(40)
        return encode({3: {1: 999_999, 2: self.mark, 7: {}}} if self.kind == APP else {8: {11: b'marker %d' % self.mark}})

    def answers(self, message, mark):
        if self.kind == TOOL:
            return 3 in message and decode(message[3][0])[1][0] == mark
        if self.kind == APP:
            return message.get(18) == [mark]
        return b'marker %d' % mark in message.get(21, [b''])[0]


def fuzz(path, seeds, wanted):
    """Runs the three kinds at once, each in a process of its own; (taken, sessions, ended) of each."""
    children = []
    for kind in TOOL, APP, OPERATOR:
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            result = {'error': 'it did not end'}
            try:
                result = {'sums': Fuzzer(path, kind, seeds[kind], wanted // 3 + 1).run()}
            except BaseException as error:
                result = {'error': f'{["", "tool", "app", "operator"][kind]}: {type(error).__name__}: {error}'}
            finally:
                os.write(writes, json.dumps(result).encode())
                os._exit(0)
        os.close(writes)
        children.append((child, reads))
    results = []
    try:
        for _, reads in children:
            with os.fdopen(reads) as file:
                results.append(json.load(file))
    finally:
        for child, _ in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return results


def test_fuzzed_messages():
    """mutated messages in sessions of tools, apps and operators end in answers or refusals; an app beside them has all its values"""
    with Daemon() as daemon:
        # While the app is connected, the device does not advertise.
        seeds = recorded(daemon)
        print(fuzz_beside_an_app(daemon, seeds))


def fuzz_beside_an_app(daemon, seeds):
    with daemon.app('heart-rate-central', '100000000') as victim:
        victim.wait_for('beat', 2)
        began, before = time.monotonic(), daemon.own_kilobytes()
        results = fuzz(daemon.path, seeds, count())
        spent = time.monotonic() - began
        assert daemon.process.poll() is None, f'bled ended with {daemon.process.returncode}: {daemon.said()[-3000:]}'
        assert all('sums' in result for result in results), (results, daemon.said()[-2000:])
        victim.wait_for_more('beat', 2)
        assert not victim.events('disconnected'), 'the app beside lost its link'
        # All of it is over: a tool is served, and nothing is left of the others.
        client = daemon.connect()
        assert client.end(client.request(cancel={'operation': 99}))
        more = daemon.own_kilobytes() - before
        assert more < 64 * 1024, f'{more} kB more than before'
        taken, sessions, refused = map(sum, zip(*(result['sums'] for result in results)))
        return (f'{taken} messages in {sessions} sessions, {refused} of which they ended, in {spent:.0f} s; {len(victim.events("beat"))} beats beside; '
                f'{more} kB more than before')
