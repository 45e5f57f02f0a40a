"""A real bled under messages that are mutated from real ones, in sessions of all three kinds at once, beside an app that is told
everything as if nothing else were there."""
import contextlib, json, os, pathlib, random, signal, subprocess, tempfile, threading, time

from google.protobuf.message import DecodeError

from jelling import options
from jelling.child import Child, Running
from jelling.client import varint
from jelling.daemon import LIMIT, Client, Daemon, messages, octets
from jelling.programs import BLETOOL, EXAMPLES
from jelling.relay import Line

# A short run takes some seconds.
FEW = 6_000
SEED = 14
# Messages in one write, and in one session.
BURST, SESSION = 32, 640
# Names of the apps that it may be: each stays known to the daemon.
NAMES = [f'org.example.fuzz{number}' for number in range(8)]
NUMBERS = [0, 1, 2, 3, 7, 127, 128, 255, 256, 0x7FFF, 0xFFFF, 0x10000, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1]
TOOL, APP, OPERATOR = messages.SESSION_KIND_TOOL, messages.SESSION_KIND_APP, messages.SESSION_KIND_OPERATOR


def count():
    return options.MESSAGES or FEW


# Real messages

def kept(line):
    """The messages that programs have sent, by kind of session, each once."""
    found = {TOOL: {}, APP: {}, OPERATOR: {}}
    for stream in map(bytes, list(line.streams)):
        kind, place = None, 0
        while place + 4 <= len(stream) and place + 4 + (length := int.from_bytes(stream[place:place + 4], 'little')) <= len(stream):
            message, place = stream[place + 4:place + 4 + length], place + 4 + length
            if kind is None:
                kind = messages.FromClient.FromString(message).hello.session
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
        tap = Line(path := os.path.join(folder, 'tap'), daemon.path)
        pathlib.Path(profile := os.path.join(folder, 'profile.json')).write_text(json.dumps(PROFILE))
        for process in [Running([BLETOOL, '-t', f'bled:{path}', *words], stdout=subprocess.DEVNULL) for words in COMMANDS]:
            process.wait(LIMIT)
        serving([BLETOOL, '-t', f'bled:{path}', '--json', 'serve', '--profile', profile, '--name', 'Fuzz', '--advertise', 'FFF0'],
                folder, ['advertising'])
        # Both roles, with restore identifiers.
        serving([os.path.join(EXAMPLES, 'heart-rate-relay')], folder, ['beat', 'advertising'], JELLING_SOCKET=path)
        seeds = kept(tap)
        tap.cut()
    peer, service = bytes(16), b'\x18\x0d'
    seeds[APP] += [octets(app_request={'manager': 90, 'number': 5, **request}) for request in (
        {'release': {}}, {'stop_scan': {}}, {'cancel_connection': peer}, {'retrieve_peripherals': {'query': 1, 'peers': [peer]}},
        {'retrieve_connected': {'query': 1, 'services': [service]}}, {'connection_events': {'services': [service]}},
        {'remove_all_services': {}}, {'stop_advertising': {}}, {'respond': {'request': 1, 'value': b'x'}},
        {'set_latency': {'central': peer, 'latency': 1}}, {'publish_channel': True}, {'unpublish_channel': 0x80})]
    seeds[APP] += [octets(app_move={'to': place}) for place in (1, 2, 3)]
    seeds[APP] += [octets(app_pairing={'asks_somebody': True, 'options': {'io_capability': 3, 'is_bonding': True}})]
    seeds[OPERATOR] += [octets(operator_request={kind: NAMES[0]}) for kind in ('foreground', 'background', 'suspend', 'quit')]
    assert min(map(len, seeds.values())) >= 3, {kind: len(found) for kind, found in seeds.items()}
    return seeds


def serving(command, folder, events, **environment):
    """Runs a program that does not end by itself until it has said all this."""
    program = Child(command[0], command, os.path.join(folder, 'said'), {**os.environ, **environment})
    try:
        for event in events:
            program.wait_event(event, LIMIT)
    finally:
        # SIGINT may be ignored, where a shell has started this beside others.
        program.end()


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


CONTROLLER_REQUESTS = 'power', 'reset_device'
CONTROLLER_KEYS = [varint(messages.OperatorRequest.DESCRIPTOR.fields_by_name[name].number << 3 | wire_type)
                   for name, wire_type in zip(CONTROLLER_REQUESTS, (0, 2))]


def takes_controller(octets):
    """Whether an operator takes the controller from everybody, which ends the links of the app beside."""
    try:
        return messages.FromClient.FromString(octets).operator_request.WhichOneof('request') in CONTROLLER_REQUESTS
    except DecodeError:
        # What this library refuses, bled might accept.
        return any(key in octets for key in CONTROLLER_KEYS)


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
        if rng.random() < 0.03:
            octets = self.damaged(octets)
        return self.next() if self.kind == OPERATOR and takes_controller(octets) else octets

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
            app = {'app': {'identifier': self.rng.choice(NAMES)}} if self.kind == APP else {}
            try:
                client.send(hello={'version': 1, 'session': self.kind, **app})
                welcome = client.receive()
            except (BrokenPipeError, ConnectionResetError):
                welcome = None
            if not welcome or welcome.refusal.reason == messages.Refusal.REASON_SILENT:
                # The machine was so busy that the greeting came too late.
                self.late += 1
                assert self.late < 1000, f'not welcome: {welcome}'
                return
            assert not welcome.HasField('refusal'), f'not welcome: {welcome}'
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
            return octets(request={'operation': self.mark, 'cancel': {'operation': 1 << 40}})
        self.mark = (1 << 62) + self.rng.getrandbits(40)
        if self.kind == APP:
            return octets(app_request={'manager': 999_999, 'number': self.mark, 'stop_scan': {}})
        return octets(operator_request={'show': f'marker {self.mark}'})

    def answers(self, message, mark):
        if self.kind == TOOL:
            return message.completed.operation == mark
        return message.app_taken == mark if self.kind == APP else f'marker {mark}' in str(message.operator_answer)


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
