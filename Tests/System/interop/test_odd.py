"""Foreign hosts with habits of their own, in both roles; and the rarer descriptors of values, both ways."""

from pytest import mark

from interop.test_gatt import ENCRYPTED, SERVICE
from jelling.child import PATIENCE
from interop.test_pairing import PEER, PROFILE as SECRETS, SECRET, bonds
from interop.test_serve import NAME, characteristic, passed, steps

KINDS = ('bumble', 'btvirt', 'simulator')
BASE = '6B7A%04X-9D1C-4F5E-8A2B-3C4D5E6F7081'
LATE, SIGNED = BASE % 0x30, BASE % 0x60
FORMAT = '04000127010000'
SIGNED_PROFILE = {'services': [{'uuid': '181A', 'characteristics': [
    characteristic(SIGNED, ['read', 'authenticatedSignedWrites'], ['readable', 'writeable'], value='00')]}]}
SENSOR = {'services': [
    {'uuid': '180F', 'primary': False},
    {'uuid': BASE % 0x40, 'primary': False},
    {'uuid': '181A', 'includes': [BASE % 0x40, '180F'], 'characteristics': [
        characteristic('2A6E', ['read', 'write', 'broadcast'], ['readable', 'writeable'], value='3408', descriptors=[
            {'uuid': '2904', 'value': FORMAT}, {'uuid': '2904', 'value': FORMAT}])]}]}


def odd(lab, *arguments, endpoint=None):
    return lab.bumble('peer_odd', endpoint or lab.peer_endpoint, *arguments)


def has(name):
    return lambda line: line.get('ev') == name


def values(child):
    return {line['uuid']: line['value'] for line in child.lines if line.get('ev') == 'value'}


@mark.lab(KINDS, peer=False)
def test_peer_holds_att_until_paired(lab):
    """A peer that answers no ATT request before the link is encrypted, and asks for that, is paired with and read"""
    peer = odd(lab, 'holds-att')
    assert lab.gatt('read', '2A19').lines[-1]['value'] == '57'
    assert any(has('held')(line) for line in peer.lines), f'nothing was held back: {peer.lines}'
    assert lab.gatt('read', '2A19').lines[-1]['value'] == '57'
    assert len(bonds(lab)) == 1
    assert len([line for line in peer.lines if has('paired')(line)]) == 1


@mark.lab(KINDS, peer=False)
def test_peer_indicates_unasked(lab):
    """Indications that nobody subscribed to are confirmed and disturb neither discovery nor reads"""
    peer = odd(lab, 'indicates')
    assert lab.gatt('read', '2A6E').lines[-1]['value'] == '3408'
    peer.wait_event('disconnected')
    assert any(has('confirmed')(line) for line in peer.lines), f'not confirmed: {peer.lines}'


@mark.lab(KINDS, peer=False)
def test_peer_changes_while_it_is_read(lab):
    """A database that grows while it is discovered is discovered again, and the new service is found"""
    peer = odd(lab, 'changes')
    first = lab.gatt('discover', status=None)
    peer.wait_for(has('change-confirmed'), 'change-confirmed')
    if first.status == 0:
        services = first.lines[-1]['services']
        assert LATE in [s['uuid'] for s in services], [s["uuid"] for s in services]
    again = lab.gatt('discover').lines[-1]['services']
    assert LATE in [s['uuid'] for s in again], [s["uuid"] for s in again]
    assert first.status == 0


@mark.lab(('bumble', 'btvirt'), peer=False, slow=True)
def test_peer_answers_after_29_seconds(lab):
    """A value that the peer answers after 29 s is read; a second before the specification's limit"""
    for _ in range(3):
        peer = odd(lab, 'late', '--delay', '29')
        result = lab.gatt('read', '2A6E', status=None)
        late = peer.wait_event('late')[0]['seconds']
        assert late >= 29, f'the peer answered after {late} s'
        peer.end()
        # On a machine that stands still for a second the answer comes too late for everyone.
        if result.status == 0:
            break
    assert result.status == 0
    assert result.lines[-1]['value'] == '3408'


@mark.lab(('bumble', 'btvirt'), peer=False, slow=True)
def test_serve_answers_after_20_seconds(lab):
    """A value that `serve` answers after 20 s is read by a central, which is served at once with everything else"""
    late = {'services': [{'uuid': '181A', 'characteristics': [
        characteristic('2A6F', ['read'], ['readable'], value='1027'),
        characteristic('2A6E', ['read'], ['readable'], value='3408', answerAfter=20)]}]}
    lab.serving(late, NAME)
    central = odd(lab, '--central', NAME)
    central.wait_event('done', timeout=5 * PATIENCE)
    read = {uuid: line for line in central.lines if has('value')(line) for uuid in ('2A6E', '2A6F') if uuid in line['uuid']}
    assert {uuid: line['value'] for uuid, line in read.items()} == {'2A6E': '3408', '2A6F': '1027'}
    # The central reads them one after the other.
    times = [central.wait_event('discovered')[0]['t'], read['2A6F']['t'], read['2A6E']['t']]
    assert times[2] - times[1] >= 19.9, f'the late value came {times[2] - times[1]} s after the other'
    assert times[1] - times[0] < 15, f'the other value came {times[1] - times[0]} s after the discovery'


@mark.lab(('bumble', 'btvirt'), peer=False)
def test_serve_takes_signed_writes(lab):
    """A bonded central writes with signatures and without encryption; a repeated and a forged one change nothing"""
    lab.serving(SIGNED_PROFILE, NAME)
    central = odd(lab, '--central', NAME, '--signed')
    central.wait_event('done', timeout=5 * PATIENCE)
    assert [(line['what'], line['value']) for line in central.lines if has('signed')(line)] == [('right', '01'), ('repeated', '01'), ('forged', '01'), ('right again', '04')]
    assert not [line for line in central.lines if has('encryption')(line)][1:], 'the second link was encrypted'


@mark.lab(('bumble', 'btvirt'), peer=False, through_bled=True)
def test_signed_writes_are_verified(lab):
    """Values go with signatures over links without encryption, and Bumble's AES-CMAC verifies them; a stranger is told to pair"""
    peer = odd(lab, 'verifies', '--no-sc')
    refused = lab.gatt('write', SIGNED, '01', '--signed', status=1)
    assert 'pair first' in refused.stderr, refused.stderr
    lab.run('pair', PEER)
    for value in ('02', '03'):
        lab.gatt('write', SIGNED, value, '--signed')
        assert lab.gatt('read', SIGNED).lines[-1]['value'] == value
    lab.gatt('write', SIGNED, '04' * 9, '--signed')
    verified = [line for line in peer.lines if has('verified')(line)]
    assert [(line['value'], line['right'], line['new']) for line in verified] == [('02', True, True), ('03', True, True), ('04' * 9, True, True)]
    encrypted = [line for line in peer.lines if has('encryption')(line)]
    assert len(encrypted) == 1


@mark.lab(KINDS, peer=False)
def test_peer_nests_services(lab):
    """A peer with services inside a service, as Bumble makes them, is discovered and read"""
    odd(lab, 'nests')
    assert lab.gatt('read', '2A19').lines[-1]['value'] == '57'


@mark.lab(('bumble', 'btvirt'), peer=False)
def test_peer_does_not_bond(lab):
    """A peer that pairs and does not bond is read by a key of this link; nothing is kept on either side"""
    lab.start_peer('--no-bond')
    for number in (1, 2):
        assert lab.gatt('read', ENCRYPTED).lines[-1]['value'] == SECRET
        lab.wait_peer('paired', number)
    assert bonds(lab) == []


@mark.lab(('bumble', 'btvirt'), peer=False)
def test_central_does_not_bond(lab):
    """A central that does not bond reads encrypted values of `serve`, each time after a pairing of its own"""
    tool = lab.serving(SECRETS, NAME)
    for _ in range(2):
        central = passed(lab.central('--name', NAME, '--pair-first', '--no-bond'))
        assert steps(central, 'read')[-1]['value'] == '5e'
    lab.stop(tool)
    assert bonds(lab) == []


@mark.lab(('bumble', 'simulator'), peer=False, endpoints=3)
def test_two_peers_share_an_irk(lab):
    """Two bonded peers with one identity key, as many devices leave the factory, are kept apart by their addresses"""
    where = ('F2:F1:F0:00:00:0A', 'F2:F1:F0:00:00:0B')
    for number, address in enumerate(where):
        odd(lab, '--address', address, '--keystore', lab.path(f'keys{number}.json'),
            endpoint=lab.endpoints[1 + number])
    for _ in range(2):
        for address in where:
            assert lab.gatt('read', ENCRYPTED, peer=address + '/random').lines[-1]['value'] == SECRET
    assert sorted(b['identity'] for b in bonds(lab)) == sorted(where)


@mark.lab(('bumble', 'btvirt'), peer=False)
def test_two_centrals_share_an_irk(lab):
    """Two bonded centrals with one identity key come back to `serve`, each with its own key"""
    tool = lab.serving(SECRETS, NAME)
    for how in (['--pair-first'], ['--encrypt']):
        for number in (1, 2):
            central = passed(lab.central('--name', NAME, *how, '--address', f'F0:F1:F2:00:01:0{number}', '--keystore',
                                         lab.path(f'keys{number}.json')))
            assert steps(central, 'read')[-1]['value'] == '5e'
    lab.stop(tool)
    assert len(bonds(lab)) == 2


@mark.lab(KINDS, peer=False)
def test_central_indicates_unasked(lab):
    """A central whose server indicates, and that answers no request itself, is served as any other"""
    lab.serving(SENSOR, NAME)
    central = odd(lab, 'indicates', 'holds-att', '--central', NAME)
    central.wait_event('done', timeout=5 * PATIENCE)
    assert len([line for line in central.lines if has('confirmed')(line)]) == 3
    assert [value for uuid, value in values(central).items() if '2A6E' in uuid] == ['3408']


@mark.lab(KINDS, peer=False)
def test_included_services_and_formats_are_found(lab):
    """Included services with long and short UUIDs, two formats of one value and the list of both, at a Bumble device"""
    odd(lab)
    services = {s['uuid']: s for s in lab.gatt('discover').lines[-1]['services']}
    assert services[SERVICE]['includes'] == [BASE % 0x40, '180F', BASE % 0x41, BASE % 0x42]
    temperature = services[SERVICE]['characteristics'][0]
    assert [d['uuid'] for d in temperature['descriptors']] == ['2904', '2904', '2905', '2902']
    assert lab.gatt('read', '0x%04X' % temperature['descriptors'][0]['handle']).lines[-1]['value'] == FORMAT


@mark.lab(KINDS, peer=False)
def test_serve_broadcasts_a_value(lab):
    """A central finds both formats and their list, and has a value broadcast: it is in the advertisement as long"""
    tool = lab.serving(SENSOR, NAME, '--address-resolution')
    central = odd(lab, '--central', NAME, '--broadcast')
    central.wait_event('done', timeout=5 * PATIENCE)
    found = {s['uuid']: s for s in central.wait_event('discovered')[0]['services']}
    sensor = next(s for name, s in found.items() if '181A' in name)
    assert len(sensor['includes']) == 2 and BASE % 0x40 in sensor['includes'][0].upper() and '180F' in sensor['includes'][1], (
        f'includes: {sensor["includes"]}')
    handles = [line['handle'] for line in central.lines if line.get('ev') == 'value' and '2904' in line['uuid']]
    read = {uuid: value for name, value in values(central).items() for uuid in ('2A6E', '2AA6', '2903', '2905')
            if uuid in name}
    assert read == {'2A6E': '3408', '2AA6': '01', '2903': '0000', '2905': b''.join(h.to_bytes(2, 'little') for h in handles).hex()}
    written = tool.wait_event('written')[0]
    assert (written['uuid'], written['value']) == ('2903', '0100')
    assert central.wait_event('heard')[0]['data'] == '1a183408'
