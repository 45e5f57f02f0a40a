"""What only a daemon can show, with Bumble at the other end: they run with `--through-bled` alone."""
import time

from pytest import mark

from interop.test_set import ONE, TRAIN, peer
from jelling.daemon import Client
from jelling.lab import heard
from interop.test_serve import NAME, PROFILE, fail, passed, steps
from jelling.child import PATIENCE, wait_until

KINDS = ('bumble', 'btvirt')
ENVIRONMENT, TEMPERATURE = '181A', '2A6E'
SETTINGS = {'maximum_transmission_unit': 2046, 'maximum_payload_size': 247, 'credits': 16}


def client(lab):
    connected = Client(lab.bled(lab.endpoint), PATIENCE)
    assert connected.greet().HasField('welcome'), 'not welcome'
    return connected


def next_of(connected, kind):
    """The next message of this kind."""
    while (message := connected.receive()) is not None:
        if message.HasField(kind):
            return getattr(message, kind)
    raise AssertionError(f'the connection ended before {kind}')


@mark.lab(KINDS, peer=False, through_bled='only')
def test_two_tools_serve_bumble(lab):
    """Bumble is served by two tools at once: it finds the services of both, and keeps its link and its subscriptions when one is killed"""
    first = lab.serving(PROFILE, NAME, '--advertise', '180D')
    second = lab.start('serve', '--profile', lab.profile({'services': [{'uuid': ENVIRONMENT, 'characteristics': [
        {'uuid': TEMPERATURE, 'properties': ['read', 'notify'], 'permissions': ['readable'], 'value': 'c409', 'notifyEvery': 0.1}]}]}))
    second.wait_event('advertising')
    central = lab.central('--name', NAME, '--hold', '60')
    central.wait_for(lambda line: 'step' not in line or line['step'] == 'holding', 'all steps', 120)
    if not steps(central, 'holding'):
        fail(central)
    second.process.kill()
    # Several values later the subscriptions to the first go on.
    time.sleep(2)
    assert not [line for line in first.lines if line.get('event') == 'disconnected'], 'the link ended with the other tool'
    lab.stop(first)
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
    end = owner.end(owner.request(connect={'peer': {'value': address, 'kind': 1}, 'establishment_retries': 5}))
    link = end.link
    end = owner.end(owner.request(open_channel={'link': link, 'spsm': 0x80, 'settings': SETTINGS}))
    assert end.HasField('channel'), f'not opened: {end}'
    opened = end.channel
    channel = opened.channel
    assert opened.spsm == 0x80
    for size in 1, 20, 251, 1000, min(2046, opened.send_mtu):
        unit = bytes((place * 3 + size) % 256 for place in range(size))
        owner.request(send_on_channel={'channel': channel, 'unit': unit})
        assert next_of(owner, 'channel').received.unit == unit, f'unit of {size}'
        owner.request(consume_on_channel={'channel': channel, 'units': 1})
    end = thief.end(thief.request(send_on_channel={'channel': channel, 'unit': b'stolen'}))
    assert end.failure.reason == 102
    assert owner.end(owner.request(close_channel=channel)).HasField('done'), 'not closed'
    lab.wait_peer('coc-close')


@mark.lab(KINDS, peer=False, through_bled='only')
def test_channel_from_bumble_through_bled(lab):
    """Bumble opens a channel to a client in Python that listens through bled, and gets every unit back"""
    server = client(lab)
    end = server.end(server.request(listen={'spsm': 0x81, 'settings': SETTINGS}))
    assert end.listening == 0x81
    server.request(advertise={'packed': {'local_name': NAME}, 'is_connectable': True, 'resumes_after_connection': True})
    central = lab.central('--name', NAME, '--skip-gatt', '--coc', '0x81')
    channel = None
    while channel is None:
        happened = next_of(server, 'channel')
        if happened.HasField('opened'):
            channel = happened.opened.channel
    echoed = 0
    while echoed < 5:
        happened = next_of(server, 'channel')
        assert happened.HasField('received'), f'no unit: {happened}'
        server.request(send_on_channel={'channel': channel, 'unit': happened.received.unit})
        server.request(consume_on_channel={'channel': channel, 'units': 1})
        echoed += 1
    passed(central)
    assert len([line for line in central.lines if line.get('step') == 'coc-echo' and line['ok']]) == 5


GREEDY = 0xC0DE_0000_1000
BUMBLE_SET = 0xF2F1_F000_0101
LIMIT_REACHED, CANCELLED = 11, 1


def address(value):
    return {'value': value, 'kind': 1}


def sets_begin(connected, wanted, first=0):
    """Asks for so many sets; waits until four of them have started, and the others have failed. Why they have."""
    for number in range(wanted):
        connected.request(advertise_set={'data': b'\4\xff\x0a\x0a\x0a', 'address': address(GREEDY + first + number)})
    started, reasons = set(), []
    while len(started) < 4 or len(reasons) < wanted - 4:
        message = connected.receive()
        assert message is not None, 'the connection ended'
        for event in [message.advertising_set] if message.HasField('advertising_set') else []:
            if event.HasField('started'):
                started.add(event.operation)
        reasons += [end.failure.reason for end in ([message.completed] if message.HasField('completed') else [])]
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
        thief.request(cancel={'operation': number})
        end = thief.end(thief.request(change_advertising_set={'operation': number, 'set': {'data': b'\2\1\6'}}))
        assert end.failure.reason == CANCELLED
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
        greedy.request(follow_train={'advertisers': [{'address': address(GREEDY + number), 'sid': 3}]})
    reasons = [next_of(greedy, 'completed').failure.reason for _ in range(4)]
    assert reasons == 4 * [LIMIT_REACHED]
    tool = lab.start('sync', 'F2:F1:F0:00:01:01/random', '--sid', '1')
    tool.wait_event('train', count=2)
    follower = client(lab)
    follower.request(follow_train={'advertisers': [{'address': address(BUMBLE_SET), 'sid': 1}]})
    while not (told := next_of(follower, 'train')).HasField('report'):
        assert told.HasField('synchronized'), f'not found: {told}'
    assert told.report.data == bytes.fromhex(TRAIN)
    follower.socket.close()
    count = len([l for l in tool.lines if l.get('event') == 'train'])
    tool.wait_event('train', count=count + 5)
    tool.end()
