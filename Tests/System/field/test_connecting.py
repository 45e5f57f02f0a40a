"""Devices and adapters that connect, stay connected and leave otherwise than the specification has it."""
import signal, struct

from pytest import mark, param

from jelling.devices import VALUE, counted, discovers, meter, said
from jelling.link import octets

# ^C and SIGTERM: the work may take 2 s to end, then the adapter is closed under it (Sources/bletool/Session/Leaving.swift). What the
# device owes takes 30 s.
LEAVING = 28


def update_request(peer, interval=24, latency=0, timeout=400):
    peer.send(5, struct.pack('<BBHHHHH', 0x12, peer.next_identifier(), 8, interval, interval, latency, timeout))


@mark.through_bled
def test_parameters_at_once(bench):
    """A device that asks for other connection parameters as soon as it is connected gets them, and discovery completes"""
    peer = meter(bench)

    def hook(link, pdu):
        if len(peer.links) == 1 and pdu[0] in (0x02, 0x10) and not asked:
            asked.append(update_request(peer, 80, 4))
        return None
    asked = []
    peer.server.hook = hook
    discovers(bench, peer)
    assert [struct.unpack_from('<HH', p, 2) for o, p in bench.controller.commands if o == 0x2013] == [(80, 80)]


def test_parameters_again_and_again(bench):
    """A device that asks for other parameters twenty times, without waiting: each request is answered, and discovery completes"""
    peer = meter(bench)

    def hook(link, pdu):
        for _ in range(5):
            update_request(peer, 40)
        return None
    peer.server.hook = hook
    discovers(bench, peer)
    peer.wait(lambda: len([h for h in peer.heard if h.channel == 5 and h.payload[:1] == b'\x13']) >= 20, 'responses')


def test_impossible_parameters(bench):
    """A device that asks for an interval of 0 is refused, and discovery completes"""
    peer = meter(bench)
    asked = []

    def hook(link, pdu):
        if not asked:
            asked.append(update_request(peer, 0))
        return None
    peer.server.hook = hook
    discovers(bench, peer)
    assert [h.payload[4:] for h in peer.heard if h.channel == 5 and h.payload[:1] == b'\x13'] == [b'\1\0']


def fails_to_be_established(times):
    """The first links end with Connection Failed To Be Established before anything has arrived."""
    def fail(bench, peer):
        def connected(link):
            type(peer).connected(peer, link)
            if len(peer.links) <= times:
                bench.controller.soon(0.05, lambda: link.disconnect(0x3E))
        peer.connected = connected
        peer.server.hook = lambda link, pdu: b'' if len(peer.links) <= times else None
    return fail


@mark.through_bled
def test_link_not_established(bench):
    """Two links that fail to be established (0x3E) are made again without a word, and the value is read"""
    peer = meter(bench)
    fails_to_be_established(2)(bench, peer)
    assert bench.value(VALUE, peer='Meter') == b'12.5'
    assert len(peer.links) == 3


def test_link_never_established(bench):
    """A device whose links always fail to be established: after the time to connect an error says so, not that it is out of range"""
    peer = meter(bench)
    fails_to_be_established(1000)(bench, peer)
    said(bench.gatt('read', VALUE, '--connect-timeout', '5', peer='Meter', status=1), 'no link to ‘Meter’ was established')
    assert len(peer.links) > 1, f'{len(peer.links)} links'


def reported_twice(bench, handle=None):
    """The controller reports each connection once more."""
    establish = bench.controller.establish

    def twice(device, host_role, own_type):
        link = establish(device, host_role, own_type)
        head = struct.pack('<BHBB', 0, link.handle if handle is None else handle, host_role, int(device.random))
        bench.controller.meta(0x01, head + octets(device.address) + struct.pack('<HHHB', 24, 0, 200, 0))
        return link
    bench.controller.establish = twice


@mark.through_bled
def test_connection_reported_twice(bench):
    """An adapter that reports a connection twice, with the same handle: the value is read"""
    peer = meter(bench)
    reported_twice(bench)
    assert bench.value(VALUE, peer='Meter') == b'12.5'
    counted(bench, 'unexpectedEvents')


def test_connection_without_a_request(bench):
    """An adapter that reports one more link to the same device, without a request: the value is read, the other link is ended"""
    peer = meter(bench)
    reported_twice(bench, 0x0123)
    assert bench.value(VALUE, peer='Meter') == b'12.5'
    assert {struct.unpack_from('<H', p)[0] for o, p in bench.controller.commands if o == 0x0406} == {0x40, 0x0123}


@mark.parametrize('reason, words', [param(0x13, ['remote user terminated'], id='13'), param(0x08, ['timeout'], id='08'), param(0x3D, ['MIC'], id='3d')])
def test_link_ends_during_discovery(bench, reason, words):
    """A link that ends during discovery: an error says why"""
    peer = meter(bench)
    peer.server.hook = lambda link, pdu: link.disconnect(reason) or b'' if pdu[0] == 0x08 else None
    result = bench.gatt('discover', peer='Meter', status=1)
    said(result, *words)


def test_security_requests_without_end(bench):
    """A device that asks for security on every occasion and then refuses to pair: an open value is read, and we pair at most twice"""
    peer = meter(bench)
    peer.pairing = None

    def hook(link, pdu):
        for _ in range(5):
            peer.request_security()
        return None
    peer.server.hook = hook
    assert bench.value(VALUE, peer='Meter') == b'12.5'
    pairings = [p for p in peer.sent(6) if p[0] == 0x01]
    assert len(pairings) <= 2, f'{len(pairings)} Pairing Requests'


@mark.parametrize('opcode', [param(0x041D, id='read_remote_version'), param(0x2016, id='read_remote_features')])
def test_link_without(bench, opcode):
    """`link --duration 2` on an adapter that never completes a command prints what it has, soon"""
    meter(bench)
    bench.controller.answers[opcode] = lambda parameters: 0        # Command Status, and nothing more
    result = bench.run('link', 'Meter', '--duration', '2', status=None)
    assert result.seconds < 38, f'it took {result.seconds:.1f} s'
    assert result.status in (0, 1) and result.events('radio'), result.describe()


def silent_server(bench, peer):
    peer.server.hook = lambda link, pdu: b''
    return lambda tool: peer.wait(lambda: peer.sent(), 'requests')


def silent_channel(bench, peer):
    """It does not answer the Disconnection Request of a channel."""
    peer.listen(0x80)
    take = peer.take_signal
    peer.take_signal = lambda link, payload: None if payload[:1] == b'\x06' else take(link, payload)
    return lambda tool: peer.wait(lambda: peer.channels, 'channel')


def endless_disconnect(bench, peer):
    """The controller never completes Disconnect."""
    bench.controller.answers[0x0406] = lambda parameters: 0
    return lambda tool: tool.wait_event('subscribed')


@mark.parametrize('how', [param(signal.SIGINT, id='sigint'), param(signal.SIGTERM, id='sigterm')])
@mark.parametrize('prepare, arguments', [
    param(silent_server, ['gatt', 'Meter', 'read', VALUE], id='the_device_does_not_answer'),
    param(silent_channel, ['l2cap', 'connect', 'Meter', '--psm', '0x80'], id='the_device_does_not_close_its_channel'),
    param(endless_disconnect, ['gatt', 'Meter', 'subscribe', 'FFE3'], id='the_adapter_never_completes_disconnect')])
@mark.through_bled
def test_leaves(bench, prepare, arguments, how):
    """^C or SIGTERM ends the tool soon although something is not answered"""
    peer = meter(bench)
    wait = prepare(bench, peer)
    tool = bench.start(*arguments)
    wait(tool)
    tool.is_ended = True
    tool.process.send_signal(how)
    tool.process.wait(LEAVING)


def test_mistyped_address(bench):
    """An address with a pair too many or a wrong letter is wrong usage, exit status 2, and not looked for as a name"""
    for address in ('C0:00:00:00:00', 'C0:00:00:00:00:00:01', 'C0:00:00:00:0G:01'):
        result = bench.gatt('read', VALUE, peer=address, status=None)
        if result.status != 2:
            raise AssertionError(f'{address}: {result.describe()}')
        said(result, address.split(':')[0])
