"""Cases of what a client has for itself beside others of its user: out-of-band data of pairings, with Bumble at the other end, and
what all programs of one user have together."""
from jelling.daemon import NOBODY, OTHER, Daemon, messages, needs_root, started_as
from jelling import lab as bench

NOT_PERMITTED, LIMIT_REACHED = messages.Failure.REASON_NOT_PERMITTED, messages.Failure.REASON_LIMIT_REACHED
# NoInputNoOutput, bonding, protection against others required, LE Secure Connections, keys of 16 octets.
PROVEN = {'io_capability': 3, 'is_bonding': True, 'requires_authentication': True, 'allows_secure_connections': True, 'minimum_key_size': 16, 'maximum_key_size': 16, 'initiator_keys': 3, 'responder_keys': 3}


class Peer:
    """A peripheral of Bumble's with an address of its own; `--oob` tells it the other side's values."""

    def __init__(self, lab, number, *words):
        self.address = f'F2:F1:F0:00:00:{number:02X}'
        self.child = lab.start_peer('--address', self.address, *words)

    def values(self):
        line, = self.child.wait_for(lambda line: line.get('ev') == 'oob', 'its out-of-band values')
        return line

    def paired(self):
        line, = self.child.wait_for(lambda line: line.get('ev') == 'paired', 'paired')
        return line

    @property
    def wire(self):
        return {'value': int(self.address.replace(':', ''), 16), 'kind': 1}


def values(client):
    """Out-of-band values that the daemon makes: what the client knows of them, and RANDOM:CONFIRM."""
    made = client.done(create_out_of_band={}).out_of_band
    keys = made.values
    assert len(keys.random) == len(keys.confirm) == 16 and len(made.public_key) == 64 and {field.name for field, _ in made.ListFields()} == {'values', 'public_key'}, made
    return keys, f'{keys.random.hex()}:{keys.confirm.hex()}'


def of_peer(told):
    return {'random': bytes.fromhex(told['random']), 'confirm': bytes.fromhex(told['confirm'])}


def set_values(client, peer, **more):
    """The reason of the failure; None if they are set."""
    end = client.done(set_out_of_band={'peer': peer.wire, **more})
    return end.failure.reason if end.HasField('failure') else None


def pair(client, link):
    """What the pairing came to: (is Secure Connections, is authenticated), or the failure."""
    end = client.done(pair={'link': link, 'options': PROVEN})
    if not end.HasField('paired'):
        return end.failure
    return end.paired.is_secure_connections, end.paired.is_authenticated


def test_out_of_band():
    """a client pairs with Bumble by out-of-band data, both ways and one way, also legacy; the daemon keeps the key, others do not profit"""
    with bench.Lab('bumble', 2).open(peer=False) as lab:
        lab.every_link_ends_by_us = False
        with Daemon(adapter=lab.endpoint) as daemon:
            one, two = daemon.connect(), daemon.connect()
            mine, text = values(one)

            def pairs(number, *words, prepare, client=one):
                """What the pairing with a new peer comes to."""
                peer = Peer(lab, number, '--oob', text, *words)
                prepare(peer, peer.values())
                result = pair(client, client.connected(peer.wire))
                if isinstance(result, tuple):
                    assert peer.paired()['sc'] == result[0]
                peer.child.end()
                return result

            def sets(peer, **values):
                assert set_values(one, peer, **values) is None

            def both(peer, theirs, **more):
                sets(peer, of_peer={**of_peer(theirs), **more}, of_client=mine)

            def both_of_one(peer, theirs):
                both(peer, theirs)
                assert set_values(two, peer, of_client=mine) == NOT_PERMITTED, 'what one client has made, another one cannot use'

            def changed(peer, theirs):
                confirm = bytes.fromhex(theirs['confirm'])
                both(peer, theirs, confirm=bytes([confirm[0] ^ 1]) + confirm[1:])

            def removed(peer, theirs):
                both(peer, theirs)
                sets(peer)

            # Neither side shows or asks anything: without the data nothing proves the other side.
            assert pairs(0x11, prepare=both_of_one) == (True, True)
            refused = {'another client has paired with the data': pairs(0x16, prepare=both, client=two),
                       'a wrong value was accepted': pairs(0x12, prepare=changed),
                       'removed data were used': pairs(0x15, prepare=removed)}
            assert not [what for what, result in refused.items() if isinstance(result, tuple)], refused
            # Only one side has the other's; and legacy pairing, whose key is the same on both sides.
            assert pairs(0x13, prepare=lambda peer, theirs: sets(peer, of_client=mine)) == (True, True)
            assert pairs(0x14, '--no-sc', prepare=lambda peer, theirs: sets(
                peer, temporary_key=bytes.fromhex(theirs['temporary_key']))) == (False, True)
            # Eight peers at most, and octets that are no values end the connection.
            full = [end.failure.reason if end.HasField('failure') else None for end in (
                one.done(set_out_of_band={'peer': {'value': number, 'kind': 0}, 'temporary_key': bytes(15) + b'x'}) for number in range(10))]
            assert full.count(LIMIT_REACHED) >= 2, full
            one.request(set_out_of_band={'peer': {'value': 1, 'kind': 0}, 'temporary_key': b'short'})
            assert one.receive().HasField('refusal'), 'wrong values were taken'


GREEDY = """
clients = []
for _ in range(int(sys.argv[2])):
    client = Client(sys.argv[1], 1000)
    client.greeted()
    clients.append(client)
    for _ in range(4):
        client.request(advertise_set={'data': bytes([2, 1, 6])})
    for _ in range(8):
        client.request(scan={})
    # Requests of one client are taken in order: what comes after them shows that they have been.
    client.done(cancel={'operation': 99})
print('ready', flush=True)
sys.stdin.readline()
"""


@needs_root
def test_sets_of_users():
    """a user with many connections does not get every advertising set, and not eight scans for each; another user has room"""
    with Daemon(allow=[NOBODY, OTHER]) as daemon:
        def works(user, work):
            clients = {one['process'] for one in daemon.status()['clients'] if one['user'] == user}
            names = {one['name'] for one in daemon.status()['clients'] if one['process'] in clients}
            return sum(one['work'] == work and one['client'] in names for one in daemon.status()['adapters'][0]['wanted'])

        with started_as(NOBODY, GREEDY, daemon, 20) as one:
            assert one.stdout.readline() == 'ready\n'
            first, scans = works(NOBODY, 'advertiseSet'), works(NOBODY, 'scan')
            with started_as(OTHER, GREEDY, daemon, 1) as two:
                assert two.stdout.readline() == 'ready\n'
                second, others = works(OTHER, 'advertiseSet'), works(OTHER, 'scan')
            # 80 and 160 were asked for; of scans, a user has four times what one tool may have, and one more for each of its other 16.
            assert first < 20 and second >= 1 and (scans, others) == (32 + 16, 8), (first, second, scans, others)
            print(f'{first} sets of the one, {second} of the other; {scans} scans and {others}')
