"""Cases of the configuration file: bled --config.

Part of Tools/Daemon/run."""
import json, os, signal, subprocess, tempfile

from __main__ import BLED, Daemon, LIMIT, bletool, case
from client import Client, decode
from limits import actor, launch, told, wait_for

NOBODY = 65534


class Configured(Daemon):
    """A daemon with a configuration file; `write` changes it."""

    def __init__(self, settings, **more):
        self.file = tempfile.NamedTemporaryFile('w', suffix='.json')
        self.write(settings)
        super().__init__(words=['--config', self.file.name], **more)

    def write(self, settings):
        self.file.seek(0)
        self.file.truncate()
        self.file.write(settings if isinstance(settings, str) else json.dumps(settings))
        self.file.flush()

    def reload(self, settings):
        self.write(settings)
        self.process.send_signal(signal.SIGHUP)


@case
def configuration():
    "the file's adapters, limits and log count, and what changes at SIGHUP; a file with an error changes nothing"
    first = {'adapters': ['sim'], 'limits': {'clientsOfUser': 3, 'managers': 2, 'services': 2}, 'log': {'format': 'json'}}
    apps = [actor(f'org.example.{name}', {'publish': 4 * [['180f', ['2a19', 2, 1]]]}) for name in ('early', 'late')]
    with Configured(first, apps=apps) as daemon:
        lines = lambda: [line for line in daemon.events() if 'message' in line]
        assert lines()[0]['level'] == 'info' and 'listening' in lines()[0]['message'] and lines()[0]['time'], lines()
        crowd = [daemon.connect() for _ in range(3)]
        client = Client(daemon.path, LIMIT)
        # REASON_TOO_MANY_CLIENTS
        assert decode(client.receive()[2][0])[1][0] == 5
        for client in crowd:
            client.socket.close()
        published = lambda name: [line['error'] for line in told(daemon, f'org.example.{name}', 'published')]
        daemon.wait_for('there is room', lambda: can_greet(daemon))
        launch(daemon, 'org.example.early')
        wait_for(daemon, 'org.example.early', 'published', 4)
        assert published('early').count(None) == 2, published('early')
        # What is wrong is told, with the line or the key, and nothing has changed.
        for wrong, words in [('{"limits": {\n "clients": x}}', 'line 2'), ({'limits': {'servces': 9}}, '‘limits.servces’'),
                             ({'limits': {'services': 0}}, '‘limits.services’ is 1 to 1000, not 0'),
                             ({'limits': {'services': '9'}}, '‘limits.services’ is not a whole number'),
                             ({'users': ['no such user']}, 'no such user'), ({'log': {'level': 'all'}}, '‘log.level’')]:
            daemon.reload(wrong)
            daemon.wait_for(words, lambda: any(words in line['message'] and line['level'] == 'warning' for line in lines()))
        daemon.reload({'limits': {'services': 3}, 'log': {'level': 'warning'}})
        daemon.wait_for('it is read', lambda: can_greet(daemon, 20))
        before = daemon.said().count('launched')
        launch(daemon, 'org.example.late')
        wait_for(daemon, 'org.example.late', 'published', 4)
        assert published('late').count(None) == 3, published('late')
        assert daemon.said().count('launched') == before, 'told below the level'

    # Before it listens, in words.
    for wrong, words in [({'adapters': ['nonsense:1']}, 'nonsense:1'), ({'adapters': 'all'}, '‘adapters’ is not a list'),
                         ({'adapters': ['all', 'sim']}, 'name no other'), ([], 'not an object'), ('', 'line 1')]:
        with tempfile.NamedTemporaryFile('w') as file, tempfile.TemporaryDirectory() as folder:
            file.write(wrong if isinstance(wrong, str) else json.dumps(wrong))
            file.flush()
            done = subprocess.run([BLED, '--socket', folder + '/s', '--config', file.name], timeout=LIMIT,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            assert done.returncode not in (0, -6) and words in done.stderr and file.name in done.stderr, (wrong, done)
            os.chmod(file.name, 0o666)
            done = subprocess.run([BLED, '--socket', folder + '/s', '--config', file.name], timeout=LIMIT,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            assert done.returncode != 0 and 'no one else may write it' in done.stderr, done


def can_greet(daemon, count=1):
    """Whether so many programs may be connected at once."""
    clients = [Client(daemon.path, LIMIT) for _ in range(count)]
    try:
        answers = [client.greet() for client in clients]
    except OSError:
        # The one that is refused may be gone before it speaks.
        answers = [None]
    for client in clients:
        client.socket.close()
    return all(answer and 1 in answer for answer in answers)


@case
def users_of_the_configuration():
    "a user whom the configuration lets in may run foreground apps without a manifest; taken out, its programs are refused"
    if os.geteuid():
        return 'NOT RUN: only root can be another user'
    program = ('import sys; sys.path.insert(0, sys.argv[1]); from client import Client, decode\n'
               'client = Client(sys.argv[2], 1000)\n'
               'try:\n'
               '    client.send({1: {1: 1, 2: 2, 3: {1: b"org.example.mine"}}})\n'
               '    while (message := client.receive()) is not None:\n'
               '        if 16 in message: print("welcome", flush=True)\n'
               '        if 2 in message: print("refused", decode(message[2][0])[1][0], flush=True)\n'
               'except OSError: print("gone", flush=True)\n')
    with tempfile.TemporaryDirectory() as folder, Configured({'users': ['nobody']}) as daemon:
        os.chmod(folder, 0o755)
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'client.py')) as source, \
                open(folder + '/client.py', 'w') as copy:
            copy.write(source.read())

        def start():
            return subprocess.Popen(['setpriv', '--reuid', str(NOBODY), '--regid', str(NOBODY), '--clear-groups', 'python3', '-c',
                                     program, folder, daemon.path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                    cwd='/')

        one = start()
        assert one.stdout.readline() == 'welcome\n'
        daemon.reload({'users': []})
        # REASON_NOT_ALLOWED, and the end.
        assert one.stdout.read() == 'refused 4\n' and one.wait(LIMIT) == 0
        # Refused when it connects: it may be gone before it speaks.
        two = start()
        assert 'welcome' not in two.stdout.read() and two.wait(LIMIT) == 0
        daemon.reload({'users': [NOBODY]})
        daemon.wait_for('it may again', lambda: is_welcome(start))


def is_welcome(start):
    program = start()
    answer = program.stdout.readline()
    program.kill()
    program.wait()
    return answer == 'welcome\n'
