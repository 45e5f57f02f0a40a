"""What the runners of cases on scripted controllers share: Tools/Attack/run and Tools/Field/run.

Importing it makes sure that Python's `cryptography` is there: it starts the program again with the Python of the peers, where needed."""
import argparse, concurrent.futures, glob, importlib, os, signal, sys, time, traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE)     # after the folder of the cases
try:
    import cryptography   # noqa: F401
except ImportError:
    root = os.path.dirname(os.path.dirname(HERE))
    python = os.path.join(os.environ.get('PEERS_DIR') or os.path.join(root, '.cache', 'peers'), 'venv', 'bin', 'python')
    if sys.executable == python or not os.access(python, os.X_OK):
        sys.exit(f'{python} is missing: Tools/install peers')
    os.execv(python, [python, *sys.argv])
import bench
from programs import remedy      # bench knows where both are
from tally import Tally


def run_one(case):
    """('passed' | 'failed' | 'skipped', seconds, message)"""
    started = time.monotonic()
    outcome, message, place = 'passed', '', None
    try:
        place = bench.Bench(case.settings)
        message = case.test(place) or ''
    except bench.Skip as error:
        outcome, message = 'skipped', str(error)
    except AssertionError as error:
        outcome, message = 'failed', str(error) or traceback.format_exc()
    except Exception:
        outcome, message = 'failed', traceback.format_exc()
    try:
        if place:
            place.close()
    except Exception as error:
        outcome, message = 'failed', f'{message}\n{error}'.strip()
    return outcome, time.monotonic() - started, message


def main(folder, description):
    """Runs the cases of the files *_cases.py in a folder, as the arguments say; the exit status."""
    for file in sorted(glob.glob(os.path.join(folder, '*_cases.py'))):
        importlib.import_module(os.path.basename(file)[:-3])     # they register
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--jobs', type=int, default=max(6, os.cpu_count() or 6))
    parser.add_argument('--again', action='store_true')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('words', nargs='*')
    args = parser.parse_args()
    bench.SEED = args.seed
    # A job that a shell put in the background ignores ^C, and so would every child.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    work = [c for c in bench.CASES if not args.words or any(w in c.name or w in c.sentence for w in args.words)]
    work.sort(key=lambda c: not c.slow)
    if args.list:
        for case in work:
            print(f'{case.name}: {case.sentence}')
        return 0
    if not os.access(bench.BLETOOL, os.X_OK):
        print(f'{bench.BLETOOL} is missing: {remedy("bletool")}', file=sys.stderr)
        print(f'0 passed, {len(work)} failed')
        return 1

    tally = Tally(args.again, args.jobs, len(work))

    def job(case):
        tally.take(case, f'{case.sentence} [{case.name}', *run_one(case))

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(job, case) for case in work]):
            done.result()
    return tally.finish(run_one)

