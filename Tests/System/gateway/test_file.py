"""Files that are not what they were: flipped bits, full disks, folders of others, pipes in the place of files."""
import contextlib, glob, json, os, pathlib, random, shutil, signal, sqlite3, time

import pytest

from jelling.child import Failure, free_port
from jelling.gateway import check_order, wait_until
from jelling.scripted_broker import Reader, Server, read_packet


def settings(bench, radio, queue, mqtt=''):
    return bench.settings(radio, mqtt=mqtt, more=f'publish: {{interval: 0}}\nqueue: {{path: "{queue}"}}\n'
                                                 f'http: {{listen: "127.0.0.1:{free_port()}"}}\n')


def filled_queue(bench, count=600):
    """A queue on disk with so many messages, which no broker has had; returns its path and the messages."""
    radio, path = bench.radio('--devices', '10', '--rate', '200'), bench.path('q.sqlite')
    gateway = bench.start('--config', settings(bench, radio, path))
    gateway.wait_metric('queue_messages', count)
    gateway.end_radio(radio)
    gateway.ends_well()
    assert not os.path.exists(path + '-wal'), 'the log is still there'
    with contextlib.closing(sqlite3.connect(path)) as store:
        return path, store.execute('SELECT topic, payload FROM message ORDER BY id').fetchall()


@pytest.mark.slow
def test_flipped_bits(bench):
    """one flipped bit anywhere in the queue: the gateway starts, says what it put aside, and sends what can be read, in order"""
    path, messages = filled_queue(bench)
    whole = open(path, 'rb').read()
    heard = bench.heard('jelling/#', options=('-c', '-i', 'judge'))
    with contextlib.closing(sqlite3.connect(path)) as store:
        size = store.execute('PRAGMA page_size').fetchone()[0]
        roots = {name: page for name, page in store.execute('SELECT name, rootpage FROM sqlite_master')}
    table = [n for n in range(1, len(whole) // size + 1) if whole[(n - 1) * size] == 13 and n not in roots.values()]
    generator = random.Random(5)
    # The header, the schema, roots, heads of pages, and what stands before each row: where a bit changes what rows are.
    places = [18, 19, 28, 31, 36, 44, 52, 59, 100, 103, 105, 107]
    places += [generator.randrange(100, size) for _ in range(4)]
    places += [(roots['message'] - 1) * size + n for n in (0, 3, 5, 8)]
    for page in generator.sample(table, 2):
        start = (page - 1) * size
        pointers = [int.from_bytes(whole[start + 8 + 2 * n:start + 10 + 2 * n], 'big')
                    for n in range(int.from_bytes(whole[start + 3:start + 5], 'big'))]
        row = start + generator.choice(pointers)
        places += [start, start + 4, start + 8, row, row + 2, *(row + n for n in range(3, 10))]
    asides = losses = 0
    for number, place in enumerate(places):
        for name in glob.glob(path + '*'):
            os.unlink(name)
        octets = bytearray(whole)
        octets[place] ^= 1 << generator.randrange(8)
        pathlib.Path(path).write_bytes(octets)
        before = len(heard.messages)
        gateway = bench.start('--config', settings(bench, 'unix:' + bench.path('nobody'), path, f', clientID: "g{number}"'))
        what = f'bit in octet {place}'
        try:
            gateway.wait_stderr('connected to the broker', 60)
            wait_until(lambda: 'messages wait in' in gateway.stderr() or 'the queue was damaged' in gateway.stderr(), 'the queue is open', 60)
            wait_until(lambda: gateway.metric('queue_messages') == 0 and gateway.metric('mqtt_in_flight') == 0
                       and gateway.health()['queue'] == {'messages': 0}, 'the queue is empty and works', 60)
            # A file that is another one now may be found at the first read only.
            gateway.ends_well()
        except Failure as e:
            state = [l for l in gateway.get('/metrics')[1].splitlines() if 'queue_' in l or 'mqtt_' in l if l[0] != '#']
            raise Failure(f'{what}, {octets[place]:02x} for {whole[place]:02x}: {e}; {state}; {gateway.stderr()[-600:]}') from None
        wait_until(lambda: [t for t, p, _ in heard.messages[before:]][-1:] == ['jelling/g/status'], f'{what}: offline')
        found = [(t, p.encode()) for t, p, _ in heard.messages[before:] if '/status' not in t]
        kept = set(found) & set(messages)
        positions = {m: n for n, m in enumerate(messages)}
        order = [positions[m] for m in found if m in positions]
        assert order == sorted(order), f'{what}: not in order'
        # At most the rows of a page, or of the pages below a damaged one.
        lost = len(messages) - len(kept)
        said = gateway.stderr()
        aside = 'the queue was damaged and is now' in said
        assert aside or lost <= 1, f'{what}: {lost} of {len(messages)} messages are lost in silence: {said[-500:]}'
        asides, losses = asides + aside, losses + lost
    assert losses < len(messages) * len(places) // 4, f'{losses} messages lost with {len(places)} bits'
    print(f'{len(places)} bits in {len(whole) >> 10} kB: {asides} times put aside, {losses} of {len(messages) * len(places)} messages lost')


def test_foreign_rows(bench):
    """rows of other types than were written are put aside and reported; the others are sent"""
    path, messages = filled_queue(bench, 100)
    rows = [('NULLed', 'UPDATE message SET qos = 9223372036854775807 WHERE id = 3'),
            ('retain', "UPDATE message SET retain = 'yes' WHERE id = 4"), ('topic', "UPDATE message SET topic = x'ff00' WHERE id = 5"),
            ('payload', "UPDATE message SET payload = 'text' WHERE id = 6"), ('empty', "UPDATE message SET topic = '' WHERE id = 7"),
            ('zero', "UPDATE message SET topic = 'a' || char(0) || 'b' WHERE id = 8"), ('qos', 'UPDATE message SET qos = -1 WHERE id = 9'),
            ('real', 'UPDATE message SET qos = 1e300 WHERE id = 10'), ('last', 'UPDATE message SET id = 9223372036854775807 WHERE id = 11')]
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        for _, statement in rows:
            store.execute(statement)
    bench.start_broker()
    heard = bench.subscribe('jelling/g/devices/#', '#')
    gateway = bench.start('--config', settings(bench, 'unix:' + bench.path('nobody'), path))
    gateway.wait_stderr('messages in it could be read and are still sent, others may be lost')
    heard.wait(lambda t, p, r: '/devices/' in t, 'the other messages', len(messages) - len(rows))
    gateway.wait_empty()
    wait_until(lambda: gateway.get('/health')[1].count('problem') == 1, 'only the adapter has a problem')
    gateway.ends_well()
    found = [p.encode() for t, p, _ in heard.messages if '/devices/' in t]
    assert found == [p for n, (_, p) in enumerate(messages, 1) if not 3 <= n <= 11], f'{len(found)} messages'


def left_after_start(gateway):
    """How many messages the queue had when it was opened."""
    gateway.wait_stderr('connected to the broker')
    wait_until(lambda: gateway.get('/health')[0], 'served')
    time.sleep(1)
    found = [l for l in gateway.stderr().splitlines() if 'messages wait in' in l]
    return int(found[0].split()[1]) if found else gateway.metric('queue_messages')


def room(disk):
    found = os.statvfs(disk)
    return found.f_bavail * found.f_frsize


def test_own_disk(bench):
    """a queue that fills its own disk: the oldest go, the newest arrive, the disk is free again, and nothing comes again after a restart"""
    with bench.small_disk('6m') as disk:
        radio = bench.radio('--devices', '20', '--rate', '800')
        file = settings(bench, radio, f'{disk}/q.sqlite')
        gateway = bench.start('--config', file)
        gateway.wait_metric('queue_dropped_total', 3000, 400)
        assert 'problem' not in gateway.health()['queue'], gateway.get("/health")
        waiting = gateway.metric('queue_messages')
        heard = bench.start_broker_for(gateway, 'jelling/g/devices/#', options=('-c', '-i', 'judge'))
        gateway.drain(radio)
        made = gateway.metric('documents_total')
        wait_until(lambda: sum({d['address']: d['sequence'] for d in heard.documents()}.values()) >= made, 'the last documents')
        check_order(heard.documents(), lossless=False)
        wait_until(lambda: room(disk) > 4 << 20, f'the disk is free again: {room(disk) >> 10} kB')
        assert os.path.exists(f'{disk}/q.sqlite-reserve'), 'the reserve is not there again'
        count = len(heard.messages)
        gateway.end(signal.SIGKILL)
        gateway = bench.start('--config', file)
        assert left_after_start(gateway) == 0, 'messages wait after the restart'
        gateway.end()
        assert len(heard.messages) == count, f'{len(heard.messages) - count} messages came again'
    print(f'{waiting:.0f} messages waited, {count} of {made:.0f} arrived')


def test_full_for_removal(bench):
    """others fill the disk while messages wait: those that are delivered are removed, and do not come again after a restart"""
    with bench.small_disk('24m') as disk:
        radio = bench.radio('--devices', '20', '--rate', '400')
        file = settings(bench, radio, f'{disk}/q.sqlite')
        gateway = bench.start('--config', file)
        gateway.wait_metric('queue_messages', 8000, 400)
        gateway.end_radio(radio)
        with open(f'{disk}/others', 'wb', buffering=0) as others, contextlib.suppress(OSError):
            while others.write(bytes(4096)):
                pass
        assert room(disk) < 4096, f'{room(disk)} octets are free'
        made = gateway.metric('documents_total')
        heard = bench.start_broker_for(gateway, 'jelling/g/devices/#', options=('-c', '-i', 'judge'))
        gateway.wait_empty()
        gateway.end(signal.SIGKILL)
        wait_until(lambda: check_order(heard.documents())[1] == made, f'{made} documents')
        count = len(heard.messages)
        gateway = bench.start('--config', file)
        assert left_after_start(gateway) == 0, f'messages wait after the restart: {gateway.stderr()}'
        os.unlink(f'{disk}/others')
        gateway.end()
        assert len(heard.messages) == count, f'{len(heard.messages) - count} messages came again'
    print(f'{count} messages')


def test_refused_state(bench):
    """a state folder that is not ours, or is a file: /health says 503 and why, and 200 when that is mended, without a restart"""
    bench.start_broker()
    state = bench.path('shared')
    os.mkdir(state)
    os.chmod(state, 0o777)

    def queue():
        return json.loads(gateway.get('/health')[1] or '{"queue": {}}')['queue']
    gateway = bench.start('-t', 'sim', '--mqtt', bench.url, '--name', 'g', '--state', state, page=True)
    gateway.wait_stderr('connected to the broker')
    wait_until(lambda: 'may be written by other users' in queue().get('problem', ''), f'why: {gateway.get("/health")}')
    assert gateway.get('/health')[0] == 503, 'healthy'
    os.chmod(state, 0o700)
    wait_until(gateway.is_healthy, 'healthy again')
    assert os.path.exists(state + '/gateway-g.sqlite'), 'no queue on disk'
    gateway.end()
    shutil.rmtree(state)
    bench.write('shared', 'a file')
    gateway = bench.start('-t', 'sim', '--mqtt', bench.url, '--name', 'g', '--state', state, page=True)
    gateway.wait_stderr('cannot use the queue')
    wait_until(lambda: 'problem' in queue(), f'why: {gateway.get("/health")}')
    gateway.ends_well()
    # A file of the queue that cannot be opened, and is not moved aside.
    os.mkfifo(bench.path('q.sqlite'))
    gateway = bench.start('--config', settings(bench, 'sim', bench.path('q.sqlite')))
    wait_until(lambda: gateway.get('/health')[0] == 503 and 'is a pipe, not a file' in queue().get('problem', ''), 'a pipe is no queue')
    os.unlink(bench.path('q.sqlite'))
    wait_until(gateway.is_healthy, 'healthy again')
    gateway.end()


def test_pipes(bench):
    """pipes, devices and folders in the place of settings, passwords, certificates: told, nothing waits, SIGTERM ends the gateway"""
    bench.start_broker()
    os.mkfifo(bench.path('pipe'))
    os.mkdir(bench.path('folder'))
    for path, said in ((bench.path('pipe'), 'is a pipe, not a file'), ('/dev/zero', 'is a device, not a file'), (bench.path('folder'), 'is a folder, not a file')):
        child = bench.run('--config', path, '--check', status=2, timeout=60)
        assert said in child.stderr(), child.stderr()
        for key in ('passwordFile', 'caFile'):
            tls = key == 'caFile'
            file = bench.write('gateway.yaml', f'name: g\nadapters: [sim]\nmqtt: {{url: "{"mqtts" if tls else "mqtt"}://127.0.0.1:{bench.port}", '
                                           f'username: u, {key}: "{path}", longestBackoff: 1}}\n')
            gateway = bench.start('--config', file)
            wait_until(lambda: said in gateway.stderr(), f'{key}: {path}', 60)
            if gateway.process.poll() is None:
                gateway.ends_soon(f'{key}: {path}')
    # A file that becomes a pipe while the gateway runs.
    text = f'name: g\nadapters: [sim]\nmqtt: {{url: "{bench.url}"}}\n'
    file = bench.write('gateway.yaml', text)
    gateway = bench.start('--config', file)
    gateway.wait_stderr('connected to the broker')
    os.mkfifo(bench.path('other'))
    os.rename(bench.path('other'), file)
    gateway.wait_stderr(f'{file}: is a pipe, not a file')
    gateway.wait_stderr('the settings stay as they were')
    gateway.process.send_signal(signal.SIGHUP)
    wait_until(lambda: gateway.stderr().count('is a pipe') >= 1, 'told')
    bench.write('gateway.yaml', text + 'presence: {}\n')
    gateway.wait_stderr('the settings were loaded again')
    os.unlink(file)
    os.mkfifo(file)
    gateway.process.send_signal(signal.SIGHUP)
    time.sleep(1)
    gateway.ends_soon('settings')
    assert gateway.process.returncode == 0, gateway.stderr()[-300:]


class PasswordListener(Server):
    """A broker that only reads the password of each CONNECT, and refuses it."""

    def __init__(self):
        self.passwords = []
        super().__init__()

    def serve(self, peer):
        with peer, peer.makefile('rb') as file:
            packet = Reader(read_packet(file)[1])
            packet.take(10)
            # Client, topic and message of the will, user, password.
            fields = []
            while packet.position < len(packet.octets):
                fields.append(packet.binary())
            self.passwords.append(fields[4] if len(fields) > 4 else None)
            peer.sendall(bytes([0x20, 2, 0, 5]))


def test_long_passwords(bench):
    """a password of any length that MQTT has is sent whole; longer ones and those with a zero are refused and said"""
    broker = PasswordListener()
    for octets in (b'a' * 1022, b'b' * 1023, b'c' * 1024, b'd' * 65_535, bytes(range(128, 256)), b'first\nsecond\n', b'e' * 5000 + b'\r\n'):
        pathlib.Path(bench.path('secret')).write_bytes(octets)
        file = bench.write('gateway.yaml', f'name: g\nadapters: [sim]\nmqtt: {{url: "mqtt://127.0.0.1:{broker.port}", username: u, '
                                       f'passwordFile: "{bench.path("secret")}", longestBackoff: 1}}\n')
        broker.passwords.clear()
        gateway = bench.start('--config', file)
        wait_until(lambda: broker.passwords, f'a session with a password of {len(octets)} octets')
        gateway.end()
        wanted = octets.split(b'\n')[0].rstrip(b'\r')
        assert broker.passwords[0] == wanted, f'{len(broker.passwords[0] or b"")} octets of {len(wanted)}'
    for octets, said in ((b'a' * 65_536, 'MQTT has at most 65535 octets'), (b'a' * 100_000, 'MQTT has at most 65535 octets'), (b'a\0b', 'an octet that is zero')):
        pathlib.Path(bench.path('secret')).write_bytes(octets)
        broker.passwords.clear()
        gateway = bench.start('--config', file)
        gateway.wait_stderr(said)
        gateway.ends_soon(said)
        assert not broker.passwords, 'a session without the password'
