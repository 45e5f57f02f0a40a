"""Options, fixtures and the choice of tests. README.md in Tools and CONTRIBUTING.md say how to run them."""
import fcntl, os, signal

import pytest

pytest.register_assert_rewrite('jelling')

from jelling.programs import BLETOOL, PYTHON, remedy   # noqa: E402, after it

try:
    import cryptography, google.protobuf, grpc_tools, xdist   # noqa: E401, F401
except ImportError as error:
    pytest.exit(f'{error}: Tools/install peers, then {PYTHON} -m pytest', 1)

from jelling import options   # noqa: E402
from jelling.bench import Bench   # noqa: E402
from jelling.child import Failure   # noqa: E402
from jelling.lab import KINDS, PRESETS, SPECIAL_KINDS, Lab   # noqa: E402

# The guests `presets` and `figures` take minutes of a processor.
DEFAULT_GUESTS = ('legacy', 'extended', 'adapters', 'controllers', 'uart', 'usb', 'bluez')

# Seconds. The longest one takes a minute and a half on a quiet machine.
LONGEST_TEST = 900


def pytest_addoption(parser):
    group = parser.getgroup('jelling')
    group.addoption('--kind', action='append', choices=list(KINDS), help='a kind of controller, for interop; several are possible')
    group.addoption('--through-bled', action='store_true', help='interop: a daemon between the tool and its controller, where it can be')
    group.addoption('--through-bridge', action='store_true', help='interop: a bridge between the tool and its controller, where it can be')
    group.addoption('--presets', action='store_true', help='interop: in place of the simulator, each family of controllers that it plays')
    group.addoption('--cases', help='only the tests of these names, with commas between them')
    group.addoption('--guest', action='append', help='a kind of guest, for kernel; by default ' + ', '.join(DEFAULT_GUESTS)
                    + '; also presets, figures, daemon and systemd')
    group.addoption('--slow-images', action='store_true', help='image: on each machine also what takes long')
    group.addoption('--kills', type=int, default=0, help='how often to kill at random moments; by default as often as fits into the time')
    group.addoption('--messages', type=int, default=0, help='how many broken messages to send, to bled and to each door of the gateway')
    group.addoption('--seed', type=int, default=1, help='of the tests with chance in them')


def pytest_configure(config):
    options.KILLS, options.MESSAGES, options.SEED = config.option.kills, config.option.messages, config.option.seed
    Lab.through_bled = config.option.through_bled
    Lab.through_bridge = config.option.through_bridge
    config.option.maxschedchunk = config.option.maxschedchunk or 1
    config.pluginmanager.register(Hopeless(config))
    # A job that a shell put in the background ignores ^C, and so would every child; the tests send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session):
    for program, what in (BLETOOL, remedy('bletool')), (PYTHON, 'Tools/install peers'):
        if not session.config.option.collectonly and not os.access(program, os.X_OK):
            pytest.exit(f'{program} is missing: {what}', 1)


def pytest_xdist_auto_num_workers(config):
    """Most of a test's time is waiting."""
    return max(6, os.cpu_count() or 6)


# The choice of tests

def settings(node, name='lab'):
    """What the marks of this name say, the closest ones last."""
    found = {}
    for one in (mark for parent in node.listchain() for mark in parent.own_markers if mark.name == name):
        found |= {**({'kinds': one.args[0]} if one.args else {}), **one.kwargs}
    return found


def pytest_generate_tests(metafunc):
    if 'lab' in metafunc.fixturenames:
        ordinary = [kind for kind in KINDS if kind not in SPECIAL_KINDS]
        kinds = settings(metafunc.definition).get('kinds', ordinary)
        metafunc.parametrize('kind', list(PRESETS) if metafunc.config.option.presets and 'simulator' in kinds else kinds)
    if 'bench' in metafunc.fixturenames and metafunc.definition.get_closest_marker('through_bled'):
        metafunc.parametrize('through_bled', [pytest.param(False, id='direct'), pytest.param(True, id='through_bled')])


def case_name(item):
    """As people write it: without `test_`, parameters behind it, and without the kind of controller."""
    name, _, rest = item.name.removesuffix(']').partition('[')
    parameters = item.callspec.params if rest else {}
    ids = rest.removeprefix(parameters.get('kind', '')).removeprefix('direct').removeprefix('through_bled').strip('-').replace('-', '_')
    return '_'.join(filter(None, [name.removeprefix('test_'), ids, parameters.get('through_bled') and 'through_bled']))


def sentence(item):
    """What must hold, in a line: of the case, or of the test."""
    return getattr(item, 'callspec', None) and item.callspec.params.get('sentence') or (item.obj.__doc__ or '').partition('\n')[0]


def is_chosen(item):
    option = item.config.option
    if option.cases and case_name(item) not in option.cases.split(','):
        return False
    parameters = item.callspec.params if hasattr(item, 'callspec') else {}
    if 'guests' in parameters:
        return parameters['guests'] in (option.guest or DEFAULT_GUESTS)
    if 'lab' not in item.fixturenames:
        return True
    kind, wish = parameters['kind'], settings(item)
    if option.presets != (kind in PRESETS):
        return False
    # Several programs use btvirt's socket at once, each as a controller of its own.
    if option.through_bridge and (kind == 'btvirt' or not wish.get('through_bridge', True)):
        return False
    if kind not in PRESETS and kind not in wish.get('kinds', KINDS) or kind not in (option.kind or KINDS):
        return False
    shared = wish.get('through_bled', False)
    return (shared in (True, 'only') or kind in (shared or ()) or kind in PRESETS and 'simulator' in (shared or ())) if option.through_bled else shared != 'only'


def pytest_collection_modifyitems(config, items):
    for item in items:
        # -k finds words of the sentence, too.
        item.extra_keyword_matches.update([case_name(item), sentence(item)])
    config.hook.pytest_deselected(items=[item for item in items if not is_chosen(item)])
    items[:] = sorted(filter(is_chosen, items), key=lambda item: ('alone' in item.keywords, not is_slow(item)))


def is_slow(item):
    return 'slow' in item.keywords or settings(item).get('slow', False)


# Fixtures

@pytest.fixture(autouse=True)
def turn(request, tmp_path_factory):
    """Beside a test that measures time or the processor no other one runs."""
    folder = tmp_path_factory.getbasetemp()
    with open((folder.parent if 'PYTEST_XDIST_WORKER' in os.environ else folder) / 'turn', 'w+') as file:
        fcntl.lockf(file, fcntl.LOCK_EX if 'alone' in request.keywords else fcntl.LOCK_SH)
        yield


@pytest.fixture
def lab(request, kind):
    """Controllers of this kind, a peripheral of Bumble's on the second one, and `bletool` at work on the first."""
    wish = settings(request.node)
    lab = Lab(kind, wish.get('endpoints', 2))
    request.addfinalizer(lab.close)
    return lab.open(wish.get('peer', True))


@pytest.fixture
def through_bled():
    return False


@pytest.fixture
def bench(request, through_bled):
    """A scripted controller, and the programs at work on it."""
    bench = Bench(through_bled, **settings(request.node, 'controller'))
    request.addfinalizer(bench.close)
    return bench


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """What a bench finds at its end fails the test itself."""
    benches = [value for value in pyfuncitem.funcargs.values() if hasattr(value, 'check_end')]
    try:
        result = yield
        for bench in benches:
            bench.check_end()
        return result
    finally:
        for bench in benches:
            bench.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that waits without a limit of its own ends, too. Those of virtual machines have theirs."""
    if item.path.parent.name in ('kernel', 'image'):
        return (yield)

    def expire(*_):
        raise Failure(f'not over after {LONGEST_TEST} s')

    signal.signal(signal.SIGALRM, expire)
    signal.alarm(LONGEST_TEST)
    try:
        return (yield)
    finally:
        signal.alarm(0)


class Hopeless:
    """Where three have failed twice, the run has failed: to repeat what else fails would only take its time."""

    def __init__(self, config):
        self.config, self.failed_twice = config, 0

    def pytest_runtest_logreport(self, report):
        self.failed_twice += report.failed and getattr(report, 'rerun', 0) > 0
        if self.failed_twice >= 3:
            self.config.option.reruns = 0


def pytest_terminal_summary(terminalreporter):
    """One that passed when it ran again is told: nobody knows yet why it failed."""
    stats = terminalreporter.stats
    passed = {report.nodeid for report in stats.get('passed', ())}
    for report in stats.get('rerun', ()):
        if report.nodeid in passed:
            message = report.longrepr.reprcrash.message if hasattr(report.longrepr, 'reprcrash') else str(report.longrepr)
            terminalreporter.write_line(f'unsure  {report.nodeid}: passed when it ran again; at first: {message}')
