"""Cases of what bled writes: its log, what it says of adapters that are not there, and the capture of all its traffic (bled -w)."""
import json, os, pathlib, signal, tempfile

from jelling.captures import records
from jelling.daemon import Daemon, bletool, ended
from jelling.programs import BLED, BLETOOL

ELSEWHERE = '00:11:22:33:44:55'
READ = 'gatt', 'Jelling Heart', 'read', '2A38'


def test_log_levels():
    """the log has the levels of --log-level, which is stronger than the configuration file; JSON lines have theirs; no other is one"""
    counts = []
    for level in 'warning', 'info', 'debug', 'trace':
        with Daemon(words=['--log-level', level]) as daemon:
            daemon.tool(*READ)
            said = daemon.said()
            assert ('listening' in said) == (level != 'warning'), said
            assert ('debug: ' in said and 'connects' in said) == (level in ('debug', 'trace')), said
            assert ('trace: operation' in said) == (level == 'trace'), said
            counts.append(len(said.splitlines()))
    assert counts == sorted(counts), counts
    with Daemon(settings={'log': {'format': 'json', 'level': 'error'}}, words=['--log-level', 'debug']) as daemon:
        daemon.connect()
        daemon.wait_for('a line of the level', lambda: any(
            line.get('level') == 'debug' and 'connects' in line['message'] and line['time'] for line in daemon.events()))
    done = ended(BLED, '--log-level', 'loud')
    assert done.returncode == 2 and 'trace, debug, info, notice, warning, error, critical' in done.stderr, done


def test_absent_adapter():
    """an app whose adapter no daemon has is not silent: the log says it once and bletool status always, with the remedy"""
    apps = [{'BundleIdentifier': f'org.example.{name}', 'adapter': ELSEWHERE} for name in ('one', 'two')]
    with Daemon(apps=apps) as daemon:
        words = f'{ELSEWHERE}: this bled does not have the adapter, for which ‘org.example.one’, ‘org.example.two’ wait'
        daemon.wait_said(words)
        here, absent = daemon.status()['adapters']
        assert here['ready'] and not absent['ready'] and absent['transport'] == ELSEWHERE, absent
        assert '--adapter' in absent['trouble'] and 'org.example.two' in absent['trouble'], absent
        assert f'{ELSEWHERE}  not usable: ' in daemon.tool('status')
        os.unlink(os.path.join(daemon.apps, 'org.example.one.json'))
        daemon.operate(reload={})
        assert 'org.example.one' not in daemon.status()['adapters'][1]['trouble']
        os.unlink(os.path.join(daemon.apps, 'org.example.two.json'))
        daemon.operate(reload={})
        assert len(daemon.status()['adapters']) == 1
        assert daemon.said().count(words) == 1


def packets(path):
    done = ended(BLETOOL, '--json', 'decode', path)
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_capture():
    """bled -w writes the traffic of all adapters into one file, for its user alone; SIGHUP begins a new one only after a rename"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'all.btsnoop')
        with Daemon(words=['--adapter', 'sim', '-w', path]) as daemon:
            for socket in daemon.path, daemon.path + '.2':
                assert bletool(f'bled:{socket}', *READ)[0] == 0
            assert os.stat(path).st_mode & 0o777 == 0o600
            assert len(packets(path)) > 40, packets(path)[-1]
            before = os.stat(path)
            daemon.process.send_signal(signal.SIGHUP)
            daemon.tool(*READ)
            after = os.stat(path)
            assert after.st_ino == before.st_ino and after.st_size > before.st_size, 'the file was begun again'
            os.rename(path, path + '.1')
            daemon.process.send_signal(signal.SIGHUP)
            daemon.wait_for('a new file', lambda: os.path.exists(path))
            assert bletool(f'bled:{daemon.path}.2', *READ)[0] == 0
        # The monitor's format names the adapter of each packet.
        first = adapters(path + '.1')
        assert first == {0, 1}, first
        assert adapters(path) == {1} or adapters(path) == {0, 1}, adapters(path)
        done = ended(BLED, '--adapter', 'sim', '--socket', path + '.s', '-w', path + '.txt')
        assert done.returncode not in (0, -6) and '.pcapng' in done.stderr, done


def test_capture_is_kept():
    """a bled that is started again does not destroy its capture: the earlier ones are NAME.1 to NAME.9, the newest is 1"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'all.btsnoop')
        earlier = path.replace('.btsnoop', '.1.btsnoop')
        with Daemon(words=['-w', path]) as daemon:
            daemon.tool(*READ)
            for _ in range(2):
                before = os.stat(path).st_ino
                count = len(packets(path))
                assert count > 10, 'nothing was captured'
                daemon.kill()
                daemon.start_again()
                assert os.stat(earlier).st_ino == before and len(packets(earlier)) >= count, os.listdir(os.path.dirname(path))
                assert os.stat(path).st_ino != before
                daemon.tool(*READ)
            assert os.path.exists(path.replace('.btsnoop', '.2.btsnoop'))
        # What cannot be kept is not destroyed, and whoever has taken the names keeps nobody from Bluetooth.
        content = pathlib.Path(path).read_bytes()
        for number in range(1, 10):
            place = path.replace('.btsnoop', f'.{number}.btsnoop')
            if os.path.exists(place):
                os.unlink(place)
            os.makedirs(os.path.join(place, 'in'))
        with Daemon(words=['-w', path]) as daemon:
            assert 'nothing is captured' in daemon.said() and 'cannot be renamed' in daemon.said(), daemon.said()
            daemon.tool(*READ)
        assert pathlib.Path(path).read_bytes() == content


def adapters(path):
    """The adapters in a btsnoop file of the monitor: the upper half of each record's flags."""
    return {flags >> 16 for flags, _, _ in records(path, link=2001)}
