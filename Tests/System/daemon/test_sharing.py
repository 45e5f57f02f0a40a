"""Cases of what a client has for itself beside others of its user: out-of-band data of pairings, with Bumble at the other end, and
what all programs of one user have together."""
import json

from jelling.daemon import Daemon, HEART, LIMIT, needs_root, started_as
from daemon.test_operators import Open, NOBODY, status
from jelling import lab as bench

NOT_PERMITTED, LIMIT_REACHED = 15, 11
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
    made = client.end(client.request(create_out_of_band={})).out_of_band
    keys = made.values
    assert len(keys.random) == len(keys.confirm) == 16 and len(made.public_key) == 64 and {field.name for field, _ in made.ListFields()} == {'values', 'public_key'}, made
    return keys, f'{keys.random.hex()}:{keys.confirm.hex()}'


def of_peer(told):
    return {'random': bytes.fromhex(told['random']), 'confirm': bytes.fromhex(told['confirm'])}


def set_values(client, peer, **more):
    """The reason of the failure; None if they are set."""
    end = client.end(client.request(set_out_of_band={'peer': peer.wire, **more}))
    return end.failure.reason if end.HasField('failure') else None


def same(what, found, wanted):
    assert found == wanted, f'{what}: {found}, not {wanted}'


def connect(client, peer):
    return client.end(client.request(connect={'peer': peer.wire, 'establishment_retries': 5})).link


def pair(client, link):
    """What the pairing came to: (is Secure Connections, is authenticated), or the failure."""
    end = client.end(client.request(pair={'link': link, 'options': PROVEN}))
    if not end.HasField('paired'):
        return end.failure
    summary = end.paired
    return summary.is_secure_connections, summary.is_authenticated


def test_out_of_band():
    """a client pairs with Bumble by out-of-band data, both ways and one way, also legacy; the daemon keeps the key, others do not profit"""
    with bench.Lab('bumble', 2).open(peer=False) as lab:
        lab.every_link_ends_by_us = False
        with Daemon(adapter=lab.endpoint) as daemon:
            one, two = daemon.connect(), daemon.connect()
            mine, text = values(one)

            # Neither side shows or asks anything: without the data nothing proves the other side.
            peer = Peer(lab, 0x11, '--oob', text)
            theirs = of_peer(peer.values())
            assert set_values(one, peer, of_peer=theirs, of_client=mine) is None
            # What one client has made, another one cannot use.
            assert set_values(two, peer, of_client=mine) == NOT_PERMITTED
            assert pair(one, connect(one, peer)) == (True, True)
            assert peer.paired()['sc']
            peer.child.end()

            # Another client's pairing does not use them.
            peer = Peer(lab, 0x16, '--oob', text)
            assert set_values(one, peer, of_peer=of_peer(peer.values()), of_client=mine) is None
            refused = pair(two, connect(two, peer))
            assert not isinstance(refused, tuple), f'another client paired with the data: {refused}'
            peer.child.end()

            # A changed value is noticed.
            peer = Peer(lab, 0x12, '--oob', text)
            theirs = of_peer(peer.values())
            theirs['confirm'] = bytes([theirs['confirm'][0] ^ 1]) + theirs['confirm'][1:]
            assert set_values(one, peer, of_peer=theirs, of_client=mine) is None
            refused = pair(one, connect(one, peer))
            assert not isinstance(refused, tuple), f'a wrong value was taken: {refused}'
            peer.child.end()

            # Only one side has the other's.
            peer = Peer(lab, 0x13, '--oob', text)
            peer.values()
            assert set_values(one, peer, of_client=mine) is None
            assert pair(one, connect(one, peer)) == (True, True)
            peer.child.end()

            # Legacy pairing, whose key is the same on both sides.
            peer = Peer(lab, 0x14, '--oob', text, '--no-sc')
            key = bytes.fromhex(peer.values()['temporary_key'])
            assert set_values(one, peer, temporary_key=key) is None
            assert pair(one, connect(one, peer)) == (False, True)
            peer.child.end()

            # Removed.
            peer = Peer(lab, 0x15, '--oob', text)
            assert set_values(one, peer, of_peer=of_peer(peer.values()), of_client=mine) is None
            assert set_values(one, peer) is None
            refused = pair(one, connect(one, peer))
            assert not isinstance(refused, tuple), f'removed data were used: {refused}'
            # Eight peers at most, and octets that are no values end the connection.
            full = [end.failure.reason if end.HasField('failure') else None for end in (
                one.end(one.request(set_out_of_band={'peer': {'value': number, 'kind': 0}, 'temporary_key': bytes(15) + b'x'})) for number in range(10))]
            assert full.count(LIMIT_REACHED) >= 2, full
            one.request(set_out_of_band={'peer': {'value': 1, 'kind': 0}, 'temporary_key': b'short'})
            assert one.receive().HasField('refusal'), 'wrong values were taken'


def test_connections_of_others():
    """a client that waits for 250 devices does not keep another one's device, which is there, from its turn"""
    with Daemon() as daemon:
        greedy, modest = daemon.connect(), daemon.connect()
        for number in range(250):
            greedy.request(connect={'peer': {'value': 0xC0FF_EE00_0000 + number, 'kind': 1}})
        # Its last request has been taken.
        greedy.end(greedy.request(cancel={'operation': 999}))
        # With the turns of all devices one after the other, its own would come after minutes: later than LIMIT.
        assert modest.end(modest.request(connect={'peer': HEART, 'establishment_retries': 5})).HasField('link')


GREEDY = """
taken = 0
clients = []
for _ in range(int(sys.argv[2])):
    client = Client(sys.argv[1], 1000)
    assert 1 in client.greet(), 'refused'
    clients.append(client)
    for _ in range(4):
        client.request({33: {1: bytes([2, 1, 6])}})
    for _ in range(8):
        client.request({2: {}})
    # Requests of one client are taken in order: what comes after them shows that they have been.
    client.end(client.request({5: {1: 99}}))
print('ready', flush=True)
sys.stdin.readline()
"""


@needs_root
def test_sets_of_users():
    """a user with many connections does not get every advertising set, and not eight scans for each; another user has room"""
    with Open('--allow', str(NOBODY), '--allow', '65533') as daemon:
        def works(user, work):
            clients = {one['process'] for one in status(daemon)['clients'] if one['user'] == user}
            names = {one['name'] for one in status(daemon)['clients'] if one['process'] in clients}
            return sum(one['work'] == work and one['client'] in names for one in status(daemon)['adapters'][0]['wanted'])

        with started_as(NOBODY, GREEDY, daemon, 20) as one:
            assert one.stdout.readline() == 'ready\n'
            first, scans = works(NOBODY, 'advertiseSet'), works(NOBODY, 'scan')
            with started_as(65533, GREEDY, daemon, 1) as two:
                assert two.stdout.readline() == 'ready\n'
                second, others = works(65533, 'advertiseSet'), works(65533, 'scan')
            # 80 and 160 were asked for; of scans, a user has four times what one tool may have, and one more for each of its other 16.
            assert first < 20 and second >= 1 and (scans, others) == (32 + 16, 8), (first, second, scans, others)
            print(f'{first} sets of the one, {second} of the other; {scans} scans and {others}')


APPS = """
import json
POWERED_ON = 5


class App:
    def __init__(self, number):
        self.client = Client(sys.argv[1], 1000)
        self.number, self.logs, self.ready, self.channels = 0, 0, set(), []
        self.client.send({1: {1: 1, 2: 2, 3: {1: b'app%d' % number}}})
        assert 16 in self.client.receive(), 'refused'

    def hear(self):
        message = self.client.receive()
        assert message is not None and 2 not in message, 'refused'
        for event in map(decode, message.get(17, [])):
            manager = event[1][0]
            self.client.send({4: {1: manager, 2: 1}})
            if 4 in event and decode(event[4][0])[1][0] == POWERED_ON:
                self.ready.add(manager)
            if 22 in event:
                self.channels.append(2 not in decode(event[22][0]))
        for notice in map(decode, message.get(19, [])):
            self.logs += 1 in notice
        return message.get(18, [0])[0]

    def ask(self, manager, request):
        # What a request causes at once is told before it has been taken.
        self.number += 1
        self.client.send({3: {1: manager, 2: self.number, **request}})
        while self.hear() != self.number:
            pass

    def create(self, manager, kind):
        self.ask(manager, {kind: {}})
        while manager not in self.ready:
            self.hear()


apps = [App(number) for number in range(int(sys.argv[2]))]
for app in apps:
    app.create(1, 3)
    app.create(2, 4)
    for _ in range(16):
        app.ask(2, {24: 0})
    while len(app.channels) < 16:
        app.hear()
refused = 0
for manager in 1, 3:
    for app in apps:
        if manager == 3:
            app.create(3, 3)
        logs = app.logs
        app.ask(manager, {6: {}})
        refused += app.logs - logs
more = 0
try:
    for manager in range(4, 12):
        apps[0].create(manager, 3)
        more += 1
except AssertionError:
    pass
print(json.dumps([sum(map(sum, (app.channels for app in apps))), refused, more]), flush=True)
sys.stdin.readline()
"""


@needs_root
def test_apps_of_users():
    """a user with twenty apps that are not installed has no more channels, scans and managers than four, beside one of each for every app; another user has room"""
    with Open('--allow', str(NOBODY), '--allow', '65533') as daemon:
        started = []

        def had(user, apps):
            started.append(started_as(user, APPS, daemon, apps))
            return json.loads(started[-1].stdout.readline() or '[]')

        try:
            # 320 channels, 40 scans and 68 managers are asked for.
            many, one = had(NOBODY, 20), had(65533, 1)
            # Four apps have all channels; each of the other sixteen has one.
            assert many == [80, 8, 4] and one == [16, 0, 8], (many, one)
            print(f'{many[0]} channels, {40 - many[1]} scans and {60 + many[2]} managers of twenty apps')
        finally:
            for process in started:
                process.stdin.close()
                process.wait(LIMIT)
