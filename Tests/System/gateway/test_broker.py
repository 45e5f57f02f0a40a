"""Brokers that break, lie or answer slowly, and subscribers from PyPI."""
import contextlib, random, socket, struct, threading, time

import pytest

from jelling.child import Child, free_port
from jelling.measures import kilobytes
from jelling.gateway import PYTHON, check_order, wait_until
from jelling.scripted_broker import Server, read_packet

# What a broker may answer to a CONNECT; None: nothing at all.
ANSWERS = {
    'silence': None,
    'the end of the connection': b'',
    'HTTP': b'HTTP/1.1 400 Bad Request\r\n\r\n',
    'half a CONNACK': b'\x20\x02\x00',
    'a CONNACK that announces 256 MB': b'\x20\xff\xff\xff\x7f' + bytes(1000),
    'a length of five octets': b'\x20\xff\xff\xff\xff\x7f',
    'a packet of type 0': b'\x00\x00',
    'a PUBLISH before the CONNACK': b'\x30\x05\x00\x01a12',
    'a CONNACK of return code 255': b'\x20\x02\x00\xff',
    'an acknowledgement of nothing': b'\x20\x02\x00\x00' + b'\x40\x02\xff\xff' * 50,
    'a PUBLISH whose topic is longer than the packet': b'\x20\x02\x00\x00\x30\x04\xff\xffab',
    'a PUBLISH of a topic of 65,535 octets': b'\x20\x02\x00\x00\x30\x82\x80\x04\xff\xff' + b'a' * 65535 + b'!',
    'a PUBLISH with a zero in its topic': b'\x20\x02\x00\x00\x30\x06\x00\x03a\x00bx',
    'a PUBLISH that is no UTF-8': b'\x20\x02\x00\x00\x30\x06\x00\x03\xff\xfe\xfdx',
    'a thousand messages of Home Assistant': b'\x20\x02\x00\x00' + b'\x30\x1c\x00\x14homeassistant/statusonline' * 1000,
    'a PUBREL, a PUBCOMP and a SUBACK of nothing': b'\x20\x02\x00\x00\x62\x02\x00\x09\x70\x02\x00\x09\x90\x03\x00\x09\x01',
    'an AUTH and a DISCONNECT': b'\x20\x02\x00\x00\xf0\x00\xe0\x00',
}


class HostileBroker(Server):
    """Answers each connection in the next of these ways."""

    def __init__(self, port, answers):
        self.answers, self.connections = answers, 0
        super().__init__(port)

    def serve(self, peer):
        said, octets = self.answers[self.connections % len(self.answers)]
        self.connections += 1
        with contextlib.suppress(OSError), peer:
            peer.settimeout(10)
            peer.recv(65536)
            if octets:
                peer.sendall(octets)
            if octets is None or said.startswith(('half', 'a CONNACK that', 'a thousand', 'an acknow')):
                # It stays open: the gateway has to notice by itself.
                self.thread.join()
            time.sleep(0.2)


@pytest.mark.slow
def test_hostile_broker(bench):
    """a broker that answers with garbage, half packets and huge ones: told, tried again, nothing else stops"""
    generator = random.Random(17)
    answers = [*ANSWERS.items(), *(('random octets', b'\x20\x02\x00\x00' * (n % 2) + generator.randbytes(300)) for n in range(20))]
    radio = bench.radio('--devices', '10', '--rate', '50')
    # Each gateway pauses between its attempts: several have all answers sooner.
    brokers = [HostileBroker(bench.port if n == 0 else free_port(), answers[n::4]) for n in range(4)]
    gateways = []
    for number, broker in enumerate(brokers):
        file = bench.settings(radio if number == 0 else 'sim', mqtt=', keepAlive: 5', url=f'mqtt://127.0.0.1:{broker.port}', name=f'{number}.yaml',
                              more='publish: {interval: 0}\nhomeAssistant: {}\n')
        gateways.append(bench.start('--config', file, '--name', f'g{number or ""}', page=True))
    for broker, gateway in zip(brokers, gateways):
        wait_until(lambda: broker.connections > len(broker.answers), f'an attempt after {len(broker.answers)} connections', 400)
        assert gateway.process.poll() is None, f'ended: {gateway.stderr()[-500:]}'
        assert 'no session with' in gateway.stderr(), f'nothing was told: {gateway.stderr()}'
        assert not gateway.is_healthy() and gateway.health()['adapters'][0]['state'] == 'scanning', gateway.health()
        before = gateway.metric('reports_total')
        gateway.wait_metric('reports_total', before + 10)
        memory = kilobytes(gateway.process)
        assert memory < 200_000, f'{memory} kB of memory'
        broker.close()
    heard = bench.heard('jelling/g/devices/#', options=('-c', '-i', 'judge'))
    heard.wait(lambda t, p, r: True, 'documents from a broker that works', 100)
    for gateway in gateways:
        gateway.ends_well()
    print(f'{sum(b.connections for b in brokers)} connections, {memory // 1024} MB')


class SlowBroker(Server):
    """Accepts everything, and acknowledges each message a while later, or never."""

    def __init__(self, port):
        self.delay, self.waiting, self.largest, self.taken = 0.2, 0, 0, 0
        super().__init__(port)

    def serve(self, peer):
        file = peer.makefile('rb')
        self.waiting = 0
        with contextlib.suppress(OSError), peer:
            while packet := read_packet(file):
                kind, body, _ = packet
                if kind >> 4 == 1:
                    peer.sendall(b'\x20\x02\x00\x00')
                elif kind >> 4 == 3 and kind & 6:
                    topic = struct.unpack('>H', body[:2])[0]
                    self.waiting += 1
                    self.taken += 1
                    self.largest = max(self.largest, self.waiting)
                    if self.delay is not None:
                        threading.Timer(self.delay, self.acknowledge, (peer, body[2 + topic:4 + topic])).start()
                elif kind >> 4 == 12:
                    peer.sendall(b'\xd0\x00')
                elif kind >> 4 == 8:
                    peer.sendall(b'\x90\x03' + body[:2] + b'\x01')

    def acknowledge(self, peer, number):
        self.waiting -= 1
        with contextlib.suppress(OSError):
            peer.sendall(b'\x40\x02' + number)


def test_slow_broker(bench):
    """a broker that acknowledges slowly, then never: so many messages are on the way and no more, the rest waits on disk"""
    broker = SlowBroker(bench.port)
    radio = bench.radio('--devices', '20', '--rate', '300')
    gateway = bench.start('--config', bench.settings(radio, mqtt=', inFlight: 10', more='publish: {interval: 0}\n'), page=True)
    wait_until(lambda: broker.taken > 100, 'messages at the slow broker')
    assert broker.largest <= 10, f'{broker.largest} messages without acknowledgement, want 10 at most'
    broker.delay = None
    gateway.wait_metric('queue_messages', 500)
    assert gateway.metric('mqtt_in_flight') <= 10 and broker.largest <= 10, broker.largest
    before = gateway.metric('reports_total')
    gateway.wait_metric('reports_total', before + 100)
    assert gateway.metric('queue_unwritten_messages') < 5000, 'messages stay in memory'
    gateway.ends_well()


def test_late_broker(bench):
    """a broker that accepts the session only after the settings name another one: its session ends, and is never online"""
    server = socket.create_server(('127.0.0.1', 0))
    server.settimeout(180)
    radio = bench.radio('--devices', '5', '--rate', '50')
    text = f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "mqtt://127.0.0.1:PORT"}}\n'
    gateway = bench.start('--config', bench.write('gateway.yaml', text.replace('PORT', str(server.getsockname()[1]))))
    peer, _ = server.accept()
    peer.settimeout(180)
    assert b'offline' in peer.recv(65536), 'no CONNECT with a last will'
    heard = bench.heard('jelling/#')
    bench.write('gateway.yaml', text.replace('PORT', str(bench.port)))
    gateway.wait_stderr('the settings were loaded again')
    said = b''
    try:
        peer.sendall(b'\x20\x02\x00\x00')
        while octets := peer.recv(65536):
            said += octets
    except ConnectionError:
        pass
    assert b'online' not in said, said
    heard.wait(lambda t, p, r: '/devices/' in t, 'documents at the other broker')
    peer.close()
    server.close()
    gateway.ends_well()


PAHO = '''
import json, sys
import paho.mqtt.client as mqtt
def message(client, data, message):
    print(json.dumps({'topic': message.topic, 'payload': json.loads(message.payload), 'qos': message.qos}), flush=True)
client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, 'paho', protocol=mqtt.MQTTv5)
client.on_connect = lambda c, *rest: c.subscribe('jelling/g/devices/#', 1)
client.on_subscribe = lambda *rest: print(json.dumps({'ready': True}), flush=True)
client.on_message = message
client.connect('127.0.0.1', int(sys.argv[1]))
client.loop_forever()
'''
AIOMQTT = '''
import aiomqtt, asyncio, json, sys
async def main():
    async with aiomqtt.Client('127.0.0.1', int(sys.argv[1])) as client:
        await client.subscribe('jelling/g/devices/#', 1)
        print(json.dumps({'ready': True}), flush=True)
        async for message in client.messages:
            print(json.dumps({'topic': str(message.topic), 'payload': json.loads(message.payload), 'qos': message.qos}), flush=True)
asyncio.run(main())
'''


def test_subscribers(bench):
    """paho and aiomqtt from PyPI get every document, in order, as mosquitto_sub does"""
    heard = bench.heard('jelling/g/devices/#')
    judges = []
    for name, program in (('paho', PAHO), ('aiomqtt', AIOMQTT)):
        child = Child(name, [PYTHON, '-c', program, str(bench.port)], bench.path(f'{name}.err'))
        bench.children.append(child)
        child.wait_for(lambda l: 'ready' in l, 'subscribed', 180)
        judges.append(child)
    radio = bench.radio('--devices', '20', '--rate', '100')
    gateway = bench.start('--config', bench.settings(radio, more='publish: {interval: 0}\n'), page=True)
    heard.wait(lambda t, p, r: True, 'documents', 500)
    made = int(gateway.drain(radio))
    gateway.end()
    for judge in judges:
        documents = lambda: [l['payload'] for l in judge.lines if 'payload' in l]   # noqa: E731
        wait_until(lambda: len(documents()) >= made, f'{made} documents at {judge.name} ({judge.stderr()[-300:]})')
        assert check_order(documents())[:2] == (20, made), f'{judge.name}: {check_order(documents())}'
        assert {l['qos'] for l in judge.lines if 'payload' in l} == {1}, f'{judge.name}: qualities'
    print(f'{made} documents')
