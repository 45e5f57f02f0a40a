"""Connecting, discovering, reading, writing and subscribing with foreign software."""
import struct

from pytest import mark

from jelling.lab import PEER_ADDRESS
from jelling.relay import ACL, TO_CONTROLLER

pytestmark = mark.lab(through_bled=True)

BASE = '6B7A%04X-9D1C-4F5E-8A2B-3C4D5E6F7081'
SERVICE, LONG_READ, LONG_WRITE, WRITE_COMMANDS, INDICATE, ENCRYPTED, AUTHENTICATED, CONTROL, STREAM, COUNTERS = (
    BASE % i for i in range(1, 11))
PROPERTIES = ('broadcast', 'read', 'writeWithoutResponse', 'write', 'notify', 'indicate',
              'authenticatedSignedWrites', 'extendedProperties')
LONG_VALUE = bytes(i % 251 for i in range(512))


def value_of(result, index=0):
    events = result.events('value')
    assert len(events) > index, 'no value: ' + result.describe()
    return events[index]['value']


def value_handle(lab, uuid):
    return next(c['valueHandle'] for s in lab.database() for c in s['characteristics'] if c['uuid'] == uuid)


def expected_database(lab):
    return [{**s, 'characteristics': [
        {**c, 'properties': sorted(n for i, n in enumerate(PROPERTIES) if c['properties'] & 1 << i)}
        for c in s['characteristics']]} for s in lab.database()]


def normalized(services):
    def uuid(include):
        return include['uuid'] if isinstance(include, dict) else include
    return [{'uuid': s['uuid'], 'handle': s['handle'], 'endHandle': s['endHandle'], 'primary': s['primary'],
             'includes': [uuid(i) for i in s.get('includes', [])],
             'characteristics': [{
                 'uuid': c['uuid'], 'handle': c['handle'], 'valueHandle': c['valueHandle'],
                 'properties': sorted(c['properties']),
                 'descriptors': [{'uuid': d['uuid'], 'handle': d['handle']} for d in c.get('descriptors', [])]}
                 for c in s['characteristics']]} for s in services]


def test_discover_prints_the_whole_database(lab):
    """`gatt BumblePeer discover` prints every service, include, characteristic and descriptor of the peer"""
    result = lab.gatt('discover')
    assert len(result.lines) == 1
    assert result.lines[0].get('event') == 'database'
    got, want = normalized(result.lines[0]['services']), expected_database(lab)
    for a, b in zip(got, want):
        for c, d in zip(a['characteristics'], b['characteristics']):
            assert c == d, f'characteristic {d["uuid"]}'
        assert a == b, f'service {b["uuid"]}'
    assert [s['uuid'] for s in got] == [s['uuid'] for s in want]
    assert result.lines[0]['mtu'] > 23, f'mtu {result.lines[0]["mtu"]}'


@mark.lab(('bumble', 'btvirt', 'simulator'))
def test_values_have_a_meaning(lab):
    """`gatt PEER read 'Battery Level' 2A38` reads both, by name and UUID, and shows their meaning after the bytes"""
    events = lab.gatt('read', 'Battery Level', '2A38').events('value')
    assert [e['uuid'] for e in events] == ['2A19', '2A38']
    assert (events[0]['value'], events[0].get('text')) == ('57', '87 %')
    assert events[0].get('values') == [{'name': 'Battery Level', 'value': 87, 'unit': '%'}]
    assert value_of(lab.gatt('read', '2A19', '--uint8')) == '57'


@mark.lab(('bumble', 'btvirt', 'simulator'))
def test_discover_of_one_service(lab):
    """`gatt PEER discover --service 180D` prints only that service"""
    result = lab.gatt('discover', '--service', '180D')
    assert normalized(result.lines[0]['services']) == [s for s in expected_database(lab) if s['uuid'] == '180D']


def test_long_read(lab):
    """a value of 512 bytes is read completely"""
    result = lab.gatt('read', LONG_READ)
    assert value_of(result) == LONG_VALUE.hex()
    assert result.events('value')[0]['handle'] == value_handle(lab, LONG_READ)
    assert result.events('value')[0]['uuid'] == LONG_READ


def test_long_write_with_read_back(lab):
    """512, 20 and 0 bytes are written and read back"""
    long, short = LONG_VALUE[::-1].hex(), bytes(range(20)).hex()
    result = lab.gatt('script', lab.script(
        f'write {LONG_WRITE} {long}', f'read {LONG_WRITE}', f'write {LONG_WRITE} {short}', f'read {LONG_WRITE}'))
    assert len(result.events('written')) == 2
    assert value_of(result, 0) == long
    assert value_of(result, 1) == short
    sizes = [e['size'] for e in lab.peer_events('write') if e['char'] == 'LONG_W']
    assert sizes and 512 in sizes, f'the peer saw writes of {sizes} bytes'
    lab.gatt('write', LONG_WRITE, long)
    assert value_of(lab.gatt('read', LONG_WRITE)) == long


@mark.lab(('bumble', 'btvirt', 'simulator'))
def test_targets(lab):
    """a target is `UUID`, `SERVICE/UUID` or `0xHANDLE`; a peer is a name or an address with or without its type"""
    handle = value_handle(lab, '2A38')
    for target in ('2A38', '180D/2A38', f'0x{handle:04x}', '00002a38-0000-1000-8000-00805f9b34fb'):
        assert value_of(lab.gatt('read', target)) == '01', target
    for peer in (PEER_ADDRESS, PEER_ADDRESS + '/random'):
        assert value_of(lab.gatt('read', '2A38', peer=peer)) == '01', peer
    result = lab.gatt('read', '2AFF', status=1)
    assert result.events('error'), 'no error for a characteristic that is not there: ' + result.describe()


def test_three_notifications(lab):
    """`subscribe 2A37 --count 3` prints `subscribed`, then three notified values, and ends"""
    result = lab.gatt('subscribe', '2A37', '--count', '3')
    names = [l['event'] for l in result.lines if l.get('event') in ('subscribed', 'notified', 'indicated')]
    assert names == ['subscribed'] + 3 * ['notified']
    for e in result.events('notified'):
        assert e['handle'] == value_handle(lab, '2A37')
        assert e['uuid'] == '2A37'
        value = bytes.fromhex(e['value'])
        assert len(value) == 2 and value[0] == 0, f'value {e["value"]}'
    rates = [bytes.fromhex(e['value'])[1] for e in result.events('notified')]
    assert rates == list(range(rates[0], rates[0] + 3))


def test_an_indication_is_confirmed(lab):
    """an indication is printed and confirmed"""
    result = lab.gatt('script', lab.script(
        f'subscribe {INDICATE}', f'write {CONTROL} 02cafe01', 'wait --count 1 --duration 5'))
    assert [e['value'] for e in result.events('indicated')] == ['cafe01']
    lab.wait_peer('indication-confirmed')


def test_two_write_commands(lab):
    """two write commands arrive, in order, before the read that follows them"""
    result = lab.gatt('script', lab.script(
        f'write {CONTROL} 04', f'write {WRITE_COMMANDS} 01020304 --command', f'write {WRITE_COMMANDS} 0506 --command',
        f'read {COUNTERS}'))
    assert struct.unpack('<III', bytes.fromhex(value_of(result))) == (6, 2, 2)
    lab.gatt('write', WRITE_COMMANDS, '77', '--command')
    assert struct.unpack('<III', bytes.fromhex(value_of(lab.gatt('read', COUNTERS)))) == (7, 3, 1)


def test_att_errors(lab):
    """ATT errors 0x80, 0x02 and 0x03 are reported as such, with the handle and exit status 1"""
    for arguments, code, uuid in ((['write', '2A39', '02'], '0x80', '2A39'), (['read', '2A37'], '0x02', '2A37'),
                                  (['write', '2A38', '00'], '0x03', '2A38')):
        result = lab.gatt(*arguments, status=1)
        errors = result.events('error')
        assert len(errors) == 1, 'want one error event: ' + result.describe()
        assert errors[0].get('attError', '').lower() == code, f'attError of {arguments}'
        assert errors[0].get('handle') == value_handle(lab, uuid), f'handle of {arguments}'
        assert errors[0].get('message'), f'no message: {errors[0]}'


def test_an_encrypted_value(lab):
    """a value that requires encryption (0x0f) is read after one automatic pairing (SPEC 2.3 automatic pairing)"""
    assert value_of(lab.gatt('read', ENCRYPTED)) == b'secret'.hex()


@mark.lab(('bumble', 'btvirt', 'simulator'))
def test_a_script_ends_at_its_first_failure(lab):
    """a script runs over one connection, and the first failing line ends it with status 1"""
    result = lab.gatt('script', lab.script('read 2A38', 'write 2A39 02', 'read 2A19'), status=1)
    assert [e['value'] for e in result.events('value')] == ['01']
    assert result.events('error')[0]['attError'] == '0x80'
    lab.wait_peer('disconnected')
    assert len(lab.peer_events('connected')) == 1


def test_ten_connections_in_a_row(lab):
    """ten connections in a row work, and each ends with reason 0x13"""
    for n in range(10):
        assert value_of(lab.gatt('read', '2A38', peer=PEER_ADDRESS + '/random')) == '01', f'value of connection {n + 1}'
    assert len(lab.wait_peer('disconnected', 10)) == 10


def test_a_stream_of_notifications(lab):
    """two hundred notifications in one burst all arrive, in order"""
    total, size = 4000, 20
    result = lab.gatt('script', lab.script(
        f'subscribe {STREAM}', f'write {CONTROL} 01{struct.pack("<IH", total, size).hex()}',
        'wait --count 200 --duration 15'))
    numbers = [struct.unpack('<I', bytes.fromhex(e['value'])[:4])[0] for e in result.events('notified')
               if e['uuid'] == STREAM]
    assert numbers == list(range(200))


def test_connection_parameters_asked_over_l2cap(lab):
    """a Connection Parameter Update Request of the peer is accepted, and the controller updates the link"""
    relay = lab.relay()
    lab.run('gatt', 'BumblePeer', 'script', lab.script(f'write {CONTROL} 051800', 'wait --duration 1', 'read 2A38'),
            via=relay.endpoint)
    responses = [p[9:] for p in relay.packets(TO_CONTROLLER) if p[0] == ACL and p[7:9] == b'\5\0' and p[9] == 0x13]
    assert len(responses) == 1
    assert responses[0][4:6] == b'\0\0'
    updates = relay.commands(0x2013)
    assert updates, 'no LE Connection Update'
    assert struct.unpack('<HH', updates[0][1][2:6]) == (0x18, 0x18)


@mark.lab(('bumble', 'btvirt', 'simulator'))
def test_several_values_by_one_request(lab):
    """`gatt read --together` reads values of several characteristics with one request, and the rest of what did not fit"""
    capture = lab.path('together.btsnoop')
    done = lab.gatt('read', '2A38', '2A19', LONG_READ, '--together', options=('-w', capture))
    values = [v['value'] for v in done.events('value')]
    assert (len(values), values[2]) == (3, LONG_VALUE.hex())
    opcodes = lab.run('decode', '--summary', capture).lines[-1]['att_opcodes']
    assert '0x20' in opcodes and '0x21' in opcodes, opcodes


@mark.lab(('bumble', 'btvirt', 'simulator'))
def test_reliable_write_over_several(lab):
    """`gatt write --reliable` writes a characteristic twice in one transaction; a value that is refused changes nothing"""
    values = ['00', '11' * 40, '22' * 20]
    lab.gatt('write', LONG_WRITE, values[0])
    done = lab.gatt('write', LONG_WRITE, values[1], LONG_WRITE, values[2], '--reliable')
    assert len(done.events('written')) == 2
    got = lab.gatt('read', LONG_WRITE).events('value')[0]['value']
    assert got.startswith(values[2]), got
    # Bumble looks at permissions when it writes, so that a refusal of the second value would come too late.
    lab.gatt('write', '2A38', '00', LONG_WRITE, values[1], '--reliable', status=1)
    assert lab.gatt('read', LONG_WRITE).events('value')[0]['value'] == got
