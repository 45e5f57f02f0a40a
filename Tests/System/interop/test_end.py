"""Endings: signals, a peer that vanishes, a controller that is unplugged or silent."""
import signal, threading

from pytest import mark

from interop.test_gatt import CONTROL
from jelling.lab import PEER_ADDRESS
from jelling.relay import ACL, TO_CONTROLLER
from interop.test_scan import EXTENDED_SCAN_ENABLE, SCAN_ENABLE, check_scanning_stopped

CREATE_CONNECTION, CANCEL, EXTENDED_CREATE_CONNECTION = 0x200D, 0x200E, 0x2043
READ_BY_GROUP_TYPE, FIND_BY_TYPE_VALUE, READ_BY_TYPE = 0x10, 0x06, 0x08


def ended_a_scan(lab, how):
    relay = lab.relay()
    scan = lab.start('lescan', '--duplicates', via=relay.endpoint)
    scan.wait_event('discovered')
    scan.process.send_signal(how)
    result = lab.finish(scan)
    assert result.status == 0
    assert not result.strays, f'stdout is not JSON: {result.strays[:2]}'
    check_scanning_stopped(relay)


def test_interrupt_ends_a_scan(lab):
    """^C ends a scan with status 0, after a command to stop scanning"""
    ended_a_scan(lab, signal.SIGINT)


def test_termination_ends_a_scan(lab):
    """SIGTERM ends a scan with status 0, after a command to stop scanning"""
    ended_a_scan(lab, signal.SIGTERM)


def test_interrupt_ends_a_subscription(lab):
    """^C during a subscription closes the link with reason 0x13"""
    tool = lab.start('gatt', 'BumblePeer', 'subscribe', '2A37')
    tool.wait_event('notified')
    tool.process.send_signal(signal.SIGINT)
    assert lab.finish(tool).status in (0, 1), 'it did not end by itself'
    assert lab.wait_peer('disconnected')[0]['reason'] == 0x13


def test_interrupt_ends_a_pending_connection(lab):
    """^C while a connection is pending cancels it"""
    relay = lab.relay()
    tool = lab.start('gatt', 'C1:22:33:44:55:66/random', 'discover', via=relay.endpoint)
    # It scans for the device, or is connecting.
    wanted = (CREATE_CONNECTION, EXTENDED_CREATE_CONNECTION, SCAN_ENABLE, EXTENDED_SCAN_ENABLE)
    relay.wait_for_command(wanted)
    threading.Event().wait(1)
    assert tool.process.poll() is None, 'a connection to an absent device must stay pending (CEN-9)'
    tool.process.send_signal(signal.SIGINT)
    assert lab.finish(tool).status in (0, 1), 'it did not end by itself'
    if lab.kind == 'btvirt':
        return      # it ends an attempt for an absent peer at once, so that nothing is pending in it
    last = [opcode for opcode, _ in relay.commands(CREATE_CONNECTION, EXTENDED_CREATE_CONNECTION, CANCEL)]
    assert not last or last[-1] == CANCEL, f'a pending connection was left in the controller: {[hex(o) for o in last]}'


@mark.lab(slow=True, through_bled=True)
def test_a_peer_that_vanishes_during_discovery(lab):
    """a peer that vanishes in the middle of a discovery ends the tool with status 1 in bounded time"""
    killed = threading.Event()

    def watch(direction, packet):
        asks = packet[0] == ACL and packet[7:9] == b'\4\0' and packet[9] in (
            READ_BY_GROUP_TYPE, FIND_BY_TYPE_VALUE, READ_BY_TYPE)
        if direction == TO_CONTROLLER and asks and not killed.is_set():
            killed.set()
            lab.peer.end(signal.SIGKILL)     # before the question reaches it
        return True

    relay = lab.relay(watch)
    # btvirt does not report a vanished client: there the ATT transaction's 30 s end it.
    result = lab.gatt('discover', via=relay.endpoint, timeout=100, status=1)
    assert killed.is_set(), 'no discovery was seen'
    assert result.events('error') and result.events('error')[0].get('message'), 'no error event: ' + result.describe()


@mark.lab(('bumble', 'bumble-stock', 'simulator'))
def test_a_peer_that_vanishes_while_subscribed(lab):
    """a link lost while subscribed ends the tool with status 1"""
    tool = lab.start('gatt', 'BumblePeer', 'subscribe', '2A37')
    tool.wait_event('notified')
    lab.peer.end(signal.SIGKILL)
    result = lab.finish(tool)
    assert result.status == 1
    assert result.events('error'), 'no error event: ' + result.describe()


def test_a_peer_that_hangs_up(lab):
    """a peer that disconnects ends a script with status 1"""
    lab.every_link_ends_by_us = False
    result = lab.gatt('script', lab.script(f'write {CONTROL} 03', 'wait --duration 300'), status=1)
    assert result.events('error'), 'no error event: ' + result.describe()
    lab.wait_peer('disconnected')


@mark.lab(('bumble', 'btvirt', 'simulator'))
def test_a_controller_that_goes_away(lab):
    """a controller that is unplugged during a scan ends the tool with a failure, in bounded time"""
    relay = lab.relay()
    scan = lab.start('lescan', '--duplicates', via=relay.endpoint)
    scan.wait_event('discovered')
    relay.cut()
    result = lab.finish(scan)
    assert result.status in (1, 3), 'want status 1 or 3: ' + result.describe()
    assert result.stderr or result.events('error'), 'no word about it: ' + result.describe()


@mark.lab(('bumble', 'btvirt'), slow=True)
def test_a_controller_that_never_answers(lab):
    """a controller that answers nothing leads to a clear error in bounded time"""
    relay = lab.relay(lambda direction, packet: direction == TO_CONTROLLER)
    result = lab.run('info', via=relay.endpoint, status=None)
    assert result.status in (1, 3), 'want status 1 or 3: ' + result.describe()
    assert result.stderr or result.events('error'), 'no word about it: ' + result.describe()


def test_a_peer_that_comes_later(lab):
    """a connection stays pending until the peer appears (CEN-9)"""
    lab.peer.end()
    tool = lab.start('gatt', PEER_ADDRESS + '/random', 'read', '2A38')
    threading.Event().wait(2)
    assert tool.process.poll() is None, 'it gave up: ' + tool.stderr()
    lab.start_peer()
    result = lab.finish(tool)
    assert result.status == 0
    assert [e['value'] for e in result.events('value')] == ['01']
