"""Bonds and keys: who may replace or evict a bond, which keys suffice, and who sends which keys."""
import time

from pytest import mark, param

from jelling.attributes import READ, WRITE
from attack.test_honest import BEAT, PROFILE, SECRET, SHOWN, SHOWS, TYPED, TYPES, lock, bonded, still_bonded
from jelling.peer import resolvable
from jelling.smp import KEYBOARD, NOTHING


def bonded_central(bench):
    """`serve`, and a central with a bond that has disconnected."""
    tool, peer = bench.served(PROFILE)
    peer.pair()
    tool.wait_event('paired')
    peer.disconnect()
    return tool, peer


def tries(bench, address, **settings):
    """A stranger under this address pairs, whatever comes of it, and disconnects: its pairing."""
    stranger = bench.central(address).connect()
    pairing = stranger.pair(wait=False, **settings).wait_end()
    stranger.disconnect()
    return pairing


# Line 4: strangers and bonds

def test_serve_bond_is_not_replaced(bench):
    """A stranger under a bonded central's address pairs Just Works: refused, and the bond still works for its owner"""
    tool, victim = bonded_central(bench)
    assert tries(bench, victim.address).failure is not None, 'the stranger was paired'
    told = [l for l in tool.lines if l.get('event') == 'encrypted' and l.get('bonded')]
    assert told == []
    still_bonded(victim)
    bench.stop(tool)
    assert len(bench.bonds()) == 1


def test_serve_bond_is_not_replaced_by_identity(bench):
    """A stranger that distributes a bonded central's identity address does not replace its bond"""
    _, victim = bonded_central(bench)
    tries(bench, 'C0:00:00:00:00:66', identity=(True, victim.address))
    still_bonded(victim)


def test_serve_bond_is_not_replaced_by_identity_and_key(bench):
    """A stranger that distributes a bonded central's identity address and its very IRK does not replace its bond"""
    _, victim = bonded_central(bench)
    tries(bench, 'C0:00:00:00:00:66', identity=(True, victim.address), irk=victim.irk)
    still_bonded(victim)


def test_serve_authenticated_bond_stays(bench):
    """An authenticated bond is not replaced by a pairing without authentication from its resolvable address"""
    tool = bench.serve(PROFILE, *SHOWN)
    victim = bench.central()
    victim.identity = True, 'C0:00:00:00:00:77'
    victim.connect()
    victim.pair(**TYPES)
    victim.disconnect()
    bench.stop(tool)
    bench.serve(PROFILE)
    tries(bench, resolvable(victim.irk))
    victim.address = resolvable(victim.irk)
    still_bonded(victim)


def test_serve_owner_pairs_again(bench):
    """A bonded central that encrypts with its key may pair again over that link; the new key is used from then on"""
    tool, peer = bonded_central(bench)
    old = peer.keys.ours
    peer.connect()
    assert peer.encrypt(), 'the bond is gone'
    peer.pair()
    assert peer.keys.ours != old, 'no new key'
    peer.disconnect()
    still_bonded(peer)
    bench.stop(tool)
    assert len(bench.bonds()) == 1


def test_pair_again_keeps_the_bond(bench):
    """`pair` with a device under a bonded address that has lost its keys: refused with the remedy, the bond stays"""
    peer = lock(bench)
    bench.run('pair', 'Lock')
    keys, peer.keys = peer.wait_pairing().keys, None
    result = bench.run('pair', 'Lock', status=1)
    assert 'unpair' in result.stderr or '--replace' in result.stderr, f'no remedy: {result.stderr}'
    assert len(peer.pairings) == 1
    peer.keys = keys
    assert bench.value(SECRET) == b'secret'


@mark.slow
def test_serve_crowd_evicts_no_used_bond(bench):
    """A hundred and ten pairings from random addresses remove no bond that was used in this run"""
    tool, victim = bonded_central(bench)
    still_bonded(victim)
    for number in range(110):
        tries(bench, f'C0:11:00:00:{number // 256:02X}:{number % 256:02X}')
    still_bonded(victim)


def test_serve_victim_is_not_locked_out(bench):
    """Repeated failures under a victim's address do not affect its bond and its encryption"""
    bench.serve(PROFILE, *SHOWN)
    victim = bench.central().connect()
    victim.pair(**TYPES)
    victim.disconnect()
    for number in range(3):
        tries(bench, victim.address, io=KEYBOARD, mitm=True, passkey=number)
    started = time.monotonic()
    still_bonded(victim)
    assert time.monotonic() - started < 25, 'the victim had to wait'


# Line 5: what suffices

def test_pair_short_key(bench):
    """`pair` refuses a peripheral that supports only keys of seven octets (Encryption Key Size)"""
    peer = lock(bench)
    peer.pairing = {'size': 7}
    bench.run('pair', 'Lock', status=1)
    assert peer.wait_pairing().failure == 0x06
    assert bench.bonds() == []


def test_pair_short_key_legacy(bench):
    """A peripheral that offers fifteen octets of key, legacy, is refused by `pair`"""
    peer = lock(bench)
    peer.pairing = {'size': 15, 'secure': False}
    bench.run('pair', 'Lock', status=1)
    assert bench.bonds() == []


def test_pair_short_key_on_purpose(bench):
    """If the operator allows it (--min-key-size 7), a key of seven octets is accepted and reported"""
    peer = lock(bench)
    peer.pairing = {'size': 7}
    assert bench.run('pair', 'Lock', '--min-key-size', '7').events('paired')[0]['keySize'] == 7


def test_serve_short_key(bench):
    """A central that offers seven octets of key is refused by `serve` (Encryption Key Size)"""
    tool, peer = bench.served(PROFILE)
    pairing = peer.pair(wait=False, size=7).wait_end()
    assert pairing.failure == 0x06
    assert peer.read(peer.find(SECRET)) == 0x05
    bench.stop(tool)
    assert bench.bonds() == []


def test_serve_short_key_on_purpose(bench):
    """If the operator allows it (--min-key-size 7), `serve` accepts a key of seven octets"""
    _, peer = bench.served(PROFILE, '--min-key-size', '7')
    peer.pair(size=7)
    assert peer.read(peer.find(SECRET)) == b'secret'


def test_pair_secure_connections_only(bench):
    """`pair --secure-connections-only` refuses a legacy peripheral, and accepts an authenticated Secure Connections key"""
    peer = lock(bench)
    options = ['--secure-connections-only', *TYPED]
    peer.pairing = {**SHOWS, 'secure': False}
    assert bench.run('pair', 'Lock', *options, status=None).status == 1
    assert bench.bonds() == []
    time.sleep(2.2)     # what follows a failure at once is refused
    peer.pairing = SHOWS
    line = bench.run('pair', 'Lock', *options).events('paired')[0]
    assert (line['secureConnections'], line['authenticated'], line['keySize']) == (True, True, 16)


def test_serve_secure_connections_only(bench):
    """`serve --secure-connections-only` refuses a legacy central and one without authentication"""
    tool = bench.serve(PROFILE, '--secure-connections-only', *SHOWN)
    for settings in ({**TYPES, 'secure': False}, {'io': NOTHING}):
        failure = tries(bench, f'C0:00:00:00:00:{len(settings):02X}', **settings).failure
        assert isinstance(failure, int), f'{settings}: {failure}'
    bench.stop(tool)
    assert bench.bonds() == []


def test_serve_weak_bond_under_mitm(bench):
    """A bond without authentication does not open protected values once `serve --mitm` requires more"""
    tool, peer = bonded_central(bench)
    bench.stop(tool)
    tool = bench.serve(PROFILE, *SHOWN)
    peer.connect()
    if peer.encrypt():
        value = peer.read(peer.find(SECRET))
        assert value != b'secret', 'a bond without authentication was enough'


def test_serve_weak_bond_subscriptions(bench):
    """With such a bond, subscriptions to protected values are not served"""
    profile = {'services': [{'uuid': '180D', 'characteristics': [
        {'uuid': BEAT, 'properties': ['notify', 'notifyEncryptionRequired'], 'value': '0040', 'notifyEvery': 0.1}]}]}
    tool = bench.serve(profile)
    peer = bench.central().connect()
    peer.pair()
    assert peer.subscribe(peer.find(BEAT)) == 0
    peer.values(1)
    peer.disconnect()
    bench.stop(tool)
    tool = bench.serve(profile, *SHOWN)
    peer.connect()
    peer.heard.clear()
    peer.encrypt()
    time.sleep(0.7)
    assert [p.hex() for p in peer.sent(4, opcodes={0x1B, 0x1D})] == []


def test_gatt_weak_bond_under_mitm(bench):
    """A bond without authentication does not satisfy `pair --mitm`"""
    peer = bonded(bench)
    peer.pairing = SHOWS
    result = bench.run('pair', 'Lock', *TYPED, status=None)
    said = result.events('paired')
    assert result.status == 1 or said and said[0]['authenticated'], result.describe()


# Keys that were agreed (3.6.1), and identities

@mark.parametrize('secure', [param(True, id='secure'), param(False, id='legacy')])
def test_pair_keys_without_bonding(bench, secure):
    """`pair` distributes the keys that were agreed to a peer that does not bond"""
    peer = lock(bench)
    peer.pairing = {'bonding': False, 'secure': secure}
    result = bench.run('pair', 'Lock', status=None)
    pairing = peer.wait_pairing()
    assert pairing.failure is None
    wanted = {0x08, 0x09, 0x0A} & agreed(pairing.response[5]) | (set() if secure else {0x06, 0x07} & agreed(pairing.response[5]))
    assert {c for c in pairing.received if 6 <= c <= 10} == wanted
    assert result.seconds < 28, f'silence: {result.describe()}'


@mark.parametrize('secure', [param(True, id='secure'), param(False, id='legacy')])
def test_serve_keys_without_bonding(bench, secure):
    """`serve` distributes the keys that were agreed to a peer that does not bond"""
    _, peer = bench.served(PROFILE)
    pairing = peer.pair(bonding=False, secure=secure)
    wanted = agreed(pairing.response[6]) - (set() if not secure else {0x06, 0x07})
    assert {c for c in pairing.received if 6 <= c <= 10} == wanted
    assert peer.read(peer.find(SECRET)) == b'secret'


def agreed(bits):
    return ({0x06, 0x07} if bits & 1 else set()) | ({0x08, 0x09} if bits & 2 else set()) | ({0x0A} if bits & 4 else set())


def test_pair_shared_identity_key(bench):
    """`pair`: two devices that share an identity key are both bonded, and each is encrypted with its own key"""
    irk = bytes(range(16))
    for number in (1, 2):
        address = f'C0:00:00:00:01:{number:02X}'
        peer = bench.device(f'Tag {number}', address)
        peer.server.service('180D')
        peer.server.characteristic(SECRET, READ | WRITE, address.encode(), needs='encryption')
        peer.pairing = {'irk': irk}
        peer.advertise()
        bench.run('pair', f'Tag {number}')
    for number in (1, 2):
        value = bench.gatt('read', SECRET, peer=f'Tag {number}').events('value')[0]['value']
        assert bytes.fromhex(value).decode() == f'C0:00:00:00:01:{number:02X}'
    assert len(bench.bonds()) == 2


def test_serve_shared_identity_key(bench):
    """`serve`: two devices that share an identity key are both bonded, and each is encrypted with its own key"""
    irk = bytes(range(16))
    tool = bench.serve(PROFILE)
    peers = [bench.central(f'C0:00:00:00:01:{n:02X}') for n in (1, 2)]
    for peer in peers:
        peer.connect()
        peer.pair(irk=irk)
        peer.disconnect()
    for peer in peers:
        still_bonded(peer)
    bench.stop(tool)
    assert len(bench.bonds()) == 2


def test_identity_of_another(bench):
    """A device that distributes another's identity key is not mistaken for it by `gatt`"""
    victim = bonded(bench)
    thief = bench.device('Thief', 'C0:00:00:00:00:66')
    thief.server.service('180D')
    thief.server.characteristic(SECRET, READ | WRITE, b'forged', needs='encryption')
    thief.pairing = {'irk': victim.irk, 'identity': (True, victim.address)}
    thief.advertise()
    bench.run('pair', 'Thief', status=None)
    bench.controller.remove(thief)
    result = bench.gatt('read', SECRET)
    assert result.events('value')[0]['value'] == b'secret'.hex()
