"""`bled` as a process, and the programs that use it: what the cases share."""
import contextlib, functools, json, os, pathlib, resource, shutil, signal, subprocess, sys, tempfile

import google.protobuf
import grpc_tools.protoc

from pytest import mark

from jelling.child import Child, Running, wait_until
from jelling.client import is_listening
from jelling.measures import kilobytes, processor_seconds, state_of, threads
from jelling.programs import BLED, BLETOOL, EXAMPLES, LIBRARY, ROOT
from jelling.session import HEART, LIMIT, AppClient, Client, messages, octets, operator   # noqa: F401, tests have them from here

NOBODY, OTHER = 65534, 65533
needs_root = mark.skipif(os.geteuid() != 0, reason='only root can be another user')


def alerted(path, user=None):
    """An app that is suspended when its peripheral connects, and wants an alert then."""
    app = AppClient(path, 'org.example.alerted', user)
    # Connected a second later, when it is suspended.
    app.ask(connect={'peer': app.finds('180D'), 'options': {'notifies_on_connection': True, 'start_delay_milliseconds': 1000}})
    app.send(app_move={'to': 2})
    app.send(app_move={'to': 3})
    return app


class Daemon:
    """`bled` on the simulator, on a socket of its own. `descriptors` limits how many it may have; `words` are further options,
    `inherited` and `groups` the descriptors and supplementary groups that it is started with; `idle` the seconds for which a woken
    app may be idle, by default none, so that cases of something else need not wait; None: as long as its time lasts. `settings` is the
    configuration file in place of that, `allow` has users who may connect, `operators` the group of operators."""

    def __init__(self, descriptors=None, apps=(), adapter='sim', words=(), inherited=(), groups=None, idle=0, settings=None, allow=(),
                 operators=None):
        self.folder = tempfile.TemporaryDirectory()
        self.path, self.config, self.state = map(self.place, ('bled.sock', 'config.json', 'state'))
        self.log = open(self.place('log'), 'w+')
        # Apps of other users find the socket.
        os.chmod(self.folder.name, 0o755)
        self.descriptors, self.adapter, self.words = descriptors, adapter, list(words)
        self.words += [word for user in allow for word in ('--allow', str(user))]
        self.words += ['--operators', str(operators)] if operators else []
        if settings is None and idle is not None and '--config' not in self.words:
            settings = {'limits': {'idleSeconds': idle}}
        if settings is not None:
            self.configure(settings)
            self.words += ['--config', self.config]
        self.inherited, self.groups = inherited, groups
        # A real shortage of memory on this machine would end the apps that a case has suspended: this one is short by `press` alone.
        self.pressure = self.place('pressure')
        os.mkfifo(self.pressure)
        self.apps = self.place('apps')
        os.mkdir(self.apps, 0o755)
        for manifest in apps:
            self.install(manifest)
        self.start()

    def place(self, name):
        return os.path.join(self.folder.name, name)

    def configure(self, settings):
        pathlib.Path(self.config).write_text(settings if isinstance(settings, str) else json.dumps(settings))
        os.chmod(self.config, 0o644)

    def reload(self, settings):
        self.configure(settings)
        self.process.send_signal(signal.SIGHUP)

    def install(self, manifest):
        """One without a user is this one's."""
        path = os.path.join(self.apps, manifest['BundleIdentifier'] + '.json')
        pathlib.Path(path).write_text(json.dumps({'user': str(os.geteuid()), **manifest}))
        os.chmod(path, 0o644)
        return path

    def press(self):
        """Memory is short."""
        pathlib.Path(self.pressure).write_text('short\n')

    def start(self):
        def bound():
            if self.descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

        self.process = subprocess.Popen(
            self.arguments(),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=bound, pass_fds=self.inherited,
            extra_groups=self.groups)

    def arguments(self):
        return [BLED, '--adapter', self.adapter, '--socket', self.path, '--state', self.state, '--apps', self.apps,
                '--memory-pressure', self.pressure, *self.words]

    def kill(self, app=None):
        """Also an app, whose process is returned."""
        process = app and self.process_of(app)
        self.process.kill()
        self.process.wait()
        if process:
            os.kill(process, signal.SIGKILL)
        return process

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

    # What it says

    def said(self):
        return pathlib.Path(self.log.name).read_text()

    def told(self, event):
        """What installed apps have printed of this event, a JSON object a line, into the daemon's own output."""
        return [line for line in self.events() if line.get('event') == event]

    def events(self):
        lines = [line for line in self.said().splitlines() if line.startswith('{') and line.endswith('}')]
        return list(map(json.loads, lines))

    def wait_for(self, what, test):
        return wait_until(test, lambda: f'{what}; {self.said()[-2000:]}', LIMIT)

    def wait_said(self, *texts):
        for text in texts:
            self.wait_for(text, lambda: text in self.said())

    def wait_told(self, event, count=1):
        self.wait_for(f'{count} × {event}', lambda: len(self.told(event)) >= count)

    def beats_more(self, what='beats go on', count=1):
        """Waits until an app of the samples has had so many more values."""
        before = len(self.told('beat'))
        self.wait_for(what, lambda: len(self.told('beat')) >= before + count)

    # Its programs

    def app(self, name, *words):
        return App(self, name, words)

    def tool(self, *words, status=0, env=None):
        """What bletool prints on standard output; where it has to fail, on standard error."""
        code, out, said = bletool(f'bled:{self.path}', *words)
        assert code == status, (words, code, out, said)
        return said if status else out

    def running(self, *words, **how):
        """bletool at work: what it prints can be read."""
        return Running([BLETOOL, '-t', f'bled:{self.path}', *words], **how)

    def lines(self, *words):
        """The lines of bletool, as objects."""
        return list(map(json.loads, self.tool('--json', *words).splitlines()))

    def status(self):
        return self.lines('status')[0]

    def links(self):
        return self.status()['adapters'][0]['links']

    def listens(self):
        try:
            Client(self.path).socket.close()
            return True
        except OSError:
            return False

    def can_greet(self, count=1):
        """Whether so many programs may be connected at once."""
        clients = [Client(self.path) for _ in range(count)]
        try:
            answers = [client.greet() for client in clients]
        except OSError:
            # The one that is refused may be gone before it speaks.
            answers = [None]
        for client in clients:
            client.socket.close()
        return all(answer and answer.HasField('welcome') for answer in answers)

    def connect(self, user=None):
        client = Client(self.path, user=user)
        client.welcome = client.greeted()
        return client

    # Apps

    def operate(self, **request):
        """An operator's request; what is installed, by its name."""
        return operate(self.path, **request)

    def relays(self, beats=2):
        """The relay is in the foreground, and has values: its process."""
        self.operate(foreground=RELAY)
        self.wait_told('beat', beats)
        return self.process_of(RELAY)

    def start_again(self):
        self.start()
        self.wait_for('it listens', self.listens)

    def suspend(self, name):
        self.operate(background=name)
        self.operate(suspend=name)

    def process_of(self, name):
        return self.operate(list={})[name].process

    def process_of_now(self, name):
        """0 also while bled starts."""
        return self.process_of(name) if self.listens() else 0

    def wait_stopped(self, process):
        self.wait_for('it is stopped', lambda: state_of(process) == 'T')

    def kill_app(self, name):
        """Ends its process, as a crash does; waits until bled has noticed. Returns its number."""
        process = self.process_of(name)
        os.kill(process, signal.SIGKILL)
        self.wait_for('it has ended', lambda: self.process_of(name) != process)
        return process

    def wait_launched(self, name, *earlier):
        """Waits for a process other than those before; its number."""
        self.wait_for('it is launched again', lambda: self.process_of_now(name) not in (0, *earlier))
        return self.process_of(name)

    # What it takes of the machine

    def processor_seconds(self):
        return processor_seconds(self.process)

    def resident_kilobytes(self):
        return kilobytes(self.process, 'VmRSS')

    def own_kilobytes(self):
        """Without the pages of its file: how many of these are in memory says nothing of what it keeps."""
        return kilobytes(self.process, 'RssAnon')


def answered(path, **request):
    """The answer to an operator."""
    client = operator(path)
    with contextlib.closing(client.socket):
        client.send(operator_request=request)
        return client.receive().operator_answer


def operate(path, **request):
    answer = answered(path, **request)
    assert not answer.error, answer
    return {app.identifier: app for app in answer.apps}


@contextlib.contextmanager
def grows_less_than(daemon, megabytes):
    """Bounds what the daemon takes in addition, and prints it."""
    before = daemon.own_kilobytes()
    yield
    more = daemon.own_kilobytes() - before
    assert more < megabytes * 1024, f'{more} kB more than before'
    print(f'{more} kB more than before')


# Which every user may run.
PYTHON3 = shutil.which('python3', path='/usr/local/bin:/usr/bin:/bin') or sys.executable


def identity(user, groups=()):
    """What runs a command as another user; only root can."""
    return [] if user == os.geteuid() and not groups else ['setpriv', '--reuid', str(user), '--regid', str(user),
            *(['--groups', ','.join(map(str, groups))] if groups else ['--clear-groups'])]


@functools.cache
def library():
    """A folder for programs of every user, with sessions.py and what it needs: that of the clone may be closed to them."""
    folder = tempfile.TemporaryDirectory(prefix='jelling-library-')
    os.chmod(folder.name, 0o755)
    jelling = os.path.join(folder.name, 'jelling')
    os.mkdir(jelling)
    for name in '__init__', 'actor', 'client', 'session':
        shutil.copy(os.path.join(LIBRARY, f'{name}.py'), jelling)
    shutil.copytree(os.path.dirname(os.path.dirname(google.protobuf.__file__)), os.path.join(folder.name, 'google'),
                    ignore=shutil.ignore_patterns('__pycache__'))
    grpc_tools.protoc.main(['protoc', f'-I{ROOT}/Protocol', f'--python_out={folder.name}', 'bled.proto'])
    return folder


def started_as(user, program, daemon, *words, groups=()):
    """A program in Python of that user, which has all of session.py: its arguments are the daemon's socket and the words."""
    return Running([*identity(user, groups), PYTHON3, '-c', 'import sys\nfrom jelling.session import *\n' + program, daemon.path,
                    *map(str, words)], stdin=subprocess.PIPE, stderr=None, cwd='/',
                   env={**os.environ, 'PYTHONPATH': library().name, 'PYTHONDONTWRITEBYTECODE': '1'})


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


def ended(*command, **how):
    """A command, when it has ended; of one that hangs, where its threads wait."""
    with Running(command, stderr=subprocess.PIPE, **how) as process:
        try:
            out, said = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise AssertionError(f'{command}: still runs after {LIMIT} s: {threads(process)}') from None
    return subprocess.CompletedProcess(command, process.returncode, out, said)


def as_user(user, groups, *command):
    """Runs a command as another user; only root can."""
    return ended(*identity(user, groups), *command, cwd='/')


def bletool(transport, *words):
    """(status, standard output, standard error)"""
    done = ended(BLETOOL, '-t', transport, *words)
    return done.returncode, done.stdout, done.stderr


RELAY = 'org.example.relay'


def relay_manifest(**more):
    return {'BundleIdentifier': RELAY, 'UIBackgroundModes': ['bluetooth-central', 'bluetooth-peripheral'],
            'command': [os.path.join(EXAMPLES, 'heart-rate-relay')], 'user': str(os.geteuid()), **more}
