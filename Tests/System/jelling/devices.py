"""The devices of the cases: a meter with services, honest until a case changes what it answers."""
import struct

from jelling.attributes import INDICATE, NOTIFY, READ, WRITE

BATTERY, VALUE, LONG, READING, ALARM = '2A19', 'FFE1', 'FFE2', 'FFE3', 'FFE4'


def meter(bench, **settings):
    """A meter that advertises. Its values are meter.value, meter.long (22 octets, a whole response at an ATT_MTU of 23),
    meter.reading, which notifies, and meter.alarm, which indicates."""
    peer = bench.device('Meter', services=['FFE0'], **settings)
    peer.server.service('180F')
    peer.battery = peer.server.characteristic(BATTERY, READ, b'\x5e')
    peer.server.service('FFE0')
    peer.value = peer.server.characteristic(VALUE, READ | WRITE, b'12.5')
    peer.long = peer.server.characteristic(LONG, READ, bytes(range(22)))
    peer.reading = peer.server.characteristic(READING, READ | NOTIFY, b'\x01')
    peer.alarm = peer.server.characteristic(ALARM, INDICATE)
    return peer.advertise()


def error(request, code, handle=None):
    """An Error Response that answers a request."""
    if handle is None:
        handle = struct.unpack_from('<H', request, 1)[0] if len(request) >= 3 else 0
    return struct.pack('<BBHB', 0x01, request[0], handle, code)


def answered(peer, request, answer):
    """The device answers requests with this opcode so: `answer` gives the PDU for one, b'' for none, None for the honest one."""
    peer.server.hook = lambda link, pdu: answer(pdu) if pdu[0] == request else None


DATABASE = {'180F': [BATTERY], 'FFE0': [VALUE, LONG, READING, ALARM]}


def database(result):
    """The characteristics of each service, as `discover` prints them."""
    line = result.events('database')[0]
    return {s['uuid']: [c['uuid'] for c in s['characteristics']] for s in line['services']}


def discovers(bench, peer):
    """`discover` finds all, and the link ends by us."""
    result = bench.gatt('discover', peer='Meter')
    assert database(result) == DATABASE
    assert [d['uuid'] for s in result.events('database')[0]['services'] for c in s['characteristics']
                         for d in c['descriptors']] == ['2902', '2902']
    assert peer.links[-1].reason == 0x13
    return result


def counted(bench, name):
    """Whether `bled` has counted something, as `status` shows it; without bled no program does."""
    if bench.through_bled:
        counters = bench.run('status').events('status')[0]['adapters'][0]['counters']
        assert counters[name] > 0, f'{name} is 0: {counters}'


def said(result, *words):
    """Whether the message has all of these words."""
    for word in words:
        assert word in result.stderr, f'{word!r} is not in the message: {result.describe()}'
