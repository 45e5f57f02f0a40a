"""Another local user, and a file from elsewhere: planted links, pipes and owners, profiles without end, keys in captures."""
import base64, os, pathlib, stat, struct, subprocess, time, zlib

import pytest

from pytest import mark, param

from jelling import captures
from jelling.cases import cases
from jelling.child import PATIENCE, wait_until
from jelling.programs import EXAMPLES, ROOT
from attack.test_honest import OPEN, lock

PRIVATE = b'a private file of the user\n'
NOBODY = 65534


def private(bench):
    path = bench.path('private')
    pathlib.Path(path).write_bytes(PRIVATE)
    os.chmod(path, 0o600)
    return path


def is_untouched(path):
    assert pathlib.Path(path).read_bytes() == PRIVATE


def as_root():
    if os.geteuid() != 0:
        pytest.skip('needs root, to make files of another user')


def store(bench):
    """Creates the folder of bonds and returns its path."""
    folder = bench.path('state/jelling/security')
    os.makedirs(folder, mode=0o700)
    for above in ('state', 'state/jelling'):
        os.chmod(bench.path(above), 0o700)
    return folder


def relay(bench, **variables):
    """Runs the sample heart-rate-relay until it advertises; by then it keeps a journal."""
    if not os.access(os.path.join(EXAMPLES, 'heart-rate-relay'), os.X_OK):
        pytest.skip('heart-rate-relay is not built: swift build')
    app = bench.app('heart-rate-relay', JELLING_MANIFEST=os.path.join(
        ROOT, 'Tools', 'Examples', 'core-bluetooth', 'heart-rate-relay.json'), **variables)
    try:
        app.wait_for(lambda l: l.get('event') == 'advertising', 'advertising')
        time.sleep(1)     # until it has written
    finally:
        app.end()
    return app


JOURNAL = 'apps/org.example.heart-rate-relay.journal'


def linked(endings, target):
    def plant(bench, path):
        if '' not in endings:
            pathlib.Path(path).touch()
        for ending in endings:
            os.symlink(bench.path(target), path + ending)
    return plant


@cases('plant',
       symlink=('A journal that is a planted link: its target is neither written nor truncated', linked([''], 'private')),
       symlink_aside=('The replacement of the journal is a planted link: its target is neither written nor truncated',
                      linked(['.new', '.damaged', '.lock'], 'private')),
       symlink_dangling=('A journal that is a link to a missing file does not create the file', linked([''], 'planted')),
       pipe=('A journal that is a pipe does not delay the app', lambda bench, path: os.mkfifo(path)))
def test_journal(bench, sentence, plant):
    victim = private(bench)
    os.makedirs(bench.path('app-state0/apps'), mode=0o700)
    os.chmod(bench.path('app-state0'), 0o700)
    plant(bench, bench.path('app-state0/' + JOURNAL))
    relay(bench)
    is_untouched(victim)
    assert not os.path.exists(bench.path('planted')), 'a file was made behind the link'


def test_journal_in_order(bench):
    """Only the owner can access the folder and the files that an app of Core Bluetooth creates"""
    relay(bench)
    folder = bench.path('app-state0')
    for path, folders, files in os.walk(folder):
        assert oct(stat.S_IMODE(os.stat(path).st_mode)) == '0o700', f'mode of {path}'
        for name in files:
            mode = stat.S_IMODE(os.stat(os.path.join(path, name)).st_mode)
            assert not mode & 0o077, f'mode of {path}/{name}: {mode:o}'
    assert os.path.exists(bench.path('app-state0/' + JOURNAL)), 'there is no journal'


def linked_bonds(bench, name):
    victim = private(bench)
    os.symlink(victim, f'{store(bench)}/{name}')
    if name == 'bonds':
        bench.run('bonds', status=1)
    lock(bench)
    bench.run('pair', 'Lock', status=None)
    is_untouched(victim)


def test_bonds_symlink(bench):
    """Bonds that are a planted link are not read, and its target is not written"""
    linked_bonds(bench, 'bonds')


def test_bonds_lock_symlink(bench):
    """A lock file that is a planted link is not opened"""
    linked_bonds(bench, 'lock')


def plant_pipe(bench, path):
    os.mkfifo(path, 0o600)


def plant_folder(bench, path):
    os.mkdir(path, 0o700)


def plant_foreign(bench, path):
    as_root()
    honest_bonds(bench, path)
    os.chown(path, NOBODY, NOBODY)


def plant_writable(bench, path):
    honest_bonds(bench, path)
    os.chmod(path, 0o666)


def honest_bonds(bench, path):
    lock(bench)
    bench.run('pair', 'Lock')
    assert len(bench.bonds()) == 1


@mark.parametrize('plant', [param(plant_pipe, id='pipe'), param(plant_folder, id='folder'), param(plant_foreign, id='of_another'),
                            param(plant_writable, id='writable')])
def test_bonds(bench, plant):
    """Bonds that are no file, or that others may write, are refused, and the message names the file"""
    path = store(bench) + '/bonds'
    plant(bench, path)
    result = bench.run('bonds', status=1)
    assert 'bonds' in result.stderr, f'the message names no file: {result.stderr}'


def test_record_into_a_link(bench):
    """`--record` follows no planted link, with either of its files"""
    victim = private(bench)
    lock(bench)
    for ending in ('btsnoop', 'inputs.jsonl'):
        name = bench.path('take' + ending[:1])
        os.symlink(victim, f'{name}.{ending}')
        bench.run('gatt', 'Lock', 'read', OPEN, options=['--record', name], status=None)
        is_untouched(victim)


def test_record_into_foreign(bench):
    """`--record` writes into no file that another user owns"""
    as_root()
    lock(bench)
    name = bench.path('take')
    for ending in ('btsnoop', 'inputs.jsonl'):
        path = f'{name}.{ending}'
        pathlib.Path(path).write_bytes(PRIVATE)
        os.chown(path, NOBODY, NOBODY)
        result = bench.run('gatt', 'Lock', 'read', OPEN, options=['--record', name], status=None)
        assert result.status != 0, f'it was recorded: {result.describe()}'
        assert pathlib.Path(path).read_bytes() == PRIVATE
        os.unlink(path)


def test_static_address_pipe(bench):
    """A static address file that is a pipe does not delay the tool"""
    store(bench)
    os.mkfifo(bench.path('state/jelling/static-address'))
    lock(bench)
    result = bench.run('gatt', 'C0:00:00:00:00:01/random', 'read', OPEN, options=['--own-address', 'static'], status=None)
    assert result.seconds < PATIENCE, result.describe()


# Files from elsewhere

def serve_file(bench, text):
    path = bench.path('profile.json')
    pathlib.Path(path).write_text(text)
    tool = bench.start('serve', '--profile', path)
    wait_until(lambda: tool.process.poll() is not None or bench.controller.advertising, 'refused or served')
    return tool


def test_report_with_a_large_log(bench):
    """A bug report whose log becomes too large is refused with the limit in words, and is not called damaged"""
    log = base64.b64encode(b'\2' + bytes(8) + zlib.compress(bytes(9 << 20))).decode()
    path = bench.path('report.txt')
    pathlib.Path(path).write_text('\n'.join(['========', '== dumpstate: 2023', '--- BEGIN:BTSNOOP_LOG_SUMMARY (9 bytes in) ---', *(
        log[at:at + 76] for at in range(0, len(log), 76)), '--- END:BTSNOOP_LOG_SUMMARY ---', '']))
    done = bench.run('decode', path, '--summary', status=1)
    assert 'more than 8 MiB' in done.stderr and 'damaged' not in done.stderr, done.stderr


def test_profile_of_many_keys(bench):
    """A profile with 60,000 keys is read or refused in time proportional to its length"""
    started = time.monotonic()
    serve_file(bench, '{' + ','.join(f'"key{n}":{n}' for n in range(60_000)) + ',"services":[]}')
    assert time.monotonic() - started < PATIENCE, f'{time.monotonic() - started:.1f} s'


def test_profile_without_end(bench):
    """A profile nested 200,000 deep is refused with a message"""
    tool = serve_file(bench, '[' * 200_000)
    assert tool.process.poll() in (1, 2), f'exit status {tool.process.poll()}; {tool.stderr()[-300:]}'


# Keys in captures

KEY = bytes.fromhex('c0ffee11d00dfeed22baadf00d334455')


def capture(bench, packets):
    """A btsnoop file of (direction, H4 packet)."""
    path = bench.path('capture.btsnoop')
    pathlib.Path(path).write_bytes(captures.made(packets))
    return path


def acl(payload, boundary):
    return struct.pack('<BHH', 2, 0x40 | boundary << 12, len(payload)) + payload


CAPTURES = {
    'orphan': [(1, acl(KEY, 1))],
    'orphan_tail': [(0, acl(b'\x06' + KEY, 1)), (1, acl(KEY[6:], 1))],
    'head_only': [(1, acl(b'\x11\0\6\0\6' + KEY[:12], 2)), (1, acl(b'\x03\0\4\0\x0a\1\0', 2))],
    'split_header': [(1, acl(b'\x11', 2)), (1, acl(b'\0\6\0\6' + KEY, 1))],
    'too_long': [(1, acl(b'\x02\0\6\0\6' + KEY, 2))],
    'in_order': [(1, acl(b'\x11\0\6\0\6' + KEY, 2)), (0, acl(b'\x11\0\6\0\x08' + KEY, 2))],
    'long_security': [(1, acl(struct.pack('<HH', 40, 6) + b'\x06' + KEY + bytes(23), 2))],
    'unknown_security': [(1, acl(b'\x11\0\6\0\x7f' + KEY, 2))],
    'commands': [
        (0, b'\x01\x19\x20\x1c\x40\0' + bytes(10) + KEY), (0, b'\x01\x1a\x20\x12\x40\0' + KEY),
        (0, b'\x01\x27\x20\x27\1' + bytes(6) + KEY + KEY), (0, b'\x01\x17\x20\x20' + KEY + bytes(16)),
        (0, b'\x01\x19\x20\x16\x40\0' + bytes(10) + KEY[:10])],
}


@mark.parametrize('packets', CAPTURES.values(), ids=CAPTURES)
def test_capture(bench, packets):
    """`decode` shows no octets of a key, in captures of all kinds: as text, JSON, counts and page"""
    path = capture(bench, packets)
    page = bench.path('page.html')
    runs = [bench.command('decode', path, json=False), bench.command('decode', path, json=True),
            bench.command('decode', path, '--summary', json=False), bench.command('decode', path, '--html', page, json=False)]
    texts = []
    for command in runs:
        run = subprocess.run([command[0], *command[3:]], capture_output=True, timeout=60)
        assert run.returncode in (0, 1), f'{command}: {run.returncode} {run.stderr[-300:]}'
        texts.append((run.stdout + run.stderr).decode('utf-8', 'replace'))
    texts.append(pathlib.Path(page).read_text(encoding='utf-8'))
    for text in texts:
        told = ''.join(c for c in text.lower() if c not in ' :,-')
        for at in range(len(KEY) - 3):
            for part in (KEY[at:at + 4], KEY[at:at + 4][::-1]):
                assert part.hex() not in told, f'octets {part.hex()} of a key are shown'
