"""What the operator's word does to bonds, and what a weak one is good for; key_cases.py has the strangers."""
from attack.test_honest import OPEN, SECRET, lock
from jelling.smp import YES_NO


def test_lost_keys_are_replaced_by_word_alone(bench):
    """`pair` with a device that has lost its keys fails with the remedy; `--replace` pairs"""
    peer = lock(bench)
    bench.run('pair', 'Lock')
    before = bench.bonds()
    peer.keys = None
    result = bench.run('pair', 'Lock', status=1)
    message = result.events('error')[0]['message']
    assert '--replace' in message and 'unpair' in message, f'message: {message}'
    assert bench.bonds() == before
    assert len(peer.pairings) == 1
    bench.run('pair', 'Lock', '--replace')
    assert len(peer.pairings) == 2
    peer.wait_pairing(2)
    assert bench.value(SECRET) == b'secret'


def test_bonded_already(bench):
    """`pair` with a bonded device encrypts with the bond, says so and does not pair again; for more security it pairs over that link"""
    peer = lock(bench)
    bench.run('pair', 'Lock')
    peer.wait_pairing()
    line = bench.run('pair', 'Lock').events('paired')[0]
    assert line.get('wasBonded') is True
    assert len(peer.pairings) == 1
    peer.pairing = {'io': YES_NO, 'mitm': True}
    line = bench.run('pair', 'Lock', '--io', 'yesno', '--mitm', '--yes').events('paired')[0]
    assert (line['authenticated'], line.get('wasBonded')) == (True, None)
    assert peer.links[-1].encrypted, 'the link was not encrypted'


def test_weak_bond_of_gatt(bench):
    """A bond with a key of seven octets is only used with `gatt --min-key-size 7`: without it no GATT request is sent"""
    peer = lock(bench)
    peer.pairing = {'size': 7}
    bench.run('pair', 'Lock', status=1)
    assert bench.bonds() == []
    line = bench.run('pair', 'Lock', '--min-key-size', '7').events('paired')[0]
    assert line['keySize'] == 7
    peer.wait_pairing(2)
    assert bench.value(OPEN, '--min-key-size', '7') == b'open'
    heard = len(peer.heard)
    result = bench.gatt('read', OPEN, status=1)
    assert 'weaker' in result.events('error')[0]['message'], result.events("error")
    assert [h.payload for h in peer.heard[heard:] if h.channel == 4 and h.payload[0] not in (1, 2, 3)] == []
