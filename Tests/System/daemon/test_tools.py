"""`bletool` and a client in Python through `bled`: what they print and may do is what they print and may do in process."""
import os, re, subprocess, sys, time

from pytest import mark

from jelling import client as bled_client
from jelling.child import wait_until
from jelling.daemon import HEART, LIMIT, Client, Daemon, Running, bletool, ended
from jelling.programs import BLED

NOTE = '6A656C6C-696E-6700-8000-000000000002'
OCCASION = re.compile(r',"(?:time|adapter)":"[^"]*"')


def both(*words):
    """What a command gives in process and through a daemon, without the notes on standard error that it still waits, which a busy
    machine brings."""
    own = bletool('sim', *words)
    with Daemon() as daemon:
        shared = bletool(f'bled:{daemon.path}', *words)
    return [(status, out, ''.join(line for line in err.splitlines(True) if not line.startswith('bletool: still ')))
            for status, out, err in (own, shared)]


def same(*words, mask=None):
    """Runs a command in process and through a daemon: status and both outputs are equal, but for the time, the adapter
    and what `mask` matches."""
    own, shared = [(status, OCCASION.sub('', out), err) for status, out, err in both(*words)]
    if mask:
        own, shared = [(status, re.sub(mask, '…', out), err) for status, out, err in (own, shared)]
    assert own[0] == 0, f'in process: {own}'
    assert own == shared, f'in process {own}\nthrough bled {shared}'
    return own[1]


def test_scan():
    """lescan prints through bled what it prints in process"""
    # The strength of the signal is random.
    same('lescan', '--name', 'Jelling Heart', '--count', '1', mask=r'-\d+')
    same('--json', 'lescan', '--name', 'Jelling Heart', '--count', '1', mask=r'"(rssi|time)":[^,}]+')


def test_discover():
    """gatt discover prints through bled what it prints in process, for people and as JSON"""
    assert 'Heart Rate' in same('gatt', 'Jelling Heart', 'discover')
    same('--json', 'gatt', 'Jelling Heart', 'discover')


def test_read():
    """gatt read prints through bled what it prints in process: by number, by name, several"""
    for form in [], ['--json']:
        same(*form, 'gatt', 'Jelling Heart', 'read', '2A38')
        same(*form, 'gatt', 'Jelling Heart', 'read', 'Battery Level', '2A29')


def test_write():
    """gatt write prints through bled what it prints in process, and what one program writes another reads"""
    for form in [], ['--json']:
        same(*form, 'gatt', 'Jelling Heart', 'write', NOTE, '01020304')
    with Daemon() as daemon:
        daemon.tool('gatt', 'Jelling Heart', 'write', NOTE, 'cafe0102')
        assert 'cafe0102' in daemon.tool('--json', 'gatt', 'Jelling Heart', 'read', NOTE)


def test_subscribe():
    """gatt subscribe prints through bled what it prints in process"""
    for form in [], ['--json']:
        # Which beat it is depends on when the air began.
        out = same(*form, 'gatt', 'Jelling Heart', 'subscribe', '2A37', '--count', '3',
                   mask=r'"(time|value)":[^,}]+|\b[0-9a-f]{4,}\b|\d+ (bpm|/min)|\d+(\.\d+)?')
        assert len(out.splitlines()) >= 3, out


def test_failure():
    """a characteristic that is not there fails through bled as in process"""
    own, shared = both('gatt', 'Jelling Heart', 'read', '2AFF')
    assert own[0] == 1 and own == shared, f'in process {own}\nthrough bled {shared}'


def test_other_language():
    """a client in Python scans, connects and reads a value"""
    with Daemon() as daemon:
        done = ended(sys.executable, bled_client.__file__, daemon.path)
        assert 'C0DE00000001' in done.stdout, done
        client = daemon.connect()
        value = client.done(gatt={'link': client.connected(HEART), 'read': 3})
        assert value.value == b'Jelling Heart', value


@mark.alone
def test_no_descriptors():
    """out of descriptors bled waits instead of spinning, serves those it has, and takes others when there is room"""
    with Daemon(descriptors=24) as daemon:
        victim = daemon.connect()
        crowd = [Client(daemon.path, LIMIT) for _ in range(40)]
        daemon.wait_for('it says so', lambda: 'no more clients' in daemon.said())
        before = daemon.processor_seconds()
        time.sleep(2)
        used = daemon.processor_seconds() - before
        assert used < 0.5, f'{used} s of processor in 2 s'
        assert victim.done(cancel={'operation': 99}) is not None
        for client in crowd:
            client.socket.close()
        late = daemon.connect()
        assert late.done(cancel={'operation': 99}) is not None
        print(f'{used:.2f} s of processor in 2 s')


def test_killed():
    """bled is killed: a program that uses it ends with an error that says so, and a new bled takes the socket"""
    with Daemon() as daemon:
        with daemon.running('gatt', 'Jelling Heart', 'subscribe', '2A37', stderr=subprocess.PIPE) as tool:
            tool.stdout.readline()
            daemon.process.kill()
            daemon.process.wait()
            said = tool.communicate(timeout=LIMIT)[1]
        assert tool.returncode == 1 and 'bled has ended the connection: it was stopped' in said, (tool.returncode, said)
        status, _, said = bletool(f'bled:{daemon.path}', 'lescan', '--count', '1')
        assert status == 3 and 'no daemon listens' in said, (status, said)
        with Running([BLED, '--adapter', 'sim', '--socket', daemon.path], stdout=None) as again:
            wait_until(lambda: bletool(f'bled:{daemon.path}', 'lescan', '--count', '1')[0] == 0, 'the new daemon answers', LIMIT)
            again.terminate()
            again.wait(LIMIT)
        assert not os.path.exists(daemon.path), 'the socket is still there'
