"""Honest counterparts: what must work with an honest controller and an honest peer. Each attack is one of these with one change."""
import os, pathlib, re, subprocess, sys

from pytest import mark

from jelling.attributes import INDICATE, NOTIFY, READ, WRITE, WRITE_COMMAND
from jelling.programs import ROOT
from jelling.smp import DISPLAY, KEYBOARD, YES_NO

SECRET, OPEN, BEAT = 'a0000000-0000-0000-0000-00000000000a', '2A38', '2A37'
PROFILE = {'services': [{'uuid': '180D', 'characteristics': [
    {'uuid': OPEN, 'properties': ['read', 'write'], 'value': '5e'},
    {'uuid': BEAT, 'properties': ['notify', 'indicate'], 'value': '0040', 'notifyEvery': 0.1},
    {'uuid': SECRET, 'properties': ['read', 'write'], 'permissions': ['readEncryptionRequired', 'writeEncryptionRequired'],
     'value': '736563726574'}]}]}


def lock(bench, **settings):
    """A lock that advertises; its handles are lock.open, lock.secret, lock.beat."""
    peer = bench.device('Lock', **settings)
    peer.server.service('180D')
    peer.open = peer.server.characteristic(OPEN, READ | WRITE | WRITE_COMMAND, b'open')
    peer.beat = peer.server.characteristic(BEAT, NOTIFY | INDICATE, b'')
    peer.secret = peer.server.characteristic(SECRET, READ | WRITE, b'secret', needs='encryption')
    return peer.advertise()


def bonded(bench, identity=None, **settings):
    """A lock with which the tool has a bond."""
    peer = lock(bench, **settings)
    peer.identity = identity or peer.identity
    bench.run('pair', 'Lock')
    peer.wait_pairing()
    return peer


# Central and peripheral, where a passkey is shown and typed.
SHOWN = ['--io', 'display', '--mitm', '--passkey', '123456']
TYPED = ['--io', 'keyboard', '--mitm', '--passkey', '123456']
SHOWS = {'io': DISPLAY, 'mitm': True, 'passkey': 123456}
TYPES = {'io': KEYBOARD, 'mitm': True, 'passkey': 123456}


def still_bonded(peer):
    """The host encrypts with the bond, and gives what is protected."""
    peer.connect()
    assert peer.encrypt(), 'the bond is gone'
    assert peer.read(peer.find(SECRET)) == b'secret'
    peer.disconnect()


def test_honest_scan_and_read(bench):
    """A device is found by its name, connected and read, and the link is closed by us"""
    peer = lock(bench)
    found = bench.run('lescan', '--duration', '1').events('discovered')
    assert {l.get('name') for l in found} == {'Lock'}
    result = bench.gatt('read', OPEN)
    assert result.events('value')[0]['value'] == b'open'.hex()
    assert peer.links[0].reason == 0x13


def test_honest_values(bench):
    """Notifications reach the tool, fragmented ones too; an indication is confirmed"""
    peer = lock(bench)
    bench.controller.acl = 27
    tool = bench.start('gatt', 'Lock', 'subscribe', BEAT, '--count', '3')
    tool.wait_event('subscribed')
    peer.notify(peer.beat, bytes(100))
    assert peer.indicate(peer.beat, b'\1'), 'the indication was not confirmed'
    peer.notify(peer.beat, b'\2')
    result = bench.finish(tool)
    assert result.status == 0, result.describe()


def test_honest_serve(bench):
    """A central finds a value of `serve`, reads, writes and is notified"""
    _, peer = bench.served(PROFILE)
    peer.exchange_mtu()
    handle = peer.find(OPEN)
    assert peer.read(handle) == b'\x5e'
    assert peer.write(handle, b'\x01') == 0
    assert peer.read(peer.find(SECRET)) == 0x05
    beat = peer.find(BEAT)
    assert peer.subscribe(beat) == 0
    assert {h for h, _ in peer.values(3)} == {beat}
    peer.disconnect()


MODELS = {
    'just_works': ([], {}), 'just_works_legacy': ([], {'secure': False}),
    'compared': (['--io', 'yesno', '--mitm', '--yes'], {'io': YES_NO, 'mitm': True}),
    'typed': (TYPED, SHOWS),
    'shown': (['--io', 'display', '--mitm', '--passkey', '000007'], {'io': KEYBOARD, 'mitm': True, 'passkey': 7}),
    'typed_legacy': (TYPED, {**SHOWS, 'secure': False})}


@mark.parametrize('options, settings', MODELS.values(), ids=MODELS)
def test_honest_pair(bench, options, settings):
    """`pair`, by each model; the bond encrypts the next link"""
    want = settings.get('secure', True), settings.get('mitm', False)
    peer = lock(bench)
    peer.pairing = settings
    line = bench.run('pair', 'Lock', *options).events('paired')[0]
    assert (line['secureConnections'], line['authenticated']) == want
    assert peer.wait_pairing().failure is None
    assert bench.value(SECRET) == b'secret'
    assert len(peer.pairings) == 1
    assert peer.links[-1].encrypted, 'the second link was not encrypted'
    assert peer.gatt_in_clear(peer.links[-1]) == []


@mark.parametrize('options, settings', MODELS.values(), ids=MODELS)
def test_honest_serve_pairs(bench, options, settings):
    """`serve`, by each model; the bond encrypts the next link"""
    want = settings.get('secure', True), settings.get('mitm', False)
    tool, peer = bench.served(PROFILE, *options)
    peer.pair(**settings)
    assert peer.read(peer.find(SECRET)) == b'secret'
    line = tool.wait_event('paired')[0]
    assert (line['secureConnections'], line['authenticated']) == want
    peer.disconnect()
    bench.stop(tool)
    tool = bench.serve(PROFILE, *options)
    still_bonded(peer)
    tool.wait_event('encrypted')


def test_security_page():
    """Each case that SECURITY.md names is there, in any ring"""
    said = set(re.findall('`([a-z0-9]+(?:_[a-z0-9]+)+)`', pathlib.Path(os.path.join(ROOT, 'SECURITY.md')).read_text()))
    listed = subprocess.run([sys.executable, '-m', 'pytest', '--collect-only', '-q', os.path.join(ROOT, 'Tests', 'System')],
                            capture_output=True, text=True, timeout=600).stdout
    names = {re.sub(r'\W+', '_', line.partition('::test_')[2].replace('direct', '')).strip('_') for line in listed.splitlines()}
    assert sorted(said - names) == []
