"""Runs what a busy machine can make fail: a case that failed runs once more, by itself. One that passes then is `unsure`, as with
Tests/System: nobody knows yet what it fell over."""
import concurrent.futures, contextlib, traceback

from jelling import lab

# After so many that failed twice nothing runs again: the ring has failed, and what hangs takes its time.
HOPELESS = 3
failed_twice = 0


def once(case):
    """(whether it is good, why not); what a case raises is why not."""
    try:
        is_good, why = case()
        return bool(is_good), why
    except AssertionError as error:
        return False, str(error) or traceback.format_exc().strip()
    except Exception:
        return False, traceback.format_exc().strip()


def again(case, first):
    """('unsure' or 'failed', why) of a case that failed and said `first`."""
    global failed_twice
    if failed_twice == HOPELESS:
        return 'failed', f'{first}\nnot run again: {failed_twice} have failed twice'
    is_good, second = once(case)
    if is_good:
        return 'unsure', f'passed when it ran again; at first: {first}'
    failed_twice += 1
    return 'failed', f'{first}\nrun again: {second}'


def outcomes(cases, jobs=1):
    """(what, 'passed', 'unsure' or 'failed', why) of each (what, case), `jobs` of them side by side."""
    cases, failures = list(cases), []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        ends = pool.map(once, [case for _, case in cases])
        for (what, case), (is_good, why) in zip(cases, ends):
            if is_good:
                yield what, 'passed', ''
            else:
                failures.append((what, case, why))
    for what, case, why in failures:
        yield what, *again(case, why)


@contextlib.contextmanager
def opened(make=lambda: lab.Lab('bumble'), peer=True):
    """A bench of Tests/System. Python needs a minute for Bumble on a machine that is busy with builds."""
    for attempts_left in (2, 1, 0):
        bench = make()
        try:
            bench.open(peer=peer)
            break
        except Exception as error:
            bench.close()
            if not attempts_left or not isinstance(error, lab.Failure):
                raise
    try:
        yield bench
    finally:
        bench.close()
