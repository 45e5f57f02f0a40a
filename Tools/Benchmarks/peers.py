"""Rows that need more than one process: against Bumble over btvirt, an idle link, memory and size of whole programs.

  peers.py CENTRAL [WORD]…      CENTRAL: the program of that name in this package, beside which lies the one that is
                                called Server; words choose rows by name

Prints rows for `table.py`. `PEERS_DIR` names where Tools/install has put the peers (default .cache/peers)."""
import contextlib, functools, json, os, pathlib, statistics, subprocess, sys, tempfile, time

from rows import HERE, PEER, ROOT, Central, bench, measured as measured_row, row

from jelling.captures import records
from jelling.measures import kilobytes

CENTRAL = os.path.abspath(sys.argv[1])
SERVER = os.path.join(os.path.dirname(CENTRAL), 'Server')
RUNS = 15
STREAM_RUNS, STREAM_OCTETS, STREAM_LENGTH = 5, 1 << 20, 512
# The longest messages of the channel, so that both sides send the same frames.
CHANNEL_LENGTH = 2048
CHANNEL_SIZES = ('--coc-mtu', str(CHANNEL_LENGTH), '--coc-mps', '247', '--coc-credits', '16')
IDLE_SECONDS = 10


def ours_on(lab, program=CENTRAL, address=PEER + '/random'):
    return Central(program, lab.endpoint, address, log=lab.path(f'{os.path.basename(program)}.err'))


def theirs_on(lab):
    return Central(bench.PYTHON, os.path.join(HERE, 'bumble_central.py'), lab.endpoint, PEER, log=lab.path('theirs.err'))


@contextlib.contextmanager
def pair_of(central_is_ours, server_is_ours, *peer):
    """A central and the server that it works on, on controllers of their own."""
    with bench.Lab('btvirt').open(peer=False) as lab, contextlib.ExitStack() as servers:
        if server_is_ours:
            servers.enter_context(ours_on(lab, SERVER, PEER))
        else:
            lab.start_peer(*peer)
        with ours_on(lab) if central_is_ours else theirs_on(lab) as central:
            yield central


def discovery(name):
    with bench.Lab('btvirt').open() as lab, ours_on(lab) as ours, theirs_on(lab) as theirs:
        centrals = [ours, theirs]
        answers = {ours: [], theirs: []}
        # The first turn of each warms up and does not count.
        for turn in range(RUNS + 1):
            for central in centrals if turn % 2 else reversed(centrals):
                time.sleep(0.1)                       # the peer advertises again
                answer = central.ask('discover', 'discovered')
                if turn:
                    answers[central].append(answer)
        for ending in ('services', 'characteristics', 'descriptors'):
            found = {a[ending] for a in answers[ours]}, {a[ending] for a in answers[theirs]}
            if found[0] != found[1] or len(found[0]) != 1:
                raise bench.Failure(f'the two found different {ending}: {found}')
        of = lambda central, key: statistics.median(a[key] for a in answers[central])
        found = answers[ours][0]
        row(name, of(ours, 'ms'), 'ms', '<=0.5*peer', 'check', of(theirs, 'ms'),
            f'median of {RUNS}; {found["services"]} services, {found["characteristics"]} characteristics, '
            f'{found["descriptors"]} descriptors')
        row(name + ', of which connecting', of(ours, 'connect'), 'ms', peer=of(theirs, 'connect'))


def stream(name):
    """Both ends Jelling compared with both ends Bumble, in turns, each pair on its own controllers."""
    rates = {'ours': [], 'theirs': []}
    for turn in range(STREAM_RUNS + 1):
        for whose in rates if turn % 2 else reversed(rates):
            with pair_of(whose == 'ours', whose == 'ours') as central:
                answer = central.ask(f'stream {STREAM_OCTETS} {STREAM_LENGTH}', 'streamed')
                if answer['octets'] != STREAM_OCTETS or not answer['inOrder'] or answer['mtu'] != 517:
                    raise bench.Failure(f'{whose}: {answer}')
                if turn:                              # the first turn warms up
                    rates[whose].append(answer['octets'] / answer['ms'] / 1e3)
    row(name, statistics.median(rates['ours']), 'MB/s', '>=3*peer', 'check', statistics.median(rates['theirs']),
        f'median of {STREAM_RUNS}; {STREAM_OCTETS >> 20} MiB each; '
        f'{min(rates["ours"]):.1f} to {max(rates["ours"]):.1f} against '
        f'{min(rates["theirs"]):.1f} to {max(rates["theirs"]):.1f}')


def channel(name):
    """Octets that are sent on a channel and come back: both ends Jelling, Jelling and Bumble, both ends Bumble, in turns."""
    pairs = {'ours': (True, True), 'mixed': (True, False), 'theirs': (False, False)}
    rates = {pair: [] for pair in pairs}
    for turn in range(STREAM_RUNS + 1):
        for pair in pairs if turn % 2 else reversed(pairs):
            with pair_of(*pairs[pair], *CHANNEL_SIZES) as central:
                answer = central.ask(f'channel {STREAM_OCTETS} {CHANNEL_LENGTH}', 'echoed')
                if answer['octets'] != STREAM_OCTETS or not answer['inOrder'] or answer['mtu'] != CHANNEL_LENGTH:
                    raise bench.Failure(f'{pair}: {answer}')
                if turn:                              # the first turn warms up
                    rates[pair].append(answer['octets'] / answer['ms'] / 1e3)
    theirs = statistics.median(rates['theirs'])
    for pair, ending, budget in (('ours', 'against Bumble', '>=2*peer'),
                                 ('mixed', 'with Bumble at the other end', '>=1*peer')):
        row(f'{name}, {ending}', statistics.median(rates[pair]), 'MB/s', budget, 'check', theirs,
            f'median of {STREAM_RUNS}; {STREAM_OCTETS >> 20} MiB in messages of {CHANNEL_LENGTH} B, and back; '
            f'{min(rates[pair]):.2f} to {max(rates[pair]):.2f} against {min(rates["theirs"]):.2f} to {max(rates["theirs"]):.2f}')


def attribute_server(name, tool):
    """Requests that go in and out as lines of text."""
    rows = [{'handle': 1, 'type': '2800', 'permissions': ['READ'], 'value': '0d18'}]
    for number in range(99):
        handle = len(rows) + 1
        rows += [{'handle': handle, 'type': '2803', 'permissions': ['READ'],
                  'value': f'0a{handle + 1:02x}00372a'},
                 {'handle': handle + 1, 'type': '2a37', 'permissions': ['READ', 'WRITE'], 'value': '41' * 20}]
    with tempfile.TemporaryDirectory(prefix='jelling-') as folder:
        path = os.path.join(folder, 'tables.json')
        pathlib.Path(path).write_text(json.dumps({'databases': {'table': rows}}))
        count = 200_000
        requests = ''.join(f'0a{3 + 2 * (i % 99):02x}00\n' for i in range(count))
        command = [tool, 'att-server', '--attributes', path, '--database', 'table']
        start = time.perf_counter()
        subprocess.run(command, input='', capture_output=True, text=True, check=True)
        started = time.perf_counter()
        out = subprocess.run(command, input=requests, capture_output=True, text=True, check=True).stdout
        end = time.perf_counter()
        if out != ('0b' + '41' * 20 + '\n') * count:
            raise bench.Failure('the answers are wrong')
        row(name, count / (end - started - (started - start)), '1/s', remark=f'{count} reads of 20 octets through pipes')


def thread_switches(process):
    """How often the adapter's thread went to sleep, as the kernel counts it."""
    for task in os.listdir(f'/proc/{process}/task'):
        with open(f'/proc/{process}/task/{task}/status') as f:
            status = dict(line.split(':', 1) for line in f)
        if status['Name'].strip() == 'jelling':
            return int(status['voluntary_ctxt_switches'])
    raise bench.Failure('no thread is called jelling')


def idle(name):
    with bench.Lab('bumble').open() as lab, ours_on(lab) as central:
        central.process.stdin.write(f'idle {IDLE_SECONDS}\n')
        central.process.stdin.flush()
        time.sleep(2.5)
        before = thread_switches(central.process.pid)
        time.sleep(IDLE_SECONDS - 1)
        switches = thread_switches(central.process.pid) - before
        row(name, central.expect('idled')['wakeUps'], 'wake-ups', '<=0', 'check', remark=f'the kernel counts {switches} context switches')


def time_to_encryption(path):
    """Milliseconds from the first packet of pairing to Encryption Change, in a btsnoop capture of H4 packets."""
    begin = None
    for _, time_, packet in records(path):
        if packet[:1] == b'\x02' and packet[7:9] == b'\x06\x00' and begin is None:
            begin = time_
        if packet[:2] in (b'\x04\x08', b'\x04\x59') and begin is not None:
            return (time_ - begin) / 1000
    raise bench.Failure(f'{path}: no pairing that ends in encryption')


def pairing(name, tool):
    """Just Works with Secure Connections: bletool as the central, and Bumble as the central, of the same Bumble."""
    times = {'ours': [], 'theirs': []}
    with bench.Lab('btvirt').open() as lab:
        for turn in range(RUNS + 1):
            lab.every_link_ends_by_us = False
            ours, theirs = lab.path('ours.btsnoop'), lab.path('theirs.btsnoop')
            for path in (ours, theirs):
                if os.path.exists(path):
                    os.unlink(path)
            subprocess.run([tool, '-t', lab.endpoint, '--state', lab.path(f'state{turn}'), '-w', ours, 'pair',
                            PEER + '/random'], check=True, capture_output=True, timeout=30)
            time.sleep(0.1)
            subprocess.run([bench.PYTHON, os.path.join(bench.PEER_SCRIPTS, 'peer_central.py'), lab.endpoint,
                            '--name', 'BumblePeer', '--pair-first', '--skip-gatt', '--snoop', theirs],
                           check=True, capture_output=True, timeout=30)
            time.sleep(0.1)
            if turn:
                times['ours'].append(time_to_encryption(ours))
                times['theirs'].append(time_to_encryption(theirs))
        mine, other = statistics.median(times['ours']), statistics.median(times['theirs'])
        program = os.path.join(os.path.dirname(CENTRAL), 'Benchmark')
        fields = subprocess.run([program, 'P-256'], capture_output=True, text=True).stdout.split('\t')
        share = float(fields[1]) / 1e6
        row(name, round(mine, 2), 'ms', '', '', round(other, 2),
            f'median of {RUNS}; our P-256 is {share:.2f} ms of it, {100 * share / mine:.0f} %')


def memory(name, program, *arguments):
    """The largest memory of a program that scans for a while."""
    if callable(program):
        program = program()
    with bench.Lab('btvirt').open() as lab:
        process = subprocess.Popen([program, *(lab.endpoint if a == 'ADAPTER' else a for a in arguments)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        most = kilobytes(process, 'VmHWM')
        process.wait(20)
        row(name, most, 'kB', f'<={12 * 1024}')


firmware = None


def build_firmware():
    """The program as an image would hold it."""
    global firmware
    if not firmware:
        script = os.path.join(ROOT, 'Tools', 'Examples', 'size')
        octets = int(subprocess.run([script], check=True, capture_output=True, text=True).stdout.split()[0])
        path = os.path.join(ROOT, 'Tools/Examples/firmware-scan/.build/release/firmware-scan.stripped')
        firmware = path, octets
    return firmware[0]


def size(name):
    build_firmware()
    row(name, firmware[1], 'B', '<=7500000')


def size_with_pairing(name):
    script = os.path.join(ROOT, 'Tools', 'Examples', 'size')
    done = subprocess.run([script, 'firmware-pair'], check=True, capture_output=True, text=True)
    row(name, int(done.stdout.split()[0]), 'B', '<=18500000')


def main():
    words = sys.argv[2:]

    def wanted(name):
        return not words or any(word in name for word in words)

    measured = functools.partial(measured_row, words)
    measured(discovery, 'connect + full discovery over btvirt, against Bumble')
    measured(stream, 'notifications (512 B, MTU 517) over btvirt, against Bumble')
    measured(channel, 'L2CAP channel over btvirt')
    measured(idle, f'idle link over Bumble\'s controllers, {IDLE_SECONDS} s')
    measured(size, 'firmware example, static and stripped', needs_peers=False)
    measured(size_with_pairing, 'firmware example with pairing, static and stripped', needs_peers=False)
    measured(memory, 'memory of the firmware example, scanning', build_firmware, 'ADAPTER', '4')
    tool = os.environ.get('BLETOOL') or os.path.join(ROOT, '.build', 'bletool')
    for measure, name, *rest in (
            (attribute_server, 'requests of bletool att-server'),
            (pairing, 'first SMP packet to encryption over btvirt, against Bumble'),
            (memory, 'memory of bletool lescan', '-t', 'ADAPTER', 'lescan', '--duration', '4')):
        if os.path.exists(tool):
            measured(measure, name, tool, *rest, needs_peers=measure is not attribute_server)
        elif wanted(name):
            row(name, remark=f'no {tool}: Tools/release')


main()
