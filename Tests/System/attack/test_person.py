"""Who is at the other end: passkeys that are guessed, names that others take."""
import random, time

from pytest import mark

from jelling import options
from attack.test_honest import OPEN, PROFILE, SECRET, lock
from jelling.smp import KEYBOARD

PASSKEY, TRIES = 271828, 3


def guess_at(bench, tool, seconds, **settings):
    """Tries to pair from a new address each time, and learns one bit of a fixed passkey at each failure; returns the attempts allowed."""
    chance, known, bits, tries, number = random.Random(options.SEED), 0, 0, [], 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        number += 1
        peer = bench.central(f'C0:00:00:01:{number >> 8:02X}:{number & 255:02X}').connect()
        guess = min(known | chance.getrandbits(20) >> bits << bits, 999999)
        pairing = peer.pair(wait=False, io=KEYBOARD, mitm=True, passkey=guess, **settings).wait_end()
        if pairing.failure != 0x09:
            tries.append(pairing.failure)
            if pairing.failure is None:
                break
            if pairing.model is not None and pairing.secure and pairing.failure in (0x04, 0x0B):
                known = (guess ^ 1 << pairing.round) & (2 << pairing.round) - 1
                bits = min(20, pairing.round + 1)
        peer.disconnect()
        peer.wait_end()
        bench.controller.wait(lambda: bench.controller.advertising, 'advertising')
        time.sleep(0.1)
    return tries


@mark.slow
def test_fixed_passkey_from_new_addresses(bench):
    """`serve --passkey`: a stranger with a new address for each attempt has three attempts and does not get the passkey; the lock is reported"""
    tool = bench.serve(PROFILE, '--io', 'display', '--mitm', '--passkey', str(PASSKEY))
    tries = guess_at(bench, tool, 12)
    assert None not in tries, f'the passkey fell in {len(tries)} tries'
    assert len(tries) == TRIES
    tool.wait_event('passkeyLocked')
    assert '--passkey' in tool.stderr(), tool.stderr()


@mark.slow
def test_shown_passkey_from_new_addresses(bench):
    """`serve`: a stranger with a new address for each attempt waits twice as long each time; each attempt has another passkey"""
    tool = bench.serve(PROFILE, '--io', 'display', '--mitm')
    tries = guess_at(bench, tool, 12, secure=False)
    assert len(tries) <= 4, f'{len(tries)} tries in 12 s'
    shown = [line['passkey'] for line in tool.lines if line.get('event') == 'passkey']
    assert len(shown) >= 2 and len(set(shown)) == len(shown), f'passkeys: {shown}'


def test_name_of_a_bonded_device(bench):
    """A stranger with the name of a bonded device is not connected: no pairing, and the secret is not sent"""
    peer = lock(bench)
    bench.run('pair', 'Lock')
    bench.controller.remove(peer)
    stranger = lock(bench, address='C0:00:00:00:66:66')
    result = bench.gatt('write', SECRET, '5e', '--connect-timeout', '3', status=1)
    assert 'Lock' in result.stderr and str(peer.address) in result.stderr, result.stderr
    assert len(stranger.links) == 0
    assert len(stranger.pairings) == 0
    # The device itself is found, besides the stranger.
    bench.controller.add(peer)
    bench.gatt('write', SECRET, '5e')
    assert len(stranger.links) == 0


def listed(bench):
    return ''.join(bench.run('bonds', json=False).strays)


def test_paired_by_address_keeps_its_name(bench):
    """A device that was paired by its address can also be named, even if another device has that name"""
    peer = lock(bench)
    bench.run('pair', 'C0:00:00:00:00:01/random')
    if 'called ‘Lock’' not in listed(bench):
        # It has no Generic Access service, so that it says no name.
        bench.gatt('read', OPEN)
    assert 'called ‘Lock’' in listed(bench), listed(bench)
    bench.controller.remove(peer)
    stranger = lock(bench, address='C0:00:00:00:66:66')
    bench.gatt('read', OPEN, '--connect-timeout', '2', status=1)
    assert len(stranger.links) == 0


def test_two_devices_of_one_name(bench):
    """Several devices with one name are listed, and none is connected without --first"""
    peers = [lock(bench), lock(bench, address='C0:00:00:00:66:66')]
    result = bench.gatt('read', OPEN, status=1)
    for peer in peers:
        assert str(peer.address) in result.stderr, result.stderr
    assert '--first' in result.stderr, result.stderr
    assert sum(len(peer.links) for peer in peers) == 0
    bench.gatt('read', OPEN, '--first')
    assert sum(len(peer.links) for peer in peers) == 1
