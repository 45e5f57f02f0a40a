"""Floods, stalls and endless answers: what one peer can take from memory and from the others."""
import os, struct, time

from pytest import mark, param

from jelling.attributes import INDICATE, NOTIFY, READ
from jelling.programs import EXAMPLES
from attack.test_honest import BEAT, OPEN, lock

MEGABYTE = 1 << 20
BUSY = {'services': [{'uuid': '180D', 'characteristics': [
    {'uuid': BEAT, 'properties': ['notify', 'indicate'], 'value': '0040', 'notifyEvery': 0.1},
    {'uuid': OPEN, 'properties': ['read', 'write', 'writeWithoutResponse'], 'value': '5e'}]}]}


def stalled(bench, command, **environment):
    """A program whose standard output is not read: when the pipe is full it blocks, together with its delegate or loop."""
    return bench.spawn(command[0], ['bash', '-c', 'exec "$0" "$@" > >(exec sleep 40 > /dev/null 2>&1)', *command],
                       {**bench.environment, **environment})


def flood(peer, handle, seconds, size=240, least=0):
    """Notifies as fast as the socket allows; longer on a busy machine, until it is a flood."""
    start, sent = time.monotonic(), 0
    while (spent := time.monotonic() - start) < seconds or (sent < least and spent < 120):
        if not peer.notify(handle, struct.pack('<I', sent) + bytes(size - 4)):
            break
        sent += 1
    return sent


# One client and the others

def one_stops_the_others(bench, confirms):
    tool = bench.serve(BUSY)
    honest, stranger = bench.central('C0:00:00:00:00:02'), bench.central('C0:00:00:00:00:03')
    honest.connect().exchange_mtu()
    beat = honest.find(BEAT)
    bench.controller.wait(lambda: bench.controller.advertising, 'advertising again')
    stranger.connect()
    stranger.confirms = False
    confirms(stranger)
    assert stranger.subscribe(beat, 2) == 0
    assert honest.subscribe(beat, 1) == 0
    honest.values(1)
    started = time.monotonic()
    honest.values(80)
    assert time.monotonic() - started < 25, f'80 values of 10 a second took {time.monotonic() - started:.1f} s'
    assert 'too slowly' in tool.stderr(), 'nobody was told'


@mark.slow
def test_never_confirms(bench):
    """A central that confirms no indication does not stop another one's notifications"""
    one_stops_the_others(bench, lambda stranger: None)


@mark.slow
def test_confirms_late(bench):
    """A central that confirms each indication late, with an ATT_MTU of 23, does not stop another one's notifications"""
    def late(stranger):
        take = stranger.take_attribute

        def slowly(link, pdu):
            take(link, pdu)
            if pdu[0] == 0x1D:
                bench.controller.soon(2.5, lambda: link.send(4, b'\x1e'))
        stranger.take_attribute = slowly
    one_stops_the_others(bench, late)


# Discovery

class Endless:
    """A server that answers each search with one more attribute."""

    def __init__(self, includes):
        self.includes = includes

    def __call__(self, link, pdu):
        if pdu[0] not in (0x04, 0x06, 0x08, 0x0A, 0x10):
            return None
        if pdu[0] == 0x0A:
            return b'\x0b' + os.urandom(16)
        first, last = struct.unpack_from('<HH', pdu, 1)
        none = struct.pack('<BBHB', 0x01, pdu[0], first, 0x0A)
        kind = pdu[-2:]
        if pdu[0] == 0x04:
            return b'\x05\x01' + struct.pack('<HH', first, 0x2901)
        if pdu[0] == 0x06:
            return struct.pack('<BHH', 0x07, first, first)
        if pdu[0] == 0x10:
            if not self.includes:
                return b'\x11\x06' + struct.pack('<HHH', first, first, 0x180D)
            return b'\x11\x06' + struct.pack('<HHH', 1, 0x4000, 0x180D) if first == 1 else none
        if kind == b'\x02\x28':
            # Each names another range, and all of them overlap.
            return b'\x09\x06' + struct.pack('<HHH', first, 0x4001 + first, 0xFFFF) if self.includes and first < 1000 else none
        if kind == b'\x03\x28':
            return b'\x09\x07' + struct.pack('<HBHH', first, 2, first + 1, 0x2A00) if first < last else none
        return none


@mark.parametrize('arguments, includes', [
    # Includes that name overlapping services; services for each handle.
    param(['discover'], True, id='includes'), param(['discover'], False, id='services'), param(['read', '2A19'], False, id='read')])
@mark.slow
def test_endless(bench, arguments, includes):
    """A server without an end of services or includes ends the discovery, and the search for a value, with an error, in a bounded time"""
    peer = lock(bench)
    peer.server.hook = Endless(includes)
    tool = bench.start('gatt', 'Lock', *arguments)
    result = bench.finish(tool, 120)
    assert result.status == 1, result.describe()
    assert 'attributes than any real' in result.stderr, result.stderr
    requests = len(peer.sent(opcodes={0x04, 0x06, 0x08, 0x0A, 0x10}))
    assert requests < 14000, f'{requests} requests'


# Floods

@mark.slow
def test_flood_at_a_stalled_app(bench):
    """A Core Bluetooth app whose delegate stalls stays small, however much its peer sends, and its peer is not delayed"""
    peer = lock(bench)
    app = stalled(bench, [os.path.join(EXAMPLES, 'heart-rate-central'), '1000000'], JELLING_TRANSPORT=bench.endpoint,
                  JELLING_STATE=bench.path('app'))
    peer.wait(lambda: any(h == peer.beat + 1 for h, *_ in peer.server.written), 'subscription', 30)
    sent = flood(peer, peer.beat, 2, least=4000)
    first = bench.memory(app)
    sent += flood(peer, peer.beat, 8, least=16_001)
    grown = bench.memory(app) - first
    assert sent > 20000, f'only {sent} were sent'
    assert grown < 8 * MEGABYTE, f'{grown >> 20} MB more after {sent} notifications'
    print(f'{sent} notifications, {bench.memory(app) >> 20} MB')


@mark.slow
def test_flood_at_a_stalled_tool(bench):
    """`gatt subscribe` whose output is not read needs bounded memory, however much the device sends"""
    peer = lock(bench)
    tool = stalled(bench, bench.command('gatt', 'Lock', 'subscribe', BEAT))
    peer.wait(lambda: any(h == peer.beat + 1 for h, *_ in peer.server.written), 'subscription', 30)
    flood(peer, peer.beat, 4)
    first = bench.memory(tool)
    sent = flood(peer, peer.beat, 8)
    grown = bench.memory(tool) - first
    assert grown < 16 * MEGABYTE, f'{grown >> 20} MB more after {sent} notifications'
    print(f'{sent} notifications, {bench.memory(tool) >> 20} MB')


@mark.slow
def test_writes_at_a_stalled_server(bench):
    """`serve` whose output is not read needs bounded memory, and refuses what it cannot store"""
    tool = stalled(bench, bench.command('serve', '--profile', bench.profile(BUSY)))
    bench.controller.wait(lambda: bench.controller.advertising, 'advertising')
    peer = bench.central().connect()
    peer.exchange_mtu()
    handle = peer.find(OPEN)
    value = bytes(200)

    def write(seconds):
        end, sent = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            peer.command(handle, value)
            sent += 1
        return sent
    sent = write(4)
    first = bench.memory(tool)
    sent += write(6)
    grown = bench.memory(tool) - first
    assert grown < 16 * MEGABYTE, f'{grown >> 20} MB more after {sent} writes'
    print(f'{sent} writes, {bench.memory(tool) >> 20} MB')


# Services that change

def changing(bench):
    """A device whose services may change; the handles of Service Changed and of its value."""
    peer = bench.device('Lock')
    peer.server.service('1801')
    changed = peer.server.characteristic('2A05', INDICATE)
    peer.server.service('180D')
    beat = peer.server.characteristic(BEAT, NOTIFY)
    return peer.advertise(), changed, beat


def test_services_change(bench):
    """Service Changed for all handles while `gatt subscribe` runs: it says so, subscribes again, and gets what follows"""
    peer, changed, beat = changing(bench)
    tool = bench.start('gatt', 'Lock', 'subscribe', BEAT, '--count', '2')
    tool.wait_event('subscribed')
    peer.wait(lambda: any(h == changed + 1 for h, *_ in peer.server.written), 'subscription to Service Changed')
    peer.notify(beat, b'\1')
    # The services have changed: the characteristic has another handle.
    del peer.server.attributes[3:]
    peer.server.service('180F')
    peer.server.characteristic('2A19', READ, b'\x50')
    peer.server.service('180D')
    moved = peer.server.characteristic(BEAT, NOTIFY)
    assert peer.indicate(changed, b'\x01\x00\xff\xff'), 'the indication was not confirmed'
    peer.wait(lambda: any(h == moved + 1 and v[:1] == b'\1' for h, v, *_ in peer.server.written), 'another subscription')
    tool.wait_event('subscribed', count=2)
    peer.notify(moved, b'\2')
    result = bench.finish(tool)
    assert result.status == 0, result.describe()
    assert [e['value'] for e in result.events('notified')] == ['01', '02']
    assert 'changed its services' in result.stderr, result.stderr


def test_services_vanish(bench):
    """Service Changed removes the characteristic of `gatt subscribe`, which ends with an error that says so"""
    peer, changed, _ = changing(bench)
    tool = bench.start('gatt', 'Lock', 'subscribe', BEAT)
    peer.wait(lambda: any(h == changed + 1 for h, *_ in peer.server.written), 'subscription to Service Changed')
    del peer.server.attributes[4:]
    peer.indicate(changed, b'\x01\x00\xff\xff')
    result = bench.finish(tool)
    assert result.status == 1, result.describe()
    assert 'no longer has' in result.stderr, result.stderr
