"""Core Bluetooth programs that are killed at any moment and started again: what is preserved goes on, nothing crashes."""
import json, os, pathlib, random, signal, time, uuid, zlib

from pytest import mark

from jelling import options
from interop.test_app import event, needs
from jelling.child import PATIENCE, Failure
from jelling.programs import ROOT

MANIFEST = os.path.join(ROOT, 'Tools', 'Examples', 'core-bluetooth', 'heart-rate-relay.json')
APP = 'org.example.heart-rate-relay'
RELAY_SERVICE = '7C7D0001-5B0E-4C63-9C0B-5C2D0D3C9A11'
RELAYED_PULSE = '7C7D0002-5B0E-4C63-9C0B-5C2D0D3C9A11'
# Seconds in which the relay comes to its next step, as a rule; then it is asked why not.
PROMPT = 10
# The relay's messages about its sensor, in their order.
STEPS = ('willRestore', 'state', 'discovered', 'waiting', 'connected', 'services', 'characteristics', 'notifying', 'beat')


def journal_lines(path):
    """The entries of the complete lines, and how many lines are incomplete; read without our code."""
    try:
        lines = [l for l in pathlib.Path(path).read_bytes().split(b'\n') if l]
    except FileNotFoundError:
        return [], 0, 0
    entries = []
    for line in lines:
        if len(line) > 9 and line[8:9] == b' ' and line[:8] == b'%08x' % zlib.crc32(line[9:]):
            entries.append(json.loads(line[9:]))
    return entries, len(lines) - len(entries), len(lines)


class Preserved:
    """The content of a journal: what the next run of the program must restore."""

    def __init__(self, path):
        entries, self.damaged, self.count = journal_lines(path)
        self.managers, self.identities = {}, []
        for entry in entries:
            (kind, values), = entry.items()
            if kind == 'manager':
                kept = values['_0']
                self.managers[kept['restoreIdentifier']] = kept
            elif kind == 'managerRemoved':
                self.managers.pop(values['restoreIdentifier'], None)
            elif kind == 'identity':
                self.identities.append(identifier(values['_1']))
            elif kind == 'identities':
                self.identities += [identifier(known['identifier']) for known in values['_0']]
            elif kind == 'identitiesForgotten':
                for name in values['_0']:
                    self.identities.remove(identifier(name['identifier']))
            else:
                raise Failure(f'the journal holds a line of an unknown kind: {kind}')

    def told(self, name):
        """What `willRestore` says of the manager with this identifier; None where nothing is restored."""
        kept = self.managers.get(name)
        if not kept:
            return None
        if name == 'sensor':
            peripherals = [identifier(p['identifier']) for p in kept['peripherals']]
            if not peripherals and not kept.get('scan'):
                return None
            return {'peripherals': ','.join(peripherals), 'scan': '180D' if kept.get('scan') else ''}
        if not kept['services'] and not kept.get('advertisement'):
            return None
        return {'services': RELAY_SERVICE if kept['services'] else '',
                'characteristics': RELAYED_PULSE if kept['services'] else '',
                'name': (kept.get('advertisement') or {}).get('localName') or ''}


def identifier(value):
    return str(uuid.UUID(value)).upper()


def damage(path, chance):
    """Truncates the journal, flips bits in it, or replaces it; returns how, or None if there is no journal."""
    try:
        octets = bytearray(pathlib.Path(path).read_bytes())
    except FileNotFoundError:
        return None
    if not octets:
        return None
    how = chance.choice(('cut', 'flipped', 'flipped', 'cut and flipped', 'noise', 'empty'))
    if 'cut' in how:
        del octets[chance.randrange(len(octets)):]
    if 'flipped' in how:
        for _ in range(chance.randint(1, 4)):
            if octets:
                octets[chance.randrange(len(octets))] ^= 1 << chance.randrange(8)
    if how == 'noise':
        octets = bytearray(chance.randbytes(chance.randint(1, 4000)))
    if how == 'empty':
        octets.clear()
    pathlib.Path(path).write_bytes(octets)
    return how


def kills(rounds, seconds):
    """The numbers of the rounds: `--kills` rounds, or as many as fit into the time, at least ten."""
    started = time.monotonic()
    for number in range(options.KILLS or rounds):
        if not options.KILLS and number >= 10 and time.monotonic() - started > seconds:
            return
        yield number


def kill(child):
    """Kills it as the kernel does when memory runs out; it must have been alive until then."""
    child.process.send_signal(signal.SIGKILL)
    child.process.wait(60)
    child.reader.join(5)
    assert child.process.returncode == -signal.SIGKILL, f'{child.name} ended by itself, stderr {child.stderr()[-600:]!r}, status'
    child.errors.close()


class Relay:
    """The sample `heart-rate-relay`, again and again over one journal."""

    def __init__(self, lab):
        self.lab = lab
        self.journal = lab.path('app-state0') + f'/apps/{APP}.journal'
        self.restored = {'sensor': 0, 'relay': 0}
        self.told_damage = 0
        self.ghosts = self.crashes = 0

    def start_sensor(self):
        if self.lab.peer:
            self.lab.peer.end(signal.SIGKILL)
        if self.lab.kind == 'btvirt' and self.lab.btvirt.process.poll() is not None:
            # It does not always outlive a client that goes away without a word.
            self.crashes += 1
            self.lab.start_btvirt()
        self.lab.start_peer('--hr-interval', '0.1')

    def sensor_is_heard(self):
        """Whether another device receives its advertising."""
        return self.lab.run('lescan', '--name', 'BumblePeer', '--count', '1', '--duration', '5', status=None,
                            via=self.lab.endpoints[2]).events('discovered') != []

    def reach(self, wanted, what):
        """Waits for a step of the relay. A sensor that does not advertise, because its controller did not tell it of the
        end of the last link, is switched off and on."""
        try:
            return self.app.wait_for(wanted, what, PROMPT)
        except Failure:
            if not any(l['event'] == 'connected' for l in self.app.lines) and not self.sensor_is_heard():
                self.ghosts += 1
                self.start_sensor()
        try:
            self.app.wait_for(wanted, what, PATIENCE)
        except Failure as e:
            raise Failure(f'{e}; the sensor: {self.lab.peer.lines[-6:]}, {self.lab.peer.stderr()[-400:]}') from None

    def start(self):
        self.before = Preserved(self.journal)
        self.app = self.lab.app('heart-rate-relay', JELLING_MANIFEST=MANIFEST)
        return self.app

    def check_start(self):
        """The first messages of the program match the journal."""
        lines = self.app.lines
        for name, role in (('sensor', 'central'), ('relay', 'peripheral')):
            first = next((l for l in lines if l.get('role') == role), None)
            if first is None:
                continue
            told = self.before.told(name)
            want = {'event': 'willRestore', 'role': role, **told} if told else {
                'event': 'state', 'role': role, 'state': 'poweredOn'}
            if not told and first.get('state') not in ('poweredOn', None):
                want['state'] = first['state']
            assert first == want, f'first call of the {role}'
            self.restored[name] += told is not None
        assert not any(l['event'] == 'failed' for l in lines), f'a connection failed: {lines}'
        for line in lines:
            if line['event'] in ('discovered', 'connected') and self.before.identities:
                assert line['peripheral'] in self.before.identities, f'{line["peripheral"]} is not among the known {self.before.identities}'
        said = self.app.stderr()
        if lines:
            complaint = f'was damaged: {self.before.damaged} of {self.before.count} lines are lost'
            assert (complaint in said) == (self.before.damaged > 0), f'the damage was told, stderr {said[-400:]!r},'
            self.told_damage += self.before.damaged > 0
        assert 'Fatal' not in said and 'Crash' not in said, said


@mark.lab(('bumble', 'btvirt', 'simulator'), slow=True, peer=False, endpoints=3)
def test_killed_app_goes_on(lab):
    """An app in both roles, killed at random moments, is restored each time, and starts from a damaged journal"""
    needs('heart-rate-relay')
    lab.every_link_ends_by_us = False
    chance = random.Random(6)
    relay, last, damages = Relay(lab), [], []
    relay.start_sensor()
    # How long it takes from the start to the first beat, on this machine.
    started = time.monotonic()
    relay.start().wait_event('beat', PATIENCE)
    span = time.monotonic() - started
    for number in kills(30, 10):
        if number:
            relay.start()
        if number % 2:
            time.sleep(chance.uniform(0, 1.3 * span))
        elif number:
            # Right after a step, or a later one if this start has no such step.
            later = STEPS[(5 * number // 2) % len(STEPS):]
            relay.reach(lambda l: l['event'] in later, later[0])
            time.sleep(chance.uniform(0, 0.01))
        kill(relay.app)
        relay.check_start()
        last.append(relay.app.lines[-1]['event'] if relay.app.lines else None)
        if lab.kind == 'btvirt' and any(l['event'] in ('discovered', 'waiting', 'connected') for l in relay.app.lines):
            # The link of a killed client stays open there: the sensor would never advertise again.
            relay.start_sensor()
        if number % 5 == 4:
            damages.append(damage(relay.journal, chance))
        time.sleep(0.05)   # the controller has to see that its host is gone
    # What is left is whole: connected, served and advertised, and known to others.
    relay.start()
    relay.reach(event('beat'), 'a beat after the last kill')
    relay.check_start()
    if lab.kind == 'btvirt':
        # It gives the links of both roles the same handle: there the relay can be found, not connected to.
        lab.run('lescan', '--name', 'Relay', '--count', '1', '--duration', '10', via=lab.endpoints[2])
    else:
        central = lab.central('--name', 'Relay', number=2)
        result = lab.finish(central, 60)
        assert any(l.get('ok') is True and 'step' not in l for l in result.lines), result.describe()
        relay.app.wait_event('read')
    moments = set(last)
    summary = (f'{len(last)} kills, behind {sorted(m or "nothing" for m in moments)}; restored {relay.restored}; '
               f'damaged {damages}, told {relay.told_damage}; ghosts {relay.ghosts}, '
               f'crashes of btvirt {relay.crashes}')
    assert len(moments) >= 3 and min(relay.restored.values()) >= 2, summary
    assert any(d in ('flipped', 'cut', 'cut and flipped', 'noise') for d in damages), summary
    print(summary)


@mark.lab(('simulator',), peer=False)
def test_killed_writer_of_a_journal(lab):
    """An app that is killed while it writes its journal is restored to its last reported state, or to a later one"""
    needs('journal-writer')
    manifest = lab.path('manifest.json')
    pathlib.Path(manifest).write_text(json.dumps({'BundleIdentifier': 'org.example.writer', 'UIBackgroundModes': ['bluetooth-peripheral']}))
    journal = lab.path('app-state0') + '/apps/org.example.writer.journal'
    chance = random.Random(7)
    told, restored, written = 0, 0, 0
    for number in kills(40, 8):
        before = Preserved(journal).managers.get('writer')
        app = lab.app('journal-writer', JELLING_TRANSPORT='sim', JELLING_MANIFEST=manifest)
        app.wait_for(lambda l: True, 'the first call')
        time.sleep(chance.uniform(0, 0.15))
        kill(app)
        first = app.lines[0]
        if before:
            name = before['advertisement']['localName']
            assert first == {'event': 'willRestore', 'name': name}
            assert int(name) >= told or not told, f'restored {name}, told {told}'
            restored += 1
        else:
            assert first['event'] == 'state'
        assert 'Fatal' not in app.stderr(), app.stderr()
        names = [int(l['name']) for l in app.lines if l['event'] == 'advertising']
        told = names[-1] if names else 0
        written += told
        # Everything that the app got before it was killed was in the journal.
        after = Preserved(journal).managers.get('writer')
        assert not after or int(after['advertisement']['localName']) >= told, f'{after} after {told}'
    summary = f'{number + 1} kills, {restored} restorations, {written} changes'
    assert restored >= 3 and written > 100, summary
    print(summary)
