"""With a bond, nothing of GATT goes out or is believed before the link is encrypted with the bond's key; in both roles.

Who is meant: a device that takes a bonded one's address (BLESA), and a controller that lies about encryption."""
import os, pathlib, struct, time

from pytest import mark, param

from jelling.attributes import READ
from jelling.controller import SILENT
from attack.test_honest import BEAT, OPEN, PROFILE, SECRET, bonded, lock
from jelling.peer import resolvable

FORGED = b'forged'
ENABLE_ENCRYPTION = 0x2019
VERBS = {'read': ['read', SECRET], 'read_open': ['read', OPEN], 'write': ['write', SECRET, 'c0ffee'],
         'write_command': ['write', OPEN, 'c0ffee', '--command'], 'discover': ['discover'],
         'subscribe': ['subscribe', BEAT, '--count', '1', '--duration', '5']}


def taken_over(peer):
    """Another device with its address: without keys, readable by everyone, with other values."""
    peer.keys = None
    peer.pairing = None
    for attribute in peer.server.attributes:
        attribute.needs = None
    for handle in (peer.open, peer.secret):
        peer.server.attribute(handle).value = FORGED
    peer.server.written.clear()
    return peer


def is_refused(result, peer, words=('lost', 'keys')):
    """It failed with the message of lost keys and its remedy, and disclosed nothing."""
    assert result.status == 1, 'exit status: ' + result.describe()
    assert all(w in result.stderr for w in words), f'the message says not what happened: {result.stderr}'
    assert 'unpair' in result.stderr, f'the message names no remedy: {result.stderr}'
    gave_nothing(result, peer)


def gave_nothing(result, peer):
    link = peer.links[-1]
    assert [p.hex() for p in peer.gatt_in_clear(link)] == []
    assert [w for w in peer.server.written if not w[2]] == []
    text = str(result.lines) + str(result.strays)
    assert FORGED.hex() not in text and FORGED.decode() not in text, f'a forged value was believed: {text}'


def forges(bench, peer):
    """It sends a value before it refuses to encrypt."""
    def forge(link, rand, ediv, key):
        peer.notify(peer.beat, FORGED)
        time.sleep(0.2)
        return 0x06
    bench.controller.encrypts = forge


@mark.parametrize('name', VERBS)
def test_lost_keys(bench, name):
    """A device under a bonded address that has no key: `gatt` fails, nothing goes out"""
    peer = taken_over(bonded(bench))
    is_refused(bench.gatt(*VERBS[name], status=None), peer)


def test_lost_keys_script(bench):
    """A device under a bonded address that has no key: a script fails before its first line"""
    peer = taken_over(bonded(bench))
    is_refused(bench.gatt('script', bench.script(f'write {SECRET} c0ffee', f'read {OPEN}'), status=None), peer)


def test_lost_keys_by_address(bench):
    """A device under a bonded address that has no key, named by its address: nothing is sent"""
    peer = taken_over(bonded(bench))
    is_refused(bench.gatt('write', SECRET, 'c0ffee', peer=peer.address + '/random', status=None), peer)


def test_lost_keys_resolvable(bench):
    """A bonded device that shows resolvable addresses and has lost its key: nothing is sent"""
    peer = bonded(bench, (True, 'C0:00:00:00:00:77'))
    peer.address = resolvable(peer.irk)
    taken_over(peer)
    is_refused(bench.gatt('write', SECRET, 'c0ffee', status=None), peer)


def test_known_database(bench):
    """A device under a bonded address that has no key but the bonded device's Database Hash puts nothing into the kept attributes"""
    digest = bytes(range(16))
    peer = lock(bench)
    peer.server.service('1801')
    peer.server.characteristic('2B2A', READ, digest)
    bench.run('pair', 'Lock')
    peer.wait_pairing()
    kept, honest = bench.path('state/jelling/databases'), peer.keys
    taken_over(peer)
    hashed = len(peer.server.attributes)
    peer.server.service('ABCD')
    is_refused(bench.gatt('discover', status=None), peer)
    assert not os.path.exists(kept), 'attributes of a stranger were kept'
    # The device itself, which is discovered and kept.
    del peer.server.attributes[hashed:]
    peer.keys = honest
    services = bench.gatt('discover').lines[0]['services']
    before = pathlib.Path(kept).read_text()
    assert digest.hex() in before.lower() and 'ABCD' not in str(services), before
    peer.keys = None
    peer.server.service('ABCD')
    is_refused(bench.gatt('discover', status=None), peer)
    # Under its own address, without a bond: it is believed about itself alone.
    peer.address, address = 'C0:00:00:00:00:99', peer.address
    peer.advertise()
    found = bench.gatt('discover', peer='C0:00:00:00:00:99/random')
    assert 'ABCD' in str(found.lines).upper(), found.describe()
    assert pathlib.Path(kept).read_text() == before
    peer.address, peer.keys = address, honest
    del peer.server.attributes[hashed:]
    peer.advertise()
    assert bench.gatt('discover').lines[0]['services'] == services


def test_wrong_key(bench):
    """A bonded device with another key breaks the link (MIC failure): nothing is sent, the operation fails"""
    peer = bonded(bench)
    peer.keys.ours = (bytes(16), 0, 0)
    bench.gatt('write', SECRET, 'c0ffee', '--connect-timeout', '4', status=1)
    for link in peer.links[1:]:
        assert [p.hex() for p in peer.gatt_in_clear(link)] == []


def test_early_notification(bench):
    """A value that arrives before the link is encrypted is ignored, and an indication is not confirmed"""
    peer = bonded(bench)

    def forge(link, rand, ediv, key):
        peer.notify(peer.beat, FORGED)
        link.send(4, struct.pack('<BH', 0x1D, peer.beat) + FORGED)
        time.sleep(0.2)
        return 0

    bench.controller.encrypts = forge
    tool = bench.start('gatt', 'Lock', 'subscribe', BEAT, '--count', '1')
    tool.wait_event('subscribed')
    peer.notify(peer.beat, b'true')
    result = bench.finish(tool)
    assert [l['value'] for l in result.events('notified') + result.events('indicated')] == [b'true'.hex()]
    assert [p.hex() for p in peer.sent(4, encrypted=False, opcodes={0x1E, 0x12})] == []


def test_notification_of_a_stranger(bench):
    """What a device under a bonded address sends before it refuses to encrypt is never shown"""
    peer = taken_over(bonded(bench))
    forges(bench, peer)
    is_refused(bench.gatt(*VERBS['subscribe'], status=None), peer)


def says_off(bench, peer):
    bench.controller.encrypts = lambda link, rand, ediv, key: (
        bench.controller.event(0x08, struct.pack('<BHB', 0, link.handle, 0)), SILENT)[1]


def says_other_link(bench, peer):
    def lie(link, rand, ediv, key):
        bench.controller.event(0x08, struct.pack('<BHB', 0, link.handle + 1, 1))
        bench.controller.event(0x30, struct.pack('<BH', 0, link.handle + 1))
        link.change_encryption(0x06)
        return SILENT
    bench.controller.encrypts = lie


def refuses(bench, peer):
    bench.controller.answers[ENABLE_ENCRYPTION] = lambda parameters: 0x0C


def knows_nothing(bench, peer):
    bench.controller.answers[ENABLE_ENCRYPTION] = lambda parameters: 0x01


def fails(bench, peer):
    bench.controller.encrypts = lambda link, rand, ediv, key: 0x1F


@mark.parametrize('lie', [
    param(says_off, id='says_off'), param(says_other_link, id='says_other_link'), param(refuses, id='refuses_encryption'),
    param(knows_nothing, id='knows_no_encryption'), param(fails, id='fails_encryption')])
def test_controller(bench, lie):
    """A controller that does not encrypt, and reports another error than PIN or Key Missing: nothing of GATT goes out, the operation fails"""
    peer = taken_over(bonded(bench))
    lie(bench, peer)
    gave_nothing(bench.gatt('write', SECRET, 'c0ffee', status=1, timeout=60), peer)


@mark.slow
def test_controller_silent_about_encryption(bench):
    """A controller that never reports the end of encryption: nothing of GATT is sent, and the operation ends"""
    peer = taken_over(bonded(bench))
    bench.controller.encrypts = lambda link, rand, ediv, key: SILENT
    gave_nothing(bench.gatt('write', SECRET, 'c0ffee', status=1, timeout=90), peer)


def test_controller_refreshes_what_is_off(bench):
    """Encryption Key Refresh Complete on a link that was never encrypted does not open it"""
    peer = taken_over(bonded(bench))

    def lie(link, rand, ediv, key):
        bench.controller.event(0x30, struct.pack('<BH', 0, link.handle))
        time.sleep(0.3)
        return 0x06

    bench.controller.encrypts = lie
    gave_nothing(bench.gatt('write', SECRET, 'c0ffee', status=1), peer)


def test_controller_encrypts_after_all(bench):
    """An Encryption Change of a controller that has refused to encrypt does not count as the bond's key"""
    peer = taken_over(bonded(bench))

    def lie(parameters):
        handle = struct.unpack_from('<H', parameters)[0]
        bench.controller.soon(0.05, lambda: bench.controller.event(0x08, struct.pack('<BHB', 0, handle, 1)))
        return 0x0C

    bench.controller.answers[ENABLE_ENCRYPTION] = lie
    gave_nothing(bench.gatt('write', SECRET, 'c0ffee', status=1), peer)


@mark.controller(features=0x41, resolving=8)
def test_controller_claims_an_identity(bench):
    """A controller that says it resolved a bonded device's identity proves nothing: without the key nothing is sent"""
    bench.controller.enhanced = True
    peer = bonded(bench, (True, 'C0:00:00:00:00:77'))
    peer.random, peer.address = 3, 'C0:00:00:00:00:77'
    taken_over(peer)
    is_refused(bench.gatt('write', SECRET, 'c0ffee', status=None), peer)


def test_encryption_ends_midway(bench):
    """When encryption ends during a session, GATT ends too: nothing more is sent or accepted"""
    peer = bonded(bench)
    tool = bench.start('gatt', 'Lock', 'script', bench.script(
        f'subscribe {BEAT}', 'wait --count 1', f'write {SECRET} c0ffee'))
    tool.wait_event('subscribed')
    link = peer.links[-1]
    link.encrypted = False
    bench.controller.event(0x08, struct.pack('<BHB', 0, link.handle, 0))
    time.sleep(0.5)
    peer.heard.clear()     # what crossed the event on the line
    peer.notify(peer.beat, FORGED)
    result = bench.finish(tool)
    assert result.status == 1, 'exit status: ' + result.describe()
    gave_nothing(result, peer)


def test_lost_keys_and_security_request(bench):
    """A device that lost its keys and asks for security: the operation ends at once with the message of lost keys"""
    peer = taken_over(bonded(bench))

    def ask(link, rand, ediv, key):
        peer.request_security()
        time.sleep(0.1)
        return 0x06

    bench.controller.encrypts = ask
    result = bench.gatt('read', SECRET, status=None, timeout=60)
    is_refused(result, peer)
    assert result.seconds < 25, f'it took {result.seconds:.1f} s'


def test_security_request_before_all(bench):
    """A Security Request of a device that lost its keys, before anything else: no silent pairing, and the operation ends at once"""
    peer = taken_over(bonded(bench))
    peer.pairing = {}
    honest = peer.connected
    peer.connected = lambda link: (honest(link), bench.controller.soon(0.02, peer.request_security))
    result = bench.gatt('read', SECRET, status=None, timeout=60)
    is_refused(result, peer)
    assert len(peer.pairings) == 1
    assert result.seconds < 25, f'it took {result.seconds:.1f} s'


# Apps for Core Bluetooth

def test_app_lost_keys(bench):
    """An app of Core Bluetooth and a device under a bonded address without keys: error 14, nothing of GATT is sent"""
    peer = lock(bench)
    first = bench.finish(bench.app('protected-reader', '180D', SECRET))
    assert [l['value'] for l in first.events('value')] == ['secret'], 'first run: ' + first.describe()
    assert peer.keys is not None, 'the app has not paired'
    taken_over(peer)
    result = bench.finish(bench.app('protected-reader', '180D', SECRET), 60)
    assert result.status == 1, 'exit status: ' + result.describe()
    gave_nothing(result, peer)
    assert result.events('value') == []
    assert 'pairing information' in str(result.lines) + result.stderr, f'no word of lost keys: {result.describe()}'


def test_app_lost_keys_and_values(bench):
    """Values that a device under a bonded address sends to an app in the clear are never delivered"""
    peer = lock(bench)
    bench.finish(bench.app('protected-reader', '180D', SECRET))
    assert peer.keys is not None, 'the app has not paired'
    taken_over(peer)
    forges(bench, peer)
    app = bench.app('heart-rate-central', '3')
    peer.wait_link(2)
    time.sleep(1.5)
    app.end()
    assert [l for l in app.lines if l.get('event') in ('beat', 'location')] == []
    for link in peer.links[1:]:
        assert [p.hex() for p in peer.gatt_in_clear(link)] == []


def test_app_with_its_bond(bench):
    """The honest counterpart: the second run of an app encrypts with the bond before it sends a GATT request"""
    peer = lock(bench)
    for number in (1, 2):
        result = bench.finish(bench.app('protected-reader', '180D', SECRET))
        assert [l['value'] for l in result.events('value')] == ['secret'], 'values: ' + result.describe()
    assert len(peer.pairings) == 1
    assert [p.hex() for p in peer.gatt_in_clear(peer.links[-1])] == []


# As the peripheral

def test_serve_subscriptions_of_the_bonded(bench):
    """Values that a bonded central subscribed to are not sent to a device under its address before that device encrypts"""
    _, peer = bench.served(PROFILE)
    peer.pair()
    peer.exchange_mtu()
    beat = peer.find(BEAT)
    assert peer.subscribe(beat) == 0
    peer.values(2)
    peer.disconnect()
    peer.connect()
    time.sleep(0.7)
    assert [p.hex() for p in peer.sent(4, encrypted=False, opcodes={0x1B, 0x1D})] == []
    # The true one is served on.
    assert peer.encrypt(), 'the host has lost the key'
    peer.values(2)


def test_serve_keeps_the_subscriptions_of_the_bonded(bench):
    """A device under a bonded central's address does not change that central's subscriptions"""
    _, peer = bench.served(PROFILE)
    peer.pair()
    beat = peer.find(BEAT)
    assert peer.subscribe(beat) == 0
    peer.values(1)
    peer.disconnect()
    peer.connect()
    peer.subscribe(beat, 0)     # the stranger, in the clear
    peer.disconnect()
    peer.connect()
    assert peer.encrypt(), 'the host has lost the key'
    peer.values(2)


def test_serve_protected_after_a_lie(bench):
    """A protected value stays closed when the controller reports encryption without having requested a key"""
    _, peer = bench.served(PROFILE)
    secret = peer.find(SECRET)
    bench.controller.event(0x30, struct.pack('<BH', 0, peer.link.handle))
    bench.controller.event(0x08, struct.pack('<BHB', 0, peer.link.handle, 1))
    time.sleep(0.2)
    value = peer.read(secret)
    assert value != b'secret', f'the value was given: {value}'


def test_serve_protected_after_a_refusal(bench):
    """A central with a wrong key is refused protected values, on each path of ATT"""
    _, peer = bench.served(PROFILE)
    peer.exchange_mtu()
    secret = peer.find(SECRET)
    for pdu in (struct.pack('<BH', 0x0A, secret), struct.pack('<BHH', 0x0C, secret, 0), struct.pack('<BHH', 0x0E, secret, secret),
                struct.pack('<BHH', 0x20, secret, secret), struct.pack('<BHH', 0x08, secret, secret) + bytes.fromhex(
                    SECRET.replace('-', ''))[::-1],
                struct.pack('<BHHH', 0x06, secret, secret, int(SECRET[4:8], 16)) + b'secret',
                struct.pack('<BH', 0x12, secret) + b'mine', struct.pack('<BHH', 0x16, secret, 0) + b'mine'):
        answer = peer.request(pdu)
        assert answer[0] == 0x01 and b'secret' not in answer, f'{pdu.hex()} was answered with {answer.hex()}'
    peer.request(b'\x18\x01')
    peer.command(secret, b'mine')
    peer.pair()
    assert peer.read(secret) == b'secret'
