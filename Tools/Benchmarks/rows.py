"""What the benchmarks of several processes share: rows for `table.py`, and programs that answer each line with a line."""
import datetime, json, os, pathlib, platform, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, 'Tests', 'System'))
from jelling import lab as bench   # noqa: E402

PEER = bench.PEER_ADDRESS


def row(name, value='', unit='', budget='', check='', peer='', remark=''):
    print('\t'.join(str(field) for field in (name, value, unit, budget, check, peer, remark)), flush=True)


def figure(value, unit):
    """As Documentation/Performance.md has it."""
    if value is None:
        return ''
    if value >= 1000:
        text = f'{value:,.0f}'
    elif unit == '' and value < 10:
        text = f'{value:.4f}'.rstrip('0').rstrip('.') or '0'
    else:
        text = f'{value:.2f}'.rstrip('0').rstrip('.')
    return f'{text} {unit}'.strip()


def machine():
    """What was measured on, for a page."""
    model = re.search(r'model name\s*: (.*)', pathlib.Path('/proc/cpuinfo').read_text())
    return (f'{datetime.date.today()}: {model[1].strip() if model else platform.machine()}, {os.cpu_count()} processors, '
            f'Linux {platform.release().split("-")[0]}.')


def write_between(benchmark, lines):
    """Puts a table between the marks that a benchmark has in Documentation/Performance.md, below when and on what it was measured."""
    page = pathlib.Path(ROOT, 'Documentation', 'Performance.md')
    begin, end = f'<!-- Tools/benchmark {benchmark} writes from here -->', f'<!-- {benchmark} to here -->'
    head, found, rest = page.read_text(encoding='utf-8').partition(begin)
    if found:
        table = '\n'.join(re.sub(r' +\|', ' |', line) for line in lines)
        page.write_text(f'{head}{begin}\n{machine()}\n\n{table}\n{end}{rest.partition(end)[2]}', encoding='utf-8')


class Central:
    """A central that answers each line with a line."""

    def __init__(self, *arguments, log, expects=True):
        self.log, self.errors = log, open(log, 'wb')
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        if expects:
            self.expect('ready')

    def expect(self, event):
        line = self.process.stdout.readline()
        answer = json.loads(line) if line.startswith('{') else {}
        if answer.get('event') != event:
            errors = pathlib.Path(self.log).read_text(encoding='utf-8', errors='replace').strip()[-300:]
            raise bench.Failure(f'{self.process.args[0]} says {line!r} in place of {event}; stderr: {errors}')
        return answer

    def ask(self, line, event):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        return self.expect(event)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()


def measured(words, measure, name, *rest, needs_peers=True):
    """The rows of `measure` if one of the words is in the name; a failure is a row that says why."""
    if words and not any(word in name for word in words):
        return
    if needs_peers and not (os.path.exists(bench.PYTHON) and os.path.exists(bench.BTVIRT)):
        return row(name, remark=f'no peers in {bench.PEERS}: Tools/install peers')
    try:
        measure(name, *rest)
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        row(name, check='check', remark=f'failed: {error}'.replace('\t', ' ').replace('\n', ' '))
