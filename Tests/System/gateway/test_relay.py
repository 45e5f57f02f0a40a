"""A relay in front of a real Mosquitto that ends sessions, loses acknowledgements, or does not read."""
import functools, socket, threading, time

from jelling.child import free_port
from jelling.gateway import check_order, wait_until


def packets(peer):
    """The packets of MQTT that a socket sends: (type and flags, the whole packet)."""
    file = peer.makefile('rb')
    while head := file.read(1):
        octets, length, shift = head, 0, 0
        while True:
            octet = file.read(1)
            octets += octet
            length |= (octet[0] & 127) << shift
            shift += 7
            if octet[0] < 128:
                break
        yield head[0], octets + file.read(length)


class Relay:
    """`ends(n)` says how many documents of each session are passed on, but not their acknowledgements, before it ends; -1: it ends at
    the first document; None: it does not end. Without `reads`, documents stay in the socket."""

    def __init__(self, target, ends=lambda session: None):
        self.target, self.ends, self.sessions = target, ends, 0
        # Seconds from the end of each session to the beginning of the next one.
        self.pauses = []
        self.reads = threading.Event()
        self.reads.set()
        self.server = socket.socket()
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.server.bind(('127.0.0.1', 0))
        self.server.listen()
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        state = {}
        while True:
            try:
                peer, _ = self.server.accept()
            except OSError:
                return
            if 'ended' in state:
                self.pauses.append(time.monotonic() - state['ended'])
            try:
                broker = socket.create_connection(('127.0.0.1', self.target), 10)
            except OSError:
                peer.close()
                continue
            broker.settimeout(None)
            self.sessions += 1
            state = {'left': self.ends(self.sessions), 'documents': 0}
            state['end'] = functools.partial(self.end, state, peer, broker)
            for source, target, way in ((peer, broker, self.up), (broker, peer, self.down)):
                threading.Thread(target=self.serve, args=(source, target, way, state), daemon=True).start()

    def serve(self, source, target, way, state):
        try:
            for kind, packet in packets(source):
                if not way(kind, packet, target, state):
                    break
        except (OSError, IndexError):
            pass
        self.end(state, source, target)

    def end(self, state, *sockets):
        # Before the gateway can know: its pause is not longer than what is measured from here.
        state.setdefault('ended', time.monotonic())
        for end in sockets:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def up(self, kind, packet, broker, state):
        if kind >> 4 == 3 and b'/devices/' in packet[:60]:
            self.reads.wait()
            if state['left'] == -1:
                return False
            state['documents'] += 1
            if state['documents'] == 1 and state['left'] is not None:
                threading.Timer(0.3, state['end']).start()
            if state['left'] is None or state['documents'] <= state['left']:
                broker.sendall(packet)
            return True
        broker.sendall(packet)
        return True

    def down(self, kind, packet, peer, state):
        if kind >> 4 == 4 and state['left'] is not None and state['documents'] > 0:
            return True
        peer.sendall(packet)
        return True

    def close(self):
        self.reads.set()
        self.server.close()


def settings(bench, relay, radio, more='', queue=''):
    return bench.write('gateway.yaml', f'name: g\nadapters: ["{radio.socket}"]\npublish: {{interval: 0}}\nqueue: {{{queue}}}\n'
                                   f'mqtt: {{url: "mqtt://127.0.0.1:{relay.port}", {more}}}\n')


def judge_all(bench, gateway, heard, radio, port):
    """Everything that was made arrives, in the order of each device, and nothing is counted as lost."""
    bench.drain(radio, gateway, port)
    wait_until(lambda: bench.metric(port, 'mqtt_in_flight') == 0, 'no message is on the way')
    made, refused, dropped = (bench.metric(port, f'{name}_total') for name in ('documents', 'mqtt_refused', 'queue_dropped'))
    assert (refused, dropped) == (0, 0), f'{refused} refused, {dropped} dropped: {gateway.stderr()[-600:]}'
    wait_until(lambda: check_order(heard.documents())[1] >= made, f'{made} documents, {check_order(heard.documents())}')
    gateway.ends_well()
    devices, documents, repeats = check_order(heard.documents())
    assert documents == made, f'{documents} of {made}'
    return f'{documents:.0f} documents of {devices} devices, {repeats} repeated'


def test_ending_broker(bench):
    """a broker that ends every session at the first document: told, ever longer pauses, and nothing is lost once it works"""
    heard = bench.heard('jelling/g/devices/#')
    relay = Relay(bench.port, lambda session: -1 if session <= 12 else None)
    radio, port = bench.radio('--devices', '10', '--rate', '20'), free_port()
    gateway = bench.start('--config', settings(bench, relay, radio, 'longestBackoff: 4'), '--http', f'127.0.0.1:{port}')
    bench.wait_stderr(gateway, 'the broker ends every session without acknowledging a message; nothing is dropped', 400)
    heard.wait(lambda t, p, r: True, 'documents', 100, 400)
    # A pause of 4 s is at least 2 s; before, it began again with 1 s each time.
    pauses = relay.pauses[3:12]
    assert len(pauses) == 9 and min(pauses) >= 1.9, pauses
    assert 'the message was dropped' not in gateway.stderr(), gateway.stderr()[-600:]
    said = judge_all(bench, gateway, heard, radio, port)
    relay.close()
    print(f'{relay.sessions} sessions, {said}')


def test_ending_memory(bench):
    """the same with a queue in memory: what was on the way is sent again"""
    heard = bench.heard('jelling/g/devices/#')
    relay = Relay(bench.port, lambda session: -1 if session <= 8 else None)
    radio, port = bench.radio('--devices', '10', '--rate', '20'), free_port()
    gateway = bench.start('--config', settings(bench, relay, radio, 'longestBackoff: 1', 'memory: true'), '--http', f'127.0.0.1:{port}')
    heard.wait(lambda t, p, r: True, 'documents', 100, 400)
    said = judge_all(bench, gateway, heard, radio, port)
    relay.close()
    print(f'{relay.sessions} sessions, {said}')


def test_lost_acknowledgements(bench):
    """a broker whose acknowledgements are lost with every session: documents are repeated, in order, and none is missing"""
    heard = bench.heard('jelling/g/devices/#')
    relay = Relay(bench.port, lambda session: session % 4 + 1 if session <= 12 else None)
    radio, port = bench.radio('--devices', '10', '--rate', '20'), free_port()
    gateway = bench.start('--config', settings(bench, relay, radio, 'longestBackoff: 1'), '--http', f'127.0.0.1:{port}')
    wait_until(lambda: relay.sessions > 12, 'twelve sessions', 400)
    heard.wait(lambda t, p, r: True, 'documents', 100, 400)
    said = judge_all(bench, gateway, heard, radio, port)
    relay.close()
    print(f'{relay.sessions} sessions, {said}')


def test_deaf_broker(bench):
    """quality 0 and a broker that stops reading: so many documents wait and no more, the oldest go, told and counted; the newest arrive"""
    heard = bench.heard('jelling/g/devices/#')
    relay = Relay(bench.port)
    radio, port = bench.radio('--devices', '20', '--rate', '1000'), free_port()
    gateway = bench.start('--config', settings(bench, relay, radio, 'qos: 0, keepAlive: 3600'), '--http', f'127.0.0.1:{port}')
    heard.wait(lambda t, p, r: True, 'documents', 100)
    relay.reads.clear()
    bench.wait_stderr(gateway, 'messages with quality of service 0 are dropped, the oldest first', 500)

    def memory():
        return int(next(l for l in open(f'/proc/{gateway.process.pid}/status') if l.startswith('VmRSS')).split()[1])
    before, unsent = memory(), bench.metric(port, 'mqtt_unsent_total')
    waiting = []

    def dropped():
        waiting.append(bench.metric(port, 'mqtt_unwritten'))
        return bench.metric(port, 'mqtt_unsent_total') > unsent + 5000
    wait_until(dropped, '5,000 more are dropped', 400)
    assert max(waiting) <= 1000 / 16 * 17 + 100, f'{max(waiting)} wait'
    assert memory() < before + 8000, f'{before} kB, then {memory()} kB'
    assert gateway.stderr().count('the oldest first') == 1, gateway.stderr()[-600:]
    bench.end_radio(radio, gateway)
    last = bench.metric(port, 'documents_total')
    relay.reads.set()
    wait_until(lambda: bench.metric(port, 'mqtt_unwritten') == 0, 'nothing waits')
    lost = bench.metric(port, 'mqtt_unsent_total')
    wait_until(lambda: len(heard.documents()) >= last - lost, f'{last} documents but {lost}, not {len(heard.documents())}')
    documents = heard.documents()
    check_order(documents, lossless=False)
    assert len(documents) == last - lost, f'{len(documents)} arrived and {lost} were dropped of {last}'
    assert last / 20 - 1 <= max(d['sequence'] for d in documents), 'the newest are missing'
    gateway.ends_well()
    relay.close()
    print(f'{lost:.0f} of {last:.0f} dropped, {before // 1024} MB')
