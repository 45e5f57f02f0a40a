"""Where each megabyte goes: what of bletool and of bled is in memory, by module and by kind.

  memory.py BUILD RELEASED [WORD]…   BUILD: the folder with what SwiftPM and Tools/release have linked, with its symbols;
                                     RELEASED: that of the programs as they are handed on

The kernel says of each page whether it is there (/proc/PID/pagemap), and the symbols whose code or constants it has: a page counts for
the module that has most of it. Prints rows for `table.py`; a run of both writes its table into Documentation/Performance.md."""
import bisect, collections, os, pathlib, re, struct, subprocess, sys, tempfile, time

from rows import row, write_between

from jelling.measures import kilobytes

BUILD, RELEASED = map(os.path.abspath, sys.argv[1:3])
WORDS = [word for word in sys.argv[3:] if word != '--check']
PAGE_BYTES = os.sysconf('SC_PAGE_SIZE')
APPS = 10
# Seconds; ends what hangs.
PATIENCE = 60
# Modules with less are one row.
LEAST = 128
OWNERS = ((r'\$s\d', None), (r'\$[sS]|_\$s|swift_|_swift|_ZN?K?5swift|_ZN12_GLOBAL__N_1', 'Swift’s standard library and runtime'),
          (r'_?dispatch_|_os_', 'libdispatch'), (r'CCryptoBoringSSL|.*BoringSSL', 'cryptography'), (r'_?CF|_ICU|u[a-z]+_', 'Foundation'))
FAMILIES = ((r'_?Foundation', 'Foundation'), (r'ArgumentParser', 'ArgumentParser'), (r'_?Crypto|SwiftASN1', 'cryptography'),
            (r'_Concurrency|_StringProcessing|_RegexParser|Synchronization|Dispatch', 'Swift’s standard library and runtime'))


def owner(symbol):
    """The module of a symbol, or what it belongs to in place of one."""
    for pattern, name in OWNERS:
        if re.match(pattern, symbol):
            if name:
                return name
            length = re.match(r'\$s(\d+)', symbol)
            module = symbol[length.end():length.end() + int(length[1])]
            return next((family for form, family in FAMILIES if re.match(form, module)), module)
    return 'other code'


class Symbols:
    """The owners of a linked program's pages."""

    def __init__(self, path):
        listed = subprocess.run(['nm', '-n', path], capture_output=True, text=True, check=True).stdout
        symbols = [(int(fields[0], 16), fields[2]) for fields in map(str.split, listed.splitlines()) if len(fields) == 3]
        shares = collections.defaultdict(collections.Counter)
        for (start, name), (end, _) in zip(symbols, symbols[1:]):
            whose = owner(name)
            while start < end:
                stop = min(end, (start // PAGE_BYTES + 1) * PAGE_BYTES)
                shares[start // PAGE_BYTES][whose] += stop - start
                start = stop
        self.owners = {page: share.most_common(1)[0][0] for page, share in shares.items()}


def mappings(pid):
    """(start, end, permissions, offset in the file, name, {field: kilobytes}) of each"""
    found = []
    for line in pathlib.Path(f'/proc/{pid}/smaps').read_text().splitlines():
        head = re.match(r'([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \d+\s*(.*)', line)
        if head:
            found.append((int(head[1], 16), int(head[2], 16), head[3], int(head[4], 16), head[5], {}))
        else:
            name, _, value = line.partition(':')
            if value.endswith('kB'):
                found[-1][5][name] = int(value.split()[0])
    return found


def resident(pid, start, end):
    """The numbers of the pages of a mapping that are there, from its start on."""
    with open(f'/proc/{pid}/pagemap', 'rb') as f:
        f.seek(start // PAGE_BYTES * 8)
        data = f.read((end - start) // PAGE_BYTES * 8)
    return [place for place, (entry,) in enumerate(struct.iter_unpack('<Q', data)) if entry >> 63]


def kinds(pid, program, symbols):
    """Kilobytes by kind."""
    counted, before, base = collections.Counter(), None, None
    for start, end, permissions, offset, name, fields in mappings(pid):
        size = fields.get('Rss', 0)
        if name == program:
            base = start if base is None else base
            if 'x' in permissions:
                for page in resident(pid, start, end):
                    whose = symbols.owners.get((start - base) // PAGE_BYTES + page, 'other code')
                    counted[f'code of {whose}'] += PAGE_BYTES // 1024
            else:
                changed = fields.get('Anonymous', 0)
                fixed = 'addresses that the loader has filled in' if 'w' not in permissions else 'variables'
                counted[fixed] += changed
                counted['constants, metadata and tables of names'] += size - changed
        elif name == '[heap]' or not name and before and before[2].startswith('---') and before[1] == start and size < 64:
            counted['heap' if name else 'stacks of threads'] += size
        elif name.startswith('[stack'):
            counted['stacks of threads'] += size
        elif name.startswith('['):
            counted['of the kernel'] += size
        elif name:
            counted['the C and C++ libraries of the system'] += size
        else:
            counted['heap'] += size
        before = start, end, permissions
    return counted


def report(what, process, program, linked):
    counted = kinds(process.pid, program, Symbols(linked))
    few = [name for name, size in counted.items() if size < LEAST]
    rest = sum(counted.pop(name) for name in few)
    rows = [(f'{what}: {name}', size) for name, size in counted.most_common()]
    rows += [(f'{what}: everything below {LEAST} kB', rest), (f'{what}: all', kilobytes(process)),
             (f'{what}: the most it ever was', kilobytes(process, 'VmHWM'))]
    for name, size in rows:
        row(name, size, 'kB')
    return rows


def linked(name):
    """The program with its symbols, in the order of what is handed on."""
    ordered = os.path.join(BUILD, f'{name}-ordered')
    return ordered if os.path.exists(ordered) else os.path.join(BUILD, name)


def lescan():
    program = os.path.join(RELEASED, 'bletool')
    process = subprocess.Popen([program, '-t', 'sim', 'lescan', '--duration', '60'], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(5)
        return report('bletool lescan on the simulator', process, program, linked('bletool'))
    finally:
        process.kill()
        process.wait()


def daemon():
    with tempfile.TemporaryDirectory(prefix='jelling-') as folder:
        socket, children = os.path.join(folder, 'bled.sock'), []

        def start(name, *arguments):
            program = os.path.join(RELEASED, name)
            children.append(subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL, env={**os.environ, 'JELLING_SOCKET': socket}))
            return program, children[-1]

        try:
            program, bled = start('bled', '--adapter', 'sim', '--socket', socket)
            deadline = time.monotonic() + PATIENCE
            while not os.path.exists(socket) and time.monotonic() < deadline:
                time.sleep(0.01)
            for _ in range(APPS):
                start('transfer-central')
            time.sleep(10)
            return report(f'bled with {APPS} apps on the simulator', bled, program, linked('bled'))
        finally:
            for child in children:
                child.kill()
                child.wait()


table = [measure() for name, measure in (('bletool lescan', lescan), ('bled', daemon))
         if not WORDS or any(word in name for word in WORDS)]
if not WORDS and '--check' not in sys.argv:
    write_between('memory', ['| what | kB |', '|---|---|', *(f'| {name} | {size:,} |' for name, size in sum(table, []))])
