"""What only a daemon can show, with Bumble at the other end: they run with `--through-bled` alone."""
import time

from pytest import mark

from interop.test_set import ONE, TRAIN, peer
from jelling.lab import heard
from interop.test_serve import NAME, fail, passed, profile, steps, stop
from jelling.child import PATIENCE, wait_until
from jelling.client import Client, Fixed64, decode

KINDS = ('bumble', 'btvirt')
ENVIRONMENT, TEMPERATURE = '181A', '2A6E'
SETTINGS = {1: 2046, 2: 247, 3: 16}


def client(lab):
    connected = Client(lab.bled(lab.endpoint), PATIENCE)
    assert 1 in connected.greet(), 'not welcome'
    return connected


def next_of(connected, field):
    """The next message with this field, read."""
    while (message := connected.receive()) is not None:
        if field in message:
            return decode(message[field][0])
    raise AssertionError(f'the connection ended before a message {field}')


@mark.lab(KINDS, peer=False, through_bled='only')
def test_two_tools_serve_bumble(lab):
    """Bumble is served by two tools at once: it finds the services of both, and keeps its link and its subscriptions when one is killed"""
    whole = profile(lab)
    first = lab.start('serve', '--profile', whole, '--name', NAME, '--advertise', '180D')
    first.wait_event('advertising')
    other = lab.path('other.json')
    with open(other, 'w') as file:
        file.write('{"services": [{"uuid": "%s", "characteristics": [{"uuid": "%s", "properties": ["read", "notify"], '
                   '"permissions": ["readable"], "value": "c409", "notifyEvery": 0.1}]}]}' % (ENVIRONMENT, TEMPERATURE))
    second = lab.start('serve', '--profile', other)
    second.wait_event('advertising')
    central = lab.central('--name', NAME, '--hold', '60')
    central.wait_for(lambda line: 'step' not in line or line['step'] == 'holding', 'all steps', 120)
    if not steps(central, 'holding'):
        fail(central)
    second.process.kill()
    # Several values later the subscriptions to the first go on.
    time.sleep(2)
    assert not [line for line in first.lines if line.get('event') == 'disconnected'], 'the link ended with the other tool'
    stop(lab, first)
    ended = steps(passed(central), 'ended-by-peer')[0]
    assert ended['reason'] == 0x13
    told = {key.split(':')[-1].split(' ')[0].upper(): count for key, count in ended['notified'].items()}
    assert told['2A37'] >= 2, f'the subscription fell silent: {told}'
    assert not [line for line in second.lines if line.get('event') in ('written', 'read') and line.get('uuid') != TEMPERATURE], (
        'the second tool heard of what is the first one\'s')


@mark.lab(KINDS, through_bled='only')
def test_channel_to_bumble_through_bled(lab):
    """a client in Python opens a channel to Bumble through bled, and every unit comes back; another client cannot use it"""
    owner, thief = client(lab), client(lab)
    address = int(lab.peer_events('ready')[0]['random'].removesuffix('/P').replace(':', ''), 16)
    end = owner.end(owner.request({4: {1: {1: Fixed64(address), 2: 1}, 2: 5}}))
    link = end[4][0]
    end = owner.end(owner.request({26: {1: Fixed64(link), 2: 0x80, 3: SETTINGS}}))
    assert 21 in end, f'not opened: {end}'
    opened = decode(end[21][0])
    channel = opened[1][0]
    assert opened[2] == [0x80]
    for size in 1, 20, 251, 1000, min(2046, opened[3][0]):
        unit = bytes((place * 3 + size) % 256 for place in range(size))
        owner.request({27: {1: channel, 2: unit}})
        received = decode(next_of(owner, 27)[2][0])
        assert received[2][0] == unit, f'unit of {size}'
        owner.request({28: {1: channel, 2: 1}})
    end = thief.end(thief.request({27: {1: channel, 2: b'stolen'}}))
    assert decode(end[2][0])[1] == [102]
    assert 3 in owner.end(owner.request({29: channel})), 'not closed'
    lab.wait_peer('coc-close')


@mark.lab(KINDS, peer=False, through_bled='only')
def test_channel_from_bumble_through_bled(lab):
    """Bumble opens a channel to a client in Python that listens through bled, and gets every unit back"""
    server = client(lab)
    end = server.end(server.request({24: {1: 0x81, 2: SETTINGS}}))
    assert end[20] == [0x81]
    server.request({12: {1: {1: NAME.encode()}, 3: 1, 6: 1}})
    central = lab.central('--name', NAME, '--skip-gatt', '--coc', '0x81')
    channel = None
    while channel is None:
        happened = next_of(server, 27)
        if 1 in happened:
            channel = decode(happened[1][0])[1][0]
    echoed = 0
    while echoed < 5:
        happened = next_of(server, 27)
        assert 2 in happened, f'no unit: {happened}'
        unit = decode(happened[2][0]).get(2, [b''])[0]
        server.request({27: {1: channel, 2: unit}})
        server.request({28: {1: channel, 2: 1}})
        echoed += 1
    passed(central)
    assert len([line for line in central.lines if line.get('step') == 'coc-echo' and line['ok']]) == 5


GREEDY = 0xC0DE_0000_1000
BUMBLE_SET = 0xF2F1_F000_0101
LIMIT_REACHED, CANCELLED = 11, 1


def address(value):
    return {1: Fixed64(value), 2: 1}


def sets_begin(connected, wanted, first=0):
    """Asks for so many sets; waits until four of them have started, and the others have failed. Why they have."""
    for number in range(wanted):
        connected.request({33: {1: b'\4\xff\x0a\x0a\x0a', 11: address(GREEDY + first + number)}})
    started, reasons = set(), []
    while len(started) < 4 or len(reasons) < wanted - 4:
        message = connected.receive()
        assert message is not None, 'the connection ended'
        for event in map(decode, message.get(32, [])):
            if 2 in event:
                started.add(event[1][0])
        reasons += [decode(end[2][0])[1][0] for end in map(decode, message.get(3, []))]
    return reasons


# The simulator's controllers have fewer sets.
@mark.lab(('bumble',), peer=False, through_bled='only')
def test_greedy_sets(lab):
    """a client that asks for 1,000 sets gets four, and its end ends them; another's set and train, and what all share, stay on the air"""
    tool = lab.start('advertise', '--set', f'data=04ff010101,address={ONE},sid=5,interval=50,periodic=100,periodic-data={TRAIN}')
    tool.wait_for(lambda l: l.get('state') == 'started', 'started')
    greedy, thief = client(lab), client(lab)
    assert set(sets_begin(greedy, 1000)) == {LIMIT_REACHED}
    # Numbers are each client's own: nothing of another has one here.
    for number in range(1, 60):
        thief.request({5: {1: number}})
        end = thief.end(thief.request({34: {1: number, 2: {1: b'\2\1\6'}}}))
        assert decode(end[2][0])[1] == [CANCELLED]
    shared = lab.start('advertise', '--name', 'Shared')
    shared.wait_event('advertising')
    listener = peer(lab, '--listen', '600', '--follow', f'{ONE}/5')
    assert heard(listener, ONE)['data'] == '04ff010101'
    assert heard(listener, ONE, 'train')['data'] == TRAIN
    listener.wait_for(lambda l: l.get('ev') == 'heard' and 'Shared'.encode().hex() in l['data'], 'the shared one')
    greedy.socket.close()

    def sets():
        return [w for w in lab.run('status').events('status')[0]['adapters'][0]['wanted'] if w['work'] == 'advertiseSet']
    wait_until(lambda: len(sets()) == 1, lambda: f'its sets stay: {sets()}')
    assert sets_begin(client(lab), 4, first=1000) == []
    before = len([l for l in listener.lines if l.get('ev') == 'train'])
    listener.wait_event('train', count=before + 3)
    for one in tool, shared:
        assert one.process.poll() is None, 'a tool ended'
        one.end()


@mark.lab(('bumble', 'simulator'), peer=False, through_bled='only')
def test_greedy_trains(lab):
    """a client that looks for absent trains does not keep another from its train; one that follows it, too, leaves it with that one"""
    peer(lab, '--sets', '1', '--train', TRAIN)
    greedy = client(lab)
    for number in range(12):
        greedy.request({35: {1: {1: address(GREEDY + number), 2: 3}}})
    reasons = [decode(next_of(greedy, 3)[2][0])[1][0] for _ in range(4)]
    assert reasons == 4 * [LIMIT_REACHED]
    tool = lab.start('sync', 'F2:F1:F0:00:01:01/random', '--sid', '1')
    tool.wait_event('train', count=2)
    follower = client(lab)
    follower.request({35: {1: {1: address(BUMBLE_SET), 2: 1}}})
    while 3 not in (told := next_of(follower, 33)):
        assert 2 in told, f'not found: {told}'
    assert decode(told[3][0])[2] == [bytes.fromhex(TRAIN)]
    follower.socket.close()
    count = len([l for l in tool.lines if l.get('event') == 'train'])
    tool.wait_event('train', count=count + 5)
    tool.end()
