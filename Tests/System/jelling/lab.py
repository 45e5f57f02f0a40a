"""One bench: a controller for the tool, one for the peer, the peer itself, and the tool at work on them.

Every test gets a bench of its own, so that nothing of one test reaches the next."""
import fcntl, glob, json, os, pathlib, shutil, signal, subprocess, tempfile, time

from jelling.child import PATIENCE, Child, Failure, Result, Running, wait_until
from jelling.client import is_listening
from jelling.forks import Fork
from jelling.programs import BLED, BLETOOL, BTVIRT, CONTROLLERS, EXAMPLES, PEER_SCRIPTS, PEERS, PYTHON
from jelling.relay import Relay

# Options of controllers.py or simulated-controllers, and of the tool, for each kind of controller.
KINDS = {
    'bumble': ([], []),
    'bumble-legacy': (['--legacy-reports'], []),
    'bumble-acl251': (['--acl-len', '251', '--acl-num', '3'], []),
    'bumble-answers': (['--scan-responses'], []),
    'bumble-answers-legacy': (['--scan-responses', '--legacy-reports'], []),
    'bumble-stock': (['--stock'], ['--own-address', 'static']),
    'btvirt': (None, []),
    'simulator': ([], []),
    'simulator-legacy': (['--legacy', '--acl-len', '27', '--acl-num', '4'], []),
}
# Simulated ones of which the first, the tool's, is of a real family and has its faults.
PRESETS = {f'simulator-{name}': (['--preset', name, '--preset', 'none'], []) for name in (
    'csr-clone', 'realtek-8761', 'ats2851', 'intel-ax2xx', 'broadcom-pi', 'zephyr-usb', 'esp32', 'mediatek-7922', 'cc2564', 'virtual-machine')}
KINDS |= PRESETS
# Only for the cases that name them.
SPECIAL_KINDS = ('bumble-answers', 'bumble-answers-legacy', *PRESETS)
PEER_ADDRESS = 'F2:F1:F0:00:00:02'
REMOTE_USER_TERMINATED = 0x13


def heard(child, address, what='heard'):
    """What peer_sets.py has heard of an address."""
    return child.wait_for(lambda l: l.get('ev') == what and l.get('address', '').startswith(address), f'{what} {address}')[0]


class Lab:
    # Whether the tool and the apps get their controller from a daemon.
    through_bled = False
    # Whether they get it over a bridge.
    through_bridge = False

    def __init__(self, kind, endpoints=2):
        self.kind, self.count = kind, endpoints
        self.dir = tempfile.mkdtemp(prefix='jelling-')
        self.children, self.relays = [], []
        # The sockets of daemons with their processes and folders of state, by their controllers.
        self.daemons = {}
        # The configuration file of daemons that are started from now on.
        self.settings = {}
        self.controllers = self.peer = None
        self.number = 0
        # Links that did not end by our own Remote User Terminated are a failure, unless a test is about just that.
        self.every_link_ends_by_us, self.servers = True, []

    # Controllers and peer

    @property
    def is_simulator(self):
        return self.kind.startswith('simulator')

    def open(self, peer=True):
        options, self.tool_options = KINDS[self.kind]
        if options is None:
            self.start_btvirt()
        else:
            sockets = [f'unix:{self.dir}/hci{i}' for i in range(self.count)]
            program = [CONTROLLERS] if self.is_simulator else [PYTHON, f'{PEER_SCRIPTS}/controllers.py']
            self.controllers = self.spawn(os.path.basename(program[-1]), [*program, *sockets, 'tcp:127.0.0.1:0', *options],
                                          start=subprocess.Popen if self.is_simulator else Fork)
            ready = self.controllers.wait_for(lambda l: 'endpoints' in l, 'READY')[0]
            *self.endpoints, self.tcp_endpoint = ready['endpoints']
            self.endpoint, self.peer_endpoint = self.endpoints[:2]
            self.address = (ready['addresses'][0] or '').removesuffix('/P')
            if self.through_bridge:
                self.endpoint = self.endpoints[0] = self.bridge(self.endpoint)
        if peer:
            self.start_peer()
        return self

    def spawn(self, name, command, environment=None, terminal=None, **how):
        """Starts a program that ends with the bench."""
        self.number += 1
        child = Child(name, command, self.path(f'program{self.number}.err'), environment, terminal, **how)
        self.children.append(child)
        return child

    def bled(self, transport, number=0, state='state/jelling', options=()):
        """The socket of the daemon on this controller, the one with this number of btvirt's; its bonds are in that folder."""
        if (transport, number) not in self.daemons:
            self.number += 1
            # Two daemons cannot use one folder. Behind a relay is the same controller, whose bonds are wanted; elsewhere is another.
            if users := [key for key, (_, _, used) in self.daemons.items() if used == state]:
                if transport in [relay.endpoint for relay in self.relays]:
                    for key in users:
                        self.daemons.pop(key)[1].end()
                else:
                    state += str(self.number)
            socket = self.path(f'bled{self.number}.sock')
            settings = self.path(f'bled{self.number}.json')
            pathlib.Path(settings).write_text(json.dumps(self.settings))
            os.chmod(settings, 0o600)
            child = self.spawn('bled', [BLED, '--adapter', transport, '--socket', socket, '--state', self.path(state), '--config', settings, *options])
            wait_until(lambda: is_listening(socket) or child.process.poll() is not None, 'bled listens')
            if child.process.poll() is not None:
                raise Failure(f'bled does not listen: {child.stderr()}')
            self.daemons[transport, number] = socket, child, state
        return self.daemons[transport, number][0]

    def bridge(self, transport):
        """Where a bridge gives this controller away."""
        tool = self.spawn('bridge', [BLETOOL, '--json', '-t', transport, 'bridge', '--listen', f'unix:{self.path("bridge")}'])
        return tool.wait_event('bridgeReady')[0]['listen']

    def start_btvirt(self):
        # btvirt's socket names are fixed, and a second btvirt takes them over: move ours away at once.
        with open('/tmp/bt-server.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for path in glob.glob('/tmp/bt-server-*'):
                os.unlink(path)
            self.btvirt = btvirt = self.spawn('btvirt', [BTVIRT, '-s'], {**os.environ, 'LD_PRELOAD': f'{PEERS}/algshim.so'})
            # The last one that it makes.
            wait_until(lambda: os.path.exists('/tmp/bt-server-mon') or btvirt.process.poll() is not None, 'the sockets of btvirt')
            if btvirt.process.poll() is not None:
                raise Failure(f'btvirt makes no sockets: {btvirt.stderr()}')
            time.sleep(0.02)
            for path in glob.glob('/tmp/bt-server-*'):
                # By its name, as one that died may have left its socket there.
                shutil.move(path, self.path(os.path.basename(path)))
        self.endpoint = self.peer_endpoint = f'unix:{self.dir}/bt-server-le'
        self.endpoints = [self.endpoint] * self.count
        self.address = None

    def start_peer(self, *arguments):
        self.peer = self.bumble('peer_peripheral', self.peer_endpoint, '--long-size', '512', *arguments)
        return self.peer

    def bumble(self, name, *arguments, is_ready=True):
        """A program of Tools/peers."""
        child = self.spawn(f'{name}.py {" ".join(arguments)}', [PYTHON, f'{PEER_SCRIPTS}/{name}.py', *arguments], start=Fork)
        if is_ready:
            child.wait_for(lambda l: l.get('ev') == 'ready', 'ready')
        return child

    def central(self, *arguments, number=1, timeout=PATIENCE):
        """peer_central.py on the controller with this number, with its own address; it prints one line per step."""
        return self.bumble('peer_central', self.endpoints[number], '--live', '--timeout', str(timeout),
                           '--address', f'F0:F1:F2:00:00:{number:02X}', *arguments, is_ready=False)

    def peer_events(self, name):
        return [l for l in self.peer.lines if l.get('ev') == name]

    def wait_peer(self, name, count=1, timeout=PATIENCE):
        return self.peer.wait_for(lambda l: l.get('ev') == name, name, timeout, count)

    def database(self):
        return self.peer_events('database')[0]['services']

    def relay(self, watch=None, uart=False):
        relay = Relay(self.dir, self.endpoint, watch, uart)
        self.relays.append(relay)
        return relay

    def path(self, name):
        return os.path.join(self.dir, name)

    def script(self, *lines):
        self.number += 1
        path = self.path(f'script{self.number}')
        pathlib.Path(path).write_text('\n'.join(lines) + '\n')
        return path

    # The tool

    def command(self, *arguments, via=None, json=True, options=()):
        via = via or self.endpoint
        if self.through_bled:
            via = f'bled:{self.bled(via)}'
        return [BLETOOL, '-t', via, *(['--json'] if json else []), *self.tool_options, *options,
                *arguments]

    def start(self, *arguments, terminal=None, stdin=subprocess.DEVNULL, **how):
        return self.launch(self.command(*arguments, **how), terminal, stdin=stdin)

    def running(self, *arguments, stderr=subprocess.DEVNULL, json=False, **how):
        """The tool at work, whose input and output are octets for the test."""
        return Running(self.command(*arguments, json=json, **how), stdin=subprocess.PIPE, stderr=stderr, text=False, env=self.environment)

    @property
    def environment(self):
        return {**os.environ, 'XDG_STATE_HOME': self.path('state')}

    def launch(self, command, terminal=None, **how):
        return self.spawn('bletool ' + ' '.join(command[1:]), command, self.environment, terminal, **how)

    def profile(self, content):
        """A file with services for `serve`."""
        self.number += 1
        path = self.path(f'profile{self.number}.json')
        pathlib.Path(path).write_text(json.dumps(content))
        return path

    def serving(self, profile, name, *arguments, **how):
        """`serve`, once it advertises."""
        tool = self.start('serve', '--profile', self.profile(profile), '--name', name, *arguments, **how)
        tool.wait_event('advertising')
        self.servers.append(tool)
        return tool

    def stop(self, tool, how=signal.SIGINT):
        """Ends `serve` or `advertise`; that is a success."""
        tool.is_ended = True
        tool.process.send_signal(how)
        result = self.finish(tool)
        assert result.status == 0, 'exit status: ' + result.describe()
        assert not result.strays, f'stdout is not one JSON object a line: {result.strays[:3]}'
        assert not result.events('error'), result.events('error')
        return result

    def app(self, name, *arguments, number=0, state='app-state', terminal=None, **variables):
        """Starts a sample app for Core Bluetooth on the controller with this number; it prints one JSON object per line."""
        where = {'JELLING_TRANSPORT': self.endpoints[number], 'JELLING_STATE': self.path(f'{state}{number}')}
        if self.through_bled:
            where = {'JELLING_SOCKET': self.bled(self.endpoints[number], number, f'{state}{number}')}
        return self.spawn(name, [os.path.join(EXAMPLES, name), *arguments], {**os.environ, **where, **variables}, terminal)

    def finish(self, child, timeout=2 * PATIENCE):
        """Waits until the tool ends by itself."""
        try:
            status = child.process.wait(timeout)
        except subprocess.TimeoutExpired:
            child.end(signal.SIGKILL)
            raise Failure(f'still runs after {timeout} s: ' + Result(child, None).describe()) from None
        child.reader.join(PATIENCE)
        return Result(child, status)

    def run(self, *arguments, timeout=2 * PATIENCE, status=0, **how):
        """Runs the tool to its end; its exit status must be `status` (None: any)."""
        result = self.finish(self.start(*arguments, **how), timeout)
        if status is not None and result.status != status:
            raise Failure(f'exit status {result.status}, want {status}: ' + result.describe())
        if how.get('json', True) and result.strays:
            raise Failure(f'stdout is not one JSON object a line: {result.strays[:3]}: ' + result.describe())
        return result

    def gatt(self, *arguments, peer='BumblePeer', **how):
        return self.run('gatt', peer, *arguments, **how)

    # The end

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def check_end(self):
        """What still serves ends in order, and each link by us."""
        for tool in self.servers:
            if not tool.is_ended:
                self.stop(tool)
        if not self.peer or not self.every_link_ends_by_us or self.peer.is_ended:
            return
        connected = len(self.peer_events('connected'))
        ended = self.wait_peer('disconnected', connected) if connected else []
        wrong = [e['reason'] for e in ended if e['reason'] != REMOTE_USER_TERMINATED]
        if wrong:
            raise Failure(f'links ended with reasons {wrong}, want {REMOTE_USER_TERMINATED}')

    def close(self):
        if not os.path.exists(self.dir):
            return
        for relay in self.relays:
            if not relay.closed:
                relay.cut()
        for child in reversed(self.children):
            child.end()
        shutil.rmtree(self.dir, ignore_errors=True)
        errors = [r.error for r in self.relays if r.error]
        if errors:
            raise Failure(f'not H4: {errors}')
