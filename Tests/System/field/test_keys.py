"""Pairing with adapters whose events come late, and with devices and people that fail at it."""
import os, struct, threading, time

from pytest import mark, param

from jelling.controller import SILENT
from jelling.devices import meter
from jelling.smp import DISPLAY, KEYBOARD

PROFILE = {'services': [{'uuid': '180D', 'characteristics': [{'uuid': '2A38', 'properties': ['read', 'write'], 'value': '5e'}]}]}
SECURITY, RESPONSE, FAILED, REPEATED = 6, 0x02, 0x05, 0x09


def interval(bench, units):
    """Links are made with this interval, in units of 1.25 ms."""
    meta = bench.controller.meta

    def changed(subevent, parameters):
        if subevent == 0x01 and len(parameters) == 18:
            parameters = parameters[:11] + struct.pack('<HHH', units, 0, max(200, units * 4 // 8 + 1)) + parameters[17:]
        return meta(subevent, parameters)
    bench.controller.meta = changed


def late_report(bench, peer, seconds):
    """The adapter reports the encryption so much later than the device's first key."""
    def late(link, rand, ediv, key):
        link.encrypted, link.encryption = True, 0       # the device knows
        link.tell()
        end = time.monotonic() + 30
        while not peer.given and time.monotonic() < end:
            time.sleep(0.0005)
        time.sleep(max(0, peer.given[0] + seconds - time.monotonic()))
        bench.controller.event(0x08, struct.pack('<BHB', 0, link.handle, 1))
        return SILENT

    def tamper(pairing, name, pdu):
        if name == 'key' and not peer.given:
            peer.given.append(time.monotonic())
        return pdu
    peer.given = []
    peer.pairing = {'tamper': tamper}
    # In a thread: the controller goes on meanwhile.
    bench.controller.encrypts = lambda *arguments: threading.Thread(target=late, args=arguments, daemon=True).start() or SILENT


# A machine that stands still for a moment makes this delay longer: then the device is paired with again.
@mark.parametrize('units, milliseconds, attempts, secure', [
    param(24, 10.4, 5, True, id='by_what_was_measured'), param(24, 10.4, 5, False, id='by_what_was_measured_legacy'),
    param(3200, 333, 1, True, id='by_a_third_of_a_second')])
def test_keys_overtake(bench, units, milliseconds, attempts, secure):
    """A USB adapter that reports the encryption some time after the first key, as long as an interval lasts: the device is paired"""
    for _ in range(attempts):
        peer = meter(bench)
        interval(bench, units)
        late_report(bench, peer, milliseconds / 1000)
        peer.pairing['secure'] = secure
        result = bench.run('pair', 'Meter', status=None)
        if result.status == 0:
            assert peer.wait_pairing().failure is None
            assert [b['identity'] for b in bench.bonds()] == ['C0:00:00:00:00:01']
            return
        bench.controller.remove(peer)
    raise AssertionError(f'{attempts} times: {result.describe()}')


@mark.parametrize('units, secure', [param(6, True, id='at_7_ms'), param(24, True, id='at_30_ms'), param(24, False, id='at_30_ms_legacy'),
                                    param(3200, True, id='at_4_s')])
def test_keys_in_the_clear(bench, units, secure):
    """Keys that came unencrypted: pairing fails, and no bond is kept"""
    peer = meter(bench)
    interval(bench, units)

    def late(link, rand, ediv, key):
        # What everyone could have sent: the link is not encrypted yet.
        for pdu in ([b'\x06' + os.urandom(16), b'\x07' + os.urandom(10)] if not secure else []) + [
                b'\x08' + os.urandom(16), b'\x09\x01\x01\0\0\0\0\xc0', b'\x0a' + os.urandom(16)]:
            link.send(SECURITY, pdu)
        time.sleep(units * 1.25 / 1000 + 3)
        link.change_encryption(0)
        return SILENT
    peer.pairing = {'secure': secure, 'distributes': False}
    bench.controller.encrypts = lambda *arguments: threading.Thread(target=late, args=arguments, daemon=True).start() or SILENT
    bench.run('pair', 'Meter', status=1)
    assert bench.bonds() == []


# The waiting interval after failed pairings

def ask(peer):
    """A Pairing Request; whether it was answered by more than Repeated Attempts."""
    before = len(peer.sent(SECURITY))
    peer.send(SECURITY, b'\x01\x03\0\x09\x10\x07\x07')
    peer.wait(lambda: len(peer.sent(SECURITY)) > before, 'an answer to the Pairing Request')
    answer = peer.sent(SECURITY)[before]
    if answer[0] == RESPONSE:
        peer.send(SECURITY, bytes([FAILED, 0x08]))
        return True
    assert answer == bytes([FAILED, REPEATED])
    return False


def most(seconds):
    """How many requests are answered in this time at most: at once, after 1 s, 2 s, 4 s and so on."""
    count, wait = 1, 1
    while seconds >= wait:
        seconds, wait, count = seconds - wait, min(2 * wait, 16), count + 1
    return count


@mark.slow
@mark.through_bled
def test_requests_after_failures(bench):
    """A device that asks to pair sixty times and gives up each time: few requests are answered, and the link stays"""
    bench.serve(PROFILE)
    peer = bench.central().connect()
    started, answered = time.monotonic(), 0
    for _ in range(60):
        answered += ask(peer)
        time.sleep(0.05)
    seconds = time.monotonic() - started
    assert 2 <= answered <= most(seconds), f'{answered} were answered in {seconds:.1f} s'
    assert peer.link.open, 'the link has ended'
    assert peer.read(peer.find('2A38')) == b'\x5e'


@mark.slow
def test_requests_from_new_addresses(bench):
    """A device that fails to pair under a new address each time waits as well, and one that is bonded does not"""
    bench.serve(PROFILE)
    friend = bench.central('C0:00:00:00:00:77').connect()
    friend.pair()
    friend.disconnect()
    started, answered = time.monotonic(), 0
    for number in range(20):
        peer = bench.central(f'C0:33:00:00:00:{number:02X}').connect()
        answered += ask(peer)
        peer.disconnect()
    seconds = time.monotonic() - started
    assert answered <= most(seconds), f'{answered} were answered in {seconds:.1f} s'
    friend.connect()
    assert friend.encrypt(), 'the bonded device was refused'
    friend.pair()


def test_second_try_after_one_failure(bench):
    """A person who has typed a wrong passkey once pairs with the next try, after about a second"""
    tool, peer = bench.served(PROFILE, '--io', 'display', '--mitm')
    peer.pair(wait=False, io=KEYBOARD, mitm=True, passkey=0).wait_end()
    started = time.monotonic()
    for attempt in range(1, 100):
        pairing = peer.pair(wait=False, io=KEYBOARD, mitm=True,
                            passkey=lambda: int(tool.wait_event('passkey', count=2)[1]['passkey'])).wait_end()
        if pairing.failure is None:
            break
        assert pairing.failure == REPEATED
        time.sleep(0.1)
    seconds = time.monotonic() - started
    assert pairing.failure is None, f'{attempt} tries in {seconds:.1f} s: {pairing.failure}'


def test_pair_within_the_interval(bench):
    """`pair` through bled, soon after a wrong passkey: it says for how long to wait"""
    bench.through_bled = True
    peer = meter(bench)
    peer.pairing = {'io': DISPLAY, 'mitm': True, 'passkey': 123456}
    # Each failure doubles the interval: sooner or later it is longer than a run of the program takes. Three would lock one passkey.
    for number in range(12):
        message = bench.run('pair', 'Meter', '--io', 'keyboard', '--mitm', '--passkey', f'65432{number % 10}', status=1).stderr
        assert number or 'confirm value failed' in message, message
        if 'an earlier attempt failed' in message:
            return
    raise AssertionError(f'no message says to wait: {message}')
