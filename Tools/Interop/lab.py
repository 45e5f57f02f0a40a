"""One bench: a controller for the tool, one for the peer, the peer itself, and the tool at work on them.

Every test gets a bench of its own, so that nothing of one test reaches the next."""
import fcntl, glob, itertools, json, os, pty, select, shutil, signal, socket, subprocess, sys, tempfile, termios, threading, time

from relay import Relay

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path += [os.path.join(ROOT, 'Tools', 'Daemon'), os.path.join(ROOT, 'Tools')]      # after this folder
from client import is_listening   # noqa: E402
from programs import BLED, BLETOOL, CONTROLLERS as SIMULATED_CONTROLLERS, SAMPLES as EXAMPLES   # noqa: E402, F401
PEER_SCRIPTS = os.path.join(ROOT, 'Tools', 'peers')
PEERS = os.environ.get('PEERS_DIR') or os.path.join(ROOT, '.cache', 'peers')
PYTHON = os.path.join(PEERS, 'venv', 'bin', 'python')
BTVIRT = os.path.join(PEERS, 'btroot', 'usr', 'bin', 'btvirt')
# Whether the tool and the apps get their controller from a daemon.
THROUGH_BLED = False

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
# Only for the cases that name them.
SPECIAL_KINDS = ('bumble-answers', 'bumble-answers-legacy')
# How often programs are killed at random moments; 0: as often as fits into the time.
KILLS = 0
PEER_ADDRESS = 'F2:F1:F0:00:00:02'
REMOTE_USER_TERMINATED = 0x13
# Seconds for what takes one on an idle machine: a time limit ends what hangs, and no case fails because
# others load the machine.
PATIENCE = 60


class Failure(AssertionError):
    pass


PORTS = itertools.count(15000 + os.getpid() * 37 % 14000)
PORT_LOCK = threading.Lock()


def free_port():
    """Below those that the kernel gives to clients: no one takes it before, or between two uses."""
    with PORT_LOCK:
        while True:
            port = 15000 + next(PORTS) % 15000
            with socket.socket() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    s.bind(('127.0.0.1', port))
                    return port
                except OSError:
                    pass


class Child:
    """A process that prints one JSON object per line; its lines are kept and can be waited for."""

    def __init__(self, name, arguments, log, environment=None, terminal=None, stdin=subprocess.DEVNULL):
        self.name, self.log = name, log
        self.lines, self.strays, self.changed = [], [], threading.Condition()
        self.started = time.monotonic()
        self.is_ended = False
        self.errors = open(log, 'wb')
        self.process = subprocess.Popen(
            arguments, stdin=terminal.device if terminal else stdin, stdout=subprocess.PIPE,
            stderr=terminal.device if terminal else self.errors, env=environment,
            preexec_fn=terminal.take if terminal else None)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            text = line.decode('utf-8', 'replace').rstrip('\n')
            try:
                value = json.loads(text.removeprefix('READY '))
                if not isinstance(value, dict):
                    raise ValueError
            except ValueError:
                value = None
            with self.changed:
                self.lines.append(value) if value is not None else self.strays.append(text)
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def wait_for(self, wanted, what, timeout=PATIENCE, count=1):
        """The first `count` lines for which `wanted` is true."""
        end = time.monotonic() + timeout
        with self.changed:
            while True:
                found = [l for l in self.lines if wanted(l)]
                if len(found) >= count:
                    return found[:count]
                left = end - time.monotonic()
                if left <= 0 or (self.process.poll() is not None and not self.reader.is_alive()):
                    raise Failure(f'{self.name}: {len(found)} of {count} × {what} in {timeout} s; '
                                  f'last lines {self.lines[-3:]}; stderr: {self.stderr()[-400:]}')
                self.changed.wait(min(left, 0.2))

    def stderr(self):
        with open(self.log, encoding='utf-8', errors='replace') as f:
            return f.read().strip()

    def end(self, how=signal.SIGTERM, timeout=PATIENCE):
        # First: while one thread waits for a process, poll() reports to every other thread that it still runs.
        self.is_ended = True
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(PATIENCE)
        self.errors.close()


class Terminal:
    """A terminal with a user, for standard input and standard error of one process."""

    def __init__(self):
        self.person, self.device = pty.openpty()
        self.shown = ''

    def take(self):
        """In the new process: makes this its terminal."""
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def wait_for(self, text, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while text not in self.shown:
            left = end - time.monotonic()
            if left <= 0:
                raise Failure(f'{text!r} was not shown in {timeout} s, but {self.shown!r}')
            if select.select([self.person], [], [], min(left, 0.2))[0]:
                self.shown += os.read(self.person, 4096).decode('utf-8', 'replace')

    def type(self, line):
        os.write(self.person, line.encode() + b'\n')

    def close(self):
        os.close(self.person)
        os.close(self.device)


class Result:
    """The result of a finished run of the tool: exit status, JSON lines, stderr, seconds."""

    def __init__(self, child, status):
        self.status, self.lines, self.stderr = status, list(child.lines), child.stderr()
        self.seconds = time.monotonic() - child.started
        self.strays = list(child.strays)
        self.arguments = child.name

    def events(self, name):
        return [l for l in self.lines if l.get('event') == name]

    def describe(self):
        return (f'`{self.arguments}` ended with {self.status} after {self.seconds:.1f} s; '
                f'stdout {str((self.lines[-4:], self.strays[-2:]))[:500]}; stderr {self.stderr[-400:]}')


class Lab:
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
        self.every_link_ends_by_us = True

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
            program = [SIMULATED_CONTROLLERS] if self.is_simulator else [PYTHON, f'{PEER_SCRIPTS}/controllers.py']
            self.controllers = Child(os.path.basename(program[-1]), [
                *program, *sockets, 'tcp:127.0.0.1:0', *options], f'{self.dir}/controllers.err')
            self.children.append(self.controllers)
            ready = self.controllers.wait_for(lambda l: 'endpoints' in l, 'READY')[0]
            *self.endpoints, self.tcp_endpoint = ready['endpoints']
            self.endpoint, self.peer_endpoint = self.endpoints[:2]
            self.address = ready['addresses'][0].removesuffix('/P')
        if peer:
            self.start_peer()
        return self

    def bled(self, transport, number=0, state='state/jelling'):
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
            with open(settings, 'w') as file:
                json.dump(self.settings, file)
            os.chmod(settings, 0o600)
            child = Child('bled', [BLED, '--adapter', transport, '--socket', socket, '--state', self.path(state), '--config', settings],
                          self.path(f'bled{self.number}.err'))
            self.children.append(child)
            end = time.monotonic() + PATIENCE
            while not is_listening(socket):
                if time.monotonic() > end or child.process.poll() is not None:
                    raise Failure(f'bled does not listen: {child.stderr()}')
                time.sleep(0.01)
            self.daemons[transport, number] = socket, child, state
        return self.daemons[transport, number][0]

    def start_btvirt(self):
        # btvirt's socket names are fixed, and a second btvirt takes them over: move ours away at once.
        with open('/tmp/bt-server.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for path in glob.glob('/tmp/bt-server-*'):
                os.unlink(path)
            self.btvirt = btvirt = Child('btvirt', [BTVIRT, '-s'], f'{self.dir}/btvirt.err',
                                         {**os.environ, 'LD_PRELOAD': f'{PEERS}/algshim.so'})
            self.children.append(btvirt)
            end = time.monotonic() + PATIENCE
            while not os.path.exists('/tmp/bt-server-mon'):   # the last one that it makes
                if time.monotonic() > end or btvirt.process.poll() is not None:
                    raise Failure(f'btvirt makes no sockets: {btvirt.stderr()}')
                time.sleep(0.01)
            time.sleep(0.02)
            for path in glob.glob('/tmp/bt-server-*'):
                # By its name, as one that died may have left its socket there.
                shutil.move(path, self.path(os.path.basename(path)))
        self.endpoint = self.peer_endpoint = f'unix:{self.dir}/bt-server-le'
        self.endpoints = [self.endpoint] * self.count
        self.address = None

    def start_peer(self, *arguments):
        self.number += 1
        self.peer = Child('peer_peripheral.py', [
            PYTHON, f'{PEER_SCRIPTS}/peer_peripheral.py', self.peer_endpoint, '--long-size', '512', *arguments],
            self.path(f'peer{self.number}.err'))
        self.children.append(self.peer)
        self.peer.wait_for(lambda l: l.get('ev') == 'ready', 'ready')
        return self.peer

    def central(self, *arguments, number=1, timeout=PATIENCE):
        """peer_central.py on the controller with this number, with its own address; it prints one line per step."""
        self.number += 1
        child = Child(f'peer_central.py {" ".join(arguments)}', [
            PYTHON, f'{PEER_SCRIPTS}/peer_central.py', self.endpoints[number], '--live', '--timeout', str(timeout),
            '--address', f'F0:F1:F2:00:00:{number:02X}', *arguments], self.path(f'central{self.number}.err'))
        self.children.append(child)
        return child

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
        with open(path, 'w') as f:
            f.write('\n'.join(lines) + '\n')
        return path

    # The tool

    def command(self, *arguments, via=None, json=True, options=()):
        via = via or self.endpoint
        if THROUGH_BLED:
            via = f'bled:{self.bled(via)}'
        return [BLETOOL, '-t', via, *(['--json'] if json else []), *self.tool_options, *options,
                *arguments]

    def start(self, *arguments, terminal=None, **how):
        return self.launch(self.command(*arguments, **how), terminal)

    def launch(self, command, terminal=None):
        self.number += 1
        child = Child('bletool ' + ' '.join(command[1:]), command, self.path(f'tool{self.number}.err'),
                      {**os.environ, 'XDG_STATE_HOME': self.path('state')}, terminal)
        self.children.append(child)
        return child

    def app(self, name, *arguments, number=0, state='app-state', terminal=None, **variables):
        """Starts a sample app for Core Bluetooth on the controller with this number; it prints one JSON object per line."""
        self.number += 1
        where = {'JELLING_TRANSPORT': self.endpoints[number], 'JELLING_STATE': self.path(f'{state}{number}')}
        if THROUGH_BLED:
            where = {'JELLING_SOCKET': self.bled(self.endpoints[number], number, f'{state}{number}')}
        child = Child(name, [os.path.join(EXAMPLES, name), *arguments], self.path(f'app{self.number}.err'),
                      {**os.environ, **where, **variables}, terminal)
        self.children.append(child)
        return child

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

    def check_links(self):
        if not self.peer or not self.every_link_ends_by_us or self.peer.is_ended:
            return
        connected = len(self.peer_events('connected'))
        ended = self.wait_peer('disconnected', connected, 3) if connected else []
        wrong = [e['reason'] for e in ended if e['reason'] != REMOTE_USER_TERMINATED]
        if wrong:
            raise Failure(f'links ended with reasons {wrong}, want {REMOTE_USER_TERMINATED}')

    def close(self):
        for relay in self.relays:
            if not relay.closed:
                relay.cut()
        for child in reversed(self.children):
            child.end()
        shutil.rmtree(self.dir, ignore_errors=True)
        errors = [r.error for r in self.relays if r.error]
        if errors:
            raise Failure(f'not H4: {errors}')
