"""Devices whose attribute server answers otherwise than the specification has it, while a user discovers, reads and writes."""
import struct

from pytest import mark, param

from jelling.devices import BATTERY, VALUE, answered, counted, database, discovers, error, meter, said


@mark.through_bled
def test_mtu_answered_twice(bench):
    """A device that answers Exchange MTU twice: the stray response is ignored and counted, and discovery completes"""
    peer = meter(bench)

    def answer(pdu):
        peer.send(4, struct.pack('<BH', 0x03, 247))
        return None
    answered(peer, 0x02, answer)
    discovers(bench, peer)
    counted(bench, 'unexpectedATTResponses')


@mark.through_bled
def test_error_of_another_request(bench):
    """A device that sends an Error Response to a request that was never made before each of its responses: they are counted, and discovery completes"""
    peer = meter(bench)

    def hook(link, pdu):
        peer.send(4, struct.pack('<BBHB', 0x01, 0x12, 0x0003, 0x0E))
        return None
    peer.server.hook = hook
    discovers(bench, peer)
    counted(bench, 'unexpectedATTResponses')


def test_mtu_not_supported(bench):
    """A device that knows no Exchange MTU answers Request Not Supported: all works with the ATT_MTU of 23"""
    peer = meter(bench)
    answered(peer, 0x02, lambda pdu: error(pdu, 0x06, 0))
    assert discovers(bench, peer).events('database')[0]['mtu'] == 23


def test_mtu_below_the_least(bench):
    """A device that offers an ATT_MTU of 0 gets 23, the least that there is"""
    peer = meter(bench)
    answered(peer, 0x02, lambda pdu: b'\x03\0\0')
    assert discovers(bench, peer).events('database')[0]['mtu'] == 23


@mark.through_bled
def test_mtu_of_the_peripheral(bench):
    """A camera exchanges the MTU by itself as soon as it is connected: it gets its answer, and discovery completes"""
    peer = meter(bench)
    asked = []

    def hook(link, pdu):
        if not asked:
            asked.append(link.send(4, struct.pack('<BH', 0x02, 247)))
        return None
    peer.server.hook = hook
    discovers(bench, peer)
    assert len(peer.sent(opcodes=[0x03])) == 1


@mark.through_bled
def test_discovered_by_the_device(bench):
    """A device that looks for services of ours while we look for its own is answered, and both complete"""
    peer = meter(bench)
    requests = [b'\x10\x01\0\xff\xff\0\x28', b'\x08\x01\0\xff\xff\x2a\x2b', b'\x0a\x01\0']

    def hook(link, pdu):
        if requests:
            link.send(4, requests.pop(0))
        return None
    peer.server.hook = hook
    discovers(bench, peer)
    assert len([p for p in peer.sent() if p[0] in (0x11, 0x09, 0x0B) or p[:2] in (b'\1\x10', b'\1\x08', b'\1\x0a')]) == 3


@mark.parametrize('code', [param(0x01, id='invalid_handle'), param(0x06, id='request_not_supported'), param(0x00, id='error_zero')])
def test_discovery_ends_with(bench, code):
    """A device that ends each discovery with another error than Attribute Not Found is discovered all the same"""
    peer = meter(bench)

    def hook(link, pdu):
        peer.server.hook = None
        answer = peer.server.answer(link, pdu, peer.mtu)
        peer.server.hook = hook
        return error(pdu, code) if pdu[0] in (0x04, 0x06, 0x08, 0x10) and answer[0] == 0x01 else None
    peer.server.hook = hook
    discovers(bench, peer)
    assert bench.value(VALUE, peer='Meter') == b'12.5'


def test_discovery_ends_with_unlikely_error(bench):
    """A device that fails in the midst of a discovery with Unlikely Error: an error, and no list with a part of its attributes"""
    peer = meter(bench)
    answered(peer, 0x08, lambda pdu: error(pdu, 0x0E) if pdu[1:3] >= b'\x07\0' else None)
    result = bench.gatt('discover', peer='Meter', status=1)
    said(result, '0x0E')
    assert result.events('database') == []


def test_error_of_no_handle(bench):
    """A device that names handle 0 in every Error Response is discovered all the same"""
    peer = meter(bench)

    def hook(link, pdu):
        peer.server.hook = None
        answer = peer.server.answer(link, pdu, peer.mtu)
        peer.server.hook = hook
        return error(pdu, answer[4], 0) if answer and answer[0] == 0x01 else None
    peer.server.hook = hook
    discovers(bench, peer)


def test_service_to_the_end(bench):
    """The last service of a device ends at 0xFFFF, where no attribute is: discovery completes"""
    peer = meter(bench)
    peer.server.end_of_group = lambda handle: 0xFFFF if handle > 1 else 3
    discovers(bench, peer)


def test_descriptors_not_supported(bench):
    """A device that refuses Find Information: its characteristics are shown, without descriptors, and can be read"""
    peer = meter(bench)
    answered(peer, 0x04, lambda pdu: error(pdu, 0x06))
    assert database(bench.gatt('discover', peer='Meter')) == {'180F': [BATTERY], 'FFE0': ['FFE1', 'FFE2', 'FFE3', 'FFE4']}
    assert bench.value(VALUE, peer='Meter') == b'12.5'


def test_services_in_wrong_order(bench):
    """A device that lists its services in descending order: an error says that the response is invalid"""
    peer = meter(bench)
    answered(peer, 0x10, lambda pdu: b'\x11\x06' + struct.pack('<HHHHHH', 4, 14, 0xFFE0, 1, 3, 0x180F)
             if pdu[1:3] == b'\1\0' else error(pdu, 0x0A))
    result = bench.gatt('discover', peer='Meter', status=1)
    said(result, 'invalid response')


def test_services_of_a_wrong_length(bench):
    """A device that states entries of 7 octets, which no service has: an error says that the response is invalid"""
    peer = meter(bench)
    answered(peer, 0x10, lambda pdu: b'\x11\x07' + bytes(7))
    result = bench.gatt('discover', peer='Meter', status=1)
    said(result, 'invalid response')
