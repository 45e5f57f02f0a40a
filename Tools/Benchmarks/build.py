"""How long the processor computes for a clean build of the programs that people get, module by module, from the compiler's own statistics.

  build.py [PRODUCT]…     by default bletool and bled

Times of the processor hardly depend on what else the machine does. It builds in .build/measured, which is removed before. A build
with all products, on its page, goes into Documentation/Performance.md."""
import collections, json, os, pathlib, re, shutil, subprocess, sys

from rows import ROOT, row, write_between

FOLDER = pathlib.Path(ROOT, '.build', 'measured')
STATISTICS = FOLDER / 'statistics'
PHASES = {'types': 'Type checking and Semantic analysis', 'SIL': 'SIL optimization', 'LLVM': 'LLVM pipeline'}
SHOWN = 20


def built(product):
    """Seconds of the processor."""
    command = [os.path.join(ROOT, 'Tools', 'release'), '--build', '--product', product,
               '-Xswiftc', '-stats-output-dir', '-Xswiftc', str(STATISTICS)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, env={**os.environ, 'JELLING_BUILD': str(FOLDER)})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f'{product} does not build')
    return usage.ru_utime + usage.ru_stime


def modules():
    """{module: {what: seconds}}, of all frontends."""
    found = collections.defaultdict(collections.Counter)
    for path in STATISTICS.glob('stats-*-swift-frontend-*.json'):
        statistics = json.loads(path.read_text())
        whole, = [key for key in statistics if re.fullmatch(r'time\.swift-frontend\..*\.user', key)]
        times = found[whole.split('.')[2].split('-')[0]]
        times['all'] += statistics[whole] + statistics[whole.removesuffix('user') + 'sys']
        for short, phase in PHASES.items():
            times[short] += statistics.get(f'time.swift.{phase}.user', 0)
    return found


def main():
    products = sys.argv[1:] or ['bletool', 'bled']
    shutil.rmtree(FOLDER, ignore_errors=True)
    STATISTICS.mkdir(parents=True)
    totals = {product: built(product) for product in products}
    for product, seconds in totals.items():
        row(f'build of {product}', f'{seconds:.1f}', 's', remark='after the ones before it')
    times = modules()
    compiled = sum(module['all'] for module in times.values())
    row('what is written in Swift', f'{compiled:.1f}', 's')
    row('what is written in C and C++, SwiftPM, and linking', f'{sum(totals.values()) - compiled:.1f}', 's')
    lines = ['| module | processor | types | SIL | LLVM |', '|---|---|---|---|---|']
    for name, module in sorted(times.items(), key=lambda one: -one[1]['all'])[:SHOWN]:
        row(f'module {name}', f'{module["all"]:.1f}', 's', remark=', '.join(f'{phase} {module[phase]:.1f}' for phase in PHASES))
        lines.append(f'| `{name}` | {module["all"]:.0f} s | ' + ' | '.join(f'{module[phase]:.0f} s' for phase in PHASES) + ' |')
    lines.append(f'| all that is written in Swift | {compiled:.0f} s | | | |')
    lines.append(f'| C and C++, SwiftPM, linking | {sum(totals.values()) - compiled:.0f} s | | | |')
    if not sys.argv[1:]:
        write_between('build', lines)


main()
