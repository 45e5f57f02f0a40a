"""The peripheral role: `bletool serve` and `bletool advertise` with one or two foreign centrals."""
import pathlib, signal, threading

from pytest import mark

from interop.test_gatt import AUTHENTICATED, BASE, ENCRYPTED, INDICATE, LONG_READ, LONG_VALUE, LONG_WRITE, SERVICE, STREAM, WRITE_COMMANDS

pytestmark = mark.lab(peer=False, through_bled=True)

NAME = 'Jelling'
ORDER, SECOND_LONG_WRITE = BASE % 0x20, BASE % 0x21
ADVERTISING_ENABLE, EXTENDED_ADVERTISING_ENABLE, DISCONNECT = 0x200A, 0x2039, 0x0406
COMPLETE_NAME, MANUFACTURER_DATA = 0x09, 0xFF
BASIC_KINDS = ('bumble', 'bumble-legacy', 'btvirt')


def characteristic(uuid, properties, permissions=(), **more):
    return {'uuid': uuid, 'properties': list(properties), 'permissions': list(permissions), **more}


# What peer_central.py knows by UUID. Of its steps the refusal of a control point's value and the answers of the peer's
# own control point are none that a profile can tell of; they do not run where these characteristics are absent.
PROFILE = {'services': [
    {'uuid': '180D', 'characteristics': [
        characteristic('2A37', ['notify'], value='0040', notifyEvery=0.2),
        characteristic('2A38', ['read'], ['readable'], value='01')]},
    {'uuid': '180F', 'characteristics': [
        characteristic('2A19', ['read', 'notify'], ['readable'], value='57')]},
    {'uuid': SERVICE, 'primary': True, 'includes': ['180F'], 'characteristics': [
        characteristic(LONG_READ, ['read'], ['readable'], value=LONG_VALUE.hex()),
        characteristic(LONG_WRITE, ['read', 'write'], ['readable', 'writeable'], value=''),
        characteristic(SECOND_LONG_WRITE, ['read', 'write'], ['readable', 'writeable'], value=''),
        characteristic(WRITE_COMMANDS, ['writeWithoutResponse'], ['writeable']),
        characteristic(INDICATE, ['read', 'indicate'], ['readable'], value=b'indicate me'.hex(), notifyEvery=0.3,
                       descriptors=[{'uuid': '2901', 'value': b'an indication'.hex()}]),
        characteristic(ENCRYPTED, ['read', 'write'], ['readEncryptionRequired', 'writeEncryptionRequired'], value='5e'),
        characteristic(AUTHENTICATED, ['read', 'write'], ['readEncryptionRequired', 'writeEncryptionRequired'], value='5e'),
        characteristic(STREAM, ['notify'], value='00'),
        characteristic(ORDER, ['read', 'write', 'notify'], ['readable', 'writeable'], value='00000000', notifyEvery=0.02),
    ]}]}


def serve(lab, *arguments, via=None):
    return lab.serving(PROFILE, NAME, '--advertise', '180D', *arguments, via=via)


def event(name):
    return lambda line: line.get('event') == name


def step(name):
    return lambda line: line.get('step') == name


def advertised(tool, count=1):
    return tool.wait_event('advertising', count=count)[-1]


def steps(central, name):
    return [s for s in central.lines if s.get('step') == name]


def passed(central, timeout=300):
    """Waits for the central's end; all its steps must have passed."""
    central.wait_for(lambda l: 'step' not in l, 'verdict', timeout)
    if not verdict(central)['ok']:
        fail(central)
    assert central.process.wait(60) == 0, 'exit status of ' + central.name
    return central


def verdict(central):
    return next(l for l in central.lines if 'step' not in l)


def fail(central):
    wrong = [s for s in central.lines if 'step' in s and not s['ok']]
    raise AssertionError(f'{central.name}: steps that failed: {wrong}; {verdict(central).get("error")}; '
                         f'last steps: {[s.get("step") for s in central.lines[-3:]]}; {central.stderr()[-300:]}')


def advertising_switches(relay):
    """Each time that advertising was enabled (True) or disabled (False)."""
    return [bool(p[0]) for _, p in relay.commands(ADVERTISING_ENABLE, EXTENDED_ADVERTISING_ENABLE)]


def elements(data):
    """(type, bytes) of each element of advertising data."""
    found, at = [], 0
    while at < len(data) and data[at]:
        found.append((data[at + 1], data[at + 2:at + 1 + data[at]]))
        at += 1 + data[at]
    return found


def heard(lab, seconds='2'):
    """What a Bumble scanner receives: the advertisement, followed by the scan response, if any."""
    central = passed(lab.central('--scan-only', seconds))
    found = {a.removesuffix('/P'): h for a, h in steps(central, 'scan')[0]['heard'].items()}
    assert len(found) == 1
    if lab.kind in ('bumble', 'bumble-legacy', 'bumble-acl251'):
        assert list(found) == [lab.address]
    return next(iter(found.values()))


# A central at work

@mark.lab(slow=True)
def test_serve_under_a_central(lab):
    """`serve` passes every step of a central, at the MTUs 23, 247 and 517, one after the other"""
    tool = serve(lab)
    for number, mtu in enumerate((23, 247, 517), 1):
        advertised(tool, number)
        central = passed(lab.central('--name', NAME, '--mtu', str(mtu), '--order', ORDER))
        assert steps(central, 'mtu')[0]['mtu'] == mtu
        for name in ('discover', 'heart-rate', 'notifications-in-order', 'write-not-permitted'):
            assert steps(central, name), f'{name} was not gone'
        assert [s['size'] for s in steps(central, 'write-and-read-back')] == [20, min(mtu - 3, 512), 512]
        tool.wait_event('disconnected', count=number)
    result = lab.stop(tool)
    assert len(result.events('connected')) == 3
    assert [e['mtu'] for e in result.events('mtu')][-1] == 517
    assert result.events('read') and result.events('subscribed'), 'a read or a subscription is not in the log'


def test_serve_logs_what_is_written(lab):
    """`serve` logs each value written, by its bytes and handle"""
    tool = serve(lab)
    central = passed(lab.central('--name', NAME, '--mtu', '247'))
    handle = next(c['handle'] for s in steps(central, 'discover')[0]['services'] for c in s['characteristics']
                  if LONG_WRITE[:8].lower() in c['uuid'].lower())
    written = [e for e in lab.stop(tool).events('written') if e['handle'] == handle]
    assert [len(e['value']) // 2 for e in written] == [20, 244, 512]
    assert written[-1]['value'] == bytes(i * 7 % 256 for i in range(512)).hex()


def test_serve_shows_its_whole_profile(lab):
    """a central discovers the profile's services, properties and descriptors, besides those of GAP and GATT"""
    serve(lab)
    central = passed(lab.central('--name', NAME))
    found = steps(central, 'discover')[0]['services']

    def short(uuid):      # as Bumble writes it: UUID-16:180D (Heart Rate), or bare
        return uuid.split(':')[-1].split(' ')[0].upper()

    services = {short(s['uuid']): s for s in found}
    assert {'1800', '1801'} <= set(services), f'services: {list(services)}'
    bits = {'read': 2, 'writeWithoutResponse': 4, 'write': 8, 'notify': 16, 'indicate': 32}
    for wanted in PROFILE['services']:
        assert wanted['uuid'] in services, f'{wanted["uuid"]} is not among {list(services)}'
        got = services[wanted['uuid']]['characteristics']
        assert [short(c['uuid']) for c in got] == [c['uuid'] for c in wanted['characteristics']], 'characteristics of ' + wanted['uuid']
        for a, b in zip(got, wanted['characteristics']):
            assert a['properties'] == sum(bits[p] for p in b['properties']), f'properties of {b["uuid"]}'
            descriptors = {d['uuid'] for d in b.get('descriptors', [])}
            if {'notify', 'indicate'} & set(b['properties']):
                descriptors.add('2902')
            assert {short(d['uuid']) for d in a['descriptors']} == descriptors, f'descriptors of {b["uuid"]}'


@mark.lab(('bumble', 'bumble-legacy', 'bumble-acl251'), endpoints=3, slow=True)
def test_serve_under_two_centrals(lab):
    """two centrals are served at once: each keeps its own values, order and subscriptions until it leaves"""
    tool = serve(lab)
    first = lab.central('--name', NAME, '--mtu', '247', '--hold', '60')
    first.wait_for(step('connect'), 'connect')
    advertised(tool, 2)
    second = lab.central('--name', NAME, '--mtu', '517', '--long-write', SECOND_LONG_WRITE, '--order', ORDER,
                         '--hold', '60', number=2)
    for central in (first, second):
        central.wait_for(lambda l: 'step' not in l or l['step'] == 'holding', 'all steps', 60)
        if not steps(central, 'holding'):
            fail(central)
    tool.wait_event('connected', count=2)
    assert not [l for l in tool.lines if l.get('event') == 'disconnected'], 'a link ended while the other was served'
    threading.Event().wait(1)
    result = lab.stop(tool)
    for central in (first, second):
        ended = steps(passed(central), 'ended-by-peer')[0]
        assert ended['reason'] == 0x13
        told = {k.split(':')[-1].split(' ')[0].upper(): n for k, n in ended['notified'].items()}
        assert told['2A37'] >= 2 and told[INDICATE] >= 1, f'a subscription fell silent beside another: {told}'
    assert len(result.events('connected')) == 2


@mark.lab(('bumble', 'bumble-legacy', 'bumble-stock'))
def test_serve_outlives_a_central(lab):
    """a central that vanishes is reported, and the next one is served"""
    tool = serve(lab)
    central = lab.central('--name', NAME, '--hold', '60')
    central.wait_for(step('holding'), 'holding')
    central.process.kill()
    tool.wait_event('disconnected')
    advertised(tool, 2)
    passed(lab.central('--name', NAME))


@mark.lab(BASIC_KINDS, through_bled=('bumble', 'bumble-legacy'))
def test_serve_to_our_own_central(lab):
    """`gatt` discovers, reads, writes and is notified by `serve` like by any other peripheral"""
    tool = serve(lab)
    options = {'via': lab.peer_endpoint, 'peer': NAME}
    script = lab.script('read 2A38', f'write {LONG_WRITE} {LONG_VALUE.hex()}', f'read {LONG_WRITE}', f'read {LONG_READ}',
                        'subscribe 2A37', 'wait --count 3')
    result = lab.gatt('script', script, **options)
    assert [e['value'] for e in result.events('value')] == ['01', LONG_VALUE.hex(), LONG_VALUE.hex()]
    assert [e['value'] for e in result.events('notified')][:3] == ['0040'] * 3
    advertised(tool, 2)
    services = lab.gatt('discover', **options).lines[0]['services']
    assert [s['uuid'] for s in PROFILE['services']] == [s['uuid'] for s in services if s['uuid'] not in ('1800', '1801')], (
        [s["uuid"] for s in services])
    included = [i for s in services if s['uuid'] == SERVICE for i in s['includes']]
    assert [i['uuid'] if isinstance(i, dict) else i for i in included] == ['180F']


# The advertisement on the air

def check_on_the_air(lab, tool, name, *uuids):
    """The event matches the received advertising byte for byte, with the name and these UUIDs."""
    told = advertised(tool)
    data = bytes.fromhex(told['advertisement']) + bytes.fromhex(told.get('scanResponse') or '')
    got = heard(lab)
    # Some of these controllers have no scan response on their air, or repeat the advertisement as one.
    assert {got['data'], got['whole']} & {data.hex(), told['advertisement']}, f'on the air {got}, told {told}'
    found = elements(data)
    assert [v.decode() for t, v in found if t == COMPLETE_NAME] == [name]
    listed = [v[i:i + 2][::-1].hex().upper() for t, v in found if t in (2, 3) for i in range(0, len(v), 2)]
    listed += [v[i:i + 16][::-1].hex().upper() for t, v in found if t in (6, 7) for i in range(0, len(v), 16)]
    assert sorted(listed) == sorted(u.replace('-', '') for u in uuids)
    return told, got


def test_serve_is_seen_by_a_scanner(lab):
    """a scanner receives exactly what the `advertising` event of `serve` reports: the name, the UUID, connectable"""
    tool = serve(lab)
    _, got = check_on_the_air(lab, tool, NAME, '180D')
    assert got['connectable'], f'not connectable: {got}'


def test_advertise_is_seen_by_a_scanner(lab):
    """`advertise` sends what `ad pack` says, and a scanner receives exactly that"""
    options = ('--name', 'Ærøskøbing', '--service', '180D', '--service', '180F')
    tool = lab.start('advertise', *options)
    told, _ = check_on_the_air(lab, tool, 'Ærøskøbing', '180D', '180F')
    packed = lab.finish(lab.launch(lab_tool(lab, 'ad', 'pack', *options))).lines[0]
    for key in ('advertisement', 'scanResponse'):
        assert (told.get(key) or '') == (packed.get(key) or ''), key
    lab.stop(tool)


@mark.lab(BASIC_KINDS, through_bled=False)
def test_advertise_in_the_background(lab):
    """`advertise --background` contains no name and no list of UUIDs, and the overflow area only on request"""
    for more in ((), ('--emit-overflow',)):
        tool = lab.start('advertise', '--background', '--name', NAME, '--service', SERVICE, *more)
        data = bytes.fromhex(advertised(tool)['advertisement'])
        types = [t for t, _ in elements(data)]
        assert not set(types) & {2, 3, 6, 7, 8, 9}, f'foreground elements in {data.hex()}'
        assert (MANUFACTURER_DATA in types) == bool(more)
        lab.stop(tool)


# How it ends

def ended_with_a_link(lab, how):
    relay = lab.relay()
    tool = serve(lab, via=relay.endpoint)
    central = lab.central('--name', NAME, '--hold', '60')
    central.wait_for(step('holding'), 'holding')
    lab.stop(tool, how)
    assert steps(passed(central), 'ended-by-peer')[0]['reason'] == 0x13
    assert [p[2] for _, p in relay.commands(DISCONNECT)] == [0x13]
    # The connection ended the advertising; if it was resumed, it is off again.
    switches = advertising_switches(relay)
    assert len([s for s in switches if s]) == 1 or switches[-1] is False, f'advertising was left on: {switches}'


def test_interrupt_ends_serve(lab):
    """^C ends `serve` with status 0: the link is closed with reason 0x13, and advertising has ended"""
    ended_with_a_link(lab, signal.SIGINT)


@mark.lab(('bumble', 'btvirt'))
def test_termination_ends_serve(lab):
    """SIGTERM ends `serve` with status 0: the link is closed with reason 0x13, and advertising has ended"""
    ended_with_a_link(lab, signal.SIGTERM)


@mark.lab(through_bled=False)
def test_interrupt_ends_advertising(lab):
    """^C ends `serve` and `advertise` without a client with status 0, and advertising was disabled last"""
    for arguments in (('serve', '--profile', lab.profile(PROFILE), '--name', NAME), ('advertise', '--name', NAME)):
        relay = lab.relay()
        tool = lab.start(*arguments, via=relay.endpoint)
        advertised(tool)
        lab.stop(tool)
        switches = advertising_switches(relay)
        assert True in switches and switches[-1] is False, f'{arguments[0]}: advertising was switched {switches}'


@mark.lab(('bumble',))
def test_a_profile_that_is_none(lab):
    """a profile that is missing, is not JSON, or has a wrong field is refused with a message, and nothing is advertised"""
    wrong = [lab.path('no-such-file')]
    for number, text in enumerate(('nonsense', '{"services":[{"uuid":"no-uuid"}]}',
                                   '{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":["fly"]}]}]}',
                                   '{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","value":"0"}]}]}')):
        wrong.append(lab.path(f'wrong{number}.json'))
        pathlib.Path(wrong[-1]).write_text(text)
    for path in wrong:
        result = lab.run('serve', '--profile', path, status=None)
        assert result.status in (1, 2), f'{path}: want status 1 or 2: ' + result.describe()
        assert result.stderr or result.events('error'), 'no word about it: ' + result.describe()
        assert not result.events('advertising'), 'it advertised: ' + result.describe()


def lab_tool(lab, *arguments):
    """The tool without a transport."""
    command = lab.command(*arguments)
    return [command[0], *command[3:]]


@mark.lab(BASIC_KINDS)
def test_serve_answers_rare_requests(lab):
    """A central reads several values by one request and writes two by one transaction; a cancelled one changes nothing"""
    serve(lab)
    central = passed(lab.central('--name', NAME, '--skip-gatt', '--requests'))
    read = steps(central, 'read-multiple')[0]
    assert (read['values'], read['variable']) == ('0157', ['01', '57'])
    assert [s['ok'] for s in steps(central, 'reliable-write')] == [True]
