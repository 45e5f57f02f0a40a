"""Pairings that go wrong on purpose: method confusion, keys that are no keys, claims of BR/EDR, a second key on a link."""
import time

from pytest import mark, param

from attack.test_honest import PROFILE, SECRET, SHOWN, SHOWS, TYPED, TYPES, lock, still_bonded
from jelling.smp import DISPLAY, NOTHING, YES_NO, Stop

DISPLAY_ONLY = bytes([DISPLAY])


def refused_as_central(bench, options, **settings):
    """`pair` with a peer of these settings fails, and leaves no bond."""
    peer = lock(bench)
    peer.pairing = settings
    bench.run('pair', 'Lock', *options, status=1)
    assert bench.bonds() == []
    return peer


def refused_as_peripheral(bench, options, **settings):
    """A central of these settings is not paired by `serve`, and gets nothing."""
    tool, peer = bench.served(PROFILE, *options)
    pairing = peer.pair(wait=False, **settings).wait_end()
    assert pairing.failure is not None, 'it was paired'
    if peer.link.open:
        assert peer.read(peer.find(SECRET)) == 0x05
    bench.stop(tool)
    assert bench.bonds() == []
    return peer


def instead_of(wanted, change):
    """A `tamper` that changes the PDUs of this name."""
    return lambda pairing, name, pdu: change(pairing, pdu) if name == wanted else pdu


def says_display(pairing, pdu):
    """On the air it claims DisplayOnly; it continues as if it had claimed DisplayYesNo."""
    return pdu[:1] + DISPLAY_ONLY + pdu[2:]


def flipped(pairing, pdu):
    return pdu[:-1] + bytes([pdu[-1] ^ 1])


def off_the_curve(pairing, pdu):
    return pdu[:33] + bytes([pdu[33] ^ 2]) + pdu[34:]


def reflected(pairing, pdu):
    return pairing.received[0x0C][0]


def test_method_confusion(bench):
    """A peer that compares a number while its features lead to a passkey is not paired by `pair`"""
    refused_as_central(bench, ['--io', 'kbdisp', '--mitm', '--yes', '--passkey', '123456'], io=YES_NO, mitm=True,
                       tamper=instead_of('response', says_display))


def test_method_confusion_serve(bench):
    """A central that compares a number while its features lead to a passkey is not paired by `serve`"""
    refused_as_peripheral(bench, ['--io', 'kbdisp', '--mitm', '--yes', '--passkey', '123456'], io=YES_NO, mitm=True,
                          tamper=instead_of('request', says_display))


def test_authentication_taken_out(bench):
    """A peer that supports only Just Works is not paired by `pair --mitm`"""
    refused_as_central(bench, ['--io', 'yesno', '--mitm', '--yes'], io=NOTHING)


def test_authentication_taken_out_serve(bench):
    """A central that supports only Just Works is not paired by `serve --mitm`"""
    refused_as_peripheral(bench, SHOWN, io=NOTHING)


@mark.parametrize('refused', [param(refused_as_central, id='pair'), param(refused_as_peripheral, id='serve')])
def test_point_off_the_curve(bench, refused):
    """Neither role accepts a public key that is no point of the curve"""
    refused(bench, [], tamper=instead_of('public key', off_the_curve))


@mark.parametrize('refused', [param(refused_as_central, id='pair'), param(refused_as_peripheral, id='serve')])
def test_wrong_check(bench, refused):
    """Neither role accepts a wrong DHKey Check"""
    refused(bench, [], tamper=instead_of('check', flipped))


@mark.parametrize('refused', [param(refused_as_central, id='pair'), param(refused_as_peripheral, id='serve')])
def test_wrong_random(bench, refused):
    """Neither role accepts a legacy random value that its confirm value does not stand for"""
    refused(bench, [], secure=False, tamper=instead_of('random', flipped))


def test_reflected_key(bench):
    """A peer that sends our own public key back is not paired"""
    refused_as_central(bench, TYPED, **SHOWS,
                       tamper=instead_of('public key', reflected))


def test_reflected_confirm(bench):
    """A peer that sends our own confirm values back, knowing no passkey, is not paired"""
    def back(pairing, pdu):
        return pairing.received[pdu[0]][-1]
    refused_as_central(bench, TYPED, io=DISPLAY, mitm=True, passkey=0,
                       tamper=lambda pairing, name, pdu: back(pairing, pdu) if name in ('confirm', 'random') else pdu)


def test_keys_before_encryption(bench):
    """Keys that are distributed before the link is encrypted are not kept"""
    def early(pairing, name, pdu):
        if name == 'public key':
            pairing.peer.send(6, b'\x08' + bytes(16))
            pairing.peer.send(6, b'\x09\x01' + bytes(5) + b'\xc0')
        return pdu
    peer = lock(bench)
    peer.pairing = {'tamper': early, 'seconds': 3}
    bench.run('pair', 'Lock', status=None)
    assert not any('00:00:00:00:00' in str(b) for b in bench.bonds()), f'an identity in the clear was kept: {bench.bonds()}'


def test_stopped_in_the_midst(bench):
    """A pairing that the peer abandons ends within the 30 s of the specification, and leaves nothing"""
    def stop(pairing, name, pdu):
        if name == 'check':
            raise Stop
        return pdu
    peer = lock(bench)
    peer.pairing = {'tamper': stop}
    result = bench.run('pair', 'Lock', status=1, timeout=90)
    assert result.seconds < 60, result.describe()
    assert bench.bonds() == []


def test_cross_transport_claims(bench):
    """A peer that requests a BR/EDR key (LinkKey) gets none, and its own is not stored"""
    tool, peer = bench.served(PROFILE)
    pairing = peer.pair(initiator_keys=15, responder_keys=15)
    assert (pairing.response[5] | pairing.response[6]) & 8 == 0
    bench.stop(tool)
    assert 'linkKey' not in str(bench.bonds()), 'a key of BR/EDR was kept'


# A second key on a link

def keeps_its_key(bench, options, first, second):
    """A second pairing over the link of the first one is refused, and the first key stays."""
    tool, peer = bench.served(PROFILE, *options)
    peer.pair(**first)
    keys = peer.keys
    assert peer.pair(wait=False, **second).wait_end().failure is not None, 'the key was replaced by a weaker one'
    peer.disconnect()
    peer.keys = keys
    still_bonded(peer)


def test_encrypted_twice(bench):
    """On a link that is encrypted with an authenticated key, a pairing without authentication does not weaken it"""
    keeps_its_key(bench, SHOWN, TYPES, {'io': NOTHING})


def test_encrypted_twice_with_legacy(bench):
    """A Secure Connections bond is not replaced by a legacy one, not even over its own link"""
    keeps_its_key(bench, [], {}, {'secure': False})


def test_security_request_on_an_encrypted_link(bench):
    """A Security Request on a link that is encrypted with an authenticated bond leads to no weaker pairing"""
    peer = lock(bench)
    peer.pairing = SHOWS
    bench.run('pair', 'Lock', *TYPED)
    peer.pairing = {}
    asked = []

    def hook(link, pdu):
        if pdu[0] == 0x0A and not asked:
            asked.append(1)
            peer.request_security(0x09)
            time.sleep(0.1)
        return None

    peer.server.hook = hook
    assert bench.value(SECRET) == b'secret'
    assert len(peer.pairings) == 1
    bond = bench.bonds()[0]
    assert bond['authenticated'] is True
