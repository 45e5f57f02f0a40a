"""Devices whose values come, or are refused, otherwise than the specification has it."""
import struct

from pytest import mark, param

from jelling.attributes import INDICATE, NOTIFY, READ
from jelling.devices import LONG, READING, ALARM, VALUE, answered, error, meter, said

PLAIN = 'FFE5'


def values(result, kind='notified'):
    return [line['value'] for line in result.events(kind)]


def bare(bench, properties=NOTIFY):
    """A meter with one more value, which has no Client Characteristic Configuration."""
    peer = meter(bench)
    peer.bare = len(peer.server.attributes) + 2
    peer.server.add('2803', struct.pack('<BH', properties, peer.bare) + b'\xe5\xff')
    peer.server.add(PLAIN, b'\x2a')
    return peer


@mark.parametrize('target', [param(lambda peer: PLAIN, id='uuid'), param(lambda peer: f'0x{peer.bare:04X}', id='handle')])
@mark.through_bled
def test_notifies_without_configuration_by(bench, target):
    """A device that notifies without a Client Characteristic Configuration: `subscribe` says so and prints its values"""
    peer = bare(bench)
    tool = bench.start('gatt', 'Meter', 'subscribe', target(peer), '--count', '2', '--duration', '60')
    line = tool.wait_event('subscribed')[0]
    assert line['configured'] is False
    for value in (b'\x01', b'\x02'):
        peer.notify(peer.bare, value)
    result = bench.finish(tool)
    assert result.status == 0, result.describe()
    assert values(result) == ['01', '02']
    said(result, 'has no Client Characteristic Configuration')


@mark.through_bled
def test_configuration_cannot_be_written(bench):
    """A device that refuses writes of its configuration and notifies all the same: `subscribe` says so and prints its values"""
    peer = meter(bench)
    answered(peer, 0x12, lambda pdu: error(pdu, 0x03))
    tool = bench.start('gatt', 'Meter', 'subscribe', READING, '--count', '1', '--duration', '60')
    assert tool.wait_event('subscribed')[0]['configured'] is False
    peer.notify(peer.reading, b'\x07')
    result = bench.finish(tool)
    assert values(result) == ['07']
    said(result, 'cannot be written')


def test_subscribing_is_refused(bench):
    """A device that refuses a subscription with an error of its application: the error names its code, exit status 1"""
    peer = meter(bench)
    answered(peer, 0x12, lambda pdu: error(pdu, 0x80))
    result = bench.gatt('subscribe', READING, '--count', '1', '--duration', '60', peer='Meter', status=1)
    said(result, '0x80')


@mark.through_bled
def test_value_before_the_response(bench):
    """A device that sends its first value before it has answered the subscription: the value is printed"""
    peer = meter(bench)

    def answer(pdu):
        peer.notify(peer.reading, b'\x01')
        return None
    answered(peer, 0x12, answer)
    result = bench.gatt('subscribe', READING, '--count', '1', '--duration', '60', peer='Meter')
    assert values(result) == ['01']


def test_empty_value(bench):
    """A device that notifies an empty value: it is printed as one"""
    peer = meter(bench)
    tool = bench.start('gatt', 'Meter', 'subscribe', READING, '--count', '2', '--duration', '60')
    tool.wait_event('subscribed')
    peer.notify(peer.reading, b'')
    peer.notify(peer.reading, b'\x01')
    assert values(bench.finish(tool)) == ['', '01']


def test_value_beyond_the_mtu(bench):
    """A device that notifies 100 octets although the ATT_MTU is 23: the value is printed whole, and the link stays"""
    peer = meter(bench)
    answered(peer, 0x02, lambda pdu: error(pdu, 0x06, 0))
    tool = bench.start('gatt', 'Meter', 'subscribe', READING, '--count', '2', '--duration', '60')
    tool.wait_event('subscribed')
    peer.notify(peer.reading, bytes(100))
    peer.notify(peer.reading, b'\x01')
    result = bench.finish(tool)
    assert values(result) == ['00' * 100, '01']
    assert peer.links[-1].reason == 0x13


@mark.through_bled
def test_indications_without_waiting(bench):
    """A device that indicates again before the first indication is confirmed: all are printed and confirmed, each once"""
    peer = meter(bench)
    tool = bench.start('gatt', 'Meter', 'subscribe', ALARM, '--count', '5', '--duration', '60')
    tool.wait_event('subscribed')
    for number in range(5):
        peer.send(4, struct.pack('<BHB', 0x1D, peer.alarm, number))
    result = bench.finish(tool)
    assert values(result, 'indicated') == [f'{number:02x}' for number in range(5)]
    peer.wait(lambda: len(peer.sent(opcodes=[0x1E])) >= 5, 'confirmations')
    assert len(peer.sent(opcodes=[0x1E])) == 5


@mark.parametrize('code', [param(0x0B, id='not_long'), param(0x07, id='invalid_offset'), param(0x06, id='not_supported')])
def test_rest_of_a_value(bench, code):
    """A value that fills a response exactly, of a device that refuses Read Blob with each of these errors: it is printed"""
    peer = meter(bench)

    def hook(link, pdu):
        return error(pdu, 0x06, 0) if pdu[0] == 0x02 else error(pdu, code) if pdu[0] == 0x0C else None
    peer.server.hook = hook
    assert bench.gatt('read', LONG, peer='Meter').events('value')[0]['value'] == bytes(range(22)).hex()


def test_read_blob_past_the_end(bench):
    """A device that starts again at the beginning of the value when Read Blob asks for more than there is: the value ends at 512 octets"""
    peer = meter(bench)

    def hook(link, pdu):
        return error(pdu, 0x06, 0) if pdu[0] == 0x02 else b'\x0d' + bytes(range(22)) if pdu[0] == 0x0C else None
    peer.server.hook = hook
    value = bench.gatt('read', LONG, peer='Meter').events('value')[0]['value']
    assert len(value) // 2 == 512


def test_key_too_short(bench):
    """A device that answers Insufficient Encryption Key Size after a pairing that gave the longest key: an error says so, and we pair once"""
    peer = meter(bench)
    answered(peer, 0x0A, lambda pdu: error(pdu, 0x0C))
    result = bench.gatt('read', VALUE, peer='Meter', status=1)
    said(result, 'key')
    assert len(peer.pairings) <= 1, f'{len(peer.pairings)} pairings'


def test_secure_but_cannot_pair(bench):
    """A device that asks for authentication and cannot pair: an error says so, and names the command that says why"""
    peer = meter(bench)
    peer.pairing = None
    answered(peer, 0x0A, lambda pdu: error(pdu, 0x05))
    result = bench.gatt('read', VALUE, peer='Meter', status=1)
    said(result, 'insufficient authentication', 'bletool pair PEER')
    said(bench.run('pair', 'Meter', status=1), 'pairing not supported')


@mark.through_bled
def test_service_changed_storm(bench):
    """A device that indicates Service Changed fifty times while it is discovered: all are confirmed, and the value is read"""
    peer = meter(bench)
    peer.server.service('1801')
    changed = peer.server.characteristic('2A05', INDICATE)
    left = [50]

    def hook(link, pdu):
        if pdu[0] != 0x02 and left[0]:
            for _ in range(10):
                left[0] -= 1
                link.send(4, struct.pack('<BHHH', 0x1D, changed, 1, 0xFFFF))
        return None
    peer.server.hook = hook
    assert bench.value(VALUE, peer='Meter') == b'12.5'
    peer.wait(lambda: len(peer.sent(opcodes=[0x1E])) >= 50 - left[0], 'confirmations')


def test_service_changed_cannot_be_subscribed(bench):
    """A device whose Service Changed can only be read is used like any other"""
    peer = meter(bench)
    peer.server.service('1801')
    peer.server.characteristic('2A05', READ, b'\0\0\0\0')
    assert bench.value(VALUE, peer='Meter') == b'12.5'
