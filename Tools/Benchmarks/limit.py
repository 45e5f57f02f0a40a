"""Rows beside a host that does nothing: what is left of a host's time is between its engine and the wire.

  limit.py PROGRAMS [--check] [WORD]…   PROGRAMS: the folder of Feeder, NullHost, Central, Facade and Benchmark; words choose rows by
                                        name. BLED, BLETOOL: bled and bletool as they are handed on. --check: only the rows that are
                                        checked, once each

Each row is measured in turns: Jelling, the null host and Bumble on the same feeder, which is controller and peer at once and
never lets a host wait. Prints rows for `table.py`; a run of all rows writes its table into Documentation/Performance.md."""
import contextlib, os, pathlib, statistics, subprocess, sys, tempfile, time

from counting import computed, system_calls
from rows import HERE, PEER, Central, bench, figure, measured, row, write_between

PROGRAMS = os.path.abspath(sys.argv[1])
WORDS = [word for word in sys.argv[2:] if word != '--check']
IS_CHECK = '--check' in sys.argv
# A median of as many.
RUNS = 3 if IS_CHECK else 5
# How much worse than another stack may be once, on a machine with other work.
MARGIN = 4
# How much more is measured than what a check needs.
LONGER = 1 if IS_CHECK else 5
# Small enough that nothing is dropped when a reader falls behind: so many notifications wait for it at most.
PART = 2048
DATABASES = {'5 attributes of a service': (0, 0), '20 services with 200 characteristics': (20, 10)}
CREDITS = 1, 8, 32, 255
LINKS = 1, 8, 32, 64

table = []


class Feeding:
    """A feeder, and hosts on it, one after the other."""

    def __init__(self, services=0, characteristics=0, credits=8, log=False):
        self.folder = tempfile.TemporaryDirectory(prefix='jelling-')
        self.socket = os.path.join(self.folder.name, 'hci')
        self.log = os.path.join(self.folder.name, 'packets') if log else None
        # The process of bled, while there is one.
        self.daemon = None
        self.database = ['--services', str(services), '--characteristics', str(characteristics)]
        words = [*self.database, '--credits', str(credits), *(['--log', self.log] if log else [])]
        self.feeder = subprocess.Popen([os.path.join(PROGRAMS, 'Feeder'), self.socket, *words],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if b'ready' not in self.feeder.stdout.readline():
            raise bench.Failure('the feeder does not begin')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.feeder.stdin.close()
        try:
            self.feeder.wait(5)
        except subprocess.TimeoutExpired:
            self.feeder.kill()
            self.feeder.wait()
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def ours(self, way=None):
        return Central(os.path.join(PROGRAMS, 'Central'), way or f'unix:{self.socket}', PEER + '/random', log=self.path('ours.err'))

    def null(self):
        return Central(os.path.join(PROGRAMS, 'NullHost'), self.socket, *self.database, log=self.path('null.err'))

    def theirs(self):
        return Central(bench.PYTHON, os.path.join(HERE, 'bumble_central.py'), f'unix:{self.socket}', PEER,
                       log=self.path('theirs.err'))

    @contextlib.contextmanager
    def bled(self):
        """bled on the feeder; yields the path of its socket."""
        path = self.path('bled.sock')
        with open(self.path('bled.err'), 'wb') as errors:
            child = subprocess.Popen([os.environ['BLED'], '--adapter', f'unix:{self.socket}', '--socket', path],
                                     stdin=subprocess.DEVNULL, stderr=errors)
        try:
            self.daemon = child.pid
            limit = time.monotonic() + 20
            while not os.path.exists(path) and time.monotonic() < limit:
                time.sleep(0.01)
            yield path
        finally:
            child.terminate()
            child.wait(10)

    @contextlib.contextmanager
    def app(self, daemon=None):
        """An app on the Core Bluetooth API."""
        ways = {'JELLING_SOCKET': daemon} if daemon else {'JELLING_SOCKET': 'none', 'JELLING_TRANSPORT': f'unix:{self.socket}'}
        before = {key: os.environ.get(key) for key in [*ways, 'JELLING_STATE']}
        os.environ.update(ways, JELLING_STATE=self.folder.name)
        try:
            with Central(os.path.join(PROGRAMS, 'Facade'), 'feeder', log=self.path('app.err')) as app:
                yield app
        finally:
            for key, value in before.items():
                os.environ.pop(key, None)
                if value is not None:
                    os.environ[key] = value


def in_turns(runs, hosts):
    """What each host answers in each run; the first run warms up and does not count."""
    answers = {name: [] for name in hosts}
    for turn in range(runs + 1):
        for name in hosts if turn % 2 else reversed(hosts):
            answer = hosts[name]()
            if turn:
                answers[name].append(answer)
    return answers


def has_bumble():
    return os.path.exists(bench.PYTHON)


def told(name, values, unit, less_is_better=False, budget='', remark=''):
    """Rows of Jelling beside the null host and Bumble; `budget` is a ratio to the null host, which is a goal: only the ratio
    to Bumble, by a wide margin, is checked."""
    of = {host: statistics.median(list_) for host, list_ in values.items() if list_}
    ours, null, theirs = of['ours'], of.get('null'), of.get('theirs')
    sign = '<=' if less_is_better else '>='
    row(name, ours, unit, f'{sign}{budget}*peer' if budget and null else '', '', null or '',
        ('peer: the null host; ' if null else '') + remark)
    if theirs:
        row(f'{name}, beside Bumble', ours, unit, f'{sign}{MARGIN if less_is_better else 1 / MARGIN}*peer', 'check', theirs)
    table.append((name, unit, ours, null, theirs, remark))


def told_twice(name, values, unit):
    """Rows of a task in the pool of threads, as tasks are, and of one on the adapter's thread."""
    here = values.pop('here')
    told(name, values, unit, True, budget=1.5, remark=f'median of {RUNS}')
    told(f'{name}, on the adapter’s thread', {**values, 'ours': here}, unit, True, budget=1.5, remark=f'median of {RUNS}')


def counted(name, value, unit, budget='', check='', remark=''):
    row(name, value, unit, budget, check, remark=remark)
    table.append((name, unit, value, None, None, remark))


# MARK: Notifications

def stream_line(count, length):
    return f'stream {count * length} {length} {PART * length}'


def rate(host, count, length):
    """Notifications a second, and what the host computed for each in nanoseconds."""
    before = computed(host.process.pid)
    answer = host.ask(stream_line(count, length), 'streamed')
    if answer['octets'] != count * length or not answer.get('inOrder', True):
        raise bench.Failure(str(answer))
    return answer['notifications'] / answer['ms'] * 1e3, (computed(host.process.pid) - before) / count


def told_rates(name, answers, **options):
    told(name, {host: [rate for rate, _ in list_] for host, list_ in answers.items()}, '1/s', **options)
    told(f'{name}: processor', {host: [used for _, used in list_] for host, list_ in answers.items()}, 'ns', True,
         remark='of one notification, all threads of the program')


def notifications(name):
    for length in 20, 244:
        with Feeding() as feeding:
            many, few = PART * 20 * LONGER, PART * 4

            def runs(make, count):
                # Each has the feeder for itself: it serves one host at a time.
                def run():
                    with make() as host:
                        return rate(host, count, length)
                return run
            hosts = {'ours': runs(feeding.ours, many), 'null': runs(feeding.null, many)}
            if has_bumble():
                hosts['theirs'] = runs(feeding.theirs, few)
            told_rates(f'{name}, {length} octets', in_turns(RUNS, hosts), budget=0.25, remark=f'median of {RUNS}')
            with feeding.ours() as host:
                with system_calls(host.process.pid) as counts:
                    rate(host, many, length)
            # glibc frees more than 128 octets of another thread under a lock.
            calls_rows(f'{name}, {length} octets', counts, many, 0.1 if length < 128 else 0.5)


def calls_rows(name, counts, count, most=0.1):
    """Numbers of calls, with limits far above what is measured: they tell whether what comes together is handed over together."""
    if not counts:
        return row(f'system calls a notification: {name}', check='check', remark='needs perf or strace: Tools/install limit')
    counted(f'futex calls a notification: {name}', counts['futex'] / count, '', f'<={most}', 'check')
    others = counts['all'] / count
    counted(f'system calls a notification: {name}', others, '', f'<={3 * most}', 'check',
            f'reads {counts["read"] / count:.4f}, waits {counts["wait"] / count:.4f}')


def delegate(name):
    with Feeding() as feeding:
        for length in 20, 244:
            many = PART * 10 * LONGER

            def app():
                with feeding.app() as host:
                    return rate(host, many, length)

            def null():
                with feeding.null() as host:
                    return rate(host, many, length)
            told_rates(f'{name}, {length} octets', in_turns(RUNS, {'ours': app, 'null': null}), remark=f'median of {RUNS}')
            with feeding.app() as host:
                with system_calls(host.process.pid) as counts:
                    rate(host, many, length)
            calls_rows(f'{name}, {length} octets', counts, many, 0.2)


def through_bled(name):
    for length in 20, 244:
        many = PART * 10 * LONGER
        rates = {'to a tool': [], 'to an app': []}
        daemons = {whom: [] for whom in rates}
        called = {}
        for _ in range(1 if IS_CHECK else 3):
            with Feeding() as feeding, feeding.bled() as daemon:
                def add(whom, host):
                    before = computed(feeding.daemon)
                    rates[whom].append(rate(host, many, length))
                    daemons[whom].append((computed(feeding.daemon) - before) / many)
                with feeding.ours(f'bled:{daemon}') as host:
                    add('to a tool', host)
                with feeding.app(daemon) as host:
                    add('to an app', host)
                    if not called:
                        with system_calls(host.process.pid) as called['the app'], system_calls(feeding.daemon) as called['bled']:
                            rate(host, many, length)
        with Feeding() as feeding:
            nulls = []
            for _ in range(3):
                with feeding.null() as host:
                    nulls.append(rate(host, many, length))
        for whom, values in rates.items():
            told_rates(f'{name} {whom}, {length} octets', {'ours': values, 'null': nulls}, remark='median of 3')
            told(f'{name} {whom}, {length} octets: processor of bled', {'ours': daemons[whom]}, 'ns', True,
                 remark='of one notification, beside that of the program')
        for whose, counts in called.items():
            calls_rows(f'{name} to an app, {length} octets, {whose}', counts, many, 0.2)


# MARK: Requests

READS = 1000 * LONGER

def pdus(log, begin):
    """The requests of the host's log from `begin` on, as hexadecimal digits."""
    lines = pathlib.Path(log).read_text().split()[begin:]
    return [line[18:] for line in lines if line.startswith('02') and line[14:18] == '0400']


def discovery(name):
    for what, (services, characteristics) in DATABASES.items():
        with Feeding(services, characteristics, log=True) as feeding:
            def run(make, line='discover'):
                def once():
                    with make() as host:
                        # A program is slower in its first turns, which load and fill what the others find.
                        return [host.ask(line, 'discovered') for _ in range(10)][-1]
                return once
            hosts = {'ours': run(feeding.ours), 'here': run(feeding.ours, 'here discover'), 'null': run(feeding.null)}
            if has_bumble():
                hosts['theirs'] = run(feeding.theirs)
            answers = in_turns(RUNS, hosts)
            told_twice(f'{name}, {what}', {host: [a['ms'] for a in list_] for host, list_ in answers.items()}, 'ms')
            begin = len(pathlib.Path(feeding.log).read_text().split())
            with feeding.ours() as host:
                host.ask('discover', 'discovered')
            needed = answers['null'][0]['requests']
            sent = [pdu for pdu in pdus(feeding.log, begin) if not pdu.startswith('02')]
            extra = [pdu for pdu in sent if pdu not in needed]
            counted(f'requests that are not needed: {name}, {what}', len(sent) - len(needed), '', '<=0', 'check',
                    f'{len(sent)} sent, {len(needed)} needed{"; not needed: " + " ".join(extra) if extra else ""}')


def reads(name):
    with Feeding() as feeding:
        def run(make, line):
            def once():
                with make() as host:
                    answer = host.ask(line, 'reads')
                    return answer['ms'] / answer['reads'] * 1e3
            return once
        hosts = {'ours': run(feeding.ours, f'read {READS}'), 'here': run(feeding.ours, f'here read {READS}'),
                 'null': run(feeding.null, f'read {READS}')}
        if has_bumble():
            hosts['theirs'] = run(feeding.theirs, f'read {READS // 10}')
        told_twice(name, in_turns(RUNS, hosts), 'µs')


def writes(name):
    for credits in CREDITS:
        with Feeding(credits=credits) as feeding:
            def run(make, line):
                def once():
                    with make() as host:
                        answer = host.ask(line, 'written')
                        return answer['writes'] / answer['ms'] * 1e3
                return once
            null = run(feeding.null, f'write {20000 * 244} 244')
            for way, number in ('one after the other', 1), ('16 at once', 16):
                line = f'writes {20000 * 244} 244 {number}'
                answers = in_turns(3, {'ours': run(feeding.ours, line), 'here': run(feeding.ours, f'here {line}'), 'null': null})
                here = answers.pop('here')
                told(f'{name}, credits {credits}, {way}', answers, '1/s', budget=0.6, remark='median of 3')
                told(f'{name}, credits {credits}, {way}, on the adapter’s thread', {**answers, 'ours': here}, '1/s', budget=0.6,
                     remark='median of 3')


# MARK: Latency

LATENCIES, INTERVAL = 2000, 1000


def latency(name):
    line = f'latency {LATENCIES} {INTERVAL}'
    answers = {whom: [] for whom in ('async loop', 'async loop on the adapter’s thread', 'delegate', 'null', 'tool through bled',
                                     'app through bled')}
    for _ in range(3):
        with Feeding() as feeding:
            for whom, make in (('async loop', feeding.ours), ('delegate', feeding.app), ('null', feeding.null)):
                with make() as host:
                    answers[whom].append(host.ask(line, 'latencies'))
            with feeding.ours() as host:
                answers['async loop on the adapter’s thread'].append(host.ask(f'here {line}', 'latencies'))
        with Feeding() as feeding, feeding.bled() as daemon:
            with feeding.ours(f'bled:{daemon}') as host:
                answers['tool through bled'].append(host.ask(line, 'latencies'))
            with feeding.app(daemon) as host:
                answers['app through bled'].append(host.ask(line, 'latencies'))
    told_latencies(name, answers)


def beside_busy_loops(name):
    line = f'latency {LATENCIES} {INTERVAL}'
    answers = {'async loop': [], 'delegate': [], 'null': []}
    for _ in range(3):
        with Feeding() as feeding, busy_loops():
            for whom, make in (('async loop', feeding.ours), ('delegate', feeding.app), ('null', feeding.null)):
                with make() as host:
                    answers[whom].append(host.ask(line, 'latencies'))
    told_latencies(f'{name}, to', answers)


@contextlib.contextmanager
def busy_loops():
    """As many programs that only compute as there are processors."""
    loops = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def told_latencies(name, answers):
    # The least of three: others share the machine.
    least = {whom: [min(a[key] for a in list_) / 1e3 for key in ('median', 'most')] for whom, list_ in answers.items()}
    for whom in answers:
        if whom != 'null':
            for index, what in enumerate(('median', '99th percentile')):
                told(f'{name} {whom}, {what}', {'ours': [least[whom][index]], 'null': [least['null'][index]]}, 'µs', True,
                     remark=f'least of 3, {LATENCIES} each')


def links(name):
    for count in LINKS:
        runs = []
        for _ in range(3):
            with Feeding(credits=32) as feeding, feeding.ours() as host:
                runs.append(host.ask(f'links {count} 200 10000', 'held'))
        # The least of three: others share the machine's caches.
        cost = min(run['nanoseconds'] / run['notifications'] for run in runs) / 1e3
        counted(f'{name}, {count} links: processor a notification', cost, 'µs', remark='100 notifications a second on each; least of 3')
        if count > 1:
            memory = min(run['kilobytes'] for run in runs) / (count - 1)
            counted(f'{name}, {count} links: memory of each but the first', memory, 'kB', remark='least of 3')


# MARK: The engine alone

ENGINE = ('server of', 'devices in the air', 'GATT server write (20 B), 13 attributes', 'through the host, new addresses only')


def engine(name):
    words = [word for word in ENGINE if not WORDS or any(w in word or word in w for w in WORDS)]
    done = subprocess.run([os.path.join(PROGRAMS, 'Benchmark'), *(words or ENGINE)],
                          check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        what, value, unit, budget, check, _, remark = line.split('\t')
        counted(what, float(value), unit, budget, check, remark)


def allocations(name):
    """What each operation of the engine allocates: all rows of the engine, with few operations."""
    done = subprocess.run([os.path.join(PROGRAMS, 'Benchmark'), '--allocations'], check=True, capture_output=True, text=True)
    print(done.stdout, end='', flush=True)


# MARK: Whole captures

def captures(name):
    done = subprocess.run([sys.executable, os.path.join(HERE, 'captures.py'), os.environ['BLETOOL'], *WORDS],
                          check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        what, value, unit, budget, check, _, remark = line.split('\t')
        if value:
            counted(what, float(value), unit, budget, check, '' if 'missing' in remark else remark)


# MARK: The page

def write_page():
    """Puts the table between its marks."""
    lines = ['| what | Jelling | null host | ratio | Bumble | ratio | |', '|---|---|---|---|---|---|---|']
    for name, unit, ours, null, theirs, remark in table:
        ratios = [f'{ours / other:.2f}' if other else '' for other in (null, theirs)]
        lines.append(f'| {name} | {figure(ours, unit)} | {figure(null, unit)} | {ratios[0]} | {figure(theirs, unit)} | '
                     f'{ratios[1]} | {remark} |')
    write_between('limit', lines)


CHECKED = ((notifications, 'notifications to an async loop'), (delegate, 'notifications to a delegate'),
           (through_bled, 'notifications through bled'), (discovery, 'connect + full discovery'), (reads, 'read'))
TIMED = ((writes, 'write without response'), (latency, 'packet to'), (beside_busy_loops, 'packet beside a busy loop on each processor'),
         (links, 'many links'), (engine, 'server of attributes, devices in the air'), (captures, 'decode a capture'))

for measure, name in (*CHECKED, *([(allocations, 'allocations')] if IS_CHECK else TIMED)):
    measured(WORDS, measure, name, needs_peers=False)
if not WORDS and not IS_CHECK:
    write_page()
