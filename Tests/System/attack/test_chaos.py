"""Random packets and controllers that answer nonsense: the programs neither crash nor hang, and their memory stays bounded.

Seeded (`run --seed N`), a few seconds each; libFuzzer does the same within the engine, for longer (Tools/Fuzz)."""
import random, signal, struct, time

from pytest import mark

from jelling import options
from jelling.child import PATIENCE
from jelling.controller import SILENT, Later
from attack.test_honest import BEAT, OPEN, PROFILE, lock

MEGABYTE = 1 << 20
EVENTS = [0x05, 0x08, 0x0C, 0x0E, 0x0F, 0x10, 0x13, 0x1A, 0x30, 0x3E, 0x57, 0xFF]


def survives(bench, tool, seconds=PATIENCE):
    """It ends at SIGTERM, or has already ended with an exit status; its memory is bounded."""
    memory = bench.memory(tool)
    assert memory < 200 * MEGABYTE, f'{memory / MEGABYTE:.0f} MB'
    tool.is_ended = True
    if tool.process.poll() is None:
        tool.process.send_signal(signal.SIGTERM)
    try:
        status = tool.process.wait(seconds)
    except Exception:
        tool.process.kill()
        raise AssertionError(f'{tool.name} does not end at SIGTERM within {seconds} s') from None
    assert 0 <= status < 128, f'{tool.name} ended with {status}: {tool.stderr()[-400:]}'


def random_event(rng, handles):
    code = rng.choice(EVENTS) if rng.random() < 0.9 else rng.randrange(256)
    body = bytearray(rng.randbytes(rng.choice([0, 1, 3, 4, 7, 19, 31, rng.randrange(256)])))
    if code == 0x3E and body:
        body[0] = rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 18, 25, rng.randrange(256)])
        if rng.random() < 0.5 and len(body) > 3:
            body[1] = rng.choice([0, 1, 2, 255])
    elif len(body) > 2 and rng.random() < 0.7:
        struct.pack_into('<H', body, 1, rng.choice(handles))
        body[0] = rng.choice([0, 1, 6, body[0]])
    return bytes([4, code, len(body)]) + bytes(body)


def random_acl(rng, handles):
    kind = rng.random()
    if kind < 0.5:           # a frame on a channel that there is
        payload = bytes([rng.choice(range(0x20)) if rng.random() < 0.8 else rng.randrange(256)]) + rng.randbytes(rng.randrange(40))
        data = struct.pack('<HH', len(payload) if rng.random() < 0.9 else rng.randrange(65536), rng.choice([4, 4, 5, 6, 0x40])) + payload
    else:
        data = rng.randbytes(rng.randrange(60))
    flags = rng.choice([0, 1, 2, 2, 2, 3]) << 12
    return struct.pack('<BHH', 2, rng.choice(handles) | flags, len(data)) + data


def storm(bench, tool, rng, end, pause=0.0005):
    """Sends until the time is over or the program has ended; returns how many were sent."""
    handles, count = [0x40, 0x40, 0x40, 0x41, 0, 0x0EFF, rng.randrange(0x1000)], 0
    while time.monotonic() < end and tool.process.poll() is None:
        packet = (random_event if rng.random() < 0.4 else random_acl)(rng, handles)
        if packet[1] in (0x05, 0x10) and rng.random() < 0.9:
            continue      # the end of the link, or of the controller, ends most of it
        if not bench.controller.send(packet):
            break
        count += 1
        time.sleep(pause)
    return count


def begin_scan(bench):
    tool = bench.start('lescan')
    bench.controller.wait(lambda: bench.controller.scanning, 'scan')
    return tool


def begin_subscribe(bench):
    lock(bench)
    tool = bench.start('gatt', 'Lock', 'subscribe', BEAT)
    tool.wait_event('subscribed')
    return tool


def begin_serve(bench):
    tool = bench.serve(PROFILE)
    bench.central().connect()
    return tool


def begin_pair(bench):
    peer = lock(bench)
    peer.pairing = {'tamper': lambda pairing, name, pdu: None if name == 'random' else pdu}
    tool = bench.start('pair', 'Lock')
    peer.wait(lambda: peer.pairings, 'pairing')
    return tool


def begin_advertise(bench):
    tool = bench.start('advertise', '--name', 'x')
    bench.controller.wait(lambda: bench.controller.advertising, 'advertising')
    return tool


BEGINNINGS = {'lescan': begin_scan, 'subscribe': begin_subscribe, 'serve': begin_serve, 'pair': begin_pair, 'advertise': begin_advertise}


@mark.parametrize('name', BEGINNINGS)
def test_storm(bench, name):
    """Random packets from the controller: no crash, no hang, bounded memory"""
    rng, end, count, runs = random.Random(f'{options.SEED} {name}'), time.monotonic() + 3, 0, 0
    while time.monotonic() < end:
        for device in list(bench.controller.devices):
            bench.controller.remove(device)
        tool = BEGINNINGS[name](bench)
        count += storm(bench, tool, rng, end)
        survives(bench, tool)
        runs += 1
    print(f'{count} packets in {runs} runs')


# Controllers

def hostile(bench, seed):
    """Answers of every kind: honest, wrong, cut, long, late, twice, for another command, none."""
    rng = random.Random(seed)
    controller = bench.controller
    honest = controller.honest

    def answer(opcode, parameters):
        way = rng.random()
        true = honest(opcode, parameters)
        if way < 0.55:
            return true
        if way < 0.62:
            return rng.randrange(256)
        if way < 0.70:
            return rng.randbytes(rng.randrange(70))
        if way < 0.76 and isinstance(true, bytes):
            return true[:rng.randrange(len(true) + 1)]
        if way < 0.82 and isinstance(true, bytes):
            return true[:1] + bytes(b ^ rng.choice([0, 0, 255, 1]) for b in true[1:])
        if way < 0.88:
            controller.event(0x0E, struct.pack('<BH', rng.randrange(256), rng.choice([0, opcode ^ 1, 0xFFFF])) + b'\0')
            return true
        if way < 0.92:
            controller.answer(opcode, true)
            return true
        if way < 0.96:
            return Later(rng.random(), true)
        return SILENT

    controller.honest = answer


VERBS = {'info': ['info'], 'lescan': ['lescan', '--duration', '1'], 'gatt': ['gatt', 'Lock', 'discover', '--connect-timeout', '3'], 'serve': None}


@mark.parametrize('number', range(4))
@mark.parametrize('verb', VERBS)
def test_hostile_controller(bench, verb, number):
    """A controller that answers nonsense: no crash, and SIGTERM ends it"""
    lock(bench)
    hostile(bench, f'{options.SEED} {number} {verb}')
    if verb == 'serve':
        path = bench.script('{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":["read"],"value":"00"}]}]}')
        tool = bench.start('serve', '--profile', path)
    else:
        tool = bench.start(*VERBS[verb])
    tool.may_end(2)
    survives(bench, tool, 40)


def test_controller_that_says_nothing(bench):
    """A controller that answers no command: an error after several attempts, exit status 1 or 3, within a minute"""
    bench.controller.honest = lambda opcode, parameters: SILENT
    result = bench.run('lescan', '--duration', '1', status=None, timeout=60)
    assert result.status in (1, 3), result.describe()


def test_controller_without_buffers(bench):
    """A controller with empty buffers, or without buffers: an error, no endless loop"""
    for answer in (bytes(4), b'\0\x1b\0\0', b'\0\1\0\1', b'\0\xff\xff\0', b'\0\0\0\xff'):
        bench.controller.answers[0x2002] = lambda parameters, answer=answer: answer
        bench.controller.answers[0x1005] = lambda parameters: b'\0' + bytes(7)
        peer = lock(bench)
        tool = bench.start('gatt', 'Lock', 'read', OPEN, '--connect-timeout', '2')
        tool.may_end(3)
        survives(bench, tool, 40)
        bench.controller.remove(peer)


# Peers

def nonsense(rng, pdu):
    """A PDU that an attribute server might send instead."""
    way = rng.random()
    if way < 0.3:
        return bytes([pdu[0] + 1]) + rng.randbytes(rng.choice([0, 1, 2, 3, 5, 7, 20, 200]))
    if way < 0.5:
        return bytes([0x11, rng.choice([0, 1, 4, 6, 20, 255])]) + rng.randbytes(rng.randrange(60))
    if way < 0.7:
        return bytes([0x09, rng.choice([0, 1, 2, 7, 21, 255])]) + rng.randbytes(rng.randrange(60))
    if way < 0.8:
        return struct.pack('<BBHB', 1, pdu[0], rng.randrange(65536), rng.randrange(256))
    return rng.randbytes(rng.randrange(1, 30))


@mark.parametrize('number', range(3))
def test_hostile_server(bench, number):
    """An attribute server that answers nonsense: each operation ends, none crashes"""
    rng = random.Random(f'{options.SEED} {number}')
    peer = lock(bench)

    def hook(link, pdu):
        if rng.random() < 0.3 and pdu[0] != 0x02:
            said = nonsense(rng, pdu)
            if said[0] in (0x01, pdu[0] + 1):
                return said
            link.send(4, said)      # the true answer follows, so that nobody has to wait for it
        return None

    peer.server.hook = hook
    tools = [bench.run(*['gatt', 'Lock', *verb], status=None, timeout=90)
             for verb in (['discover'], ['read', OPEN], ['write', OPEN, '00' * 100], ['subscribe', BEAT, '--duration', '0.3'])]
    for result in tools:
        assert 0 <= result.status < 128, result.describe()


@mark.parametrize('number', range(3))
def test_hostile_pairing(bench, number):
    """Pairings with spoiled PDUs, in both roles: no crash, nothing in the clear, `serve` goes on"""
    rng = random.Random(f'{options.SEED} {number}')

    def spoil(pairing, name, pdu):
        way = rng.random()
        if way < 0.75:
            return pdu
        if way < 0.85:
            spoiled = bytearray(pdu)
            spoiled[rng.randrange(len(pdu))] ^= 1 << rng.randrange(8)
            return bytes(spoiled)
        if way < 0.95:
            return rng.randbytes(rng.randrange(1, 66))
        return pdu[:rng.randrange(1, len(pdu))]

    tool = bench.serve(PROFILE)
    for attempt in range(6):
        peer = bench.central(f'C0:55:00:00:00:{attempt:02X}').connect()
        pairing = peer.pair(wait=False, tamper=spoil, secure=rng.random() < 0.6, seconds=0.5)
        pairing.wait_end()
        assert [h.payload for h in peer.heard if b'secret' in h.payload and not h.encrypted] == []
        peer.disconnect()
    survives(bench, tool)
    peer = lock(bench)
    for attempt in range(3):
        peer.pairing = {'tamper': spoil, 'secure': rng.random() < 0.6, 'seconds': 0.5}
        tool = bench.start('pair', 'Lock')
        tool.may_end(1)
        survives(bench, tool)


def test_frames_without_end(bench):
    """L2CAP frames that announce 65,535 octets and never end, on every handle, leave memory bounded"""
    tool, peer = bench.served(PROFILE)
    before = bench.memory(tool)
    head = struct.pack('<HH', 0xFFFF, 4)
    for number in range(3000):
        handle = peer.link.handle if number % 3 else number % 0x0F00
        bench.controller.send(struct.pack('<BHH', 2, handle | 0x2000, 251) + head + bytes(247))
        bench.controller.send(struct.pack('<BHH', 2, handle | 0x1000, 251) + bytes(251))
    peer2 = bench.central('C0:00:00:00:00:03')
    assert bench.memory(tool) - before < 60 * MEGABYTE, f'{bench.memory(tool) / MEGABYTE:.0f} MB'
    peer2.connect()
    assert peer2.read(peer2.find(OPEN)) == b'\x5e'
    bench.stop(tool, status=None)


def test_signals_without_end(bench):
    """A flood of signalling requests, valid and not, costs at most the sender's link; others are served"""
    tool, peer = bench.served(PROFILE)
    rng = random.Random(options.SEED)
    for number in range(1500):
        body = rng.randbytes(rng.choice([0, 2, 8, 10, 18, 60]))
        peer.send(5, struct.pack('<BBH', rng.choice([1, 2, 6, 0x0A, 0x12, 0x14, 0x16, 0x17, 0x19, 0x1A, 0xEE]), number % 256,
                                 len(body) if rng.random() < 0.9 else rng.randrange(65536)) + body)
    other = bench.central('C0:00:00:00:00:03').connect()
    assert other.read(other.find(OPEN)) == b'\x5e'
    survives(bench, tool)


def test_prepared_writes_without_end(bench):
    """Prepared writes without end are refused (Prepare Queue Full), and cost no memory"""
    tool, peer = bench.served(PROFILE)
    peer.exchange_mtu()
    handle, before = peer.find(OPEN), bench.memory(tool)
    answers = [peer.request(struct.pack('<BHH', 0x16, handle, 0) + bytes(200)) for _ in range(400)]
    assert any(a[0] == 0x01 for a in answers), 'none of 400 prepared writes was refused'
    assert bench.memory(tool) - before < 10 * MEGABYTE, f'{bench.memory(tool) / MEGABYTE:.0f} MB'
