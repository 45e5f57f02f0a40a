"""`bled` as a process, and the programs that use it: what the cases share."""
import json, os, pathlib, re, resource, shutil, signal, socket, subprocess, sys, tempfile

import grpc

from pytest import mark

from jelling.child import Child, wait_until
from jelling import client
from jelling.client import is_listening
from jelling.programs import BLED, BLETOOL, EXAMPLES

# The classes that are generated from Protocol/bled.proto, which pytest finds (pyproject.toml).
messages = grpc.protos('bled.proto')

HEART = {'value': 0xC0DE_0000_0001, 'kind': 1}
# Seconds; ends what hangs.
LIMIT = int(os.environ.get('LIMIT', 120))
needs_root = mark.skipif(os.geteuid() != 0, reason='only root can be another user')


def octets(**fields):
    """A message to the daemon."""
    return messages.FromClient(**fields).SerializeToString()


def connected_as(user, path):
    """A socket that a process of this user has connected. The process stays, for the daemon looks at it."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        try:
            ours.close()
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            with socket.socket(socket.AF_UNIX) as own:
                own.connect(path)
                socket.send_fds(theirs, [b'1'], [own.fileno()])
            theirs.recv(1)
        finally:
            os._exit(0)
    theirs.close()
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    return socket.socket(fileno=descriptors[0]), ours


class Client(client.Client):
    """A tool. What it sends is given by the names of fields; what it receives are messages of the generated classes."""

    def __init__(self, path, timeout=LIMIT, user=None):
        if user is None:
            super().__init__(path, timeout)
        else:
            self.socket, self.life = connected_as(user, path)
            self.socket.settimeout(timeout)
            self.number = 0

    def greeted(self):
        """The daemon's welcome."""
        answer = self.greet()
        assert answer and answer.HasField('welcome'), f'not welcome: {answer}'
        return answer.welcome

    def send(self, **fields):
        self.send_octets(octets(**fields))

    def receive(self):
        """The next message; None at the end of the connection."""
        content = self.receive_octets()
        return None if content is None else messages.FromDaemon.FromString(content)

    def greet(self):
        """The daemon's answer: `welcome` or `refusal`."""
        self.send(hello={'version': 1, 'session': messages.SESSION_KIND_TOOL})
        return self.receive()

    def request(self, **command):
        """Begins an operation; returns its number."""
        self.number += 1
        self.send(request={'operation': self.number, **command})
        return self.number

    def request_all(self, commands):
        """Begins operations in one write."""
        whole = b''
        for command in commands:
            self.number += 1
            content = octets(request={'operation': self.number, **command})
            whole += len(content).to_bytes(4, 'little') + content
        self.socket.sendall(whole)

    def end(self, operation):
        """What `completed` says of an operation; other messages are skipped."""
        while (message := self.receive()) is not None:
            if message.HasField('completed') and message.completed.operation == operation:
                return message.completed


class AppClient(Client):
    """An app with one manager, that of a central."""

    def __init__(self, path, name, user=None, **hello):
        super().__init__(path, user=user)
        self.send(hello={'version': 1, 'session': messages.SESSION_KIND_APP, 'app': {'identifier': name, **hello}})
        answer = self.receive()
        assert answer and answer.HasField('app_welcome'), f'not welcome: {answer}'

    def ask(self, **request):
        self.send(app_request={'manager': 1, **request})

    def event(self, kind):
        """The next one of this kind."""
        while (message := self.receive()) is not None:
            if message.HasField('app_event') and message.app_event.HasField(kind):
                return getattr(message.app_event, kind)
        raise AssertionError(f'no event {kind}')

    def finds(self, service):
        """The first device that a scan for a service finds."""
        self.ask(create_central={})
        # What is asked for before poweredOn is dropped.
        while self.event('state_changed').state != 5:
            pass
        self.ask(scan={'services': [bytes.fromhex(service)]})
        self.found = self.event('discovered').peripheral.peer
        return self.found


def alerted(path, user=None):
    """An app that is suspended when its peripheral connects, and wants an alert then."""
    app = AppClient(path, 'org.example.alerted', user)
    # Connected a second later, when it is suspended.
    app.ask(connect={'peer': app.finds('180D'), 'options': {'notifies_on_connection': True, 'start_delay_milliseconds': 1000}})
    app.send(app_move={'to': 2})
    app.send(app_move={'to': 3})
    return app


def operator(path):
    client = Client(path)
    client.send(hello={'version': 1, 'session': messages.SESSION_KIND_OPERATOR})
    answer = client.receive()
    assert answer and answer.HasField('welcome'), f'no operator: {answer}'
    return client


class Daemon:
    """`bled` on the simulator, on a socket of its own. `descriptors` limits how many it may have; `words` are further options,
    `inherited` and `groups` the descriptors and supplementary groups that it is started with; `idle` the seconds for which a woken
    app may be idle, by default none, so that cases of something else need not wait; None: as long as its time lasts."""

    def __init__(self, descriptors=None, apps=(), adapter='sim', words=(), inherited=(), groups=None, idle=0):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, 'bled.sock')
        self.log = open(os.path.join(self.folder.name, 'log'), 'w+')
        # Apps of other users find the socket, and programs in Python a client.
        os.chmod(self.folder.name, 0o755)
        shutil.copy(client.__file__, self.folder.name)
        self.descriptors, self.adapter, self.words = descriptors, adapter, list(words)
        if idle is not None and '--config' not in self.words:
            path = os.path.join(self.folder.name, 'config.json')
            pathlib.Path(path).write_text(json.dumps({'limits': {'idleSeconds': idle}}))
            self.words += ['--config', path]
        self.inherited, self.groups = inherited, groups
        # A real shortage of memory on this machine would end the apps that a case has suspended.
        self.pressure = os.path.join(self.folder.name, 'pressure')
        os.mkfifo(self.pressure)
        self.apps = os.path.join(self.folder.name, 'apps')
        os.mkdir(self.apps, 0o755)
        for manifest in apps:
            self.install(manifest)
        self.start()

    def install(self, manifest):
        """One without a user is this one's."""
        path = os.path.join(self.apps, manifest['BundleIdentifier'] + '.json')
        pathlib.Path(path).write_text(json.dumps({'user': str(os.geteuid()), **manifest}))
        os.chmod(path, 0o644)

    def start(self):
        def bound():
            if self.descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

        self.process = subprocess.Popen(
            self.arguments(),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=bound, pass_fds=self.inherited,
            extra_groups=self.groups)

    def arguments(self):
        return [BLED, '--adapter', self.adapter, '--socket', self.path, '--state', os.path.join(self.folder.name, 'state'),
                '--apps', self.apps, *([] if '--memory-pressure' in self.words else ['--memory-pressure', self.pressure]),
                *self.words]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        try:
            wait_until(lambda: is_listening(self.path) or self.process.poll() is not None, 'bled listens', LIMIT)
            assert self.process.poll() is None, f'bled does not listen: {self.said()}'
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_):
        try:
            # What it launched would outlive it.
            for name in self.operate(list={}) if self.process.poll() is None else ():
                self.operate(quit=name)
        finally:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                try:
                    self.process.wait(LIMIT)
                except subprocess.TimeoutExpired:
                    self.kill()
                    raise
            self.log.close()
            self.folder.cleanup()

    def said(self):
        return pathlib.Path(self.log.name).read_text()

    def app(self, name, *words):
        return App(self, name, words)

    def told(self, event):
        """What installed apps have printed of this event, a JSON object a line, into the daemon's own output."""
        return [line for line in self.events() if line.get('event') == event]

    def events(self):
        lines = [line for line in self.said().splitlines() if line.startswith('{') and line.endswith('}')]
        return list(map(json.loads, lines))

    def listens(self):
        try:
            Client(self.path).socket.close()
            return True
        except OSError:
            return False

    def process_of_now(self, name):
        """0 also while bled starts."""
        return self.process_of(name) if self.listens() else 0

    def wait_for(self, what, test):
        return wait_until(test, lambda: f'{what}; {self.said()[-2000:]}', LIMIT)

    def operate(self, **request):
        """An operator's request; what is installed, by its name."""
        client = operator(self.path)
        client.send(operator_request=request)
        answer = client.receive().operator_answer
        client.socket.close()
        assert not answer.error, answer
        return {app.identifier: app for app in answer.apps}

    def start_again(self):
        self.start()
        self.wait_for('it listens', self.listens)

    def suspend(self, name):
        self.operate(background=name)
        self.operate(suspend=name)

    def process_of(self, name):
        return self.operate(list={})[name].process

    def connect(self):
        client = Client(self.path)
        client.greeted()
        return client

    def processor_seconds(self):
        fields = pathlib.Path(f'/proc/{self.process.pid}/stat').read_text().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def resident_kilobytes(self):
        return self.kilobytes('VmRSS')

    def own_kilobytes(self):
        """Without the pages of its file: how many of these are in memory says nothing of what it keeps."""
        return self.kilobytes('RssAnon')

    def kilobytes(self, key):
        return int(re.search(rf'{key}:\s+(\d+)', pathlib.Path(f'/proc/{self.process.pid}/status').read_text())[1])


# Which every user may run.
PYTHON3 = shutil.which('python3', path='/usr/local/bin:/usr/bin:/bin') or sys.executable
# How a program of another user begins; it finds client.py in the folder of its daemon.
BEGINNING = 'import sys\nfrom client import Client, Fixed64, decode, encode, varint\n'


class Running(subprocess.Popen):
    """A program that does not outlive its `with`."""

    def __exit__(self, *what):
        self.kill()
        super().__exit__(*what)


def identity(user, groups=()):
    """What runs a command as another user; only root can."""
    return [] if user == os.geteuid() and not groups else ['setpriv', '--reuid', str(user), '--regid', str(user),
            *(['--groups', ','.join(map(str, groups))] if groups else ['--clear-groups'])]


def started_as(user, program, daemon, *words, groups=()):
    """A program in Python of that user: its arguments are the daemon's socket and the words."""
    return Running([*identity(user, groups), PYTHON3, '-c', BEGINNING + program, daemon.path, *map(str, words)],
                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd='/',
                   env={**os.environ, 'PYTHONPATH': daemon.folder.name, 'PYTHONDONTWRITEBYTECODE': '1'})


class App(Child):
    """A sample for Core Bluetooth that finds the daemon by JELLING_SOCKET; it prints one JSON object per line."""

    def __init__(self, daemon, name, words):
        super().__init__(name, [os.path.join(EXAMPLES, name), *words], os.devnull, {**os.environ, 'JELLING_SOCKET': daemon.path})

    def events(self, name, **values):
        wanted = {'event': name, **values}
        return [line for line in list(self.lines) if wanted.items() <= line.items()]

    def wait_for(self, name, count=1, **values):
        super().wait_for(lambda line: {'event': name, **values}.items() <= line.items(), f'{name} {values}', LIMIT, count)

    def wait_for_more(self, name, count):
        self.wait_for(name, len(self.events(name)) + count)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)


def bletool(transport, *words):
    """(status, standard output, standard error)"""
    done = subprocess.run([BLETOOL, '-t', transport, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LIMIT)
    return done.returncode, done.stdout, done.stderr


RELAY = 'org.example.relay'


def relay_manifest(**more):
    return {'BundleIdentifier': RELAY, 'UIBackgroundModes': ['bluetooth-central', 'bluetooth-peripheral'],
            'command': [os.path.join(EXAMPLES, 'heart-rate-relay')], 'user': str(os.geteuid()), **more}


def state_of(process):
    """The state letter in /proc: T is stopped; Z or none is ended."""
    try:
        return pathlib.Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return 'Z'
