"""What another user of the machine can put in the way of state, recordings and captures, and what a file can hold.

Files of another user can only be made by root: cases with them are skipped by name elsewhere."""
import glob, json, os, pathlib, stat, subprocess, threading, time

import pytest

from jelling import captures
from jelling.child import PATIENCE, wait_until
from jelling.programs import BLETOOL
from attack.test_honest import OPEN, bonded, lock

STRANGER = 65534
MANIFEST = {'BundleIdentifier': 'org.example.attacked', 'UIBackgroundModes': ['bluetooth-central']}
KEY = bytes.fromhex('5a3c9e71b84df267c91be4862fd3a578')


def needs_root():
    if os.geteuid():
        pytest.skip('only root can make files of another user')


def state(bench):
    return bench.path('state/jelling')


def write(path, content, mode=0o600, owner=None):
    pathlib.Path(path).write_bytes(content)
    os.chmod(path, mode)
    if owner is not None:
        os.chown(path, owner, owner)


def content(path):
    return pathlib.Path(path).read_bytes()


def refused(bench, *arguments, words=(), **how):
    """The tool ends soon with a failure, and says which file, why, and what to do."""
    result = bench.run(*arguments, status=None, **how)
    assert result.status not in (0, None), 'it went on: ' + result.describe()
    told = result.stderr + ' ' + ' '.join(str(l.get('message', '')) for l in result.lines)
    for word in words:
        assert word in told, f'{word!r} is not told: ' + result.describe()
    assert result.seconds < PATIENCE, 'that took long: ' + result.describe()
    return result


def test_state_is_the_users_alone(bench):
    """Folders of state are made with mode 0700 and files with 0600, by the tool and by apps"""
    lock(bench)
    os.umask(0o022)
    bench.run('pair', 'Lock')
    pathlib.Path(bench.path('manifest.json')).write_text(json.dumps(MANIFEST))
    app = bench.app('heart-rate-relay', JELLING_MANIFEST=bench.path('manifest.json'))
    folder = bench.path('app-state0')
    wait_until(lambda: glob.glob(folder + '/apps/*.journal'), lambda: f'a journal: {app.stderr()}')
    app.end()
    for top in (bench.path('state'), folder):
        for place, _, names in os.walk(top):
            assert oct(stat.S_IMODE(os.stat(place).st_mode)) == '0o700', place
            for name in names:
                assert oct(stat.S_IMODE(os.stat(os.path.join(place, name)).st_mode)) == '0o600', name


def test_a_pipe_named_bonds(bench):
    """A pipe where the bonds or their lock should be ends the tool at once, and names the pipe"""
    bonded(bench)
    for name in ('bonds', 'lock'):
        path = f'{state(bench)}/security/{name}'
        os.rename(path, path + '.kept')
        os.mkfifo(path, 0o600)
        refused(bench, 'bonds', words=[path, 'is a pipe', 'remove it', '--state'])
        refused(bench, 'gatt', 'Lock', 'read', OPEN, words=[path])
        os.unlink(path)
        os.rename(path + '.kept', path)
    assert len(bench.bonds()) == 1


def test_links_among_the_bonds(bench):
    """Symbolic links in the state folder are not followed, neither to read nor to write"""
    bonded(bench)
    victim = bench.path('victim')
    for name in ('bonds', 'lock'):
        path = f'{state(bench)}/security/{name}'
        os.rename(path, path + '.kept')
        for target, there in ((victim, b'private'), (path + '.kept', None), (bench.path('missing'), None)):
            write(victim, b'private')
            os.symlink(target, path)
            refused(bench, 'bonds', words=[path, 'symbolic link'])
            refused(bench, 'unpair', 'Lock', words=[path])
            assert content(victim) == b'private'
            os.unlink(path)
        assert not os.path.exists(bench.path('missing')), 'a file was made where the link leads'
        os.rename(path + '.kept', path)
    os.symlink(victim, f'{state(bench)}/security/bonds.new')
    bench.run('unpair', 'Lock')
    assert content(victim) == b'private'


def test_foreign_bonds(bench):
    """Bonds, a folder of bonds or a state folder that another user owns is refused with the user and the remedy"""
    needs_root()
    bonded(bench)
    for name in ('/security/bonds', '/security', ''):
        path = state(bench) + name
        os.chown(path, STRANGER, STRANGER)
        result = refused(bench, 'gatt', 'Lock', 'read', OPEN, words=[state(bench), f'owned by user {STRANGER}', 'remove it', '--state'])
        assert not result.events('value'), result.describe()
        os.chown(path, 0, 0)
    assert len(bench.bonds()) == 1


def test_link_in_the_middle_of_the_path(bench):
    """Another user's link in the middle of the path of --state is refused, and nothing is made where it leads"""
    needs_root()
    shared, victim = bench.path('shared'), bench.path('victim')
    os.mkdir(shared)
    os.chmod(shared, 0o1777)
    os.mkdir(victim, 0o700)
    os.chmod(bench.path('.'), 0o755)
    subprocess.run(['setpriv', '--reuid', str(STRANGER), '--regid', str(STRANGER), '--clear-groups',
                    'ln', '-s', victim, shared + '/jelling'], check=True)
    refused(bench, 'bonds', '--state', shared + '/jelling/state', words=[shared + '/jelling', f'owned by user {STRANGER}'])
    assert os.listdir(victim) == []


def test_bonds_that_others_may_write(bench):
    """Bonds that others could have written, and a state folder in which everyone may write, are refused"""
    bonded(bench)
    for path in (f'{state(bench)}/security/bonds', state(bench)):
        mode = stat.S_IMODE(os.stat(path).st_mode)
        os.chmod(path, mode | 0o022)
        refused(bench, 'gatt', 'Lock', 'read', OPEN, words=[path, 'may be written by other users', 'chmod go-w'])
        os.chmod(path, mode)


def test_a_planted_journal(bench):
    """An app's journal that is a link, a pipe or another user's is neither read, truncated nor waited for; the app runs on"""
    pathlib.Path(bench.path('manifest.json')).write_text(json.dumps(MANIFEST))
    victim, apps = bench.path('victim'), bench.path('app-state0/apps')
    os.makedirs(apps, 0o700)
    os.chmod(bench.path('app-state0'), 0o700)
    path = f'{apps}/{MANIFEST["BundleIdentifier"]}.journal'
    plants = {'is a symbolic link': lambda: os.symlink(victim, path), 'is a pipe': lambda: os.mkfifo(path, 0o600)}
    if not os.geteuid():
        plants[f'owned by user {STRANGER}'] = lambda: write(path, b'theirs', owner=STRANGER)
    for words, plant in plants.items():
        write(victim, b'private')
        plant()
        app = bench.app('heart-rate-relay', JELLING_MANIFEST=bench.path('manifest.json'))
        app.wait_stderr(words)
        app.wait_for(lambda line: line.get('state') == 'poweredOn' or 'poweredOn' in json.dumps(line), 'poweredOn')
        app.end()
        assert content(victim) == b'private'
        os.unlink(path)


def test_an_app_without_its_bonds(bench):
    """An app whose bonds cannot be trusted gets no Bluetooth, and is told why: its bonded devices would be strangers"""
    security = bench.path('app-state0/security')
    os.makedirs(security, 0o700)
    os.chmod(bench.path('app-state0'), 0o700)
    os.mkfifo(security + '/bonds', 0o600)
    pathlib.Path(bench.path('manifest.json')).write_text(json.dumps(MANIFEST))
    app = bench.app('heart-rate-relay', JELLING_MANIFEST=bench.path('manifest.json'))
    app.wait_stderr('is a pipe, not a file')
    time.sleep(1)
    assert 'poweredOn' not in json.dumps(app.lines), f'it has Bluetooth: {app.lines}'
    os.unlink(security + '/bonds')
    # It is tried again every five seconds.
    app.wait_for(lambda line: 'poweredOn' in json.dumps(line), 'poweredOn')


def test_planted_recordings(bench):
    """A recording, which contains keys, is not written to a file of another user, no link, no pipe and no file with a second name"""
    lock(bench)
    victim = bench.path('victim')
    plants = {'is a symbolic link': lambda path: os.symlink(victim, path), 'is a pipe': lambda path: os.mkfifo(path),
              'has other names': lambda path: os.link(victim, path)}
    if not os.geteuid():
        plants[f'owned by user {STRANGER}'] = lambda path: write(path, b'theirs', 0o666, STRANGER)
    for ending in ('.btsnoop', '.inputs.jsonl'):
        for words, plant in plants.items():
            write(victim, b'private')
            path = bench.path('session') + ending
            plant(path)
            refused(bench, 'lescan', '--duration', '0.2', options=['--record', bench.path('session')],
                    words=[path, words, 'remove it'])
            assert content(victim) == b'private'
            os.unlink(path)
            assert glob.glob(bench.path('session*')) == []
    bench.run('lescan', '--duration', '0.2', options=['--record', bench.path('session')])
    for path in glob.glob(bench.path('session*')):
        assert oct(stat.S_IMODE(os.stat(path).st_mode)) == '0o600', path


def test_planted_captures(bench):
    """In a shared folder, `-w` and `convert` use nothing that others put there; a user's own pipe works"""
    lock(bench)
    victim, shared = bench.path('victim'), bench.path('shared')
    os.mkdir(shared)
    os.chmod(shared, 0o1777)
    path = f'{shared}/capture.btsnoop'
    if not os.geteuid():
        for plant in (lambda: os.symlink(victim, path), lambda: os.mkfifo(path, 0o666), lambda: write(path, b'x', 0o666)):
            write(victim, b'private')
            plant()
            os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
            refused(bench, 'lescan', '--duration', '0.2', options=['-w', path], words=[path, f'owned by user {STRANGER}'])
            assert content(victim) == b'private'
            os.unlink(path)
    pipe = bench.path('own.btsnoop')
    os.mkfifo(pipe, 0o600)
    heard = []
    reader = threading.Thread(target=lambda: heard.append(content(pipe)))
    reader.start()
    bench.run('lescan', '--duration', '0.2', options=['-w', pipe])
    reader.join(60)
    assert heard and heard[0].startswith(b'btsnoop\0') and len(heard[0]) > 100, f'the pipe brought {heard}'
    if not os.geteuid():
        write(bench.path('plain.btsnoop'), heard[0])
        os.symlink(victim, path)
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
        refused(bench, 'convert', bench.path('plain.btsnoop'), path, words=[f'owned by user {STRANGER}'])
        refused(bench, 'decode', bench.path('plain.btsnoop'), '--html', path, words=[f'owned by user {STRANGER}'])
        assert content(victim) == b'private'


def test_a_big_profile(bench):
    """A profile with 60,000 keys, one nested 100,000 deep and one without an end are refused at once with a message"""
    keys = '{' + ','.join(f'"key {number}":{number}' for number in range(60_000)) + '}'
    for text, word in ((keys, 'not a known key'), ('[' * 100_000, 'too deeply nested'), ('{"services":[' * 30, 'line 1')):
        path = bench.path('profile.json')
        write(path, text.encode())
        refused(bench, 'serve', '--profile', path, words=[word])
    refused(bench, 'serve', '--profile', '/dev/zero', words=['longer than 16 MiB'])


def h4(kind, *parts):
    return bytes([kind]) + b''.join(bytes(part) for part in parts)


def acl(field, data):
    return h4(2, field.to_bytes(2, 'little'), len(data).to_bytes(2, 'little'), data)


def frame(channel, payload):
    return len(payload).to_bytes(2, 'little') + channel.to_bytes(2, 'little') + payload


def command(opcode, parameters):
    return h4(1, opcode.to_bytes(2, 'little'), [len(parameters)], parameters)


def event(code, parameters):
    return h4(4, [code, len(parameters)], parameters)


def btsnoop(packets):
    """Each packet complete, and each truncated by seven octets."""
    packets = [(int(packet[0] == 4), packet) for packet in packets]
    return captures.made(packets) + captures.made(packets, cut=7)[16:]


def test_keys_in_captures(bench):
    """No four octets of a key appear in the output of `decode` for a capture: text, JSON, page and summary"""
    smp = frame(6, b'\6' + KEY)
    packets = [
        # The rest of a frame whose beginning is missing, in another direction's, or too long.
        acl(0x1040, KEY), acl(0x1040, KEY[5:]), acl(0x2041, smp[:9]), acl(0x1042, smp[9:]), acl(0x1041, smp[9:] + KEY),
        acl(0x1041, KEY), acl(0x2043, smp[:3]), acl(0x1043, smp[3:]), acl(0x2EDC, KEY),
        *(acl(0x2040, frame(channel, bytes([code]) + payload)) for channel in (6, 7, 8) for code in (0, 4, 6, 8, 9, 10, 15)
          for payload in (KEY, KEY + KEY, KEY[:11], b'\0' + KEY)),
        command(0x2019, bytes(12) + KEY), command(0x201A, bytes(2) + KEY), command(0x2027, bytes(7) + KEY + KEY),
        command(0x2017, KEY + KEY), command(0x040B, bytes(6) + KEY), command(0x040D, bytes(6) + b'\x10' + KEY),
        command(0x0C11, bytes(7) + KEY), command(0xFC12, KEY), command(0x1801, KEY), command(0x0C03, KEY),
        event(0x18, bytes(6) + KEY + b'\4'), event(0x15, b'\1' + bytes(6) + KEY), event(0x3E, b'\x09\0' + KEY + KEY),
        event(0x0E, b'\1\x17\x20\0' + KEY), event(0xFF, KEY), event(0x77, KEY), event(0x3E, b'\xEE' + KEY), b'\x09' + KEY]
    packets += [p[:3] + bytes([p[3] + 1 & 255]) + p[4:] for p in packets if p[0] == 1]
    packets += [p[:2] + bytes([p[2] + 1 & 255]) + p[3:] for p in packets if p[0] == 4]
    path, page = bench.path('keys.btsnoop'), bench.path('keys.html')
    write(path, btsnoop(packets))
    runs = {KEY[at:at + 4] for at in range(13)}
    forms = {form for run in runs for form in (run.hex(), run[::-1].hex(), str(int.from_bytes(run, 'little')))}
    outputs = {}
    for name, arguments in {'text': ['decode', path], 'JSON': ['--json', 'decode', path],
                            'summary': ['--json', 'decode', path, '--summary'],
                            'page': ['decode', path, '--html', page]}.items():
        run = subprocess.run([BLETOOL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        outputs[name] = run.stdout + run.stderr
    outputs['page'] += pathlib.Path(page).read_text()
    for name, text in outputs.items():
        assert len(text) > 100, f'{name}: nothing came'
        for line in text.splitlines():
            plain = line.lower().translate({ord(c): None for c in ' :-'})
            assert not any(form in plain for form in forms), f'{name}: {line[:300]}'
