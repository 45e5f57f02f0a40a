"""These tests run in virtual machines: inside, this starts what they need; outside, each waits for what the guest says of it."""
import json, os, pathlib, re, subprocess

import pytest

MODE = os.environ.get('JELLING_GUEST')
if MODE:
    from kernel.bluez import start_bluez
    from kernel.harness import bring_up_adapters, has_sets, shell

    os.environ['PATH'] = '/usr/sbin:/sbin:' + os.environ['PATH']
else:
    from jelling import guest


def mode_of(item):
    return item.callspec.params.get('guests') if hasattr(item, 'callspec') else None


def name_of(item):
    """Without the folder, and without the guest that it runs in."""
    return f'{item.path.stem}::' + item.name.replace(f'[{mode_of(item)}]', '').replace(f'[{mode_of(item)}-', '[')


# Inside

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if MODE and os.path.exists('/host/tests'):
        wanted = pathlib.Path('/host/tests').read_text().splitlines()
        items[:] = sorted((item for item in items if name_of(item) in wanted), key=lambda item: wanted.index(name_of(item)))


def pytest_runtest_makereport(item, call):
    if MODE and (call.when == 'call' or call.excinfo):
        is_skip = call.excinfo and call.excinfo.errisinstance(pytest.skip.Exception)
        outcome = 'passed' if not call.excinfo else 'skipped' if is_skip else 'failed'
        with open('/host/results', 'a') as file:
            said = ''.join(text for when, kind, text in item._report_sections if (when, kind) == ('call', 'stdout'))
            file.write(json.dumps({'test': name_of(item), 'outcome': outcome, 'message': str(call.excinfo and call.excinfo.value or ''),
                                   'said': said}) + '\n')


@pytest.fixture(scope='session', autouse=True)
def guests():
    """Outside, the kind of guest."""


@pytest.fixture(autouse=True)
def recorded_as(request):
    """Tools/record names its recordings by the test."""
    os.environ['JELLING_TEST'] = request.node.originalname.removeprefix('test_')


@pytest.fixture(scope='session', autouse=True)
def controllers():
    if not MODE or not os.environ['BTVIRT']:
        yield
        return
    btvirt = subprocess.Popen(['btvirt', *os.environ['BTVIRT'].split()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        bring_up_adapters()
        has_sets()
    except (AssertionError, subprocess.TimeoutExpired) as error:
        pytest.exit(f'the adapters do not come up: {error}; {shell("dmesg")[-1000:]}', 75)
    yield
    btvirt.terminate()


@pytest.fixture(scope='session')
def bluez():
    processes = start_bluez() if MODE else ()
    yield
    for process in processes:
        process.terminate()


@pytest.fixture(scope='session')
def hci1_is_up():
    if MODE:
        shell('hciconfig hci1 up')


@pytest.fixture
def sets():
    if MODE and not has_sets():
        pytest.skip('the controller has no sets')


# Outside

@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """One worker has all tests of a guest. The groups of xdist 3.8 are parts of the names of tests, which pytest 9.2 no longer changes."""
    if config.option.dist != 'loadgroup':
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Guests(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            found = re.search(r'\[(\w+)[-\]]', nodeid)
            return found[1] if found and found[1] in guest.BOOTS else nodeid

    return Guests(config, log)


def pytest_generate_tests(metafunc):
    if not MODE and 'guests' in metafunc.fixturenames:
        test = f'{metafunc.definition.path.stem}::{metafunc.definition.originalname}'
        if modes := [mode for mode in guest.BOOTS if guest.place(mode, test)]:
            metafunc.parametrize('guests', modes, scope='session')


GUESTS = {}


def guest_of(mode, item):
    """The one that runs all tests which have been chosen for this kind of guest; a test that failed has one of its own, unless it goes
    on from the state of others."""
    is_again, key, chosen = getattr(item, 'execution_count', 1) > 1, mode, [one for one in item.session.items if mode_of(one) == mode]
    if is_again and mode in guest.INDEPENDENT:
        key, chosen = item.nodeid, [item]
    if is_again or key not in GUESTS:
        placed = sorted([(guest.place(mode, name_of(one)), name_of(one)) for one in chosen], key=lambda pair: pair[0])
        if key in GUESTS:
            GUESTS[key].close()
        GUESTS[key] = guest.Guest(mode, [(boot, test) for (boot, _), test in placed])
    return GUESTS[key]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if MODE or not mode_of(pyfuncitem):
        return None
    outcome, message, said = guest_of(mode_of(pyfuncitem), pyfuncitem).end_of(name_of(pyfuncitem))
    print(said, end='')
    if outcome == 'skipped':
        pytest.skip(message)
    if outcome == 'failed':
        pytest.fail(message, pytrace=False)
    return True


def pytest_sessionfinish():
    for one in GUESTS.values():
        one.close()
