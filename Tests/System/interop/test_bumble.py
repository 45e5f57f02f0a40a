"""Bumble's programs as they are: `bumble-gatt-dump`, `-scan`, `-pair` and `-l2cap-bridge`, in both roles."""
import os, re, socket, threading

from pytest import mark, param

from jelling import bumble_apps
from jelling.bumble_apps import App
from interop.test_channel import OCTETS, PSM
from interop.test_gatt import LONG_VALUE, LONG_WRITE, SERVICE
from jelling.child import PATIENCE, Terminal, free_port
from interop.test_pairing import bonds, paired, pairing_of, serve as serve_encrypted
from interop.test_serve import NAME, PROFILE, serve

KINDS = ('bumble', 'btvirt')
pytestmark = mark.lab(KINDS, peer=False)
PEER = bumble_apps.ADDRESS
PSM_NUMBER = str(int(PSM, 0))
UUID = re.compile(r'^( *)(Service|Characteristic|Descriptor)\(handle=0x(\w+), (?:uuid|type)=(?:UUID-16:)?([0-9A-F-]+)(?: \([^)]*\))?,? ?([A-Z_|]*)',
                  re.MULTILINE)


def tree(shown):
    """The services that gatt-dump has found: {UUID: [(characteristic, properties, [descriptor])]}."""
    found = {}
    for indent, kind, _, uuid, properties in UUID.findall(shown):
        if kind == 'Service':
            found[uuid] = own = []
        elif kind == 'Characteristic':
            own.append((uuid, set(properties.split('|')), []))
        else:
            own[-1][2].append(uuid)
    return found


def values(shown):
    """What gatt-dump has read: {type: [value or error]}."""
    found = {}
    for kind, value in re.findall(r'^Attribute\(handle=0x\w+, type=(?:UUID-16:)?([0-9A-F-]+).*\n(.*)$', shown, re.MULTILINE):
        error = re.match(r'ATT_Error\(error=(\w+)', value)
        found.setdefault(kind, []).append(error[1] if error else value)
    return found


WORDS = {'read': 'READ', 'write': 'WRITE', 'notify': 'NOTIFY', 'indicate': 'INDICATE', 'writeWithoutResponse': 'WRITE_WITHOUT_RESPONSE'}


@mark.lab(through_bled=True)
def test_bumble_dumps_what_is_served(lab):
    """`bumble-gatt-dump` finds every service, characteristic and descriptor of `serve`, and reads each value or its refusal"""
    tool = serve(lab)
    shown = App(lab, 'gatt-dump', '{transport}', NAME).finished()
    found, read = tree(shown.split('=== All Attributes')[0]), values(shown)
    assert list(found) == ['1800', '1801', *(s['uuid'].upper() for s in PROFILE['services'])]
    for service in PROFILE['services']:
        want = [(c['uuid'].upper(), {WORDS[p] for p in c['properties']},
                 [d['uuid'] for d in c.get('descriptors', [])] + ['2902'] * bool({'notify', 'indicate'} & set(c['properties'])))
                for c in service['characteristics']]
        assert [(u, p, sorted(d)) for u, p, d in found[service['uuid'].upper()]] == [(u, p, sorted(d)) for u, p, d in want], (
            f'characteristics of {service["uuid"]}')
        for c in service['characteristics']:
            permissions = c['permissions']
            assert read[c['uuid'].upper()] == ['INSUFFICIENT_AUTHENTICATION' if 'readEncryptionRequired' in permissions
                  else c['value'] if 'readable' in permissions else 'READ_NOT_PERMITTED'], f'value of {c["uuid"]}'
    assert LONG_VALUE.hex() in shown, 'no long value'
    assert read['2901'] == [b'an indication'.hex()]
    if lab.kind != 'btvirt':   # which keeps the links of a host that goes away without a word
        tool.wait_event('disconnected')


def test_bumble_dumps_its_central(lab):
    """`bumble-gatt-dump` as a peripheral reads what the tool serves while it is a central: name and appearance"""
    app = App(lab, 'gatt-dump', '--device-config', '{config}', '{transport}')
    app.wait_for('Waiting for connection')
    tool = lab.start('link', f'{PEER}/random')
    shown = app.finished()
    found = tree(shown.split('=== All Attributes')[0])
    assert [u for u, _, _ in found['1800']][:2] == ['2A00', '2A01']
    assert bytes.fromhex(values(shown)['2A00'][0]), 'no name'
    tool.end()


@mark.lab(through_bled=True)
def test_bumble_scans(lab):
    """`bumble-scan` shows the name, the services and the sets that `advertise` sends, passively as well"""
    # btvirt has no sets.
    more = ['--set', 'name=Door,service=1812,address=C1:00:00:00:00:11'] if lab.kind == 'bumble' else []
    tool = lab.start('advertise', '--name', 'Nimbus', '--service', '180D', '--service', '180F', *more)
    tool.wait_event('advertising')
    for options in ([], ['--passive'])[:1 if lab.kind == 'btvirt' else 2]:   # btvirt hears such a second host late
        app = App(lab, 'scan', *options, '{transport}')
        shown = app.wait_for(r">>> [0-9A-F:]+(/P)? \[(PUBLIC|RANDOM)\][^>]*Complete Local Name\]: 'Nimbus'")[0]
        assert '180D (Heart Rate)' in shown and '180F (Battery)' in shown, shown
        if lab.kind == 'bumble':
            app.wait_for(r">>> C1:00:00:00:00:11 \[RANDOM\]\(static\)[^>]*1812 \(Human Interface Device\)[^>]*'Door'")
        app.end()
    tool.end()


# Pairing

# The model, the capability of Bumble, the tool's options, who types what, and (Secure Connections, authenticated).
MODELS = {
    'just_works': ('Just Works', ['--io', 'none', '--mitm', 'false'], [], None, (True, False)),
    'just_works_legacy': ('Just Works, legacy', ['--io', 'none', '--mitm', 'false', '--sc', 'false'], [], None, (False, False)),
    'passkey_shown_there': ('a passkey that Bumble shows', ['--io', 'display'], ['--io', 'keyboard', '--mitm'], 'there', (True, True)),
    'passkey_shown_there_legacy': ('a passkey that Bumble shows, legacy', ['--io', 'display', '--sc', 'false'],
                                   ['--io', 'keyboard', '--mitm'], 'there', (False, True)),
    'passkey_typed_there': ('a passkey typed into Bumble', ['--io', 'keyboard'], ['--io', 'display', '--passkey', '020406', '--mitm'],
                            'here', (True, True)),
    'passkey_typed_there_legacy': ('a passkey typed into Bumble, legacy', ['--io', 'keyboard', '--sc', 'false'],
                                   ['--io', 'display', '--passkey', '020406', '--mitm'], 'here', (False, True)),
    'numeric_comparison': ('numbers compared at both', ['--io', 'display+yes/no'], ['--io', 'yesno', '--mitm'], 'both', (True, True)),
}
PAIRINGS = [param(model, marks=mark.lab(through_bled=True)) if model in ('passkey_shown_there', 'numeric_comparison') else model
            for model in MODELS]


def talk(app, person, kind):
    """The two persons do what the programs ask of them."""
    if kind == 'there':
        pin = app.wait_for(r'### PIN: (\d{6})')[1]
        person.wait_for('asskey')
        person.type(pin)
    elif kind == 'here':
        app.wait_for('>>> Enter PIN: ')
        app.type('20406')
    elif kind == 'both':
        number = app.wait_for(r'other device display (\d{6})\?')[1]
        person.wait_for(number)
        person.type('yes')
        app.type('yes')


def pair_with(lab, model, app_is_central):
    _, theirs, ours, kind, want = MODELS[model]
    with Terminal() as person:
        keys = lab.path('their-keys.json')
        options = ['--keystore-file', keys, '--identity-address', 'random', *theirs, '{config}', '{transport}']
        if app_is_central:
            tool = serve_encrypted(lab, *ours, terminal=person)
            app = App(lab, 'pair', *options, NAME)
        else:
            app = App(lab, 'pair', *options)
            tool = lab.start('pair', PEER + '/random', *ours, terminal=person)
        talk(app, person, kind)
        line = paired(tool.wait_event('paired'), want)
        assert line['identity'] == PEER
        # It means to end then, and does not: it asks whether `done.done` is, which a method always is.
        app.wait_for(r'\*\*\* Paired! \(peer identity=')
        app.wait_for('Connection is encrypted')
        if app_is_central:
            tool.wait_event('disconnected')
            tool.end()
        else:
            assert lab.finish(tool).status == 0
        assert [pairing_of(b) for b in bonds(lab)] == [pairing_of(line)]


@mark.parametrize('model', PAIRINGS)
def test_bumble_pairs(lab, model):
    """`bumble-pair` pairs with `serve` by each model"""
    pair_with(lab, model, True)


@mark.parametrize('model', PAIRINGS)
def test_pairs_with_bumble(lab, model):
    """`pair` with a waiting `bumble-pair`, by each model"""
    pair_with(lab, model, False)


def test_interrupt_ends_a_pairing(lab):
    """^C while `pair` asks for the passkey that `bumble-pair` shows ends the pairing: Bumble is told, and no bond is kept"""
    with Terminal() as person:
        app = App(lab, 'pair', '--keystore-file', lab.path('their-keys.json'), '--identity-address', 'random', '--io', 'display',
                  '{config}', '{transport}')
        tool = lab.start('pair', PEER + '/random', '--io', 'keyboard', '--mitm', terminal=person)
        app.wait_for(r'### PIN: \d{6}')
        person.wait_for('asskey')
        os.write(person.person, b'\x03')
        result = lab.finish(tool)
        assert (result.status, result.events('error')[0]['code']) == (1, 'interrupted')
        app.wait_for('Pairing failed')
        assert bonds(lab) == []


# Channels

class Person:
    """A TCP connection of a bridge, with what came over it."""

    def __init__(self, connection, echo=False):
        self.connection, self.came, self.changed = connection, b'', threading.Condition()
        self.echo = echo
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while data := self.receive():
            with self.changed:
                self.came += data
                self.changed.notify_all()
            if self.echo:
                self.connection.sendall(data)

    def receive(self):
        try:
            return self.connection.recv(65536)
        except OSError:   # this side has closed it
            return b''

    def wait_for(self, count):
        with self.changed:
            self.changed.wait_for(lambda: len(self.came) >= count, 2 * PATIENCE)
        return self.came


@mark.lab(through_bled=True)
def test_l2cap_reaches_a_bridge_of_bumble(lab):
    """`l2cap connect` sends through `bumble-l2cap-bridge server` to a TCP server, and prints what that one answers"""
    with socket.create_server(('127.0.0.1', 0)) as server:
        app = App(lab, 'l2cap-bridge', '--device-config', '{config}', '--hci-transport', '{transport}', '--psm', PSM_NUMBER,
                  '--l2cap-mtu', '500', '--l2cap-mps', '100', '--l2cap-max-credits', '3', 'server', '--tcp-host', '127.0.0.1',
                  '--tcp-port', str(server.getsockname()[1]))
        app.wait_for('Listening for channel')

        def accept():
            Person(server.accept()[0], echo=True)

        threading.Thread(target=accept, daemon=True).start()
        with lab.running('l2cap', 'connect', PEER + '/random', '--psm', PSM, '--linger', '5') as tool:
            # Until then the bridge drops what comes.
            app.wait_for('### Connected')
            assert tool.communicate(OCTETS, 2 * PATIENCE)[0] == OCTETS
            assert tool.returncode == 0
        sizes = app.wait_for(r'MTU=500/(\d+), MPS=100/(\d+), credits=(\d+)/3')
        assert sizes.groups() == ('2048', '247', '16')
        app.wait_for('L2CAP channel closed')


def test_l2cap_serves_a_bridge_of_bumble(lab):
    """`l2cap listen` gives and takes what a TCP client sends and receives through `bumble-l2cap-bridge client`"""
    with lab.running('l2cap', 'listen', '--psm', PSM, '--name', NAME, '--linger', '60') as tool:
        port = free_port()
        app = App(lab, 'l2cap-bridge', '--device-config', '{config}', '--hci-transport', '{transport}', '--psm', PSM_NUMBER,
                  'client', NAME, '--tcp-host', '127.0.0.1', '--tcp-port', str(port))
        app.wait_for('Listening for TCP')
        with socket.create_connection(('127.0.0.1', port)) as connection:
            person = Person(connection)
            connection.sendall(OCTETS)
            assert tool.stdout.read(len(OCTETS)) == OCTETS
            tool.stdin.write(OCTETS[::-1])
            tool.stdin.flush()
            assert person.wait_for(len(OCTETS)) == OCTETS[::-1]
            # To close it would not end it while the other thread reads.
            connection.shutdown(socket.SHUT_RDWR)
        app.wait_for('End of stream')
        assert tool.wait(2 * PATIENCE) == 0


# The console

def line(app, command, *answers):
    """Types a command into the console, and waits for each of its answers. It draws only what changes on its screen: words that
    stood there are not drawn again."""
    before = len(app.shown)
    app.type(command)
    for answer in answers:
        app.wait_for(answer, after=before)


def test_console_uses_what_is_served(lab):
    """`bumble-console` finds `serve` by its name, connects, discovers, reads, writes and is notified as its person types"""
    tool = serve(lab)
    app = App(lab, 'console', '--device-config', '{config}', '{transport}')
    app.wait_for('SCAN: OFF')
    found = r'((?:[0-9A-F]{2}:){5}[0-9A-F]{2}) +\[(P|R)[^:]*?' + NAME
    line(app, 'scan on', found)
    address, kind = re.findall(found, app.shown)[-1]
    line(app, 'connect ' + address + ('/P' if kind == 'P' else ''), 'as CENTRAL')
    tool.wait_event('connected')
    line(app, 'discover services', 'Discovery done')
    line(app, 'read 180F.2A19', '0x57')
    line(app, f'write {SERVICE}.{LONG_WRITE} 0xc0ffee')
    written = tool.wait_event('written')[0]
    assert (written['uuid'], written['value']) == (LONG_WRITE, 'c0ffee')
    line(app, 'subscribe 180D.2A37', '0x0040')
    line(app, 'disconnect')
    tool.wait_event('disconnected')
    app.type('quit')
    app.finished()


def test_console_is_a_peripheral(lab):
    """`gatt` discovers `bumble-console`, which advertises as its person types, and reads its name"""
    app = App(lab, 'console', '--device-config', '{config}', '{transport}')
    app.wait_for('SCAN: OFF')
    line(app, 'advertise on')
    tool = lab.gatt('read', '2A00', '--text', peer=PEER + '/random')
    assert bumble_apps.NAME in str(tool.lines), tool.describe()
    app.wait_for('as PERIPHERAL')
    app.type('quit')
    app.finished()
