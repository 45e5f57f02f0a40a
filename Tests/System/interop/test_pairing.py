"""Pairing, bonds and encryption, in both roles, with Bumble at the other end."""
import collections, json, os, random, signal, stat, subprocess, time

from pytest import mark

from jelling import options
from interop.test_gatt import AUTHENTICATED, ENCRYPTED, SERVICE
from jelling.child import Failure
from interop.test_serve import NAME, characteristic, passed, steps, verdict

PAIRING_KINDS = ('bumble', 'btvirt')
SECRET = b'secret'.hex()
PEER = 'BumblePeer'
PEER_ADDRESS = 'F2:F1:F0:00:00:02'

PROFILE = {'services': [{'uuid': SERVICE, 'characteristics': [
    characteristic(ENCRYPTED, ['read', 'write'], ['readEncryptionRequired', 'writeEncryptionRequired'], value='5e')]}]}

# The options of the tool and of the peer, and the expected result: (Secure Connections, authenticated).
MODELS = {
    'just_works': ('Just Works, Secure Connections', [], [], (True, False)),
    'just_works_legacy_tool': ('Just Works, legacy because the tool wants no more', ['--no-sc'], [], (False, False)),
    'just_works_legacy_peer': ('Just Works, legacy because the peer knows no more', [], ['--no-sc'], (False, False)),
    'passkey_typed_here': ('a passkey that the tool types, Secure Connections',
                           ['--io', 'keyboard', '--passkey', '123456', '--mitm'], ['--io', 'display', '--mitm'],
                           (True, True)),
    'passkey_typed_here_legacy': ('a passkey that the tool types, legacy',
                                  ['--io', 'keyboard', '--passkey', '123456', '--mitm', '--no-sc'],
                                  ['--io', 'display', '--mitm'], (False, True)),
    'passkey_typed_there': ('a passkey that the peer types, Secure Connections',
                            ['--io', 'display', '--passkey', '000007', '--mitm'],
                            ['--io', 'keyboard', '--passkey', '000007', '--mitm'], (True, True)),
    'passkey_typed_there_legacy': ('a passkey that the peer types, legacy',
                                   ['--io', 'display', '--passkey', '999999', '--mitm', '--no-sc'],
                                   ['--io', 'keyboard', '--passkey', '999999', '--mitm'], (False, True)),
    'numeric_comparison': ('numeric comparison', ['--io', 'yesno', '--mitm', '--yes'], ['--io', 'yesno', '--mitm'],
                           (True, True)),
}


def quality(line):
    return line['secureConnections'], line['authenticated']


def serve(lab, *arguments, terminal=None):
    return lab.serving(PROFILE, NAME, *arguments, terminal=terminal)


def bonds(lab):
    return lab.run('bonds').events('bond')


def paired(lines, want):
    assert len(lines) == 1
    assert quality(lines[0]) == want
    assert lines[0]['keySize'] == 16
    assert set(lines[0]) == {'event', 'time', 'adapter', 'secureConnections', 'authenticated', 'keySize', 'identity',
                            'identityType'}, f'keys of the event: {sorted(lines[0])}'
    return lines[0]


def pairing_of(line):
    """What an event says about a pairing, without what depends on the command, the time and the user."""
    return {key: value for key, value in line.items() if key not in ('event', 'time', 'adapter', 'name', 'user')}


def no_secret(lab, keys, *texts):
    """None of the peer's keys, in either order of their octets, is in what the tool said."""
    for key in keys.values():
        for text in (key['value'], bytes.fromhex(key['value'])[::-1].hex()):
            assert not any(text in t.lower() for t in texts), 'a key was printed'


@mark.parametrize('model', MODELS)
@mark.lab(PAIRING_KINDS, peer=False, through_bled=True)
def test_pair(lab, model):
    """`pair` with a peripheral by each model; the next link is encrypted with the bond, without pairing"""
    _, tool, peer, want = MODELS[model]
    lab.start_peer(*peer)
    result = lab.run('pair', PEER, *tool)
    line = paired(result.events('paired'), want)
    assert (line['identity'], line['identityType']) == (PEER_ADDRESS, 'random')
    there = lab.wait_peer('paired')[0]
    no_secret(lab, there['keys'], str(result.lines), result.stderr)
    kept = bonds(lab)
    assert [pairing_of(b) for b in kept] == [pairing_of(line)]
    # The second run finds the bond: it is encrypted without a pairing, and the value is open.
    read = lab.gatt('read', ENCRYPTED)
    assert read.lines[-1]['value'] == SECRET
    assert len(lab.peer_events('pairing-start')) == 1
    assert len(lab.peer_events('encryption')) >= 2, 'the second link was not encrypted'
    store = lab.path('state') + '/jelling/security'
    assert oct(stat.S_IMODE(os.stat(store).st_mode)) == '0o700'
    assert oct(stat.S_IMODE(os.stat(store + '/bonds').st_mode)) == '0o600'


@mark.parametrize('model', MODELS)
@mark.lab(PAIRING_KINDS, peer=False, through_bled=True)
def test_serve_paired(lab, model):
    """`serve` is paired with by a central, by each model; after both restarted the bond encrypts"""
    _, tool, peer, want = MODELS[model]
    keys = lab.path('keys.json')
    served = serve(lab, *tool)
    central = passed(lab.central('--name', NAME, '--pair-first', '--keystore', keys, *peer))
    there = steps(central, 'pair')[0]
    assert there['mitm'] == want[1]
    line = paired(served.wait_event('paired'), want)
    assert [pairing_of(b) for b in bonds(lab)] == [pairing_of(line)]
    served.wait_event('disconnected')
    lab.stop(served)
    # Both sides start again and find their bond.
    served = serve(lab, *tool)
    passed(lab.central('--name', NAME, '--encrypt', '--keystore', keys, *peer))
    told = served.wait_event('encrypted')[0]
    assert (*quality(told), told['bonded']) == (*want, True)
    served.wait_event('disconnected')
    result = lab.stop(served)
    assert result.events('paired') == []
    no_secret(lab, there['keys'], str(result.lines), result.stderr, str(served.lines))


@mark.lab(PAIRING_KINDS, peer=False)
def test_a_pairing_that_is_too_weak(lab):
    """a value for which the pairing of `gatt` itself is too weak is an error that names `bletool pair`"""
    lab.start_peer()
    error, = lab.gatt('read', AUTHENTICATED, status=1).events('error')
    assert 'bletool pair' in error['message'], error['message']


@mark.lab(PAIRING_KINDS, peer=False, through_bled=True)
def test_pair_wrong_passkey(lab):
    """A wrong passkey is refused, in the message and the exit status, and leaves no bond"""
    lab.start_peer('--io', 'display', '--mitm')
    result = lab.run('pair', PEER, '--io', 'keyboard', '--mitm', '--passkey', '654321', status=1)
    assert 'pairing' in result.events('error')[0]['message'], f'message: {result.events("error")}'
    lab.wait_peer('pairing-failed')
    assert bonds(lab) == []
    # The next attempt uses the right passkey.
    result = lab.run('pair', PEER, '--io', 'keyboard', '--mitm', '--passkey', '123456')
    paired(result.events('paired'), (True, True))


def mistypes(lab, served):
    """A central is refused, with a wrong passkey."""
    central = lab.central('--name', NAME, '--pair-first', '--skip-gatt', '--io', 'keyboard', '--mitm', '--passkey', '2')
    central.wait_for(lambda l: 'step' not in l, 'verdict')
    assert not verdict(central)['ok'], 'the pairing was taken'
    served.wait_event('pairingFailed')


# A central that goes away without a word leaves its link open in btvirt.
@mark.lab(('bumble',), peer=False, through_bled=True)
def test_serve_wrong_passkey(lab):
    """A central with a wrong passkey is refused by `serve`, which goes on and pairs with the right one"""
    served = serve(lab, '--io', 'display', '--passkey', '111111', '--mitm')
    mistypes(lab, served)
    assert bonds(lab) == []
    served.wait_event('disconnected')
    time.sleep(2.5)   # what follows a failure at once is refused
    passed(lab.central('--name', NAME, '--pair-first', '--skip-gatt', '--io', 'keyboard', '--mitm', '--passkey',
                       '111111'))
    paired(served.wait_event('paired'), (True, True))


@mark.lab(('btvirt',), peer=False, through_bled=True)
def test_serve_wrong_passkey_once(lab):
    """A central with a wrong passkey is refused by `serve`, which keeps no bond and ends in order"""
    served = serve(lab, '--io', 'display', '--passkey', '111111', '--mitm')
    mistypes(lab, served)
    assert [l for l in served.lines if l.get('event') == 'paired'] == []
    assert bonds(lab) == []


@mark.lab(PAIRING_KINDS, peer=False, through_bled=True)
def test_pair_without_a_terminal(lab):
    """Without a terminal, a passkey and a comparison are refused and the option is named"""
    lab.start_peer('--io', 'display', '--mitm')
    result = lab.run('pair', PEER, '--io', 'keyboard', '--mitm', status=1)
    assert '--passkey' in result.stderr, f'stderr: {result.stderr}'
    lab.peer.end()
    lab.start_peer('--io', 'yesno', '--mitm')
    result = lab.run('pair', PEER, '--io', 'yesno', '--mitm', status=1)
    assert '--yes' in result.stderr, f'stderr: {result.stderr}'
    assert len(result.events('comparison')) == 1
    assert bonds(lab) == []


@mark.lab(PAIRING_KINDS, through_bled=True)
def test_pair_on_demand(lab):
    """A value that is refused because the link is not encrypted is read after an automatic pairing (SPEC SEC-2)"""
    read = lab.gatt('read', ENCRYPTED)
    assert read.lines[-1]['value'] == SECRET
    assert len(lab.peer_events('pairing-start')) == 1
    assert len(bonds(lab)) == 1


@mark.lab(PAIRING_KINDS, peer=False, through_bled=True)
def test_pair_at_a_security_request(lab):
    """A peripheral's Security Request leads to pairing, or to encryption if there is a bond"""
    lab.start_peer('--security-request')
    for _ in range(2):
        lab.gatt('subscribe', '2A37', '--count', '2')
    lab.wait_peer('encryption', 2)
    assert len(lab.peer_events('pairing-start')) == 1
    assert len(bonds(lab)) == 1


@mark.lab(PAIRING_KINDS, through_bled=True)
def test_pair_bond_lost_at_the_peer(lab):
    """A peer that has lost its half of the bond is reported with the remedy, and never paired silently; the remedy helps"""
    lab.run('pair', PEER)
    lab.peer.end()
    lab.start_peer()
    result = lab.gatt('read', ENCRYPTED, status=1)
    message = result.events('error')[0]['message']
    assert 'unpair' in message and 'pair again' in message, f'message: {message}'
    assert lab.peer_events('pairing-start') == []
    assert len(bonds(lab)) == 1
    gone = lab.run('unpair', PEER_ADDRESS).events('unpaired')[0]
    assert (gone['identity'], gone['identityType']) == (PEER_ADDRESS, 'random')
    assert bonds(lab) == []
    lab.run('pair', PEER)
    assert lab.gatt('read', ENCRYPTED).lines[-1]['value'] == SECRET


@mark.lab(('bumble',), through_bled=True)
def test_unpair_a_stranger(lab):
    """Unpairing a device that is not bonded fails, and says where the bonds are listed"""
    result = lab.run('unpair', '00:11:22:33:44:55', status=1)
    assert 'bletool bonds' in result.events('error')[0]['message'], result.events("error")


@mark.lab(PAIRING_KINDS, peer=False, slow=True, through_bled=True)
def test_serve_encrypted_values_need_a_bond(lab):
    """Encrypted values of `serve` are refused to a stranger (0x0F or 0x05) and open after pairing (SPEC SEC-1, SEC-4)"""
    serve(lab)
    central = passed(lab.central('--name', NAME, '--pair'))
    reads = [s for s in steps(central, 'read') if s['uuid'].upper() == ENCRYPTED]
    assert reads[0].get('att_error') in ('0x05', '0x0f'), f'first read: {reads[0]}'
    assert reads[-1].get('value') == '5e'


@mark.lab(PAIRING_KINDS, peer=False, through_bled=True)
def test_serve_finds_its_subscribers(lab):
    """A bonded central is subscribed when `serve` restarts, but not to another characteristic with the same handle"""
    def served(uuid):
        content = {'services': [{'uuid': '180D', 'characteristics': [
            characteristic(uuid, ['notify'], value='0040', notifyEvery=0.1)]}]}
        return lab.serving(content, NAME)

    def finished(tool):
        tool.wait_event('disconnected')
        return lab.stop(tool).events('subscribed')

    keys = ('--name', NAME, '--keystore', lab.path('keys.json'))
    tool = served('2A37')
    passed(lab.central(*keys, '--pair-first'))
    first = finished(tool)
    assert len(first) == 1, f'subscribed: {first}'
    for uuid, count in (('2A37', 1), ('2A38', 0)):
        tool = served(uuid)
        passed(lab.central(*keys, '--encrypt', '--skip-gatt'))
        again = finished(tool)
        assert [s['handle'] for s in again] == [first[0]['handle']] * count, f'subscriptions that are back to {uuid}'


@mark.lab(('btvirt', 'bumble'), slow=True, peer=False)
def test_pair_killed_at_any_moment(lab):
    """Fifty pairings (or --kills), each killed at a random moment, never leave a store that cannot be read or half a bond"""
    lab.every_link_ends_by_us = False
    moments, whole, behind = random.Random(5), 0, collections.Counter()
    # How long a pairing takes from the start and from the connection, on this machine and with what else it has to do:
    # that changes on the way, too.
    lab.start_peer()
    started = time.monotonic()
    tool = lab.start('pair', PEER)
    lab.wait_peer('connected')
    linked = time.monotonic()
    assert lab.finish(tool).status == 0
    spans = [time.monotonic() - started, time.monotonic() - linked]
    lab.run('unpair', PEER_ADDRESS)
    for number in range(options.KILLS or 50):
        peer_is_free(lab)
        known, since = len(lab.peer.lines), number % 2
        tool = lab.start('pair', PEER)
        if since:
            try:
                lab.wait_peer('connected', len(lab.peer_events('connected')) + 1, timeout=20)
            except Failure:
                if not is_lost(lab):
                    raise
        try:
            tool.process.wait(moments.uniform(0, 1.1) * spans[since])
        except subprocess.TimeoutExpired:
            tool.process.send_signal(signal.SIGKILL)
            tool.process.wait(60)
        tool.reader.join(60)
        said = [l for l in tool.lines if l.get('event') == 'paired']
        result = lab.run('bonds')
        assert 'damaged' not in result.stderr, result.stderr
        kept = result.events('bond')
        assert len(kept) <= 1, f'bonds: {kept}'
        # What was said to be paired is kept; what is kept is whole.
        assert not said or [pairing_of(b) for b in kept] == [pairing_of(b) for b in said], f'said {said}, kept {kept}'
        if kept:
            whole += 1
            assert kept[0]['keySize'] == 16
            lab.run('unpair', PEER_ADDRESS)
        seen = [l.get('ev') for l in lab.peer.lines[known:]]
        steps_seen = [s for s in ('encryption', 'pairing-start', 'connected') if s in seen]
        behind['kept' if kept else [*steps_seen, 'nothing'][0]] += 1
        spans[since] *= 0.9 if kept else 1.05
        tool.errors.close()
    summary = f'what they had reached: {dict(behind)}'
    assert whole >= 5 and len(behind) >= 3, summary + ': the moments are badly chosen'
    print(summary)


def is_lost(lab):
    """Whether the peer's controller has died: btvirt does not always survive a host that leaves without a reset."""
    return lab.peer_events('stopped') or any(e['reason'] == 0 for e in lab.peer_events('disconnected'))


def peer_is_free(lab):
    """Not all controllers end the links of a killed host: the peer is switched off and on."""
    def is_linked():
        return len(lab.peer_events('connected')) > len(lab.peer_events('disconnected'))
    end = time.monotonic() + 0.3
    while is_linked() and time.monotonic() < end:
        time.sleep(0.01)
    if not is_linked() and not is_lost(lab):
        return
    lab.peer.end(signal.SIGKILL)
    if not is_lost(lab):
        try:
            lab.start_peer()
            return
        except Failure:
            if lab.kind != 'btvirt':
                raise
    assert lab.kind == 'btvirt', 'the controllers have died'
    lab.btvirt.end(signal.SIGKILL)
    lab.start_btvirt()
    lab.start_peer()


# Private addresses

def resolvable(address):
    return int(address[:2], 16) >> 6 == 0b01


PRIVACY_KINDS = (*PAIRING_KINDS, 'simulator', 'simulator-legacy')


@mark.lab(PRIVACY_KINDS, peer=False)
def test_private_peer_is_known(lab):
    """A bonded peer that shows private addresses is discovered, connected to and encrypted by its identity"""
    keys = lab.path('keys.json')
    lab.start_peer('--privacy', '--keystore', keys)
    heard = lab.run('lescan', '--duration', '2').events('discovered')
    assert heard and all(resolvable(h['address']) for h in heard), f'the peer shows who it is: {heard[:2]}'
    line = lab.run('pair', PEER).events('paired')[0]
    assert (line['identity'], line['identityType']) == (PEER_ADDRESS, 'random')
    found = lab.run('lescan', '--duration', '2').events('discovered')
    assert {(h['address'], h['addressType']) for h in found} == {(PEER_ADDRESS, 'random')}
    lab.peer.end()
    lab.start_peer('--privacy', '--keystore', keys)   # under a new private address
    capture = lab.path('private.btsnoop')
    read = lab.gatt('read', ENCRYPTED, peer=PEER_ADDRESS, options=('-w', capture))
    assert read.lines[-1]['value'] == SECRET
    assert lab.peer_events('pairing-start') == []
    sent = commands(lab, capture)
    added = [o for o, _ in sent].count(ADD_TO_RESOLVING_LIST)
    # Bumble's controllers take the list and resolve nothing: the host has to see through that.
    assert added == (0 if lab.kind == 'btvirt' else 1)
    kind = [p[5] if o == CREATE_CONNECTION else p[2] for o, p in sent if o in (CREATE_CONNECTION, EXTENDED_CREATE)]
    assert kind == ([3] if lab.is_simulator else [1])


ADD_TO_RESOLVING_LIST, CREATE_CONNECTION, EXTENDED_CREATE = 0x2027, 0x200D, 0x2043


def commands(lab, capture):
    """The commands of a btsnoop capture, each with its parameters."""
    data, found = open(capture, 'rb').read()[16:], []
    while data:
        length = int.from_bytes(data[4:8], 'big')
        packet, data = data[24:24 + length], data[24 + length:]
        if packet[0] == 1:
            found.append((int.from_bytes(packet[1:3], 'little'), packet[4:]))
    return found


@mark.lab(('simulator', 'simulator-legacy'), peer=False, endpoints=3)
def test_strangers_see_no_identity(lab):
    """With `--own-address resolvable` a stranger sees only private addresses, and a bonded central connects"""
    keys = lab.path('keys.json')
    private = {'options': ('--own-address', 'resolvable')}
    for first in (True, False):
        served = lab.serving(PROFILE, NAME, **private)
        stranger = passed(lab.central('--scan-only', '1', number=2))
        heard = steps(stranger, 'scan')[0]['heard']
        assert heard and all(resolvable(a) for a in heard), f'a stranger hears {sorted(heard)}'
        passed(lab.central('--name', NAME, '--keystore', keys, *(['--pair-first'] if first else ['--encrypt'])))
        served.wait_event('disconnected')
        lab.stop(served)


CENTRAL_ADDRESS = 'F0:F1:F2:00:00:01'


# Bumble's controllers deliver no directed advertising.
@mark.lab(('simulator', 'simulator-legacy', 'btvirt'), peer=False, endpoints=3, through_bled=True)
def test_serve_calls_a_bonded_central(lab):
    """`serve --directed` addresses only a bonded central, which connects and finds its bond; a stranger sees nothing"""
    keys = lab.path('keys.json')
    served = serve(lab)
    central = passed(lab.central('--name', NAME, '--pair-first', '--keystore', keys))
    address = steps(central, 'scan')[0]['address']
    served.wait_event('disconnected')
    lab.stop(served)
    served = lab.start('serve', '--profile', lab.profile(PROFILE), '--directed', CENTRAL_ADDRESS)
    told = served.wait_event('advertising')[0]
    assert (told['directedTo'], told['directedToType']) == (CENTRAL_ADDRESS, 'random')
    stranger = passed(lab.central('--scan-only', '1', number=2))
    assert steps(stranger, 'scan')[0]['heard'] == {}
    for _ in range(2):   # it is called again when it has gone
        passed(lab.central('--peer', address, '--encrypt', '--keystore', keys))
    served.wait_event('disconnected', count=2)
    assert len(served.wait_event('encrypted', count=2)) == 2


@mark.lab(('simulator', 'simulator-legacy', 'btvirt', 'bumble'), peer=False, through_bled=True)
def test_advertise_calls_in_vain(lab):
    """High duty cycle directed advertising without a response ends after 1.28 s with exit status 1, on every controller"""
    served = serve(lab)
    passed(lab.central('--name', NAME, '--pair-first', '--keystore', lab.path('keys.json')))
    served.wait_event('disconnected')
    lab.stop(served)
    result = lab.run('advertise', '--directed', CENTRAL_ADDRESS, '--directed-form', 'high', status=1)
    assert 1.2 < result.seconds < 30, f'{result.seconds} s'
    assert 'could not be made' in result.events('error')[0]['message'], result.events("error")
    result = lab.run('advertise', '--directed', '00:11:22:33:44:55', status=1)
    assert 'no bond' in result.events('error')[0]['message'], result.events("error")


@mark.lab(PRIVACY_KINDS, peer=False)
def test_private_address_of_ours(lab):
    """With `--own-address resolvable` strangers see a private address, which a bonded central resolves"""
    keys = lab.path('keys.json')
    seen = []
    identity = None
    for number in range(2):
        served = lab.start('serve', '--profile', lab.profile(PROFILE), '--name', NAME,
                           options=('--own-address', 'resolvable'))
        served.wait_event('advertising')
        central = passed(lab.central('--name', NAME, '--keystore', keys,
                                     *(['--pair-first'] if number == 0 else ['--encrypt'])))
        address = steps(central, 'scan')[0]['address']
        if number == 0:
            there = json.load(open(keys))
            identity = list(list(there.values())[0])[0]
        seen.append(address)
        served.wait_event('disconnected')
        lab.stop(served)
    assert resolvable(seen[0]), f'address on the air: {seen[0]}'
    assert not resolvable(identity), f'identity told: {identity}'
    assert seen[1] != seen[0], 'the address did not change'
