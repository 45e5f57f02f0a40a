"""Virtual machines for the tests of kernel/: what goes into one, how it boots, and what its tests say."""
import compileall, glob, json, os, pathlib, re, shutil, subprocess, sys, tarfile, tempfile, threading

import iniconfig, packaging, pluggy, py, pygments, pytest

from jelling import bluez, programs
from jelling.child import wait_until
from jelling.daemon import library
from jelling.dongles import Dongles
from jelling.programs import ROOT

KERNEL = os.path.join(ROOT, 'Tools', 'kernel')
GO = '/usr/share/gocode'    # where Debian has packages of Go


def build(product='bletool'):
    """The binary that the other tests use too (Tests/System/jelling/programs.py); a debug build is brought up to date first."""
    ready = programs.path(product)
    if os.path.dirname(ready) == os.path.join(ROOT, '.build', 'debug'):
        subprocess.run(['swift', 'build', '--package-path', ROOT, '--product', product], check=True, stdin=subprocess.DEVNULL,
                       stdout=sys.stderr)
    elif not os.path.exists(ready):
        raise FileNotFoundError(f'{ready} is missing: {programs.remedy(product)}')
    return ready


def libraries(binary):
    """What a binary is linked with and the guest lacks: all but the C library."""
    listed = subprocess.run(['ldd', binary], capture_output=True, text=True).stdout
    found = re.findall(r'=> (/\S+)', listed)
    return [path for path in found if not re.match(r'(libc|libm|libdl|libpthread|librt)\.so', os.path.basename(path))]


# The tests of each boot of a guest, in their order: whole files, or single tests of test_daemon.py.
SUITE = ['test_adapters', 'test_trains', 'test_hosts', 'test_bluez', 'test_bleak', 'test_breadth', 'test_caching', 'test_channels',
         'test_pairing', 'test_raw']
BOOTS = {'legacy': [SUITE], 'extended': [SUITE],
         'adapters': [['all_of_none', 'another_index', 'late', 'hangs']],
         'daemon': [['all_adapters', 'five_programs', 'frozen', 'memory_is_short', 'limited', 'hangs', 'stopped_without_cgroup',
                     'writes_and_leaves'], ['after_reboot', 'another_index']],
         'controllers': [['test_controllers']],
         'systemd': [['test_systemd']],
         'presets': [['test_presets']],
         'bluez': [['test_door']],
         'figures': [['test_figures']],
         'uart': [['test_uart']],
         'usb': [['test_usb']]}
BTVIRT = {'legacy': '-L -l2', 'extended': '-l2'}
# Guests whose tests do not go on from each other's state.
INDEPENDENT = {*BTVIRT, 'bluez', 'figures', 'controllers', 'presets', 'uart', 'usb'}
# Of run-guest.sh. Figures do not depend on what else the machine does.
OPTIONS = {'usb': ['-n'], 'figures': ['-i', '0']}
PROGRAMS = {**dict.fromkeys(BTVIRT, ['bletool']), 'presets': ['bletool', 'simulated-controllers'], 'controllers': ['bletool', 'bled'], 'usb': ['bletool', 'bled'],
            'uart': ['simulated-controllers'], **dict.fromkeys(('bluez', 'figures'), ['bled', 'bled-bluez', 'simulated-controllers'])}
# What a guest sees of the repository, beside the tests of kernel/, and the page with a table that it makes.
FOLDERS = dict.fromkeys(('bluez', 'figures'), ['Tests/System/bluez', 'Tools/peers', 'Tools/Vectors'])
PAGES = {'presets': 'Controllers.md', 'bluez': 'BlueZ.md'}
# Guests with clients of BlueZ, where jelling/bluez.py finds them: bluetoothctl is part of the guest, bluez-tools is not.
CLIENTS = dict.fromkeys(FOLDERS, 'mkdir -p /tmp/clients; ln -s / /tmp/clients/root; cp bt-* /usr/bin; export BLUEZ_CLIENTS=/tmp/clients; ')
PEER_MODULES = ['bumble', 'pyee', 'cryptography', 'cffi', '_cffi_backend.*', 'typing_extensions.py']
# Of pygments, the languages that pytest does not name.
NEEDLESS = re.compile(r'pygments/lexers/(?!(__pycache__/)?(__init__|_mapping|diff|python)|__pycache__$)')
CLIENT_MODULES = ['bleak', 'dbus_fast', 'bless', 'dbus_next']
ALL_PROGRAMS = ['bletool', 'bled', 'heart-rate-relay']
# JELLING_GUEST_TABLE: a file that gets the table which a guest has made.
TABLE = os.environ.get('JELLING_GUEST_TABLE')
DISK_OCTETS = 64 << 20
# Exit statuses: of run-guest.sh, and of the tests whose adapters did not come up. Then another boot may do.
NOT_UP, NO_ADAPTERS = 125, 75
ATTEMPTS = 3
LIMIT = 3000    # seconds for a guest, boot included: against one that hangs; alone on two processors both take 160


def place(mode, test):
    """(boot, place in it) of a test in the guests of a mode; None where it does not run there."""
    module, _, name = test.partition('::')
    for number, boot in enumerate(BOOTS[mode]):
        for wanted in (module, name.removeprefix('test_')) if module == 'test_daemon' else (module,):
            if wanted in boot:
                return number, boot.index(wanted)


def fill(share, mode, name='bletool'):
    """Puts the tests, pytest and the programs into the folder that the guest sees; under this name the tool."""
    os.chmod(share, 0o755)
    # As in the repository, by whose root programs.py finds them.
    for folder in ('Tests/System/kernel', 'Tests/System/jelling', *FOLDERS.get(mode, ())):
        shutil.copytree(os.path.join(ROOT, folder), os.path.join(share, folder), ignore=shutil.ignore_patterns('__pycache__'))
    # The guest takes long to compile: half a minute of a processor for these, pytest and the standard library (run-guest.sh). One with another
    # version of Python compiles them all the same.
    compileall.compile_dir(os.path.join(share, 'Tests'), quiet=1)
    for unit in ('bled.service', 'bled.socket'):
        shutil.copy(os.path.join(ROOT, 'Tools', 'systemd', unit), share)
    for host in ('pybleno_host.py', 'whad_host.py'):
        shutil.copy(os.path.join(KERNEL, 'hosts', host), share)
    if mode in CLIENTS:
        for client in glob.glob(os.path.join(bluez.CACHE, 'root', 'usr', 'bin', 'bt-*')):
            shutil.copy(client, share)
    if mode in PAGES:
        shutil.copy(os.path.join(ROOT, 'Documentation', PAGES[mode]), share)
    with tarfile.open(os.path.join(share, 'site.tar'), 'w') as packed:
        for module in (pytest, sys.modules['_pytest'], pluggy, iniconfig, packaging, pygments):
            packed.add(os.path.dirname(module.__file__), os.path.basename(os.path.dirname(module.__file__)),
                       filter=lambda file: None if NEEDLESS.match(file.name) else file)
        packed.add(py.__file__, 'py.py')
        # Of jelling/actor.py.
        for module in 'google', 'bled_pb2.py':
            packed.add(os.path.join(library().name, module), module)
        if mode in CLIENTS:
            add_clients(packed)
    for product in PROGRAMS.get(mode, ALL_PROGRAMS):
        binary, target = build(product), os.path.join(share, name if product == 'bletool' else product)
        # Without symbols it starts faster in the guest, which reads it over 9p and runs without acceleration.
        if subprocess.run(['strip', '-o', target, binary], stderr=subprocess.DEVNULL).returncode:
            shutil.copy(binary, target)
        # A program looks for its libraries beside itself, too.
        for path in libraries(binary):
            shutil.copy(path, share)


def add_clients(packed):
    """Bumble, which is the peer, and the clients of BlueZ, with what they need: compiled, as the guest takes long for that."""
    for folder, modules in ((programs.PEERS, PEER_MODULES), (bluez.CACHE, CLIENT_MODULES)):
        for module in modules:
            place, = glob.glob(os.path.join(folder, 'venv', 'lib', 'python3*', 'site-packages', module))
            packed.add(place, os.path.basename(place))


def command(mode, boot=0):
    """What a guest runs in its shell: the tests of a boot, of which /host/tests may be a selection."""
    modules = dict.fromkeys(f'kernel/{one if one.startswith("test_") else "test_daemon"}.py' for one in BOOTS[mode][boot])
    # The tests that go on from each other's state end with the first one that fails.
    tests = (f'/usr/bin/python3 -m pytest -p no:unittest -p no:cacheprovider -q {"" if mode in INDEPENDENT else "-x "}' + ' '.join(modules))
    # With the last test of the first boot the power fails: no file system is unmounted and nothing is written back.
    cut = '; echo $? >/ctl/rc; echo b >/proc/sysrq-trigger' if boot + 1 < len(BOOTS[mode]) else ''
    return ('cp bletool* bled* heart-rate-relay simulated-controllers *.so* /tmp/ 2>/dev/null; chmod 755 /tmp/bletool* /tmp/simulated-controllers 2>/dev/null; mkdir -p /tmp/site; '
            f'tar xf site.tar -C /tmp/site; export PYTHONPATH=/tmp/site:/host/Tests/System:/host/Tools/Vectors JELLING_GUEST={mode} BTVIRT="{BTVIRT.get(mode, "")}"; '
            f'{CLIENTS.get(mode, "")}cd Tests/System; {"python3 -m kernel.systemd " if mode == "systemd" else ""}{tests}{cut}')


def launch(share, command, *options, limit=LIMIT):
    """A guest that runs a command."""
    return subprocess.Popen([f'{KERNEL}/run-guest.sh', *options, '-s', share, '-t', str(limit), '--', command],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')


class Guest(threading.Thread):
    """A guest at work on tests: (boot, test) of each."""

    def __init__(self, mode, tests):
        super().__init__(daemon=True)
        self.mode, self.tests, self.ends, self.said = mode, tests, {}, ''
        self.share = tempfile.mkdtemp(prefix='jelling-guest-')
        fill(self.share, mode)
        if mode in BTVIRT:
            fill_hosts(self.share)
        self.dongles = None
        if mode == 'usb':
            self.outside = tempfile.mkdtemp(prefix='jelling-usb-')
            self.dongles = Dongles(self.outside)
            pathlib.Path(self.share, 'usbip').write_text(str(self.dongles.port))
        self.start()

    def run(self):
        options = OPTIONS.get(self.mode, [])
        if self.mode not in INDEPENDENT:
            disk = os.path.join(self.share, 'disk')
            with open(disk, 'wb') as file:
                file.truncate(DISK_OCTETS)
            options = ['-m', '1536', '-d', disk]
        for boot in dict.fromkeys(number for number, _ in self.tests):
            pathlib.Path(os.path.join(self.share, 'tests')).write_text('\n'.join(test for number, test in self.tests if number == boot))
            before = len(self.results())
            for _ in range(ATTEMPTS):
                guest = launch(self.share, command(self.mode, boot), *options)
                self.said = guest.communicate()[0]
                if guest.returncode not in (NOT_UP, NO_ADAPTERS) or len(self.results()) > before:
                    break

    def results(self):
        """The lines that are whole."""
        try:
            return [json.loads(line) for line in pathlib.Path(os.path.join(self.share, 'results')).read_text().rpartition('\n')[0].splitlines()]
        except FileNotFoundError:
            return []

    def end_of(self, test):
        """(outcome, message, what it printed) of a test, when it has come."""
        def found():
            is_over = not self.is_alive()
            return next((one for one in self.results() if one['test'] == test), None) or is_over
        end = wait_until(found, test, 2 * LIMIT, 0.2)
        if end is True:
            return 'failed', f'the guest did not come to it: {self.said[-2000:]}', ''
        return end['outcome'], end['message'], end['said']

    def close(self):
        self.join()
        if self.dongles:
            self.dongles.close()
            shutil.rmtree(self.outside, ignore_errors=True)
        made = os.path.join(self.share, 'table.md')
        if TABLE and os.path.exists(made):
            shutil.copy(made, TABLE)
        shutil.rmtree(self.share, ignore_errors=True)


def fill_hosts(share):
    """Puts the hosts of other makes that Tools/install has installed into the folder; the tests of the others are skipped."""
    if shutil.which('go') and os.path.isdir(f'{GO}/src/github.com/paypal/gatt'):
        subprocess.run(['go', 'build', '-trimpath', '-ldflags=-s -w', '-o', f'{share}/gatt-host', '.'], cwd=f'{KERNEL}/hosts/gatt',
                       env={**os.environ, 'GO111MODULE': 'off', 'GOPATH': GO, 'GOFLAGS': '', 'CGO_ENABLED': '0'}, check=True)
    if os.path.isfile(f'{ROOT}/.cache/hosts/installed'):
        with tarfile.open(f'{share}/hosts.tar', 'w') as packed:
            packed.add(f'{ROOT}/.cache/hosts/python', '.')
