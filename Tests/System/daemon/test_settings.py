"""Cases of the configuration file (bled --config), and of rights: what operators of a group cannot get by installing apps, what
SIGHUP takes away, and whose process an app is."""
import json, os, pathlib, platform, resource, signal, socket, subprocess, tempfile

import pytest

from jelling.apps import actor, launch, leave, told, wait_for
from jelling.daemon import (
    LIMIT, NOBODY, OTHER, PYTHON3, Client, Daemon, Running, as_user, bletool, ended, identity, needs_root, started_as, state_of)
from jelling.programs import BLED, BLETOOL
from daemon.test_operators import GROUP


def test_configuration():
    """the file's adapters, limits and log count, and what changes at SIGHUP; a file with an error changes nothing"""
    first = {'adapters': ['sim'], 'limits': {'clientsOfUser': 3, 'managers': 2, 'services': 2}, 'log': {'format': 'json'}}
    apps = [actor(f'org.example.{name}', {'publish': 4 * [['180f', ['2a19', 2, 1]]]}) for name in ('early', 'late')]
    with Daemon(settings=first, apps=apps) as daemon:
        lines = lambda: [line for line in daemon.events() if 'message' in line]
        daemon.wait_for('it says so', lines)
        assert lines()[0]['level'] == 'info' and 'listening' in lines()[0]['message'] and lines()[0]['time'], lines()
        crowd = [daemon.connect() for _ in range(3)]
        client = Client(daemon.path, LIMIT)
        # REASON_TOO_MANY_CLIENTS
        assert client.receive().refusal.reason == 5
        for client in crowd:
            client.socket.close()
        published = lambda name: [line['error'] for line in told(daemon, f'org.example.{name}', 'published')]
        daemon.wait_for('there is room', daemon.can_greet)
        launch(daemon, 'org.example.early')
        wait_for(daemon, 'org.example.early', 'published', 4)
        assert published('early').count(None) == 2, published('early')
        # What is wrong is told, with the line or the key, and nothing has changed.
        for wrong, words in [('{"limits": {\n "clients": x}}', 'line 2'), ({'limits': {'servces': 9}}, '‘limits.servces’'),
                             ({'limits': {'services': 0}}, '‘limits.services’ is 1 to 1000, not 0'),
                             ({'limits': {'services': '9'}}, '‘limits.services’ is not a whole number'),
                             ({'users': ['no such user']}, 'no such user'), ({'log': {'level': 'all'}}, '‘log.level’')]:
            daemon.reload(wrong)
            daemon.wait_for(words, lambda: any(words in line['message'] and line['level'] == 'error' for line in lines()))
        daemon.reload({'limits': {'services': 3}, 'log': {'level': 'warning'}})
        daemon.wait_for('it is read', lambda: daemon.can_greet(20))
        before = daemon.said().count('launched')
        launch(daemon, 'org.example.late')
        wait_for(daemon, 'org.example.late', 'published', 4)
        assert published('late').count(None) == 3, published('late')
        assert daemon.said().count('launched') == before, 'told below the level'

    # Before it listens, in words.
    for wrong, words in [({'adapters': ['nonsense:1']}, 'nonsense:1'), ({'adapters': 'all'}, '‘adapters’ is not a list'),
                         ({'adapters': ['all', 'sim']}, 'name no other'), ([], 'not an object'), ('', 'line 1')]:
        with tempfile.NamedTemporaryFile('w') as file:
            file.write(wrong if isinstance(wrong, str) else json.dumps(wrong))
            file.flush()
            done = ended(BLED, '--socket', file.name + '.s', '--config', file.name)
            assert done.returncode == 2 and words in done.stderr and file.name in done.stderr, (wrong, done)
            assert done.stderr.startswith('bled: error: ') and 'Usage' not in done.stderr, done
            os.chmod(file.name, 0o666)
            done = ended(BLED, '--socket', file.name + '.s', '--config', file.name)
            assert done.returncode == 2 and 'no one else may write it' in done.stderr, done

    # The statuses of bletool: 2 for what is wrong on the command line, 1 for what cannot be done.
    for words, status, said in [(['--nonsense'], 2, 'nonsense'), (['--config', '/nonexistent'], 2, '/nonexistent'),
                                (['--adapter', 'bled'], 2, 'name that'), (['-w', 'a.txt'], 2, '.btsnoop'),
                                (['-w', '/nonexistent/a.btsnoop'], 1, '/nonexistent/a.btsnoop'),
                                (['--socket', '/nonexistent/s'], 1, '--socket'), (['--help'], 0, '')]:
        done = ended(BLED, '--adapter', 'sim', '--socket', '/nonexistent/s', *words)
        assert done.returncode == status and said in done.stderr, (words, done)
        assert done.stderr.startswith('bled: error: ') or status == 0, (words, done)


def test_keys_for_the_start():
    """serve --eatt and --address-resolution say which key of bled's file they need, and that it counts after a restart; SIGHUP says so too"""
    with tempfile.NamedTemporaryFile('w', suffix='.json') as profile:
        json.dump({'services': [{'uuid': '180F', 'characteristics': [{'uuid': '2A19', 'properties': ['read'], 'value': '64'}]}]}, profile)
        profile.flush()
        words = ['serve', '--profile', profile.name]
        keys = {'--eatt': 'enhancedBearers', '--address-resolution': 'addressResolution'}

        def are_refused(daemon):
            for option, key in keys.items():
                told = daemon.tool(*words, option, status=3)
                assert f'set "{key}": true in the configuration file of bled (bled --config FILE)' in told \
                    and 'restart bled; SIGHUP is not enough' in told, told

        with Daemon(settings={}) as daemon:
            are_refused(daemon)
            daemon.reload({key: True for key in keys.values()})
            for key in keys.values():
                line = f'‘{key}’ of ‘{daemon.config}’ changes when bled is restarted, not at SIGHUP'
                daemon.wait_said(line)
            are_refused(daemon)
        with Daemon(settings={key: True for key in keys.values()}) as daemon:
            for option in keys:
                with daemon.running(*words, option, stderr=subprocess.PIPE) as server:
                    assert server.stdout.readline(), server.communicate()
                    server.send_signal(signal.SIGINT)
                    assert server.communicate(timeout=LIMIT) and not server.returncode, server.returncode
            # What has not changed needs no restart.
            daemon.reload({**{key: True for key in keys.values()}, 'limits': {'clientsOfUser': 5}})
            daemon.wait_for('it is read', lambda: not daemon.can_greet(6))
            assert 'is restarted' not in daemon.said(), daemon.said()


# A tool, an app or an operator, which does nothing until it is refused.
PROGRAM = '''
client = Client(sys.argv[1], 300)
try:
    client.send(hello={'version': 1, 'session': int(sys.argv[2]), 'app': {'identifier': 'org.example.app'}})
    while (message := client.receive()) is not None:
        if message.HasField('welcome') or message.HasField('app_welcome'): print("welcome", flush=True)
        if message.HasField('refusal'): print("refused", message.refusal.reason, flush=True)
except OSError: pass
print("gone", flush=True)
'''


@needs_root
def test_install_for_others():
    """a member of the operators' group installs no unit, no app with a line in its name, and nothing in place of another's manifest"""
    theirs = {'BundleIdentifier': 'org.example.theirs', 'command': ['/bin/true'], 'user': 'root'}
    with Daemon(allow=[NOBODY], operators=GROUP, apps=[theirs]) as daemon:
        # The manifest of one app under the name of another, and one for an adapter that is not there.
        os.rename(os.path.join(daemon.apps, 'org.example.theirs.json'), os.path.join(daemon.apps, 'org.example.mine.json'))
        daemon.install({'BundleIdentifier': 'org.example.elsewhere', 'adapter': '00:11:22:33:44:55', 'user': 'root'})
        daemon.install({'BundleIdentifier': 'org.example.broken', 'user': 'no such user'})
        daemon.operate(reload={})
        before = {name: open(os.path.join(daemon.apps, name)).read() for name in os.listdir(daemon.apps)}
        path = daemon.place('manifest.json')

        def put(user, manifest):
            pathlib.Path(path).write_text(json.dumps(manifest))
            os.chmod(path, 0o644)
            done = as_user(user, [GROUP], BLETOOL, '-t', f'bled:{daemon.path}', 'app', 'install', path)
            return done.returncode, done.stderr

        mine = {'BundleIdentifier': 'org.example.mine', 'user': str(NOBODY)}
        for more, words in [({'unit': 'debug-shell.service'}, 'systemd unit'), ({'unit': '*.service'}, '‘unit’'),
                            ({}, 'manifest of ‘org.example.theirs’'),
                            ({'BundleIdentifier': 'a\n4242 1 group foreground b'}, '‘BundleIdentifier’'),
                            ({'BundleIdentifier': '.a'}, '‘BundleIdentifier’'),
                            ({'BundleIdentifier': 'org.example.elsewhere'}, 'may only install apps that run as that user'),
                            ({'BundleIdentifier': 'org.example.broken'}, 'only root and the user of bled may replace it')]:
            code, said = put(NOBODY, {**mine, **more})
            assert code == 1 and words in said, (more, code, said)
        assert before == {name: open(os.path.join(daemon.apps, name)).read() for name in os.listdir(daemon.apps)}
        # Not even root by mistake; but root mends what is wrong.
        code, said = put(0, mine)
        assert code == 1 and 'manifest of ‘org.example.theirs’' in said, said
        assert put(0, {**mine, 'BundleIdentifier': 'org.example.broken'})[0] == 0
        assert put(0, {**mine, 'BundleIdentifier': 'org.example.unit', 'unit': 'relay.service'})[0] == 0
        assert put(NOBODY, {**mine, 'BundleIdentifier': 'ö' * 100})[0] == 0
        assert set(daemon.operate(list={})) >= {'org.example.theirs', 'org.example.broken', 'org.example.unit', 'ö' * 100}


class Appless(Daemon):
    """A daemon without --apps."""

    def arguments(self):
        words = super().arguments()
        place = words.index('--apps')
        return words[:place] + words[place + 2:]


@needs_root
def test_users_without_apps():
    """who may connect, and who is an operator, counts for a daemon without --apps, too"""
    for options, groups, verb in [({'allow': [NOBODY]}, [], 'info'), ({'operators': GROUP}, [GROUP], 'status')]:
        with Appless(**options) as daemon:
            done = as_user(NOBODY, groups, BLETOOL, '-t', f'bled:{daemon.path}', verb)
            assert done.returncode == 0, (options, done)
            refused = as_user(OTHER, [], BLETOOL, '-t', f'bled:{daemon.path}', verb)
            assert refused.returncode != 0 and 'may not use this daemon' in refused.stderr and '--allow' in refused.stderr, (options, refused)
    with Appless() as daemon:
        done = as_user(NOBODY, [], BLETOOL, '-t', f'bled:{daemon.path}', 'info')
        assert done.returncode != 0, done


# Listens at a path, or with an abstract name, and tells what it hears.
IMPOSTOR = r"""
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1].replace('@', chr(0)))
listener.listen()
print('listens', flush=True)
while True:
    client = listener.accept()[0]
    print('heard', len(client.recv(4096)), flush=True)
"""


@needs_root
def test_impostor_at_a_socket():
    """a program of another user that listens where bled is looked for hears nothing, and its user is named"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o1777)
        for number, place in enumerate([os.path.join(folder, 'bled.sock'), f'@jelling-{os.getpid()}']):
            with Running([*identity(NOBODY), PYTHON3, '-c', IMPOSTOR, place], stderr=None, cwd='/') as program:
                assert program.stdout.readline() == 'listens\n'
                for words in (['lescan', '--duration', '1'], ['status'], ['bonds']):
                    code, out, said = bletool(f'bled:{place}', *words)
                    assert code != 0 and f'user {NOBODY} listens at' in said, (place, words, code, out, said)
                    assert program.stdout.readline() == 'heard 0\n'
                # Named, it is asked; it only does not answer as bled would.
                with Running([BLETOOL, '-t', f'bled:{place}', 'status'], env={**os.environ, 'JELLING_SOCKET_OWNER': str(NOBODY)}):
                    assert program.stdout.readline() not in ('', 'heard 0\n')


@needs_root
def test_state_of_another_user():
    """what an app had asked for waits for it after a restart; when its identifier is another user's, nothing of it is left"""
    name = 'org.example.shared'
    manifest = actor(name, {'restore': 'shared', 'scan': ['180d'], 'connect': {}, 'subscribe': '2a37'})
    with Daemon(apps=[manifest]) as daemon:
        def restart(**more):
            assert daemon.kill(name)
            daemon.install({**manifest, **more})
            daemon.start_again()

        launch(daemon, name)
        wait_for(daemon, name, 'value', 2)
        before = len(told(daemon, name, 'value'))
        restart()
        daemon.wait_for('an event launches it', lambda: told(daemon, name, 'willRestore'))
        # Its link was made again, and is told by `willRestoreState`.
        wait_for(daemon, name, 'value', before + 1)
        restart(user=str(NOBODY))
        shown, = daemon.lines('app', 'show', name)
        assert shown['user'] == NOBODY and shown['preservedCentrals'] == [] and shown['place'] == 'notRunning', shown
        for folder, _, files in os.walk(daemon.state):
            for file in files:
                assert name not in pathlib.Path(os.path.join(folder, file)).read_text(errors='replace'), file


# Connects as often as it says, asks for much each time, and leaves.
LEAVERS = '''
for _ in range(int(sys.argv[2])):
    client = Client(sys.argv[1], 300)
    hello = octets(hello={'version': 1, 'session': messages.SESSION_KIND_TOOL})
    requests = [octets(request={'operation': number, 'cancel': {'operation': 99}}) for number in range(1, 257)]
    client.socket.sendall(b''.join(map(client.framed, [hello, *requests])))
    client.socket.close()
print("left", flush=True)
'''


@needs_root
def test_leavers():
    """the programs of one user that have left do not take the places of another user"""
    with Daemon(settings={'users': [NOBODY, OTHER], 'limits': {'clients': 6, 'clientsOfUser': 2}}) as daemon:
        # It finds all of them at once.
        daemon.process.send_signal(signal.SIGSTOP)
        daemon.wait_for('bled stopped', lambda: state_of(daemon.process.pid) == 'T')
        with started_as(NOBODY, LEAVERS, daemon, 6) as crowd:
            assert crowd.stdout.readline() == 'left\n'
            with started_as(OTHER, PROGRAM, daemon, 1) as other:
                daemon.process.send_signal(signal.SIGCONT)
                assert other.stdout.readline() == 'welcome\n'


@needs_root
def test_rights_end():
    """SIGHUP ends the sessions of who is no operator any more, of every kind, and of users whose last app goes with it"""
    app = {'BundleIdentifier': 'org.example.app', 'user': str(NOBODY)}
    with Daemon(settings={'users': [NOBODY], 'operators': GROUP}, apps=[app]) as daemon:
        start = lambda kind, groups: started_as(NOBODY, PROGRAM, daemon, kind, groups=groups)

        programs = {'an operator': start(3, [GROUP]), 'a tool of one': start(1, [GROUP]), 'a tool': start(1, [])}
        try:
            for name, program in programs.items():
                assert program.stdout.readline() == 'welcome\n', name
            daemon.reload({'users': [NOBODY]})
            for name in 'an operator', 'a tool of one':
                # REASON_NOT_ALLOWED
                said = programs[name].stdout.read()
                assert said == 'refused 4\ngone\n', (name, said)
            assert programs['a tool'].poll() is None
            # Its user still has an app; without it the user has nothing here.
            daemon.reload({'users': []})
            assert programs['a tool'].stdout.read() == 'refused 4\ngone\n'
            programs['the app'] = start(2, [])
            assert programs['the app'].stdout.readline() == 'welcome\n'
            os.unlink(os.path.join(daemon.apps, 'org.example.app.json'))
            daemon.reload({'users': []})
            assert programs['the app'].stdout.read() == 'refused 4\ngone\n'
        finally:
            for program in programs.values():
                program.kill()
                program.wait()


def test_uninstalled():
    """an app whose manifest gets a mistake goes on; one whose manifest is removed ends as one that was quit, stopped or not"""
    name, wish = 'org.example.gone', {'restore': 'gone', 'scan': ['180d'], 'connect': {}, 'subscribe': '2a37'}
    with Daemon(apps=[actor(name, wish)]) as daemon:
        path = os.path.join(daemon.apps, name + '.json')
        launch(daemon, name)
        wait_for(daemon, name, 'value', 2)
        process = daemon.process_of(name)
        leave(daemon, name)
        daemon.wait_stopped(process)
        manifest = pathlib.Path(path).read_text()
        pathlib.Path(path).write_text(manifest.replace(',', '', 1))
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_said('stays as it was')
        count = len(told(daemon, name, 'value'))
        wait_for(daemon, name, 'value', count + 2)
        assert daemon.process_of(name) == process
        daemon.wait_stopped(process)
        # bled is killed and finds the mistake: it cannot know whose process that is, and lets it go on.
        daemon.kill()
        assert state_of(process) == 'T'
        daemon.start()
        daemon.wait_for('it goes on', lambda: state_of(process) != 'T')
        os.kill(process, signal.SIGKILL)
        # With its manifest it is restored. Then that is removed.
        pathlib.Path(path).write_text(manifest)
        daemon.wait_for('bled listens', daemon.listens)
        daemon.operate(reload={})
        process = daemon.wait_launched(name, process)
        daemon.wait_for('it is restored', lambda: told(daemon, name, 'willRestore', process))
        daemon.wait_stopped(process)
        os.unlink(path)
        daemon.operate(reload={})
        daemon.wait_for('it ends', lambda: state_of(process) == 'Z')
        daemon.wait_for('its link ends', lambda: not daemon.links())
        # Whose it is now does not get what the other had.
        pathlib.Path(path).write_text(manifest)
        assert daemon.operate(reload={})[name].process == 0
        launch(daemon, name)
        daemon.wait_for('it begins', lambda: told(daemon, name, 'state', daemon.process_of(name)))
        assert not told(daemon, name, 'willRestore', daemon.process_of(name))


def test_number_of_another():
    """a connection outlives its process, and the number becomes another's: bled takes that one for no app, and leaves it alone"""
    try:
        with open('/proc/sys/kernel/ns_last_pid', 'r+') as last:
            last.write(last.read())
    except OSError:
        pytest.skip('the numbers of processes cannot be chosen here')
    name = 'org.example.own'
    if tuple(map(int, platform.release().split('.')[:2])) < (6, 5):
        pytest.skip('this kernel does not say whose a connection is, but by number')
    with Daemon(apps=[{'BundleIdentifier': name, 'memoryMegabytes': 512}]) as daemon:
        client = Client(daemon.path, LIMIT)
        client.socket.close()
        client.socket = socket.socket(socket.AF_UNIX)
        client.socket.settimeout(LIMIT)
        if (child := os.fork()) == 0:
            try:
                client.socket.connect(daemon.path)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        for _ in range(200):
            pathlib.Path('/proc/sys/kernel/ns_last_pid').write_text(str(child - 1))
            victim = subprocess.Popen(['sleep', '1000'])
            if victim.pid == child:
                break
            victim.kill()
            victim.wait()
        else:
            pytest.skip('the number was never free')
        try:
            limits = resource.prlimit(victim.pid, resource.RLIMIT_DATA)
            client.send(hello={'version': 1, 'session': 2, 'app': {'identifier': name}})
            assert client.receive().HasField('app_welcome'), 'not welcome'
            assert daemon.process_of(name) == 0
            daemon.operate(quit=name)
            assert victim.poll() is None and resource.prlimit(victim.pid, resource.RLIMIT_DATA) == limits
        finally:
            victim.kill()
            victim.wait()
