"""Honest counterparts: what must work with an honest controller and an honest peer. Each attack is one of these with one change."""
import os, re, subprocess

from attributes import INDICATE, NOTIFY, READ, WRITE, WRITE_COMMAND
from bench import CASES, ROOT, case, check, same
from smp import DISPLAY, KEYBOARD, YES_NO

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


@case()
def honest_scan_and_read(bench):
    """A device is found by its name, connected and read, and the link is closed by us"""
    peer = lock(bench)
    found = bench.run('lescan', '--duration', '1').events('discovered')
    same('names', {l.get('name') for l in found}, {'Lock'})
    result = bench.gatt('read', OPEN)
    same('value', result.events('value')[0]['value'], b'open'.hex())
    same('how the link ended', peer.links[0].reason, 0x13)


@case()
def honest_values(bench):
    """Notifications reach the tool, fragmented ones too; an indication is confirmed"""
    peer = lock(bench)
    bench.controller.acl = 27
    tool = bench.start('gatt', 'Lock', 'subscribe', BEAT, '--count', '3')
    bench.wait_event(tool, 'subscribed')
    peer.notify(peer.beat, bytes(100))
    check(peer.indicate(peer.beat, b'\1'), 'the indication was not confirmed')
    peer.notify(peer.beat, b'\2')
    result = bench.finish(tool)
    same(result.describe(), result.status, 0)


@case()
def honest_serve(bench):
    """A central finds a value of `serve`, reads, writes and is notified"""
    tool = bench.serve(PROFILE)
    peer = bench.central().connect()
    peer.exchange_mtu()
    handle = peer.find(OPEN)
    same('value', peer.read(handle), b'\x5e')
    same('write', peer.write(handle, b'\x01'), 0)
    same('secret without pairing', peer.read(peer.find(SECRET)), 0x05)
    beat = peer.find(BEAT)
    same('subscription', peer.subscribe(beat), 0)
    same('handles', {h for h, _ in peer.values(3)}, {beat})
    peer.disconnect()
    bench.stop(tool)


def honest_pair(name, sentence, options, **settings):
    """Both roles, each with the reconnection that encrypts with the bond."""
    want = settings.get('secure', True), settings.get('mitm', False)

    def as_central(bench):
        peer = lock(bench)
        peer.pairing = settings
        line = bench.run('pair', 'Lock', *options).events('paired')[0]
        same('quality', (line['secureConnections'], line['authenticated']), want)
        same('pairing at the peer', peer.wait_pairing().failure, None)
        same('value', bench.gatt('read', SECRET).events('value')[0]['value'], b'secret'.hex())
        same('pairings', len(peer.pairings), 1)
        check(peer.links[-1].encrypted, 'the second link was not encrypted')
        same('GATT in the clear', peer.gatt_in_clear(peer.links[-1]), [])

    def as_peripheral(bench):
        tool = bench.serve(PROFILE, *options)
        peer = bench.central().connect()
        peer.pair(**settings)
        same('value', peer.read(peer.find(SECRET)), b'secret')
        line = bench.wait_event(tool, 'paired')[0]
        same('quality', (line['secureConnections'], line['authenticated']), want)
        peer.disconnect()
        bench.stop(tool)
        tool = bench.serve(PROFILE, *options)
        peer.connect()
        check(peer.encrypt(), 'the host has lost the key')
        same('value', peer.read(peer.find(SECRET)), b'secret')
        bench.wait_event(tool, 'encrypted')
        bench.stop(tool)

    for role, test in (('pair', as_central), ('serve', as_peripheral)):
        test.__name__ = f'honest_{role}_{name}'
        test.__doc__ = f'`{role}`: {sentence}; the bond encrypts the next link'
        case()(test)


honest_pair('just_works', 'Just Works, Secure Connections', [])
honest_pair('just_works_legacy', 'Just Works, legacy', [], secure=False)
honest_pair('compared', 'numeric comparison', ['--io', 'yesno', '--mitm', '--yes'], io=YES_NO, mitm=True)
honest_pair('typed', 'a passkey that the tool types', ['--io', 'keyboard', '--mitm', '--passkey', '123456'], io=DISPLAY,
            mitm=True, passkey=123456)
honest_pair('shown', 'a passkey that the tool shows', ['--io', 'display', '--mitm', '--passkey', '000007'], io=KEYBOARD, mitm=True,
            passkey=7)
honest_pair('typed_legacy', 'a passkey that the tool types, legacy', ['--io', 'keyboard', '--mitm', '--passkey', '123456'],
            io=DISPLAY, mitm=True, passkey=123456, secure=False)


@case()
def security_page(bench):
    """Each case that SECURITY.md names is there, in this ring or in those of the daemon, the field and the gateway"""
    with open(os.path.join(ROOT, 'SECURITY.md')) as file:
        said = set(re.findall('`([a-z0-9]+(?:_[a-z0-9]+)+)`', file.read()))
    for ring in ('Daemon', 'Field', 'Gateway'):
        listed = subprocess.run([os.path.join(ROOT, 'Tools', ring, 'run'), '--list'], capture_output=True, text=True, timeout=60, check=True)
        said -= {line.partition(':')[0] for line in listed.stdout.splitlines()}
    same('names of no case', sorted(said - {c.name for c in CASES}), [])
