"""A relay in front of a real Mosquitto that ends sessions, loses acknowledgements, or does not read."""
import contextlib, functools, socket, threading, time

from jelling.measures import kilobytes
from jelling.gateway import check_order, wait_until
from jelling.scripted_broker import Server, read_packet


class Relay(Server):
    """`ends(n)` says how many documents of each session are passed on, but not their acknowledgements, before it ends; -1: it ends at
    the first document; None: it does not end. Without `reads`, documents stay in the socket."""

    def __init__(self, target, ends=lambda session: None):
        self.target, self.ends, self.sessions = target, ends, 0
        # Seconds from the end of each session to the beginning of the next one.
        self.pauses = []
        self.reads = threading.Event()
        self.reads.set()
        self.state = {}
        super().__init__()
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)

    def serve(self, peer):
        if 'ended' in self.state:
            self.pauses.append(time.monotonic() - self.state['ended'])
        try:
            broker = socket.create_connection(('127.0.0.1', self.target), 10)
        except OSError:
            peer.close()
            return
        broker.settimeout(None)
        self.sessions += 1
        self.state = state = {'left': self.ends(self.sessions), 'documents': 0}
        state['end'] = functools.partial(self.end, state, peer, broker)
        for source, target, way in ((peer, broker, self.up), (broker, peer, self.down)):
            threading.Thread(target=self.carry, args=(source, target, way, state), daemon=True).start()

    def carry(self, source, target, way, state):
        file = source.makefile('rb')
        with contextlib.suppress(OSError):
            while (packet := read_packet(file)) and way(packet[0], packet[2], target, state):
                pass
        self.end(state, source, target)

    def end(self, state, *sockets):
        # Before the gateway can know: its pause is not longer than what is measured from here.
        state.setdefault('ended', time.monotonic())
        for end in sockets:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

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
        super().close()


def start(bench, relay, radio, mqtt, queue=''):
    text = (f'name: g\nadapters: ["{radio.socket}"]\npublish: {{interval: 0}}\nqueue: {{{queue}}}\n'
            f'mqtt: {{url: "mqtt://127.0.0.1:{relay.port}", {mqtt}}}\n')
    return bench.configured(text, page=True)


def judge_all(relay, gateway, heard, radio):
    """Everything that was made arrives, in the order of each device, and nothing is counted as lost."""
    made = gateway.drain(radio)
    wait_until(lambda: gateway.metric('mqtt_in_flight') == 0, 'no message is on the way')
    refused, dropped = gateway.metric('mqtt_refused_total'), gateway.metric('queue_dropped_total')
    assert (refused, dropped) == (0, 0), f'{refused} refused, {dropped} dropped: {gateway.stderr()[-600:]}'
    heard.wait_documents(made)
    gateway.ends_well()
    devices, documents, repeats = check_order(heard.documents())
    assert documents == made, f'{documents} of {made}'
    relay.close()
    print(f'{relay.sessions} sessions, {documents:.0f} documents of {devices} devices, {repeats} repeated')


def test_ending_broker(bench):
    """a broker that ends every session at the first document: told, ever longer pauses, and nothing is lost once it works"""
    heard = bench.heard('jelling/g/devices/#')
    relay = Relay(bench.port, lambda session: -1 if session <= 9 else None)
    radio = bench.radio('--devices', '10', '--rate', '20')
    gateway = start(bench, relay, radio, 'longestBackoff: 4')
    gateway.wait_stderr('the broker ends every session without acknowledging a message; nothing is dropped', 400)
    heard.wait(lambda t, p, r: True, 'documents', 100, 400)
    # A pause of 4 s is at least 2 s; before, it began again with 1 s each time.
    pauses = relay.pauses[3:9]
    assert len(pauses) == 6 and min(pauses) >= 1.9, pauses
    assert 'the message was dropped' not in gateway.stderr(), gateway.stderr()[-600:]
    judge_all(relay, gateway, heard, radio)


def test_ending_memory(bench):
    """the same with a queue in memory: what was on the way is sent again"""
    heard = bench.heard('jelling/g/devices/#')
    relay = Relay(bench.port, lambda session: -1 if session <= 8 else None)
    radio = bench.radio('--devices', '10', '--rate', '20')
    gateway = start(bench, relay, radio, 'longestBackoff: 1', 'memory: true')
    heard.wait(lambda t, p, r: True, 'documents', 100, 400)
    judge_all(relay, gateway, heard, radio)


def test_lost_acknowledgements(bench):
    """a broker whose acknowledgements are lost with every session: documents are repeated, in order, and none is missing"""
    heard = bench.heard('jelling/g/devices/#')
    relay = Relay(bench.port, lambda session: session % 4 + 1 if session <= 12 else None)
    radio = bench.radio('--devices', '10', '--rate', '20')
    gateway = start(bench, relay, radio, 'longestBackoff: 1')
    wait_until(lambda: relay.sessions > 12, 'twelve sessions', 400)
    heard.wait(lambda t, p, r: True, 'documents', 100, 400)
    judge_all(relay, gateway, heard, radio)


def test_deaf_broker(bench):
    """quality 0 and a broker that stops reading: so many documents wait and no more, the oldest go, told and counted; the newest arrive"""
    heard = bench.heard('jelling/g/devices/#')
    relay = Relay(bench.port)
    radio = bench.radio('--devices', '20', '--rate', '1000')
    gateway = start(bench, relay, radio, 'qos: 0, keepAlive: 3600')
    heard.wait(lambda t, p, r: True, 'documents', 100)
    relay.reads.clear()
    gateway.wait_stderr('messages with quality of service 0 are dropped, the oldest first', 500)

    before, unsent = kilobytes(gateway.process), gateway.metric('mqtt_unsent_total')
    waiting = []

    def dropped():
        waiting.append(gateway.metric('mqtt_unwritten'))
        return gateway.metric('mqtt_unsent_total') > unsent + 5000
    wait_until(dropped, '5,000 more are dropped', 400)
    assert max(waiting) <= 1000 / 16 * 17 + 100, f'{max(waiting)} wait'
    assert kilobytes(gateway.process) < before + 8000, f'{before} kB, then {kilobytes(gateway.process)} kB'
    assert gateway.stderr().count('the oldest first') == 1, gateway.stderr()[-600:]
    gateway.end_radio(radio)
    last = gateway.metric('documents_total')
    relay.reads.set()
    wait_until(lambda: gateway.metric('mqtt_unwritten') == 0, 'nothing waits')
    lost = gateway.metric('mqtt_unsent_total')
    wait_until(lambda: len(heard.documents()) >= last - lost, f'{last} documents but {lost}, not {len(heard.documents())}')
    documents = heard.documents()
    check_order(documents, lossless=False)
    assert len(documents) == last - lost, f'{len(documents)} arrived and {lost} were dropped of {last}'
    assert last / 20 - 1 <= max(d['sequence'] for d in documents), 'the newest are missing'
    gateway.ends_well()
    relay.close()
    print(f'{lost:.0f} of {last:.0f} dropped, {before // 1024} MB')
