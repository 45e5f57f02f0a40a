"""Hosts of other makes: each opens an adapter itself, before BlueZ's daemon runs, and is a peripheral for
`bletool` or a central of `serve`. Their programs are in the folder hosts. What is not installed where the guest is made is skipped
by name."""
import contextlib, json, os, pathlib, signal, subprocess, tarfile

import pytest
from pytest import mark, param

from jelling.child import Child
from kernel.bluez import BLUEZ_ADDRESS
from kernel.harness import OUR_ADDRESS, OUR_NAME, Served, has_sets, is_free, is_up, running, shell, tool, wait_until
from kernel.relay import INDEX, Relay

PATIENCE = 240      # seconds, of each answer of a foreign host
PACKAGES = '/tmp/python'
PRIVATE = '6B7A%s-9D1C-4F5E-8A2B-3C4D5E6F7081'
LONG, CONTROL, INDICATED, COMMANDS = (PRIVATE % number for number in ('0002', '0003', '0004', '0005'))
LONG_VALUE = bytes(i % 256 for i in range(300))
BITS = {'read': 2, 'writeWithoutResponse': 4, 'write': 8, 'notify': 16, 'indicate': 32}
PROFILE = {'services': [
    {'uuid': '180D', 'characteristics': [
        {'uuid': '2A37', 'properties': ['notify'], 'value': '0048', 'notifyEvery': 0.3},
        {'uuid': '2A38', 'properties': ['read'], 'permissions': ['readable'], 'value': '0102'}]},
    {'uuid': PRIVATE % '0001', 'characteristics': [
        {'uuid': LONG, 'properties': ['read'], 'permissions': ['readable'], 'value': LONG_VALUE.hex(),
         'descriptors': [{'uuid': '2901', 'value': b'A long value'.hex()}]},
        {'uuid': CONTROL, 'properties': ['read', 'write'], 'permissions': ['readable', 'writeable'], 'value': 'aa55'},
        {'uuid': COMMANDS, 'properties': ['writeWithoutResponse'], 'permissions': ['writeable']},
        {'uuid': INDICATED, 'properties': ['indicate'], 'value': '1d1c', 'notifyEvery': 0.3},
        {'uuid': PRIVATE % '0006', 'properties': ['read'], 'permissions': ['readEncryptionRequired'], 'value': '5ec2e7'}]}]}


class Host:
    """A make: its name, how it is called, what it advertises itself as, the updates that it sends, the ATT_MTU that it asks for
    as a central, and the adapter that it needs."""

    def __init__(self, make, file, command, name, told, mtu=None, index=INDEX):
        self.make, self.file, self.command, self.name, self.told = make, file, command, name, told
        self.mtu, self.index = mtu, index

    def must_be_there(self):
        """Skips the test where it cannot run."""
        if has_sets():
            pytest.skip('btvirt does not let legacy and extended advertising meet')
        if not os.path.exists(self.file):
            pytest.skip(f'{self.make} is not installed here: Tools/install hosts')


GATT = Host('gatt', 'gatt-host', ['/tmp/gatt-host'], 'Gopher', {'2A37': 'notified'}, '185')
PYBLENO = Host('pybleno', 'hosts.tar', ['python3', 'pybleno_host.py'], 'Bleno', {'2A37': 'notified', INDICATED: 'indicated'},
               index=0)
# WHAD takes what the server can receive for the ATT_MTU, though its own is smaller, and would end a long read too early.
WHAD = Host('WHAD', 'hosts.tar', ['python3', 'whad_host.py'], 'Whad', {'2A37': 'notified', INDICATED: 'indicated'}, '517')


class Foreign(Child):
    """The program of a foreign host at work, and what it prints."""

    def __init__(self, host, role):
        if host.file.endswith('.tar') and not os.path.exists(PACKAGES):
            with tarfile.open(host.file) as packed:
                packed.extractall(PACKAGES)
        elif not host.file.endswith('.tar'):
            shell(f'cp {host.file} /tmp; chmod 755 /tmp/{host.file}')
        self.host, self.relay = host, contextlib.nullcontext() if host.index == 0 else Relay()
        self.relay.__enter__()
        if host.index == 0:
            wait_until(lambda: is_free(0), 'hci0 free')
            shell('hciconfig hci0 up')      # it shares the adapter with the kernel
        super().__init__(host.make, [*host.command, role, str(host.index)], '/tmp/foreign.err', {**os.environ, 'PYTHONPATH': PACKAGES},
                         stdin=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
            self.may_end(60)
            self.end(signal.SIGKILL)
        finally:
            shell(f'hciconfig hci{self.host.index} down', False)
            self.relay.__exit__()

    def events(self, name, **wanted):
        return [l for l in list(self.lines) if l['event'] == name and wanted.items() <= l.items()]

    def trouble(self):
        return f'{self.name} said {self.lines[-6:]}; {self.stderr()[-500:]}'

    def wait_for(self, name, count=1, **wanted):
        super().wait_for(lambda l: {'event': name, **wanted}.items() <= l.items(), f'{name} {wanted or ""}', PATIENCE, count)
        return self.events(name, **wanted)

    def asks(self, *words):
        """Gives a command; what it answers."""
        answers = lambda: self.events('done') + self.events('failed')
        before = len(answers())
        self.process.stdin.write(' '.join(words).encode() + b'\n')
        self.process.stdin.flush()
        wait_until(lambda: len(answers()) > before or self.process.poll() is not None, f'an answer to {words}', PATIENCE)
        assert self.events('done', command=words[0]) and len(self.events('failed')) == 0, f'{words}: {self.trouble()}'
        return self.events('done', command=words[0])[-1]


def of_makes(*hosts):
    return mark.parametrize('host', [param(host, id=host.make) for host in hosts])


# As peripherals

def of_private(uuid):
    return uuid if len(uuid) == 4 else uuid[4:8]


def is_found(host):
    found = []

    def scan():
        run = tool('lescan', '--name', host.name, '--count', '1', '--duration', '10', transport='user:1')
        found.extend(run.events('discovered'))
        return found
    wait_until(scan, f'{host.name} in a scan', PATIENCE)
    assert found[0]['address'] == BLUEZ_ADDRESS and found[0]['connectable'] and '180D' in found[0]['serviceUUIDs'], found[0]


def script(*steps):
    pathlib.Path('/tmp/foreign.txt').write_text('\n'.join(steps))
    return '/tmp/foreign.txt'


@of_makes(GATT, PYBLENO, WHAD)
def test_foreign_peripheral(host):
    """a peripheral of another make is found, discovered, read, also a long value, written and subscribed to"""
    host.must_be_there()
    with Foreign(host, 'peripheral') as foreign:
        foreign.wait_for('advertising')
        is_found(host)
        services = tool('gatt', BLUEZ_ADDRESS, 'discover', transport='user:1').lines[0]['services']
        foreign.wait_for('disconnected')
        found = {c['uuid']: c for s in services for c in s['characteristics']}
        assert {'2A00', '2A37', '2A38', LONG, CONTROL} <= found.keys(), services
        assert '2901' in [d['uuid'] for d in found[LONG]['descriptors']], found[LONG]
        assert {'read', 'write', 'writeWithoutResponse'} <= set(found[CONTROL]['properties']), found[CONTROL]
        run = tool('gatt', BLUEZ_ADDRESS, 'script', script(
            'read 2A38', f'read {LONG}', f'write {CONTROL} 112233', f'read {CONTROL}', f'write {CONTROL} 445566 --command',
            f'read {CONTROL}'), transport='user:1')
        values = [v['value'] for v in run.events('value')]
        assert values == ['0102', LONG_VALUE.hex(), '112233', '445566'], f'{values}; {foreign.trouble()}'
        assert [w['value'] for w in foreign.events('written')] == ['112233', '445566'], foreign.trouble()
        foreign.wait_for('disconnected', count=2)
        for uuid, event in host.told.items():
            run = tool('gatt', BLUEZ_ADDRESS, 'subscribe', uuid, '--count', '2', transport='user:1')
            assert [v['uuid'] for v in run.events(event)] == [uuid] * 2, f'{uuid}: {run}'
            foreign.wait_for('subscribed', uuid=of_private(uuid))
        foreign.wait_for('disconnected', count=2 + len(host.told))
    assert not is_up(1), 'the adapter was left up'


@of_makes(GATT, PYBLENO, WHAD)
def test_foreign_peripheral_ends(host):
    """a peripheral of another make ends the link, and `gatt` says so"""
    host.must_be_there()
    with Foreign(host, 'peripheral') as foreign:
        foreign.wait_for('advertising')
        with running('gatt', BLUEZ_ADDRESS, 'script', script('subscribe 2A37', 'wait --count 1000000')) as process:
            foreign.wait_for('subscribed')
            foreign.asks('disconnect')
            said, _ = process.communicate(timeout=PATIENCE)
        foreign.wait_for('disconnected')
    last = json.loads(said.splitlines()[-1])
    assert process.returncode == 1 and last.get('code') == 'linkLost', f'status {process.returncode}: {last}'


# As centrals

def expected(profile=PROFILE):
    """What a central should find of a profile, as the foreign programs say it."""
    lines = []
    for service in profile['services']:
        for c in service['characteristics']:
            descriptors = [d['uuid'] for d in c.get('descriptors', [])]
            if {'notify', 'indicate'} & set(c['properties']):
                descriptors.append('2902')
            lines.append(f'{of_private(service["uuid"])}/{of_private(c["uuid"])} {sum(BITS[p] for p in c["properties"])} '
                         + ','.join(sorted(descriptors)))
    return lines


@of_makes(GATT, WHAD)
def test_foreign_central(host):
    """a central of another make finds `serve`, discovers, reads, writes, is notified and indicated; both sides end a link"""
    host.must_be_there()
    with Served(profile=PROFILE) as served, Foreign(host, 'central') as foreign:
        foreign.wait_for('ready')
        assert foreign.asks('find', OUR_NAME)['address'] == OUR_ADDRESS, 'another address'
        foreign.asks('connect')
        served.wait_event('connected')
        found = foreign.asks('discover')['found']
        assert not set(expected()) - set(found), f'not found: {set(expected()) - set(found)} in {found}'
        for uuid, value in (('2A38', '0102'), ('0002', LONG_VALUE.hex()), ('0003', 'aa55')):
            assert foreign.asks('read', uuid)['value'] == value, f'{uuid}: {foreign.trouble()}'
        foreign.asks('mtu', host.mtu)
        assert foreign.asks('read', '0002')['value'] == LONG_VALUE.hex(), foreign.trouble()
        foreign.asks('write', '0003', '112233')
        assert foreign.asks('read', '0003')['value'] == '112233', foreign.trouble()
        foreign.asks('command', '0005', '0badcafe')
        written = [(of_private(w['uuid']), w['value']) for w in served.wait_event('written', count=2)]
        assert written == [('0003', '112233'), ('0005', '0badcafe')], written
        for uuid, value, kind in (('2A37', '0048', 'notifications'), ('0004', '1d1c', 'indications')):
            foreign.asks('subscribe', uuid)
            foreign.wait_for('value', count=2, uuid=uuid, value=value)
            assert served.events('subscribed')[-1][kind], served.events("subscribed")
            foreign.asks('unsubscribe', uuid)
        served.wait_event('unsubscribed', count=2)
        foreign.asks('disconnect')
        served.wait_event('disconnected')
        foreign.wait_for('disconnected')
        foreign.asks('connect')
        served.wait_event('connected', count=2)
        served.stop()
        foreign.wait_for('disconnected', count=2)


# Pairing

def is_paired(paired, secure):
    assert (paired['secureConnections'], paired['authenticated'], paired['keySize']) == (secure, False, 16), paired


@of_makes(WHAD)
def test_foreign_peripheral_pairs(host):
    """`pair` with WHAD, with Secure Connections and without; the bond encrypts the next link"""
    host.must_be_there()
    with Foreign(host, 'peripheral') as foreign:
        foreign.wait_for('advertising')
        for options, secure in (([], True), (['--no-sc'], False)):
            try:
                is_paired(tool('pair', BLUEZ_ADDRESS, *options, transport='user:1').events('paired')[0], secure)
                assert [b['identity'] for b in tool('bonds').events('bond')] == [BLUEZ_ADDRESS], 'no bond'
            finally:
                tool('unpair', BLUEZ_ADDRESS, status=None)


@of_makes(WHAD)
def test_foreign_central_pairs(host):
    """WHAD pairs with `serve`, with Secure Connections and without, and reads behind encryption"""
    host.must_be_there()
    for words, options, secure in ((['pair'], [], True), (['pair', 'legacy'], ['--no-sc'], False)):
        try:
            with Served(*options, profile=PROFILE) as served:
                with Foreign(host, 'central') as foreign:
                    foreign.wait_for('ready')
                    foreign.asks('find', OUR_NAME)
                    foreign.asks('connect')
                    foreign.asks(*words)
                    is_paired(served.wait_event('paired')[0], secure)
                    foreign.asks('discover')
                    assert foreign.asks('read', '0006')['value'] == '5ec2e7', foreign.trouble()
                    foreign.asks('disconnect')
                    served.wait_event('disconnected')
                served.stop()
        finally:
            tool('unpair', BLUEZ_ADDRESS, status=None)
