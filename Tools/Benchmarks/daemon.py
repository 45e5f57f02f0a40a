"""Rows of bled beside the same in one process: latency, also while others flood, discoveries, throughput, many scanning
apps, memory, idle wake-ups, size.

  daemon.py PROGRAMS BLED [WORD]…   PROGRAMS: the folder of Facade, Central and Server; BLED: bled as it is handed on, static
                                    and stripped; words choose groups of rows by name

Prints rows for `table.py`. `PEERS_DIR` names where Tools/install has put the peers (default .cache/peers)."""
import os, signal, statistics, subprocess, sys, tempfile, time

from rows import PEER, Central, bench, measured, row

from jelling.measures import kilobytes, processor_seconds, wake_ups
from jelling.floods import flooding, reads, refused, scans, spins, unread
from jelling.session import HEART

PROGRAMS, BLED = map(os.path.abspath, sys.argv[1:3])
RUNS = 3
STREAM_OCTETS, STREAM_LENGTH = 1 << 20, 512
# Which processes share a core differs from run to run, and with it throughput, by a factor of two.
STREAM_RUNS = 15
SECONDS = 10
IDLE_SECONDS = 60
# Seconds; ends what hangs.
PATIENCE = 120
REPORTS = 2660
FLOODING = 10


def facade(*words, bled=False, folder=None):
    """The rows of one run, by name."""
    environment = {key: value for key, value in os.environ.items() if key not in ('BLED', 'FACADE_FOLDER')}
    environment |= {'BLED': BLED} if bled else {}
    environment |= {'FACADE_FOLDER': folder} if folder else {}
    child = subprocess.Popen([os.path.join(PROGRAMS, 'Facade'), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    try:
        out, said = child.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        # With the daemon that it has started.
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise bench.Failure(f'Facade {words} has not ended after {PATIENCE} s')
    if child.returncode:
        raise bench.Failure(f'Facade {words}: {out[-300:]} {said[-300:]}')
    return {line.split('\t')[0]: float(line.split('\t')[1]) for line in out.splitlines()}


def beside(mode, better):
    """Both ways in turns: the best of each row, with what it is in one process."""
    best = {}
    for _ in range(RUNS):
        for bled in False, True:
            for name, value in facade(mode, bled=bled).items():
                best[name] = better(best.get(name, value), value)
    return [(name, value, best[name.removesuffix(THROUGH)]) for name, value in best.items() if name.endswith(THROUGH)]


THROUGH = ', through bled'


def latency(_):
    for name, value, own in beside('latency', min):
        row(name, value, 'µs', peer=own, remark='peer: in one process')


def scan(_):
    for name, value, own in beside('scan', max):
        row(name, value, 'MB' if 'memory' in name else '1/s', peer=own, remark='peer: in one process')


def floods(_):
    """A victim's latency alone and while ten clients flood, in turns; beside ten processes that want nothing of bled it is
    what the machine itself costs."""
    kinds = {'ten clients flood with requests that are refused': [refused] * FLOODING,
             'ten clients flood with scans and reads': [scans, shared_reads] * (FLOODING // 2),
             'ten clients flood without reading answers': [unread] * FLOODING,
             'ten processes spin': [spins] * FLOODING}
    alone, together = [], {kind: [] for kind in kinds}
    for _ in range(RUNS):
        alone.append(facade('latency', bled=True))
        for kind, clients in kinds.items():
            with tempfile.TemporaryDirectory(prefix='jelling-') as folder:
                with flooding(os.path.join(folder, 'bled.sock'), clients, HEART):
                    together[kind].append(facade('latency', bled=True, folder=folder))
    for kind, runs in together.items():
        budget = '' if kinds[kind] == [spins] * FLOODING else '<=2*peer'
        for name in alone[0]:
            before, during = (min(run[name] for run in set_) for set_ in (alone, runs))
            row(name.replace('through bled', kind), during, 'µs', budget, peer=before, remark='peer: alone through bled')


def shared_reads(client, peer):
    """The victim connects first: a device that is connected is not found."""
    while not os.path.exists(os.path.join(os.path.dirname(client.socket.getpeername()), 'subscribed')):
        time.sleep(0.05)
    reads(client, peer)


def throughput(_):
    """Notifications and write commands of 512 octets over btvirt: the central in one process, and through bled."""
    rates = {(what, bled): [] for what in ('notifications', 'writes') for bled in (False, True)}
    for turn in range(STREAM_RUNS + 1):
        for bled in (False, True) if turn % 2 else (True, False):
            with bench.Lab('btvirt').open(peer=False) as lab, Central(
                    os.path.join(PROGRAMS, 'Server'), lab.endpoint, PEER, log=lab.path('server.err')):
                way = lab.endpoint
                if bled:
                    bench.BLED = BLED
                    way = f'bled:{lab.bled(lab.endpoint)}'
                with Central(os.path.join(PROGRAMS, 'Central'), way, PEER + '/random', log=lab.path('central.err')) as central:
                    streamed = central.ask(f'stream {STREAM_OCTETS} {STREAM_LENGTH}', 'streamed')
                    if streamed['octets'] != STREAM_OCTETS or not streamed['inOrder']:
                        raise bench.Failure(str(streamed))
                    time.sleep(0.3)
                    written = central.ask(f'write {STREAM_OCTETS} {STREAM_LENGTH}', 'written')
                if turn:                              # the first turn warms up
                    rates['notifications', bled].append(streamed['octets'] / streamed['ms'] / 1e3)
                    rates['writes', bled].append(written['octets'] / written['ms'] / 1e3)
    for what in 'notifications', 'writes':
        own, through = ([f'{value:.1f}' for value in statistics.quantiles(rates[what, bled])] for bled in (False, True))
        row(f'{what} of {STREAM_LENGTH} octets{THROUGH}', statistics.median(rates[what, True]), 'MB/s', '>=0.8*peer',
            'check', statistics.median(rates[what, False]),
            f'peer: in one process; medians of {STREAM_RUNS}, over btvirt; quartiles {through[0]} and {through[2]}, {own[0]} and {own[2]}')


class Scene:
    """A controller with this rate of reports, bled, and apps; `words` say what they do."""

    def __init__(self, rate, apps, *words):
        self.folder = tempfile.TemporaryDirectory(prefix='jelling-')
        self.socket = os.path.join(self.folder.name, 'bled.sock')
        self.children = []
        self.start([os.path.join(PROGRAMS, 'Facade'), 'flood', self.folder.name, str(rate)])
        self.bled = subprocess.Popen(
            [BLED, '--adapter', f'unix:{self.folder.name}/hci', '--socket', self.socket], stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        while not os.path.exists(self.socket):
            time.sleep(0.01)
        for _ in range(apps):
            self.start([os.path.join(PROGRAMS, 'Facade'), *words])

    def start(self, command):
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 env={**os.environ, 'JELLING_SOCKET': self.socket}, text=True)
        self.children.append(child)
        if child.stdout.readline().strip() != 'ready':
            raise bench.Failure(f'{command} did not begin')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in [self.bled, *self.children]:
            child.kill()
            child.wait()
        self.folder.cleanup()

    def processor_seconds(self):
        return processor_seconds(self.bled)

    def resident(self):
        """In megabytes, all and without the pages of the file."""
        return kilobytes(self.bled) / 1000, kilobytes(self.bled, 'RssAnon') / 1000


def twenty(_):
    for words, how, budget in (([], '', '<=10'), (['duplicates'], ', with duplicates', '')):
        with Scene(REPORTS, 20, 'listen', *words) as scene:
            time.sleep(2)
            before, started = scene.processor_seconds(), time.monotonic()
            time.sleep(SECONDS)
            used = (scene.processor_seconds() - before) / (time.monotonic() - started)
            row(f'processor of bled, 20 scanning apps at {REPORTS} reports/s{how}', 100 * used, '%', budget,
                remark='of one core; 1,000 devices')


def idle(_):
    with Scene(0, 10, 'idle') as scene:
        time.sleep(3)
        before = wake_ups(scene.bled)
        time.sleep(IDLE_SECONDS)
        row(f'wake-ups of bled in {IDLE_SECONDS} s, 10 idle apps', wake_ups(scene.bled) - before, '', '<=0', 'check')
        whole, own = scene.resident()
        row('memory of bled, 10 apps', whole, 'MB', '<=20', 'check', remark=f'{own:.1f} MB of it not from the file')


def size(_):
    row('size of bled, static and stripped', os.path.getsize(BLED) / 1e6, 'MB')


for function, name, needs_peers in ((latency, 'latency', False), (scan, 'discoveries', False), (floods, 'floods', False),
                                    (throughput, 'throughput', True), (twenty, 'twenty scanning apps', False),
                                    (idle, 'idle apps: wake-ups, memory', False), (size, 'size', False)):
    measured(sys.argv[3:], function, name, needs_peers=needs_peers)
