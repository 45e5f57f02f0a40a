"""How long someone waits who has just cloned: the demo, a debug build and a release build, each in a clone of its own.

  first_run.py [WORD]…     words choose rows by name

Packages are fetched anew, so the network counts. Prints rows for `table.py`; without words its table goes into
Documentation/Performance.md."""
import os, subprocess, sys, tempfile, time

from rows import ROOT, bench, figure, row, write_between

WORDS = [word for word in sys.argv[1:] if word != '--check']
# Seconds that are wanted.
COMMANDS = {'Tools/demo': (['Tools/demo'], 150), 'swift build --product bletool': (['swift', 'build', '--product', 'bletool'], 150),
            'Tools/release': (['Tools/release'], 250)}
TABLE = []


def measure(name, command, wanted):
    with tempfile.TemporaryDirectory(prefix='jelling-') as folder, tempfile.TemporaryFile() as said:
        subprocess.run(['git', 'clone', '-q', ROOT, folder], check=True)
        start = time.monotonic()
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        seconds, child.returncode = time.monotonic() - start, status
        if status:
            raise bench.Failure(f'{name} ended with status {os.waitstatus_to_exitcode(status)}')
    computed = usage.ru_utime + usage.ru_stime
    row(f'{name} in a fresh clone', seconds, 's', f'<={wanted}', remark=f'{computed:.0f} s of the processor, {os.cpu_count()} cores')
    TABLE.append(f'| `{name}` | {figure(seconds, "s")} | {figure(wanted, "s")} | {figure(computed, "s")} |')


for name, how in COMMANDS.items():
    if not WORDS or any(word in name for word in WORDS):
        measure(name, *how)
if not WORDS:
    write_between('first', [f'| in a fresh clone, {os.cpu_count()} cores | time | wanted | of the processor |', '|---|---|---|---|', *TABLE])
