"""Advertising sets and periodic advertising, in both directions, with Bumble as the other host."""
import signal

from pytest import mark

from jelling.lab import heard

# Bumble's controller reports no periodic interval and no PHY, and takes data of one command only.
BOTH, OWN = ('bumble', 'simulator'), ('simulator',)
ONE, TWO = 'C0:DE:00:00:00:01', 'C0:DE:00:00:00:02'
TRAIN = '05ff01020304'


def manufacturer(number, length):
    """The same structures as those of peer_sets.py."""
    data = b''
    while len(data) < length:
        size = min(255, length - len(data) - 1)
        data += bytes([size, 0xFF]) + bytes([number]) * (size - 1)
    return data


def peer(lab, *arguments, number=1):
    """peer_sets.py on the controller with this number."""
    return lab.bumble('peer_sets', lab.endpoints[number], *arguments)


def whole(child, address, digits):
    """What was heard from an address one after the other, at least twice as much as `digits`."""
    def parts():
        return ''.join(l['data'] for l in child.lines if l.get('ev') == 'heard' and l['address'] == address)
    child.wait_for(lambda _: len(parts()) >= 2 * digits, f'all fragments of {address}')
    return parts()


@mark.lab(BOTH, peer=False, through_bled=True)
def test_sets_are_heard(lab):
    """`advertise --set` twice: Bumble hears both sets, each with its data, address and SID, beside the shared one"""
    long = manufacturer(2, 200).hex()
    tool = lab.start('advertise', '--name', 'Shared', '--set', f'data=04ff010101,address={ONE},sid=5,interval=50',
                     '--set', f'data={long},address={TWO},phy=2m,connectable')
    tool.wait_for(lambda l: l.get('event') == 'advertisingSet' and l.get('state') == 'started', 'started', count=2)
    listener = peer(lab, '--listen', '600')
    first, second = heard(listener, ONE), heard(listener, TWO)
    assert (first['data'], first['legacy']) == ('04ff010101', False)
    if lab.is_simulator:     # Bumble's controller reports SID 0 for every set
        assert first['sid'] == 5
    assert second['data'] == long
    if lab.is_simulator:     # Bumble's controller knows neither
        assert (second['secondary'], second['connectable']) == (2, True)
    listener.wait_for(lambda l: l.get('ev') == 'heard' and 'Shared'.encode().hex() in l['data'], 'the shared one')
    tool.end()


@mark.lab(OWN, peer=False, through_bled=True)
def test_long_set_is_heard(lab):
    """A set of 1,650 octets goes out in fragments and arrives whole, also on LE Coded; an anonymous one without an address"""
    long = manufacturer(7, 1650).hex()
    tool = lab.start('advertise', '--set', f'data={long},address={ONE},phy=coded', '--set',
                     f'data={manufacturer(8, 500).hex()},anonymous')
    tool.wait_for(lambda l: l.get('state') == 'started', 'started', count=2)
    listener = peer(lab, '--listen', '600', '--phy', '3')
    far = heard(listener, ONE)
    # Bumble passes each fragment on.
    assert (long in whole(listener, ONE, len(long))) is True
    assert (far['primary'], far['secondary']) == (3, 3)
    nobody = listener.wait_for(lambda l: l.get('ev') == 'heard' and l.get('anonymous'), 'the anonymous set')[0]
    assert (manufacturer(8, 500).hex() in whole(listener, nobody['address'], 1000)) is True
    tool.end()


@mark.lab(OWN, peer=False, through_bled=True)
def test_scannable_set_answers(lab):
    """A scannable set answers a Bumble scanner that asks with its response of 200 octets, and a passive one hears no response"""
    response = manufacturer(9, 200).hex()
    tool = lab.start('advertise', '--set', f'response={response},address={ONE},sid=3,scannable,interval=50')
    tool.wait_for(lambda l: l.get('state') == 'started', 'started')
    listener = peer(lab, '--listen', '600', '--active')
    told = listener.wait_for(lambda l: l.get('ev') == 'heard' and l['address'] == ONE and l['data'], 'the response')[0]
    assert (told['data'], told['scannable']) == (response, True)
    listener.end()
    listener = peer(lab, '--listen', '600')
    heard(listener, ONE)
    assert [l for l in listener.lines if l.get('address') == ONE and l.get('data')] == []
    tool.end()


@mark.lab(BOTH, peer=False, through_bled=True)
def test_sets_of_bumble_are_found(lab):
    """`lescan` reports the three sets of a Bumble device, each under its address and with its SID"""
    peer(lab, '--sets', '3')
    tool = lab.start('lescan')
    for number in (1, 2, 3):
        found = tool.wait_for(lambda l: l.get('address') == 'F2:F1:F0:00:01:%02X' % number, f'set {number}')[0]
        assert found['advertisement'] == manufacturer(number, 8).hex()
        if lab.is_simulator:
            assert found['sid'] == number
    tool.end()


@mark.lab(BOTH, peer=False, through_bled=True)
def test_set_leads_to_a_link(lab):
    """A central connects by the address of a set; the tool tells which set it was and advertises again"""
    tool = lab.start('advertise', '--set', 'data=04ff010101', '--set',
                     f'name=Door,service=180F,connectable,address={TWO},interval=50')
    tool.wait_for(lambda l: l.get('state') == 'started', 'started', count=2)
    central = lab.central('--address', 'F0:F1:F2:00:00:09', '--peer', f'{TWO}', '--skip-gatt', '--hold', '1')
    tool.wait_for(lambda l: l.get('state') == 'connected', 'connected')
    connected = [l for l in tool.lines if l.get('state') == 'connected']
    assert connected[0]['set'] == 2
    tool.wait_for(lambda l: l.get('state') == 'started' and l.get('set') == 2, 'again', count=2)
    central.end()
    tool.end()


@mark.lab(BOTH, peer=False, through_bled=True)
def test_train_is_followed_by_bumble(lab):
    """Bumble synchronizes to periodic advertising of `advertise --set periodic=…` and gets its data"""
    tool = lab.start('advertise', '--set', f'data=020106,address={ONE},sid=5,periodic=100,periodic-data={TRAIN}')
    tool.wait_for(lambda l: l.get('state') == 'started', 'started')
    listener = peer(lab, '--listen', '600', '--follow', f'{ONE}/5')
    assert heard(listener, ONE, 'train')['data'] == TRAIN
    tool.end()


@mark.lab(BOTH, peer=False, through_bled=True)
def test_sync_follows_bumble(lab):
    """`sync` follows the train of a Bumble device and ends after --count packets"""
    peer(lab, '--sets', '1', '--train', TRAIN)
    result = lab.run('sync', 'F2:F1:F0:00:01:01/random', '--sid', '1', '--count', '3')
    assert [l['event'] for l in result.lines] == ['synchronized'] + 3 * ['train']
    assert {l['data'] for l in result.events('train')} == {TRAIN}


@mark.lab(OWN, peer=False, through_bled=True)
def test_sync_finds_and_loses(lab):
    """`lescan` tells the interval of a train, `sync` without a SID finds it, and tells when it is lost"""
    child = peer(lab, '--sets', '1', '--train', TRAIN)
    found = lab.run('lescan', '--count', '1').events('discovered')[0]
    assert (found['periodicInterval'], found['sid']) == (100, 1)
    tool = lab.start('sync', 'F2:F1:F0:00:01:01', '--timeout', '1')
    tool.wait_event('train', count=2)
    child.end()
    tool.wait_event('trainLost')
    tool.end()


@mark.lab(OWN, peer=False, through_bled=True)
def test_train_is_transferred_by_bumble(lab):
    """`sync --via` follows the train that a connected Bumble device transfers"""
    peer(lab, '--sets', '2', '--train', TRAIN, '--transfer')
    result = lab.run('sync', '--via', 'F2:F1:F0:00:01:02/random', '--count', '2')
    assert result.events('synchronized')[0]['serviceData'] == 0x1234
    assert [l['data'] for l in result.events('train')] == [TRAIN, TRAIN]


@mark.lab(OWN, peer=False, endpoints=3, through_bled=True)
def test_train_is_transferred_to_bumble(lab):
    """`sync --transfer-to` connects to a Bumble device and transfers it the train of another, which it then receives"""
    peer(lab, '--sets', '1', '--train', TRAIN)
    receiver = peer(lab, '--receive', number=2)
    tool = lab.start('sync', 'F2:F1:F0:00:01:01/random', '--sid', '1', '--transfer-to', 'F2:F1:F0:00:00:03/random')
    transferred, = tool.wait_event('trainTransferred')
    assert (transferred['address'], transferred['sid'], transferred['to']) == ('F2:F1:F0:00:01:01', 1, 'F2:F1:F0:00:00:03')
    assert receiver.wait_event('transferred')[0]['sid'] == 1
    assert heard(receiver, 'F2:F1:F0:00:01:01', 'train')['data'] == TRAIN
    # What was transferred goes on without us.
    tool.process.send_signal(signal.SIGINT)
    lab.finish(tool)
    count = len([l for l in receiver.lines if l.get('ev') == 'train'])
    receiver.wait_event('train', count=count + 3)


@mark.lab(OWN, peer=False, through_bled=True)
def test_own_train_is_transferred_to_bumble(lab):
    """`advertise --transfer-trains` tells a Bumble central that connects how to follow its train, which the central does"""
    tool = lab.start('advertise', '--transfer-trains', '--set', f'data=020106,address={ONE},sid=5,periodic=100,periodic-data={TRAIN}',
                     '--set', f'name=Door,connectable,address={TWO},interval=50')
    tool.wait_for(lambda l: l.get('state') == 'started', 'started', count=2)
    receiver = peer(lab, '--receive-from', TWO)
    transferred, = tool.wait_for(lambda l: l.get('state') == 'transferred', 'transferred')
    assert transferred['set'] == 1
    told, = receiver.wait_event('transferred')
    assert (told['address'].removesuffix('/P'), told['sid']) == (ONE, 5)
    assert heard(receiver, ONE, 'train')['data'] == TRAIN
    tool.end()


@mark.lab(OWN, peer=False, through_bled=True)
def test_sync_follows_one_of_a_list(lab):
    """`sync` with two addresses puts both on the controller's periodic advertiser list, and follows the one that Bumble sends"""
    peer(lab, '--sets', '1', '--train', TRAIN)
    capture = lab.path('list.btsnoop')
    result = lab.run('sync', 'F2:F1:F0:00:01:09/random', 'F2:F1:F0:00:01:01/random', '--sid', '1', '--count', '2',
                     options=() if lab.through_bled else ('-w', capture))
    assert [l['data'] for l in result.events('train')] == [TRAIN, TRAIN]
    assert {l['address'] for l in result.events('train')} == {'F2:F1:F0:00:01:01'}
    if not lab.through_bled:
        sent = [l['name'] for l in lab.run('decode', capture).events('packet') if l['direction'] == 'sent']
        assert sent.count('LE Add Device to Periodic Advertiser List') == 2


@mark.lab(OWN, peer=False, through_bled=True)
def test_coded_advertiser_is_found(lab):
    """`lescan --coded` finds a Bumble device that advertises on LE Coded only, which `lescan` does not hear"""
    peer(lab, '--sets', '1', '--phy', '3')
    found = lab.run('lescan', '--coded', '--count', '1').events('discovered')[0]
    assert (found['address'], found['advertisement'], found['phy'], found['sid']) == ('F2:F1:F0:00:01:01', manufacturer(1, 8).hex(), 'LE Coded', 1)
    assert lab.run('lescan', '--duration', '2').events('discovered') == []


@mark.lab(OWN, peer=False)
def test_sync_tells_what_was_not_transferred(lab):
    """`sync --via` says that the device ended the link and transferred nothing, or that it was not connected in time"""
    child = peer(lab, '--sets', '2')
    tool = lab.start('sync', '--via', 'F2:F1:F0:00:01:02/random', '--timeout', '0.1')
    tool.wait_event('waiting')
    child.end()
    error, = tool.wait_event('error')
    assert error['code'] == 'linkLost'
    assert 'transferred' in error['message'], error['message']
    result = lab.run('sync', '--via', 'F2:F1:F0:00:01:09/random', '--duration', '0.2', status=1)
    assert result.events('error')[0]['code'] == 'deviceNotReached'


@mark.lab(('bumble', 'bumble-legacy', 'simulator', 'simulator-legacy'), peer=False, through_bled=True)
def test_info_tells_how_many_sets(lab):
    """`info` tells how many sets the controller has; a legacy one has one, and refuses a set that needs more"""
    told = lab.run('info').events('controller')[0]
    if 'legacy' in lab.kind:
        assert (told['advertisingSets'], told['advertisingDataLength']) == (1, 31)
        lab.run('advertise', '--set', 'data=04ff010101,anonymous', status=1)
        tool = lab.start('advertise', '--set', 'data=04ff010101')
        tool.wait_event('advertising')
        tool.end()
    else:
        assert told['advertisingSets'] >= 4, f'sets: {told}'
        assert told['advertisingDataLength'] == 1650


RESPONSES = f'data=020106,address={ONE},sid=5,periodic=200,periodic-data={TRAIN},subevents=2,slots=4'


@mark.lab(OWN, peer=False, through_bled=True)
def test_responses_reach_the_advertiser(lab):
    """Periodic advertising with responses: `sync` receives the subevent that it chose and responds in a slot, which `advertise` tells

    Both sides are this stack: no foreign host of the tests has it."""
    tool = lab.start('advertise', '--set', RESPONSES)
    tool.wait_for(lambda l: l.get('state') == 'started', 'started')
    receiver = lab.start('sync', f'{ONE}/random', '--sid', '5', '--subevent', '1', '--respond', '3=0A0B', via=lab.peer_endpoint)
    response = tool.wait_for(lambda l: l.get('state') == 'response', 'response', count=3)[0]
    assert (response['subevent'], response['slot'], response['data']) == (1, 3, '0a0b')
    found = receiver.wait_event('synchronized')[0]
    assert found['subevents'] == 2
    receiver.end()
    tool.end()
    assert {(l['subevent'], l['data']) for l in receiver.lines if l.get('event') == 'train'} == {(1, TRAIN)}


@mark.lab(('bumble',), peer=False, through_bled=True)
def test_responses_need_a_controller(lab):
    """A controller without periodic advertising with responses is named as the cause, with what to do instead"""
    for arguments in (('advertise', '--set', RESPONSES), ('sync', f'{ONE}/random', '--sid', '5', '--subevent', '1')):
        error, = lab.run(*arguments, status=1).events('error')
        assert 'responses' in error['message'], error['message']
