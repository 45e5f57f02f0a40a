"""Advertising sets and periodic advertising, in both directions, with Bumble as the other host."""
import os

from cases import case, check, same
from lab import PATIENCE, PEER_SCRIPTS, PYTHON, Child

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


def peer(lab, *arguments):
    lab.number += 1
    child = Child('peer_sets.py', [PYTHON, os.path.join(PEER_SCRIPTS, 'peer_sets.py'), lab.peer_endpoint, *arguments],
                  lab.path(f'sets{lab.number}.err'))
    lab.children.append(child)
    child.wait_for(lambda l: l.get('ev') == 'ready', 'ready')
    return child


def heard(child, address, what='heard'):
    return child.wait_for(lambda l: l.get('ev') == what and l.get('address', '').startswith(address),
                          f'{what} {address}')[0]


def whole(child, address, digits):
    """What was heard from an address one after the other, at least twice as much as `digits`."""
    def parts():
        return ''.join(l['data'] for l in child.lines if l.get('ev') == 'heard' and l['address'] == address)
    child.wait_for(lambda _: len(parts()) >= 2 * digits, f'all fragments of {address}')
    return parts()


@case(BOTH, peer=False)
def sets_are_heard(lab):
    """`advertise --set` twice: Bumble hears both sets, each with its data, address and SID, beside the shared one"""
    long = manufacturer(2, 200).hex()
    tool = lab.start('advertise', '--name', 'Shared', '--set', f'data=04ff010101,address={ONE},sid=5,interval=50',
                     '--set', f'data={long},address={TWO},phy=2m,connectable')
    tool.wait_for(lambda l: l.get('event') == 'advertisingSet' and l.get('state') == 'started', 'started', count=2)
    listener = peer(lab, '--listen', '600')
    first, second = heard(listener, ONE), heard(listener, TWO)
    same('the first set', (first['data'], first['legacy']), ('04ff010101', False))
    if lab.is_simulator:     # Bumble's controller reports SID 0 for every set
        same('SID', first['sid'], 5)
    same('the second set', second['data'], long)
    if lab.is_simulator:     # Bumble's controller knows neither
        same('PHY and kind of the second', (second['secondary'], second['connectable']), (2, True))
    listener.wait_for(lambda l: l.get('ev') == 'heard' and 'Shared'.encode().hex() in l['data'], 'the shared one')
    tool.end()


@case(OWN, peer=False)
def long_set_is_heard(lab):
    """A set of 1,650 octets goes out in fragments and arrives whole, also on LE Coded; an anonymous one without an address"""
    long = manufacturer(7, 1650).hex()
    tool = lab.start('advertise', '--set', f'data={long},address={ONE},phy=coded', '--set',
                     f'data={manufacturer(8, 500).hex()},anonymous')
    tool.wait_for(lambda l: l.get('state') == 'started', 'started', count=2)
    listener = peer(lab, '--listen', '600', '--phy', '3')
    far = heard(listener, ONE)
    # Bumble passes each fragment on.
    same('data', long in whole(listener, ONE, len(long)), True)
    same('PHYs', (far['primary'], far['secondary']), (3, 3))
    nobody = listener.wait_for(lambda l: l.get('ev') == 'heard' and l.get('anonymous'), 'the anonymous set')[0]
    same('anonymous data', manufacturer(8, 500).hex() in whole(listener, nobody['address'], 1000), True)
    tool.end()


@case(BOTH, peer=False)
def sets_of_bumble_are_found(lab):
    """`lescan` reports the three sets of a Bumble device, each under its address and with its SID"""
    peer(lab, '--sets', '3')
    tool = lab.start('lescan')
    for number in (1, 2, 3):
        found = tool.wait_for(lambda l: l.get('address') == 'F2:F1:F0:00:01:%02X' % number, f'set {number}')[0]
        same('data', found['advertisement'], manufacturer(number, 8).hex())
        if lab.is_simulator:
            same('SID', found['sid'], number)
    tool.end()


@case(BOTH, peer=False)
def set_leads_to_a_link(lab):
    """A central connects by the address of a set; the tool tells which set it was and advertises again"""
    tool = lab.start('advertise', '--set', 'data=04ff010101', '--set',
                     f'name=Door,service=180F,connectable,address={TWO},interval=50')
    tool.wait_for(lambda l: l.get('state') == 'started', 'started', count=2)
    central = lab.central('--address', 'F0:F1:F2:00:00:09', '--peer', f'{TWO}', '--skip-gatt', '--hold', '1')
    tool.wait_for(lambda l: l.get('state') == 'connected', 'connected')
    connected = [l for l in tool.lines if l.get('state') == 'connected']
    same('set', connected[0]['set'], 2)
    tool.wait_for(lambda l: l.get('state') == 'started' and l.get('set') == 2, 'again', count=2)
    central.end()
    tool.end()


@case(BOTH, peer=False)
def train_is_followed_by_bumble(lab):
    """Bumble synchronizes to periodic advertising of `advertise --set periodic=…` and gets its data"""
    tool = lab.start('advertise', '--set', f'data=020106,address={ONE},sid=5,periodic=100,periodic-data={TRAIN}')
    tool.wait_for(lambda l: l.get('state') == 'started', 'started')
    listener = peer(lab, '--listen', '600', '--follow', f'{ONE}/5')
    same('data', heard(listener, ONE, 'train')['data'], TRAIN)
    tool.end()


@case(BOTH, peer=False)
def sync_follows_bumble(lab):
    """`sync` follows the train of a Bumble device and ends after --count packets"""
    peer(lab, '--sets', '1', '--train', TRAIN)
    result = lab.run('sync', 'F2:F1:F0:00:01:01/random', '--sid', '1', '--count', '3')
    same('events', [l['event'] for l in result.lines], ['synchronized'] + 3 * ['train'])
    same('data', {l['data'] for l in result.events('train')}, {TRAIN})


@case(OWN, peer=False)
def sync_finds_and_loses(lab):
    """`lescan` tells the interval of a train, `sync` without a SID finds it, and tells when it is lost"""
    child = peer(lab, '--sets', '1', '--train', TRAIN)
    found = lab.run('lescan', '--count', '1').events('discovered')[0]
    same('interval and SID', (found['periodicInterval'], found['sid']), (100, 1))
    tool = lab.start('sync', 'F2:F1:F0:00:01:01', '--timeout', '1')
    tool.wait_for(lambda l: l.get('event') == 'train', 'train', count=2)
    child.end()
    tool.wait_for(lambda l: l.get('event') == 'trainLost', 'trainLost')
    tool.end()


@case(OWN, peer=False)
def train_is_transferred_by_bumble(lab):
    """`sync --via` follows the train that a connected Bumble device transfers"""
    peer(lab, '--sets', '2', '--train', TRAIN, '--transfer')
    result = lab.run('sync', '--via', 'F2:F1:F0:00:01:02/random', '--count', '2')
    same('service data', result.events('synchronized')[0]['serviceData'], 0x1234)
    same('data', [l['data'] for l in result.events('train')], [TRAIN, TRAIN])


@case(OWN, peer=False)
def sync_tells_what_was_not_transferred(lab):
    """`sync --via` says that the device ended the link and transferred nothing, or that it was not connected in time"""
    child = peer(lab, '--sets', '2')
    tool = lab.start('sync', '--via', 'F2:F1:F0:00:01:02/random', '--timeout', '0.1')
    tool.wait_for(lambda l: l.get('event') == 'waiting', 'waiting')
    child.end()
    error, = tool.wait_for(lambda l: l.get('event') == 'error', 'error')
    same('code', error['code'], 'linkLost')
    check('transferred' in error['message'], error['message'])
    result = lab.run('sync', '--via', 'F2:F1:F0:00:01:09/random', '--duration', '0.2', status=1)
    same('code', result.events('error')[0]['code'], 'deviceNotReached')


@case(('bumble', 'bumble-legacy', 'simulator', 'simulator-legacy'), peer=False)
def info_tells_how_many_sets(lab):
    """`info` tells how many sets the controller has; a legacy one has one, and refuses a set that needs more"""
    told = lab.run('info').events('controller')[0]
    if 'legacy' in lab.kind:
        same('sets and length', (told['advertisingSets'], told['advertisingDataLength']), (1, 31))
        lab.run('advertise', '--set', 'data=04ff010101,anonymous', status=1)
        tool = lab.start('advertise', '--set', 'data=04ff010101')
        tool.wait_for(lambda l: l.get('event') == 'advertising', 'advertising')
        tool.end()
    else:
        check(told['advertisingSets'] >= 4, f'sets: {told}')
        same('length', told['advertisingDataLength'], 1650)
