"""Cases that kill bled and its apps at random moments, under traffic in both roles, with peers that are not ours: Bumble's
controllers, a sensor that notifies ten times a second, and a bonded central that has subscribed once."""
import collections, os, pathlib, random, signal, socket, threading, time

from jelling.daemon import LIMIT, RELAY, Daemon, relay_manifest, state_of
from jelling import lab as bench, options
from interop.test_kill import Preserved
from jelling.relay import Relay

# How often a short run kills each; it takes some seconds.
FEW = 10
SEED = 14


def times():
    return options.KILLS or FEW


class Parting(Relay):
    """The line to a controller of btvirt's that resets it when its host is gone, as the kernel does. btvirt itself would leave the
    links open at the other end, and does not always survive it."""

    def __init__(self, lab):
        self.links = set()
        super().__init__(lab.dir, lab.endpoint, watch=self.note)
        lab.relays.append(self)

    def note(self, direction, packet):
        # LE Connection Complete, also Enhanced, and Disconnection Complete.
        if packet[:2] == b'\x04\x3e' and packet[3] in (0x01, 0x0A) and packet[4] == 0:
            self.links.add(packet[5:7])
        elif packet[:2] == b'\x04\x05':
            self.links.discard(packet[4:6])
        return True

    def session(self, client):
        controller = Departed(self)
        controller.connect(self.upstream)
        self.links.clear()
        self.begin(client, controller)


class Departed(socket.socket):
    """A socket to a controller whose links are ended before it is closed."""

    def __init__(self, line):
        super().__init__(socket.AF_UNIX)
        self.line, self.once = line, threading.Lock()

    def shutdown(self, how):
        if not self.once.acquire(blocking=False):
            return
        try:
            for link in list(self.line.links):
                # Disconnect, Remote User Terminated Connection.
                self.sendall(b'\x01\x06\x04\x03' + link + b'\x13')
                time.sleep(0.05)
            self.sendall(b'\x01\x03\x0c\x00')
            time.sleep(0.05)
            super().shutdown(how)
        except OSError:
            pass


class Air:
    """Three controllers of Bumble's: bled's, a sensor's, a bonded central's. Those of btvirt have one link each: no central."""

    def __init__(self, kind='bumble'):
        self.kind = kind

    def __enter__(self):
        self.lab = bench.Lab(self.kind, 4).open(peer=False)
        self.lab.every_link_ends_by_us = False
        self.endpoint = self.lab.endpoint
        if self.kind == 'btvirt':
            self.parting = Parting(self.lab)
            self.endpoint = self.parting.endpoint
        self.start_sensor()
        self.central = None
        return self

    def start_sensor(self):
        self.lab.start_peer('--hr-interval', '0.1')

    def make_bond(self, daemon):
        """With a device that is not seen again: btvirt gives bled another public address after each kill, so that the peer of a
        bond would not know it."""
        address, sensor = 'F2:F1:F0:00:00:22', self.lab.peer
        other = self.lab.start_peer('--address', address, '--name', 'Other')
        self.lab.peer = sensor
        daemon.tool('pair', f'{address}/random')
        other.end()

    def restart_sensor(self):
        self.lab.peer.end(signal.SIGKILL)
        self.start_sensor()

    @property
    def has_central(self):
        return self.kind != 'btvirt'

    def start_central(self):
        self.central = self.lab.bumble('bonded_central', self.lab.endpoints[2], '--keystore', self.lab.path('keys.json'), is_ready=False)
        return self.central

    def __exit__(self, *_):
        self.lab.close()

    def sensor_is_heard(self):
        """Whether a fourth device receives its advertising."""
        return self.lab.run('lescan', '--name', 'BumblePeer', '--count', '1', '--duration', '5', status=None,
                            via=self.lab.endpoints[3]).events('discovered') != []

    def told(self, name):
        if not self.central:
            return []
        return [line for line in list(self.central.lines) if line.get('event') == name]


class Bench:
    """bled with the relay of the samples, and what must not be lost."""

    def __init__(self, air, daemon):
        self.air, self.daemon, self.chance = air, daemon, random.Random(SEED)
        self.state = daemon.state
        self.counts = collections.Counter()

    def begin(self):
        daemon, air = self.daemon, self.air
        if not air.has_central:
            air.make_bond(daemon)
        daemon.relays(1)
        daemon.wait_told('advertising')
        if air.has_central:
            air.start_central().wait_event('subscribed', LIMIT)
            air.central.wait_event('value', LIMIT)
        # In the background, and stopped whenever nothing is to be done.
        daemon.operate(background=RELAY)
        self.bonds = self.read_bonds()
        assert self.bonds, 'no bond was stored'
        self.whole()

    def read_bonds(self):
        """The files of the store of bonds, as they are on the disk."""
        found = {}
        for folder, _, names in os.walk(os.path.join(self.state, 'security')):
            for name in names:
                if name == 'lock' or name.endswith('.new'):
                    continue
                found[os.path.relpath(os.path.join(folder, name), self.state)] = pathlib.Path(os.path.join(folder, name)).read_bytes()
        return found

    def journal(self):
        for folder, _, names in os.walk(self.state):
            for name in names:
                if name.endswith('.journal'):
                    return os.path.join(folder, name)
        raise AssertionError('there is no journal')

    def check_disk(self):
        """Right after the kill, before anything is restarted: the bonds and the journal are whole."""
        bonds = self.read_bonds()
        for name, octets in self.bonds.items():
            assert name in bonds, f'the bond {name} is lost'
            assert bonds[name], f'the bond {name} is empty'
        kept = Preserved(self.journal())
        # Only the line that was being written may be torn.
        assert kept.damaged <= 1, f'{kept.damaged} lines of the journal are damaged'
        self.counts['torn lines'] += kept.damaged
        assert set(kept.managers) == {'sensor', 'relay'}, f'the journal has lost managers: {set(kept.managers)}'
        relay, sensor = kept.managers['relay'], kept.managers['sensor']
        assert relay['services'], 'the journal has lost the service'
        assert sensor['peripherals'], 'the journal has lost the sensor'

    def whole(self):
        """All goes on: the app hears the sensor, and the bonded central hears the app, without subscribing again."""
        self.asked = time.monotonic()
        beats, values = len(self.daemon.told('beat')), len(self.air.told('value'))
        deadline = time.monotonic() + 10
        while len(self.daemon.told('beat')) <= beats + 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        if len(self.daemon.told('beat')) == beats and not self.air.sensor_is_heard():
            # The controller did not tell the sensor of the end of the last link: it would never advertise again.
            self.counts['sensors switched off and on'] += 1
            self.air.restart_sensor()
        try:
            self.daemon.wait_for('beats go on', lambda: len(self.daemon.told('beat')) > beats + 2)
            self.daemon.wait_for('values go on', lambda: self.hears(values + 2))
        except AssertionError as error:
            said = [line for line in self.daemon.said().splitlines() if '"beat"' not in line]
            central = [line for line in self.air.central.lines if line.get('event') != 'value'] if self.air.central else []
            process, beats = self.daemon.process_of(RELAY), len(self.daemon.told('beat')) - beats
            raise AssertionError('\n'.join([
                str(error)[:60], *said[-25:], str(central[-8:]), self.summary(),
                f'{beats} beats since; the app is process {process}, state {state_of(process)}; {self.daemon.operate(list={})}'])) from None
        if self.air.central:
            assert len(self.air.told('paired')) == 1 and len(self.air.told('subscribed')) == 1, self.air.central.lines
        refused = self.air.told('refused')
        assert not refused, f'the bond was refused: {refused[:2]}'
        self.counts['whole'] += 1

    def hears(self, values):
        """Whether the central has more values. Bumble's controller may not tell it that its link has ended with bled: a real one would
        notice, and so the central is told here, once bled says that there is no such link."""
        if not self.air.central or len(self.air.told('value')) > values:
            return True
        now, links = time.monotonic(), len(self.air.told('connected'))
        if links > len(self.air.told('disconnected')) and now > self.asked + 10:
            self.asked = now
            found = [link for link in self.daemon.links() if link['role'] == 'peripheral']
            if not found and links == len(self.air.told('connected')) > len(self.air.told('disconnected')):
                self.counts['dead links of the central'] += 1
                self.air.central.process.send_signal(signal.SIGUSR1)
        return False

    def said_nothing_bad(self):
        said = self.daemon.said()
        for word in 'Fatal', 'Crash', 'cannot be read', 'cannot be saved', 'cannot be written':
            assert word not in said, f'{word}: {said[-1500:]}'

    def summary(self):
        return ', '.join(f'{name}: {count}' for name, count in self.counts.items())


def test_kills_of_bled():
    """bled is killed at random moments under traffic in both roles: no bond, journal entry or subscription is lost, and the app goes on"""
    print(kill('bumble', times()))


def test_kills_of_bled_over_btvirt():
    """the same over BlueZ's controllers, as a central: no bond and no journal entry is lost, and the app goes on"""
    print(kill('btvirt', times() if times() > FEW else FEW // 2))


def kill(kind, rounds):
    with Air(kind) as air, Daemon(apps=[relay_manifest()], adapter=air.endpoint) as daemon:
        bench_of = Bench(air, daemon)
        bench_of.begin()
        process, counts = daemon.process_of(RELAY), bench_of.counts
        started = time.monotonic()
        for number in range(rounds):
            # From the first instant of its life on, or under traffic, once everything has come back.
            if number % 2:
                bench_of.whole()
                now = daemon.process_of(RELAY)
                assert now == process, f'the app, process {process}, is {now}, {state_of(process)}: ' + '\n'.join(
                    line for line in daemon.said().splitlines() if '"beat"' not in line)[-1500:]
                time.sleep(0.3 * bench_of.chance.random())
            else:
                time.sleep(bench_of.chance.choice((0.05, 0.5, 2)) * bench_of.chance.random())
            assert daemon.process.poll() is None, f'bled ended by itself: {daemon.said()[-1500:]}'
            connected = air.told('connected') and not air.told('disconnected')[len(air.told('connected')) - 1:]
            counts['with the central connected'] += bool(connected)
            daemon.kill()
            counts['kills of bled'] += 1
            bench_of.check_disk()
            assert state_of(process) != 'Z', f'the app ended with bled: {daemon.said()[-1500:]}'
            daemon.start()
        bench_of.whole()
        assert daemon.process_of(RELAY) == process, 'the app was started again'
        bench_of.said_nothing_bad()
        states = [line['state'] for line in daemon.told('state') if line['role'] == 'central']
        counts['resetting then poweredOn'] = sum(
            pair == ('resetting', 'poweredOn') for pair in zip(states, states[1:]))
        assert set(states) <= {'poweredOn', 'resetting'}, set(states)
        assert counts['resetting then poweredOn'] >= counts['whole'] - 2, states
        return f'seed {SEED}, {time.monotonic() - started:.0f} s; ' + bench_of.summary()


def test_kills_of_apps():
    """an app is killed at random moments under traffic in both roles: it is launched again and restored, and nothing is lost"""
    with Air() as air, Daemon(apps=[relay_manifest()], adapter=air.endpoint) as daemon:
        bench_of = Bench(air, daemon)
        bench_of.begin()
        counts, rounds = bench_of.counts, times()
        started = time.monotonic()
        served = len(air.told('connected'))
        for number in range(rounds):
            daemon.wait_for('the app runs', lambda: daemon.process_of(RELAY))
            if number % 2:
                bench_of.whole()
            time.sleep(bench_of.chance.choice((0.02, 0.3, 1.5)) * bench_of.chance.random())
            process = daemon.process_of(RELAY)
            if not process:
                continue
            counts['while it was stopped'] += state_of(process) == 'T'
            was_connected = daemon.operate(list={})[RELAY].is_connected
            os.kill(process, signal.SIGKILL)
            counts['kills of the app'] += 1
            bench_of.check_disk()
            if not was_connected:
                # An app that ends before it connects is launched again with a growing delay; an operator need not wait.
                counts['before it was connected'] += 1
                daemon.wait_for('its end is noticed', lambda: daemon.process_of(RELAY) != process)
                daemon.operate(foreground=RELAY)
                daemon.wait_for('the app runs', lambda: daemon.operate(list={})[RELAY].is_connected)
                daemon.operate(background=RELAY)
            else:
                daemon.wait_launched(RELAY, process)
        bench_of.whole()
        bench_of.said_nothing_bad()
        counts['restored'] = sum(line['role'] == 'central' for line in daemon.told('willRestore'))
        counts['links that the central lost'] = len(air.told('connected')) - served
        assert counts['links that the central lost'] == 0, 'the kill of an app ended the link to its service'
        assert counts['restored'] >= counts['whole'] - 1, bench_of.summary()
        print(f'seed {SEED}, {time.monotonic() - started:.0f} s; ' + bench_of.summary())
