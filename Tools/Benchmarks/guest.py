"""Rows of the kernel's sockets: Jelling and the null host on a user channel, and the kernel's own host, in the kernel guest.

  guest.py PROGRAMS [WORD]…     PROGRAMS: the folder of Feeder, NullHost, KernelHost and Central; words choose rows by name
  guest.py --inside [WORD]…     the same in the guest, where it measures and prints a row of JSON each

The feeder makes an adapter of itself behind /dev/vhci. An instruction is a nanosecond of the guest's time: the figures do not
depend on what else the machine does, nor say how fast it is, and only ratios mean something. Prints rows for `table.py`; a run
of all rows writes its table into Documentation/Performance.md."""
import contextlib, ctypes, json, os, pathlib, re, shutil, statistics, struct, subprocess, sys, tempfile, time

from rows import HERE, PEER, ROOT, Central, bench, figure, row, write_between

IS_INSIDE = sys.argv[1] == '--inside'
WORDS = [word for word in sys.argv[2:] if word != '--check']
LIMIT = 1800    # seconds for the guest, against one that hangs
RUNS = 3
# So many fit into a socket's buffer; the kernel drops what does not.
PART, PARTS = 128, 32
LENGTHS = 20, 244
# (credits, how many are returned together)
CREDITS = (8, 1), (255, 1), (8, 4)
READS, WRITES, WRITE_LENGTH = 500, 4000, 244
OURS, NULL, KERNEL = 'ours', 'null', 'kernel'


# MARK: Inside

class Feeding:
    """A feeder behind an adapter, and hosts on it, one after the other."""

    def __init__(self, credits, returns):
        self.feeder = Central('/tmp/Feeder', 'vhci', '--credits', str(credits), '--returns', str(returns),
                              log='/tmp/feeder.err', expects=False)
        self.adapter = self.feeder.expect('ready')['adapter']
        # The kernel sets a new adapter up by itself.
        limit = time.monotonic() + 60
        while not self.is_set_up() and time.monotonic() < limit:
            time.sleep(0.1)

    def is_set_up(self):
        with self.host(NULL, may_fail=True) as host:
            return host is not None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.feeder.__exit__()

    @contextlib.contextmanager
    def host(self, name, may_fail=False):
        words = {OURS: ['/tmp/Central', f'user:{self.adapter}', PEER + '/random'], NULL: ['/tmp/NullHost', f'user:{self.adapter}'],
                 KERNEL: ['/tmp/KernelHost', str(self.adapter)]}[name]
        try:
            host = Central(*words, log=f'/tmp/{name}.err')
        except bench.Failure:
            if not may_fail:
                raise
            yield None
            return
        with host:
            yield host

    def computed(self):
        """Nanoseconds that all threads of the machine have computed, the kernel's too, but for the feeder's and this one's."""
        others, total = {str(os.getpid()), str(self.feeder.process.pid)}, 0
        for process in filter(str.isdigit, os.listdir('/proc')):
            if process not in others:
                with contextlib.suppress(OSError):
                    for task in os.listdir(f'/proc/{process}/task'):
                        with open(f'/proc/{process}/task/{task}/schedstat') as file:
                            total += int(file.read().split()[0])
        return total

    def measure(self, name, line, event, count_of):
        """(of these a second, nanoseconds of the processor for one) of a host."""
        with self.host(name) as host:
            before = self.computed()
            answer = host.ask(line, event)
            computed = self.computed() - before
        count = answer[count_of]
        if not answer.get('inOrder', True):
            raise bench.Failure(str(answer))
        return count / answer['ms'] * 1e3, computed / count

    def in_turns(self, lines, event, count_of):
        """{host: {rate, processor}} as medians of the runs; the first warms up."""
        found = {name: [] for name in lines}
        for turn in range(RUNS + 1):
            for name in lines if turn % 2 else reversed(lines):
                value = self.measure(name, lines[name], event, count_of)
                if turn:
                    found[name].append(value)
        return {name: [statistics.median(column) for column in zip(*values)] for name, values in found.items()}

    def calls(self, line, event, count_of):
        """System calls of Jelling for one: all, and of the kinds that matter."""
        with self.host(OURS) as host, Calls(host.process.pid) as calls:
            count = host.ask(line, event)[count_of]
            return {name: value / count for name, value in calls.counts().items()}


class Calls:
    """Counts the system calls of a process, as `perf stat` does, which the guest has not; the process is never stopped for it."""

    TRACING = '/sys/kernel/tracing'
    KINDS = ('recvmsg', 'recvmmsg', 'sendto', 'sendmmsg', 'epoll_wait', 'epoll_ctl', 'read', 'write', 'futex', 'timerfd_settime')
    PERF_EVENT_OPEN, TRACEPOINT, INHERIT, ATTRIBUTES = 298, 2, 2, 112

    def __init__(self, process):
        if not os.listdir(self.TRACING):
            subprocess.run(['mount', '-t', 'tracefs', 'tracefs', self.TRACING], check=True)
        self.process = process

    def __enter__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        self.counters = {}
        for name in ('all', *self.KINDS):
            path = 'raw_syscalls/sys_enter' if name == 'all' else f'syscalls/sys_enter_{name}'
            number = int(pathlib.Path(self.TRACING, 'events', path, 'id').read_text())
            attributes = struct.pack('<IIQQQQQ', self.TRACEPOINT, self.ATTRIBUTES, number, 0, 0, 0, self.INHERIT)
            attributes = attributes.ljust(self.ATTRIBUTES, b'\0')
            self.counters[name] = [libc.syscall(self.PERF_EVENT_OPEN, attributes, int(task), -1, -1, 0)
                                   for task in os.listdir(f'/proc/{self.process}/task')]
            if min(self.counters[name]) < 0:
                raise bench.Failure(f'perf_event_open: {os.strerror(ctypes.get_errno())}')
        return self

    def counts(self):
        return {name: sum(struct.unpack('<Q', os.read(counter, 8))[0] for counter in counters) for name, counters in self.counters.items()}

    def __exit__(self, *_):
        for counter in sum(self.counters.values(), []):
            os.close(counter)


def wants(name):
    return not WORDS or any(word in name for word in WORDS)


def put(name, unit, values, remark=''):
    print(json.dumps({'name': name, 'unit': unit, 'values': values, 'remark': remark}), flush=True)


def compare(feeding, name, what, lines, event, count_of, per='1/s'):
    """Rows of the rate or the time, the processor and the system calls of one `what`."""
    if not wants(name):
        return
    found = feeding.in_turns(lines, event, count_of)
    rates = {host: 1e6 / rate if per == 'µs' else rate for host, (rate, _) in found.items()}
    put(name, per, rates, f'median of {RUNS}')
    put(f'{name}: processor', 'ns', {host: used for host, (_, used) in found.items()}, f'of one {what}, all threads but the feeder’s')
    calls = feeding.calls(lines[OURS], event, count_of)
    kinds = ', '.join(f'{kind} {calls[kind]:.4f}' for kind in Calls.KINDS if calls[kind] >= 0.001)
    put(f'{name}: system calls of one {what}', '', {OURS: calls['all']}, kinds)


def inside():
    for credits, returns in CREDITS:
        with Feeding(credits, returns) as feeding:
            if (credits, returns) == CREDITS[0]:
                for length in LENGTHS:
                    line = f'stream {PARTS * PART * length} {length} {PART * length}'
                    compare(feeding, f'notifications to an async loop, {length} octets', 'notification',
                            dict.fromkeys((OURS, NULL, KERNEL), line),
                            'streamed', 'notifications')
                for way, ours in ('', f'read {READS}'), (', on the adapter’s thread', f'here read {READS}'):
                    compare(feeding, f'read{way}', 'read', {OURS: ours, NULL: f'read {READS}', KERNEL: f'read {READS}'},
                            'reads', 'reads', 'µs')
            theirs = f'write {WRITES * WRITE_LENGTH} {WRITE_LENGTH}'
            for way, number in ('one after the other', 1), ('16 at once', 16):
                ours = f'here writes {WRITES * WRITE_LENGTH} {WRITE_LENGTH} {number}'
                together = f' returned {returns} at a time' if returns > 1 else ''
                compare(feeding, f'write without response, credits {credits}{together}, {way}', 'write',
                        {OURS: ours, NULL: theirs, KERNEL: theirs},
                        'written', 'writes')


# MARK: Outside

def libraries(binary):
    """What a binary is linked with and the guest lacks: all but the C library."""
    listed = subprocess.run(['ldd', binary], capture_output=True, text=True).stdout
    return [path for path in re.findall(r'=> (/\S+)', listed)
            if not re.match(r'(libc|libm|libdl|libpthread|librt)\.so', os.path.basename(path))]


def fill(share, programs):
    """The folder that the guest sees: the programs, this script and what it needs."""
    os.chmod(share, 0o755)
    for folder in 'Tools/Benchmarks', 'Tests/System/jelling':
        os.makedirs(os.path.join(share, folder))
        for path in pathlib.Path(ROOT, folder).glob('*.py'):
            shutil.copy(path, os.path.join(share, folder))
    os.mkdir(os.path.join(share, 'programs'))
    for name in 'Feeder', 'NullHost', 'KernelHost', 'Central':
        binary = os.path.join(programs, name)
        # The guest reads them over 9p.
        subprocess.run(['strip', '-o', os.path.join(share, 'programs', name), binary], check=True)
        for path in libraries(binary):
            shutil.copy(path, os.path.join(share, 'programs'))


def outside():
    table = []
    with tempfile.TemporaryDirectory(prefix='jelling-') as share:
        fill(share, os.path.abspath(sys.argv[1]))
        # A program looks for its libraries beside itself, too.
        command = 'cp programs/* /tmp; export LD_LIBRARY_PATH=/tmp; python3 Tools/Benchmarks/guest.py --inside '
        command += ' '.join(map(repr, WORDS))
        guest = subprocess.Popen([f'{ROOT}/Tools/kernel/run-guest.sh', '-i', '0', '-s', share, '-t', str(LIMIT), '--', command],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
        said = []
        for line in guest.stdout:
            if not line.startswith('{'):
                said.append(line.strip())
                continue
            one = json.loads(line)
            ours, null, kernel = (one['values'].get(host) for host in (OURS, NULL, KERNEL))
            row(one['name'], ours, one['unit'], peer=null or '', remark=('peer: the null host; ' if null else '') + one['remark'])
            if kernel:
                row(f'{one["name"]}, beside the kernel’s host', ours, one['unit'], peer=kernel)
            table.append((one['name'], one['unit'], ours, null, kernel, one['remark']))
        if guest.wait() != 0:
            row('kernel guest', check='check', remark='failed: ' + ' '.join(said)[-600:].replace('\t', ' '))
        elif not WORDS and '--check' not in sys.argv:
            write_page(table)


def write_page(table):
    lines = ['| what | Jelling | null host | ratio | kernel’s host | ratio | |', '|---|---|---|---|---|---|---|']
    for name, unit, ours, null, kernel, remark in table:
        ratios = [f'{ours / other:.2f}' if other else '' for other in (null, kernel)]
        lines.append(f'| {name} | {figure(ours, unit)} | {figure(null, unit)} | {ratios[0]} | '
                     f'{figure(kernel, unit)} | {ratios[1]} | {remark} |')
    write_between('guest', lines)


inside() if IS_INSIDE else outside()
