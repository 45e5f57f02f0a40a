"""What a gateway meets in years: a broker that does not read, long queues, adapters that are replaced, limits of the system."""
import json, os, pathlib, re, sqlite3

import pytest

from jelling import esphome
from jelling.child import Child, free_port
from jelling.client import is_listening
from jelling.controller import Controller
from jelling.esphome import Client, go
from jelling.gateway import wait_until
from jelling.measures import kilobytes
from jelling.peer import Peer
from jelling.attributes import READ
from jelling.programs import BLED, GATEWAY, ROOT
from jelling.scripted_broker import ScriptedBroker
from jelling.web import Events, ask, request


def test_broker_never_reads(bench):
    """quality 0 and a broker that accepts and reads nothing: all doors answer, memory is bounded, what is dropped is counted; after
    twice the keep-alive the session is ended and another one begun, which works"""
    if lacking := esphome.lacking():
        pytest.fail(lacking)
    broker = ScriptedBroker()
    radio = bench.radio('--devices', '20', '--rate', '1000')
    port, place = free_port(), free_port()
    gateway = bench.configured(
        f'name: g\nadapters: ["{radio.socket}"]\npublish: {{interval: 0}}\nhttp: {{listen: "127.0.0.1:{port}"}}\n'
        f'mqtt: {{url: "mqtt://127.0.0.1:{broker.port}", qos: 0, keepAlive: 5, longestBackoff: 1}}\nesphome: {{listen: "127.0.0.1:{place}"}}\n')
    gateway.place = '127.0.0.1', place, None
    wait_until(lambda: len(broker.published) > 200, 'documents')
    memory = kilobytes(gateway.process)
    broker.reads.clear()
    events = Events(gateway.port)

    async def others():
        async with Client(gateway) as client:
            await client.hears(0xC13800000000, 5)
            await client.api.device_info()
    rounds = 0
    while 'no session with' not in gateway.stderr() and rounds < 100:
        rounds += 1
        go(others(), 20)
        before = len(events.events)
        assert gateway.get('/health')[0] in (200, 503) and json.loads(gateway.get('/api/queue')[1])
        wait_until(lambda: len(events.events) > before, 'events', 20)
        waits = gateway.metric('mqtt_unwritten')
        assert waits <= 1000 / 16 * 17 + 100, f'{waits} wait'
        assert kilobytes(gateway.process) < memory + 12_000, f'{memory} kB, then {kilobytes(gateway.process)} kB'
    assert 'the broker does not answer; trying again' in gateway.stderr(), gateway.stderr()[-600:]
    assert rounds > 1 and gateway.metric('mqtt_unsent_total') > 0, f'{rounds} rounds, nothing is counted'
    broker.reads.set()
    before = len(broker.published)
    wait_until(lambda: len(broker.sessions) > 1 and len(broker.published) > before + 200, 'documents in the next session')
    events.close()
    gateway.ends_well()
    broker.close()
    print(f'{rounds} rounds, {memory // 1024} MB')


# What the queue does with SQLite while it works, apart from the start.
QUEUE = os.path.join(ROOT, 'Sources', 'jelling-gateway', 'Queue', 'MessageStore.swift')
ONCE = ('CREATE', 'ALTER', 'SELECT COUNT', 'SELECT MAX', 'UPDATE message SET qos', 'SELECT seq', 'PRAGMA')


def statements():
    """(those of the start that make the tables, those that it runs while it works)"""
    text = pathlib.Path(QUEUE).read_text(encoding='utf-8')
    found = [' '.join((a or b).replace('\\(QueuedMessage.columns)', '*').split())
             for a, b in re.findall(r'"""\n(.*?)\n\s*"""|"((?:SELECT|DELETE|UPDATE|INSERT|PRAGMA)[^"]*)"', text, re.S)]
    return [s for s in found if s.startswith('CREATE')], [s for s in found if not s.startswith(ONCE)]


def filled(count):
    """A queue that drops what is superseded, with so many messages of 200 topics."""
    store = sqlite3.connect(':memory:', isolation_level=None)
    tables, _ = statements()
    store.executescript(tables[0])
    store.executemany('INSERT INTO message (topic, payload, qos, retain) VALUES (?, ?, 1, 0)',
                      ((f'jelling/g/devices/{n % 200}', b'{}' * 100) for n in range(count)))
    store.executescript(tables[1])
    return store


def test_queue_cost():
    """no statement of the queue looks at all messages, neither to mark, to find and to drop what is superseded nor for anything else"""
    values = {'DELETE FROM message WHERE id = ?': [7], 'INSERT': ['jelling/g/devices/1', b'x', 1, 0], 'UPDATE message SET superseded': ['jelling/g/devices/3'],
              'DELETE FROM message WHERE id IN': [64], 'SELECT *': [500, 512], 'SELECT 1': []}
    _, running = statements()
    assert len(running) == 7, running
    costs = {}
    for count in (2000, 60_000):
        store = filled(count)
        assert store.execute('SELECT COUNT(*) FROM message WHERE superseded = 1').fetchone()[0] == count - 200
        for statement in running:
            # Operations of SQLite's machine; each has a bounded cost.
            steps = 0

            def step():
                nonlocal steps
                steps += 1
            arguments = next(v for k, v in values.items() if statement.startswith(k))
            store.execute('BEGIN')
            store.set_progress_handler(step, 1)
            store.execute(statement, arguments).fetchall()
            store.set_progress_handler(None, 1)
            store.execute('ROLLBACK')
            costs.setdefault(statement, []).append(steps)
        plan = [row[3] for s in running if 'message_superseded' in s for row in store.execute('EXPLAIN QUERY PLAN ' + s, [64])]
        store.close()
    assert [p for p in plan if 'message' in p] == ['SEARCH message USING INTEGER PRIMARY KEY (rowid=?)',
                                                   'SCAN message USING INDEX message_superseded'], plan
    for statement, (few, many) in costs.items():
        assert 0 < many <= few * 1.1 + 20, f'{statement}: {few} steps with 2,000 messages, {many} with 60,000'
    print(', '.join(f'{few}/{many}' for few, many in costs.values()))


def test_clock_set_back(bench):
    """a damaged queue whose predecessors have dates in the future, as after a clock was set back: its messages are sent, and it is kept"""
    path = bench.path('q.sqlite')
    store = filled(50)
    store.execute("UPDATE message SET qos = 'x' WHERE id = 30")
    with sqlite3.connect(path) as file:
        store.backup(file)
    file.close()
    for number in range(3):
        bench.write(f'q.sqlite.broken-{4_000_000_000 + number}', 'earlier')
    heard = bench.heard('jelling/g/devices/#')
    radio = bench.scripted_radio()
    gateway = bench.start('--config', bench.settings(radio, more=f'queue: {{path: "{path}"}}\n'))
    gateway.wait_stderr(f'the queue was damaged and is now {path}.broken-4000000003; 49 messages in it could be read')
    heard.wait(lambda t, p, r: True, 'what the queue had', 49)
    kept = sorted(name for name in os.listdir(bench.dir) if name.startswith('q.sqlite.broken-') and not name.endswith('-wal'))
    assert kept == [f'q.sqlite.broken-{4_000_000_000 + number}' for number in (1, 2, 3)], kept
    gateway.ends_well()


def test_file_limit(bench):
    """a limit of the system for the size of files: the queue stays below it, the oldest messages go, and nothing fails"""
    radio = bench.radio('--devices', '20', '--rate', '1000')
    path = bench.path('q.sqlite')
    file = bench.settings(radio, more=f'publish: {{interval: 0}}\nqueue: {{path: "{path}"}}\n')
    gateway = bench.start('--config', file, command=('prlimit', f'--fsize={2 << 20}', GATEWAY), page=True)
    gateway.wait_metric('queue_dropped_total', 500)
    assert os.path.getsize(path) < 2 << 20 and gateway.metric('queue_messages') > 500, os.path.getsize(path)
    assert 'problem' not in gateway.health()['queue'] and 'cannot use' not in gateway.stderr(), gateway.stderr()
    heard = bench.start_broker_for(gateway, 'jelling/g/devices/#', options=('-c', '-i', 'judge'))
    gateway.drain(radio)
    assert len(heard.messages) > 500
    gateway.ends_well()


@pytest.mark.parametrize('through_bled', [False, True], ids=['own', 'bled'])
def test_adapter_replaced(bench, through_bled):
    """an adapter goes while the gateway runs, and another with another address comes in its place: it scans and connects with that
    one; the proxy keeps its address, by which its clients know it"""
    if lacking := esphome.lacking():
        pytest.fail(lacking)

    def plug(address, value):
        controller = Controller(bench.path('hci'), address)
        meter = Peer(controller, 'C0:00:00:00:00:01', name='Meter', services=['180F'])
        meter.server.service('180F')
        meter.server.characteristic('2A19', READ, value)
        meter.advertise()
        return controller
    first = plug('24:00:00:00:00:01', b'\x01')
    transport = first.endpoint
    if through_bled:
        socket = bench.path('bled.sock')
        child = Child('bled', [BLED, '--adapter', first.endpoint, '--socket', socket, '--state', bench.path('bled')], bench.path('bled.err'))
        bench.children.append(child)
        wait_until(lambda: is_listening(socket), 'bled listens')
        transport = f'bled:{socket}'
    bench.write('token', 'secret')
    port = free_port()
    gateway = esphome.start(bench, transport, mqtt=False, more=f'http: {{listen: "127.0.0.1:{port}"}}\ngatt: {{tokenFile: "{bench.path("token")}"}}\n')
    gateway.port = port
    body = json.dumps({'address': 'C0:00:00:00:00:01', 'addressType': 'random', 'steps': ['read 2A19'], 'timeout': 20}).encode()

    def value():
        """What is read of the device over a link; None if it cannot be."""
        answer = ask(port, request('POST', '/api/gatt', 'Authorization: Bearer secret', 'Content-Type: application/json', body=body))[1]
        return next((json.loads(line).get('value') for line in answer.decode().splitlines() if '"value"' in line), None)

    async def address():
        async with Client(gateway) as client:
            await client.hears(0xC00000000001)
            return client.info.bluetooth_mac_address
    assert go(address()) == '24:00:00:00:00:01'
    wait_until(lambda: value() == '01', 'a value through the first adapter')
    first.close()
    os.unlink(bench.path('hci'))
    state = lambda: json.loads(gateway.get('/api/adapters')[1])['adapters'][0]   # noqa: E731
    if not through_bled:
        wait_until(lambda: state()['state'] != 'scanning' and gateway.get('/health')[0] == 503, 'it is missed')
        assert gateway.health()['adapters'][0]['problem']
    second = plug('24:00:00:00:00:02', b'\x02')
    wait_until(lambda: value() == '02', 'a value through the second adapter')
    wait_until(gateway.is_healthy, 'healthy')
    assert second.hosts >= 1 and state()['state'] == 'scanning', state()
    assert go(address()) == '24:00:00:00:00:01'
    gateway.ends_well()
    second.close()


def test_bonds_of_links(bench):
    """another folder of bonds, where the gateway makes links: its own adapters are opened again with that, and go on"""
    if lacking := esphome.lacking():
        pytest.fail(lacking)
    controller = Controller(bench.path('hci'))
    Peer(controller, 'C0:00:00:00:00:01', name='Meter', services=['180F']).advertise()
    gateway = esphome.start(bench, controller.endpoint, mqtt=False)

    async def hears():
        async with Client(gateway) as client:
            await client.hears(0xC00000000001)
    go(hears())
    assert controller.hosts == 1
    text = pathlib.Path(bench.path('kitchen.yaml')).read_text(encoding='utf-8')
    bench.write('kitchen.yaml', text.replace('kitchen-bonds', 'others'))
    gateway.wait_stderr('in force: ‘bonds’')
    wait_until(lambda: controller.hosts == 2, 'the adapter is opened again')
    go(hears())
    gateway.ends_well()
    controller.close()
