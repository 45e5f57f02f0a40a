"""Cases of programs that ask for as much as they can: each delays others by its turn and no more."""
import os, signal, socket, sys, tempfile, time

from pytest import mark

from jelling import floods
from jelling.apps import Air
from jelling.daemon import HEART, LIMIT, NOBODY, Daemon, Running, answered, grows_less_than, needs_root, octets, state_of
from jelling.programs import ROOT

FLOODING = 10
# What a program gets done in one turn (TurnLine.turn).
TURN = 8
# What all programs may ask for in a second before they count as busy (TurnShare).
UNHURRIED = 32 / 0.010


def publish(number):
    return {'publish': {'uuid': (0xA000 + number).to_bytes(2, 'little'), 'is_primary': True}}


def handle(client, operation):
    """Of a published service; services get their handles in the order in which they are published."""
    end = client.end(operation)
    assert end and end.HasField('published'), end
    return end.published.range.first


def test_turns():
    """ten programs that send forty requests in one write delay another program's request by one turn of each"""
    with Daemon() as daemon:
        clients = [daemon.connect() for _ in range(FLOODING + 1)]
        *flooding, victim = clients
        assert all(client.done(cancel={'operation': 99}) for client in clients)
        # While it stands still, all send; then it finds all of it at once.
        daemon.process.send_signal(signal.SIGSTOP)
        # Else the stop can find it with the first few already in hand.
        daemon.wait_for('bled stopped', lambda: state_of(daemon.process.pid) == 'T')
        for client in flooding:
            client.request_all([publish(number) for number in range(40)])
        asked = victim.request(**publish(0))
        daemon.process.send_signal(signal.SIGCONT)
        own = handle(victim, asked)
        before = sum(handle(client, operation) < own for client in flooding for operation in range(2, 42))
        assert before <= FLOODING * TURN, f'{before} of {FLOODING * 40} requests came first'
        print(f'{before} of {FLOODING * 40} requests came first')


@mark.alone
def test_busy_programs():
    """ten programs that ask for as much as they can, by many requests at once or one by one, leave the processor to others"""
    shares, rates = [], []
    with Daemon() as daemon, daemon.app('heart-rate-central', '1000') as victim:
        victim.wait_for('beat', 2)
        for kind in floods.refused, floods.single:
            with floods.flooding(daemon.path, [kind] * FLOODING) as answered:
                victim.wait_for_more('beat', 1)
                before, began, earlier = daemon.processor_seconds(), time.monotonic(), answered()
                time.sleep(2)
                victim.wait_for_more('beat', 2)
                duration = time.monotonic() - began
                shares.append((daemon.processor_seconds() - before) / duration)
                rates.append((answered() - earlier) / duration)
    # An eighth is their turns; the rest are waking up, reading their sockets and what the victim asks for.
    said = ' and '.join(f'{share:.0%} for {rate:,.0f} requests a second' for share, rate in zip(shares, rates))
    # One by one they may ask for so little that none is busy: what that costs depends on the machine, not on them.
    assert shares[0] < 0.4 and (shares[1] < 0.4 or rates[1] < 1.5 * UNHURRIED), said
    print(f'bled used {said}')


def test_all_floods():
    """an app hears its sensor while others flood in seven ways, and bled ends while they do"""
    kinds = [floods.refused, floods.scans, floods.reads, floods.unread, floods.garbage, floods.half, floods.connections]
    with Daemon() as daemon, daemon.app('heart-rate-central', '1000') as victim:
        victim.wait_for('beat', 2)
        with floods.flooding(daemon.path, kinds + [floods.refused, floods.scans, floods.reads], HEART), \
                grows_less_than(daemon, 64):
            victim.wait_for_more('beat', 5)
        # All that they have held is free again.
        daemon.wait_for('a place for another program', daemon.can_greet)
        with floods.flooding(daemon.path, [floods.refused] * FLOODING):
            victim.wait_for_more('beat', 1)
            daemon.process.send_signal(signal.SIGTERM)
            assert daemon.process.wait(LIMIT) == 0, 'bled did not end while others flood'


def test_silent_programs():
    """ten programs that send without end and never read are not heard any more; when they read, each gets all its answers in order"""
    with Daemon() as daemon, daemon.app('heart-rate-central', '1000') as victim:
        victim.wait_for('beat', 2)
        with grows_less_than(daemon, 64):
            clients = [daemon.connect() for _ in range(FLOODING)]
            sent = [floods.fill(client, lambda number: octets(request={'operation': number, **floods.NO_LINK})) for client in clients]
            victim.wait_for_more('beat', 2)
        # Linux lets a socket of this kind take so much if nobody says otherwise: a host may.
        usual = clients[0].socket.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) / 212_992
        for client, (count, left) in zip(clients, sent):
            for number in range(1, count + 1):
                if left and number == count:
                    client.socket.sendall(left)
                message = client.receive()
                assert message and message.HasField('completed') and message.completed.operation == number, (number, count, message)
            client.number = count
            assert client.done(cancel={'operation': 99}), 'no answer afterwards'
    counts = [count for count, _ in sent]
    # About 3,000, most of which wait in the sockets; it was 27,000 when the daemon heard them for longer.
    assert max(counts) < 10_000 * max(1, usual), f'one was heard {max(counts)} times'
    print(f'{min(counts)} to {max(counts)} requests each')


def test_slow_tool():
    """a tool that reads its reports more slowly than they come ends one of its scans, and then the other"""
    waited = []
    with tempfile.TemporaryDirectory() as folder:
        controller = f'unix:{folder}/hci'
        with Running([sys.executable, os.path.join(ROOT, 'Tools', 'Gateway', 'radio.py'), controller, '--devices', '1000',
                      '--rate', '4000'], stderr=None) as radio:
            assert 'ready' in radio.stdout.readline()
            with Daemon(adapter=controller) as daemon:
                tool = daemon.connect()
                scans = [tool.request(scan={'is_active': True, 'allows_duplicates': True}) for _ in range(2)]
                # So much that further reports are dropped.
                daemon.wait_for('a full queue', lambda: max(one.waiting_octets for one in clients(daemon)) >= 128 * 1024)
                for scan in scans:
                    asked = tool.request(cancel={'operation': scan})
                    for reports in range(20_000):
                        message = tool.receive()
                        assert message, f'the connection has ended: {daemon.said()[-500:]}'
                        if message.HasField('completed') and message.completed.operation == asked:
                            break
                        # 4,000 reports come in a second, for each scan.
                        time.sleep(0.002)
                    else:
                        raise AssertionError(f'the end did not come before {reports + 1} reports')
                    waited.append((reports, max(one.waiting_octets for one in clients(daemon))))
    print(', '.join(f'the end came behind {reports} reports, {octets} octets waited then' for reports, octets in waited))


def test_silent_leaver():
    """what a program asked for before it closed its end is done, although it read nothing and was not heard any more"""
    with Daemon() as daemon:
        watcher = daemon.connect()
        first = handle(watcher, watcher.request(**publish(0)))
        silent = daemon.connect()
        # How many requests it gets rid of depends on the sockets of this host; a tool may have 64 services.
        count, left = floods.fill(silent, lambda number: octets(request={'operation': number, **(
            publish(number // 50) if number % 50 == 0 and number // 50 < 64 else floods.NO_LINK)}))
        # The last one may be sent in part.
        count -= bool(left)
        services = min(count // 50, 63)
        assert services, f'it was heard {count} times'
        silent.socket.close()
        daemon.wait_for('it is gone', lambda: len(clients(daemon)) == 2)
        # Each service had a place, which is kept for one like it.
        places = handle(watcher, watcher.request(**publish(100))) - first - 1
        assert places == services, f'{places} of {services} services were published'
        print(f'{count} requests, {places} of them services')


NOTE = '6A656C6C-696E-6700-8000-000000000002'
SLOW = {'services': [{'uuid': '180D', 'characteristics': [{'uuid': NOTE, 'properties': ['read', 'write'], 'value': 'ffff'}]}]}


def clients(daemon):
    """What bled says of each client."""
    return answered(daemon.path, status={}).status.clients


def requests(daemon):
    """How many requests of each tool bled has in hand."""
    # The operator that asks is a client without links.
    return [one.requests for one in clients(daemon) if one.links]


@needs_root
def test_shared_link():
    """five programs that fill the queue of a device leave another user's one a place in it, and delay its read by one of their writes"""
    with Air(profile=SLOW, name='Slow', comes=True) as air:
        # The device must answer again before the request in hand times out; on a busy machine it may be late.
        for _ in range(5):
            with Daemon(allow=[NOBODY], adapter=air.endpoint) as daemon:
                clients = [*(daemon.connect() for _ in range(5)), daemon.connect(NOBODY)]
                links = [client.connected(client.found()) for client in clients]
                *greedy, victim = clients
                uuid = bytes.fromhex(NOTE.replace('-', ''))
                found = victim.done(gatt={'link': links[-1], 'read_using_uuid': {'uuid': uuid, 'range': {'first': 1, 'last': 0xFFFF}}})
                handle = found.attribute_values.values[0].handle
                air.sensor.process.send_signal(signal.SIGSTOP)
                stopped = time.monotonic()
                try:
                    for number, (client, link) in enumerate(zip(greedy, links)):
                        client.request_all([{'gatt': {'link': link, 'write': {'handle': handle, 'value': bytes([number, place])}}}
                                            for place in range(256)])
                    # One is on its way and 1,024 wait.
                    daemon.wait_for('a full queue', lambda: sum(requests(daemon)) >= 1025)
                    asked = victim.request(gatt={'link': links[-1], 'read': handle})
                    daemon.wait_for('the read waits', lambda: requests(daemon)[-1] == 1)
                finally:
                    air.sensor.process.send_signal(signal.SIGCONT)
                took = time.monotonic() - stopped
                end = victim.end(asked)
                if took < 20 and end and end.HasField('value'):
                    break
        assert took < 20, f'the device stood still for {took:.0f} s'
        assert end and end.HasField('value'), f'the read failed: {end}'
        place = end.value[1]
        assert place <= 1, f'the read came after {place + 1} writes of a program'
        print(f'the read came after {place + 1} of 256 writes of a program')
