"""What a process computes and asks of the kernel, counted from outside."""
import contextlib, functools, os, shutil, signal, subprocess, tempfile, time

# Of the system calls that are counted, what perf calls them.
EVENTS = {'raw_syscalls:sys_enter': 'all', 'syscalls:sys_enter_futex': 'futex', 'syscalls:sys_enter_read': 'read',
          'syscalls:sys_enter_epoll_wait': 'wait'}
# The same by the names of strace.
NAMES = {'total': 'all', 'futex': 'futex', 'read': 'read', 'epoll_wait': 'wait', 'epoll_pwait': 'wait'}


def computed(process):
    """Nanoseconds that the threads of a process have computed: other processes take time, and not these."""
    total = 0
    for task in os.listdir(f'/proc/{process}/task'):
        with contextlib.suppress(OSError), open(f'/proc/{process}/task/{task}/schedstat') as file:
            total += int(file.read().split()[0])
    return total


@functools.cache
def has_perf():
    """Whether perf is there, and may count."""
    if not shutil.which('perf'):
        return False
    done = subprocess.run(['perf', 'stat', '-x', ',', '-e', next(iter(EVENTS)), 'true'], capture_output=True, text=True)
    return done.returncode == 0 and done.stderr[:1].isdigit()


@contextlib.contextmanager
def system_calls(process):
    """Counts the system calls of a process while it works: all, and those for locks, reads and waits. Nothing where neither
    perf nor strace is there; strace makes each call slower."""
    counts = {}
    with tempfile.NamedTemporaryFile('r') as report:
        if has_perf():
            command = ['perf', 'stat', '-x', ',', '-o', report.name, '-p', str(process), '-e', ','.join(EVENTS)]
        elif shutil.which('strace'):
            command = ['strace', '-f', '-q', '-c', '-U', 'name,calls', '-o', report.name, '-p', str(process)]
        else:
            yield counts
            return
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # What it attaches to does not say when it has.
        time.sleep(0.5)
        try:
            yield counts
        finally:
            child.send_signal(signal.SIGINT)
            child.wait(20)
        for line in report:
            fields = line.split(',') if ',' in line else line.split()
            if len(fields) > 2 and fields[2] in EVENTS and fields[0].isdigit():
                counts[EVENTS[fields[2]]] = int(fields[0])
            elif len(fields) == 2 and fields[0] in NAMES and fields[1].isdigit():
                counts[NAMES[fields[0]]] = counts.get(NAMES[fields[0]], 0) + int(fields[1])
    if counts.get('all'):
        counts.update({name: 0 for name in NAMES.values() if name not in counts})
    else:
        counts.clear()
