"""Any device can advertise any name: what a stranger gets with a bonded device's name, and with one that another device has."""
import os

from jelling.attributes import READ, WRITE
from attack.test_honest import OPEN, SECRET, bonded, lock
from jelling.peer import resolvable
from jelling.smp import DISPLAY


def stranger(bench, address='C0:00:00:00:00:66', name='Lock'):
    """Says the lock's name, is open to everyone, and pairs with anyone."""
    peer = bench.device(name, address)
    peer.server.service('180D')
    peer.open = peer.server.characteristic(OPEN, READ | WRITE, b'forged')
    peer.secret = peer.server.characteristic(SECRET, READ | WRITE, b'forged', needs='encryption')
    return peer.advertise()


def got_nothing(peer):
    assert len(peer.pairings) == 0
    assert [h.payload.hex() for h in peer.heard if h.channel == 4] == []


def mistaken(bench):
    """A bonded lock that is away, and a stranger with its name."""
    peer = bonded(bench)
    bench.controller.remove(peer)
    return peer, stranger(bench)


def test_name_of_a_bond(bench):
    """With a bond to Lock, a stranger with that name gets nothing, not even when Lock itself is away"""
    _, thief = mistaken(bench)
    for arguments in (['write', SECRET, 'c0ffee'], ['read', OPEN]):
        bench.gatt(*arguments, '--connect-timeout', '3', status=1)
    got_nothing(thief)


def test_name_of_a_bond_beside_it(bench):
    """With a bond to Lock, a stranger with that name is ignored in favour of the bonded device, even if it is found first"""
    peer, thief = mistaken(bench)
    bench.controller.add(peer)
    result = bench.gatt('read', SECRET, '--connect-timeout', '10')
    assert result.events('value')[0]['value'] == b'secret'.hex()
    got_nothing(thief)


def test_name_of_a_bond_resolvable(bench):
    """A bond's name finds its device under any resolvable address, but no stranger's resolvable address"""
    peer = lock(bench)
    peer.identity = True, 'C0:00:00:00:00:77'
    peer.address = resolvable(peer.irk)
    bench.run('pair', 'Lock')
    bench.controller.remove(peer)
    thief = stranger(bench, resolvable(os.urandom(16)))
    bench.gatt('read', SECRET, '--connect-timeout', '2', status=1)
    got_nothing(thief)
    peer.address = resolvable(peer.irk)
    bench.controller.add(peer)
    assert bench.value(SECRET) == b'secret'
    got_nothing(thief)


def test_name_of_two(bench):
    """Two devices with one name: an error that lists both, unless --first"""
    peer, other = lock(bench), stranger(bench)
    result = bench.gatt('read', OPEN, status=1)
    assert peer.address in result.stderr and other.address in result.stderr, f'not both are listed: {result.stderr}'
    assert len(peer.links) + len(other.links) == 0
    assert bench.gatt('read', OPEN, '--first').status == 0


def test_name_tells_its_address(bench):
    """The address that was chosen for a name is always reported"""
    peer = lock(bench)
    result = bench.gatt('read', OPEN, json=False)
    assert peer.address in result.stderr + str(result.strays), f'no address: {result.stderr}'


def test_pairing_on_demand_is_no_weaker(bench):
    """A device that was paired with authentication is never paired again by `gatt` silently, nor without authentication"""
    peer = lock(bench)
    peer.pairing = {'io': DISPLAY, 'mitm': True, 'passkey': 123456}
    bench.run('pair', 'Lock', '--io', 'keyboard', '--mitm', '--passkey', '123456')
    peer.keys, peer.pairing = None, {}
    peer.server.hook = lambda link, pdu: b'\x01' + pdu[:1] + pdu[1:3] + b'\x05' if pdu[0] in (0x0A, 0x12) else None
    bench.gatt('write', SECRET, 'c0ffee', status=1)
    assert len(peer.pairings) == 1
