"""What the gateway says over HTTP: its description, devices, events, WebSocket; and who is refused."""
import json, os, random, subprocess, threading

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect as web_socket

from jelling import options, web
from jelling.child import free_port
from jelling.esphome import KEY
from jelling.gateway import PYTHON, wait_until
from jelling.measures import kilobytes
from jelling.web import Events, ask, broken, request

HEART = 'C0:DE:00:00:00:01'
BTHOME = '0201060a16d2fc4002c40903bf13'     # 25 °C, 50.55 %


def serve(bench, radio, http='', more='', broker=True):
    """A gateway `g` with a server."""
    port = free_port()
    mqtt = f'mqtt: {{url: "{bench.url}"}}\n' if broker else ''
    if broker:
        bench.start_broker()
    gateway = bench.configured(f'name: g\nadapters: ["{getattr(radio, "socket", radio)}"]\n{mqtt}'
                               f'http: {{listen: "127.0.0.1:{port}"{http}}}\n{more}')
    wait_until(lambda: gateway.get('/health')[0] in (200, 401, 503), 'the server listens')
    return gateway


def devices(gateway):
    return json.loads(gateway.get('/api/devices')[1])['devices']


def test_api_description(bench):
    """/api is OpenAPI 3.1 for a validator that we did not write, each page in it answers, and none has a secret"""
    secrets = ['00112233445566778899aabbccddeeff', 'ffeeddccbbaa99887766554433221100', 'the-password']
    for name, text in (('key', KEY), ('token', secrets[2])):
        bench.write(name, text)
    proxy, server = free_port(), free_port()
    gateway = serve(bench, 'sim', more=f'devices: [{{address: "A4:C1:38:00:00:01", key: {secrets[0]}, name: Cellar, location: below}}]\n'
                                       f'identities: [{{name: Phone, irk: {secrets[1]}}}]\n'
                                       f'esphome: {{listen: "127.0.0.1:{proxy}", keyFile: "{bench.path("key")}", slots: 5}}\n'
                                       f'matter: {{url: "ws://127.0.0.1:{server}/ble?token={secrets[2]}", tokenFile: "{bench.path("token")}"}}\n'
                                       f'gatt: {{mqtt: false, tokenFile: "{bench.path("token")}", sessions: 4}}\n')
    secrets.append(KEY.lower())
    text = gateway.get('/api')[1]
    judge = ('import json, sys\nfrom openapi_spec_validator import OpenAPIV31SpecValidator as judge\n'
             'problems = [e.message for e in judge(json.load(sys.stdin)).iter_errors()]\nprint(problems)\nsys.exit(bool(problems))')
    judged = subprocess.run([PYTHON, '-c', judge], input=text, capture_output=True, text=True)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    description = json.loads(text)
    assert description['openapi'] == '3.1.0'
    wait_until(lambda: any(d['address'] == HEART for d in devices(gateway)), 'a device')
    asked = []
    for path, methods in description['paths'].items():
        if path in ('/events', '/ws', '/api/gatt'):
            continue
        status, body = gateway.get(path.replace('{address}', HEART.replace(':', '%3A')))
        assert status == 200 and 'get' in methods, f'{path}: {status}'
        assert not any(s in body.lower() for s in secrets), f'{path} has a secret'
        asked.append(path)
    assert len(asked) == 10, asked
    settings = json.loads(gateway.get('/api/settings')[1])
    assert settings['devices'] == [{'address': 'A4:C1:38:00:00:01', 'key': True, 'name': 'Cellar', 'location': 'below'}]
    assert settings['esphome'] == {'listen': [f'127.0.0.1:{proxy}'], 'key': True, 'slots': 5, 'name': 'g', 'pairing': True, 'advertise': 'off'}
    assert settings['matter'] == {'url': f'ws://127.0.0.1:{server}/ble?…', 'token': True}
    assert settings['gatt'] == {'mqtt': False, 'http': True, 'token': True, 'sessions': 4} and settings['queue']['messages'] == 100_000
    known = description['components']['schemas']['Settings']['properties']
    for key in ('esphome', 'matter', 'gatt'):
        assert set(known[key]['required']) <= set(settings[key]) <= set(known[key]['properties']), key
    # Who gets events of GATT is described, and is so.
    for path in ('/events', '/ws'):
        events = description['paths'][path]['get']
        assert 'refused with 401' in events['description'] and {'gattToken': []} in events['security']
    assert gateway.get('/events?event=gatt')[0] == 401
    device = json.loads(gateway.get(f'/api/devices/{HEART.lower()}')[1])
    assert device['name'] == 'Jelling Heart' and device['addressType'] == 'random' and device['device'] == HEART
    for path, wanted in (('/api/devices/00:00:00:00:00:00', 404), ('/api/devices?limit=0', 400), ('/api/devices?limit=x', 400),
                         ('/api/gatt', 401), ('/api/', 404), ('/api/devices/', 404), ('/events?event=no', 400), ('/ws', 426)):
        assert gateway.get(path)[0] == wanted, path
    first = json.loads(gateway.get('/api/devices?limit=1')[1])
    second = json.loads(gateway.get(f'/api/devices?after={first["next"]}')[1])
    assert len(first['devices']) == 1 and first['devices'][0]['device'] not in [d['device'] for d in second['devices']]
    adapters = json.loads(gateway.get('/api/adapters')[1])['adapters']
    assert [(a['transport'], a['state']) for a in adapters] == [('sim', 'scanning')] and adapters[0]['reports'] > 0


def sensors(gateway):
    judge = ('import json, sys\nfrom prometheus_client.parser import text_string_to_metric_families as read\n'
             'print(json.dumps([[s.labels, s.value] for f in read(sys.stdin.read()) for s in f.samples if s.name == "jelling_gateway_sensor"]))')
    text = gateway.get('/metrics')[1]
    return json.loads(subprocess.run([PYTHON, '-c', judge], input=text, capture_output=True, text=True, check=True).stdout)


def test_api_values(bench):
    """/metrics has decoded values with name, address and location; stale ones go, and no number of senders makes too many"""
    radio = bench.scripted_radio()
    gateway = serve(bench, radio, broker=False, more='publish: {valueLifetime: 3}\n'
                    'devices: [{address: "A4:C1:38:00:00:01", name: "The \\"cellar\\"\\n", location: below}]\n')
    radio.say('A4:C1:38:00:00:01', BTHOME)
    wait_until(lambda: gateway.metric('reports_total'), 'a report')
    labels = {'address': 'A4:C1:38:00:00:01', 'name': 'The "cellar"\n', 'location': 'below'}
    assert sensors(gateway) == [[{**labels, 'quantity': 'temperature', 'unit': '°C'}, 25.0],
                                [{**labels, 'quantity': 'humidity', 'unit': '%'}, 50.55]]
    wait_until(lambda: not sensors(gateway), 'stale values go')
    crowd = [[f'A4:C1:38:{n >> 8:02X}:{n & 255:02X}:07', BTHOME] for n in range(3000)]
    gateway.end()
    gateway = serve(bench, bench.packets(*crowd, rate=3000, name='crowd'), broker=False)
    gateway.wait_metric('sensors_omitted', 500)
    assert gateway.metric('sensors') == 5000 and len(sensors(gateway)) == 5000


def test_api_events(bench):
    """/events: devices, the adapter and the queue; filters; the stream goes on behind an event, or says that some are missing"""
    gateway = serve(bench, 'sim')
    everything = Events(gateway.port)
    everything.wait(lambda i, e, d: e == 'device' and d['device'] == HEART and 'values' in d, 'a whole device')
    everything.wait(lambda i, e, d: e == 'device' and d['device'] == HEART and 'values' not in d and d['rssi'] < 0, 'its signal')
    everything.wait(lambda i, e, d: e == 'adapter' and d['state'] == 'scanning', 'the adapter')
    everything.wait(lambda i, e, d: e == 'queue' and d['connected'], 'the queue')
    one = Events(gateway.port, f'?event=device&device={HEART.lower()}')
    one.wait(lambda *_: True, 'events of one device', count=3)
    assert {(e, d['device']) for _, e, d in one.events} == {('device', HEART)}
    ids = [i for i, _, _ in everything.events]
    run = ids[0].split('-')[0]
    assert [int(i.split('-')[1]) for i in ids] == list(range(int(ids[0].split('-')[1]), int(ids[0].split('-')[1]) + len(ids)))
    everything.close()
    last = ids[len(ids) // 2]
    resumed = Events(gateway.port, '', f'Last-Event-ID: {last}')
    found = resumed.wait(lambda *_: True, 'events behind the last one', count=len(ids) - len(ids) // 2 + 5)
    assert [i for i, _, _ in found][:len(ids) - len(ids) // 2 - 1] == ids[len(ids) // 2 + 1:]
    for unknown in (f'{run}-999999999', 'other-1', '', '-', f'{run}-', 'x' * 2000):
        missed = Events(gateway.port, '', f'Last-Event-ID: {unknown}')
        missed.wait(lambda i, e, d: True, f'{unknown!r}: an event')
        assert missed.events[0][1] == 'missed', (unknown, missed.events[0])
        missed.close()
    # HEAD has no stream, and too many streams are refused while other pages are served.
    streams = [Events(gateway.port) for _ in range(16)]
    assert {s.status for s in streams} == {200, 429} and gateway.get('/health')[0] == 200
    one.close(), resumed.close()
    for s in streams:
        s.close()
    gateway.ends_soon('events')


def test_api_web_socket(bench):
    """/ws: the same events for a client that we did not write; a message changes the filter; sites of others are refused"""
    gateway = serve(bench, 'sim', broker=False)
    address = f'ws://127.0.0.1:{gateway.port}/ws'
    with web_socket(address + '?event=device', proxy=None, compression=None) as s:
        events = [json.loads(s.recv(60)) for _ in range(8)]
        assert {e['event'] for e in events} == {'device'} and all('-' in e['id'] and e['data']['device'] for e in events)
        s.ping().wait(60)
        s.send(json.dumps({'event': ['adapter']}))
        wait_until(lambda: json.loads(s.recv(60))['event'] == 'adapter', 'another filter')
        assert {json.loads(s.recv(60))['event'] for _ in range(2)} == {'adapter'}
        last = events[-1]['id']
    with web_socket(f'{address}?lastEventID={last}', proxy=None) as s:
        assert int(json.loads(s.recv(60))['id'].split('-')[1]) == int(last.split('-')[1]) + 1
    for headers in ({'Origin': 'http://evil.example'}, {'Sec-Fetch-Site': 'cross-site'}, {'Host': 'evil.example'}):
        with pytest.raises(InvalidStatus) as refused:
            web_socket(address, proxy=None, additional_headers=headers)
        assert refused.value.response.status_code in (400, 403, 421), headers
    gateway.ends_soon('WebSocket')


def test_api_sites(bench):
    """pages of other sites, and names that others resolve to this machine, have nothing, whatever they ask for"""
    bench.write('token', 'secret')
    gateway = serve(bench, 'sim', broker=False, more=f'gatt: {{tokenFile: "{bench.path("token")}"}}\n')
    foreign = (('Origin: http://evil.example',), ('Origin: null',), ('Sec-Fetch-Site: cross-site',), ('Sec-Fetch-Site: same-site',),
               (f'Origin: http://localhost:{gateway.port}',), (f'Origin: http://127.0.0.1:{gateway.port}.evil.example',),
               ('Sec-Fetch-Site: same-origin', 'Origin: https://evil.example'))
    own = (('Sec-Fetch-Site: same-origin',), ('Sec-Fetch-Site: none',), (f'Origin: http://127.0.0.1:{gateway.port}',))
    host = f'127.0.0.1:{gateway.port}'
    for path in ('/live', '/api', '/api/devices', '/metrics', '/health', '/events', '/ws'):
        for fields in foreign:
            assert ask(gateway.port, request('GET', path, *fields, host=host))[0] == 403, (path, fields)
        assert ask(gateway.port, request('GET', path, host='evil.example'))[0] == 421, path
    for fields in own:
        assert ask(gateway.port, request('GET', '/api', *fields, host=host))[0] == 200, fields
    body = json.dumps({'address': HEART, 'addressType': 'random', 'steps': ['connect']}).encode()
    token, kind = 'Authorization: Bearer secret', 'Content-Type: application/json'
    for fields, wanted in (((kind,), 401), ((token,), 415), ((token, 'Content-Type: text/plain'), 415),
                           ((token, kind, 'Origin: http://evil.example'), 403), ((token, kind, 'Sec-Fetch-Site: cross-site'), 403),
                           ((token, kind), 200)):
        assert ask(gateway.port, request('POST', '/api/gatt', *fields, body=body, host=host))[0] == wanted, fields
    assert ask(gateway.port, request('POST', '/api/gatt', token, kind, host=host))[0] == 411
    assert ask(gateway.port, request('POST', '/api/gatt', token, kind, body=b'x' * 70_000, host=host))[0] == 413
    assert ask(gateway.port, request('GET', '/api/gatt', token, host=host))[0] == 405
    assert gateway.get('/live')[0] == 200


@pytest.mark.slow
def test_api_slow_readers(bench):
    """clients that open /events and /ws and never read are dropped, memory is bounded, and one who reads misses nothing"""
    gateway = serve(bench, bench.radio('--devices', '1000', '--rate', '2000'), broker=False)
    gateway.wait_metric('devices', 900)
    reader = Events(gateway.port)
    reader.wait(lambda *_: True, 'events', count=1000)
    before = kilobytes(gateway.process)
    upgrade = ('Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Version: 13')
    slow = [web.connect(gateway.port, buffer=4096) for _ in range(14)]
    for number, s in enumerate(slow):
        s.sendall(request('GET', '/ws', *upgrade) if number % 2 else request('GET', '/events'))

    def is_dropped(s):
        # What the kernel still has is read only when the server has closed its side.
        with open('/proc/net/tcp', encoding='ascii') as table:
            local = f'0100007F:{s.getsockname()[1]:04X}'
            return not any(l.split()[2] == local and l.split()[3] == '01' for l in table.readlines()[1:])
    wait_until(lambda: all(is_dropped(s) for s in slow), 'slow readers are dropped')
    grown = kilobytes(gateway.process) - before
    assert grown < 40_000, f'{grown} kB more'
    count = len(reader.events)
    reader.wait(lambda *_: True, 'events go on', count=count + 1000)
    numbers = [int(i.split('-')[1]) for i, _, _ in reader.events]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), 'events are missing'
    assert gateway.get('/health')[0] == 200
    gateway.ends_soon('slow readers')
    print(f'{grown} kB more with {len(slow)} slow readers')


def test_api_malformed(bench):
    """10,000 broken requests and as many broken frames of WebSocket (--messages 100000: so many of each): each connection ends, and the
    gateway goes on"""
    count = options.MESSAGES or 10_000
    bench.write('token', 'secret')
    gateway = serve(bench, 'sim', broker=False, more=f'gatt: {{tokenFile: "{bench.path("token")}"}}\n')
    body = json.dumps({'id': 'a', 'address': '00:00:00:00:00:01', 'steps': [{'wait': 1}, 'read 2A19', {'write': '2A39', 'value': '01'}]})
    upgrade = ('Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Version: 13')
    posts = [request('POST', '/api/gatt', 'Authorization: Bearer secret', 'Content-Type: application/json', body=part.encode())
             for part in (body, '{"steps":' * 50, '[]', body.replace('[', '[[[[[[[['), '{"id": 1, "id": 2}', '\0' * 40)]
    seeds = posts + [request('GET', '/api/devices/' + HEART), request('GET', '/events?device=x'), request('GET', '/ws', *upgrade)]
    before = kilobytes(gateway.process)

    def requests(seed):
        generator = random.Random(seed)
        for _ in range(count // 4):
            whole = generator.choice(seeds)
            sent = whole[:-generator.randint(0, 1)] if generator.random() < 0.05 else broken(generator, whole)
            with web.connect(gateway.port) as s:
                try:
                    s.sendall(sent)
                except OSError:
                    pass

    def frames(seed):
        generator, left = random.Random(seed), count // 4
        while left > 0:
            with web.connect(gateway.port) as s:
                s.sendall(request('GET', '/ws', *upgrade))
                try:
                    for _ in range(10):
                        text = generator.choice([b'{"event": ["device"]}', b'{"device": []}', b'x' * 200, b''])
                        mask, opcode = generator.randbytes(4), generator.choice([0x81, 0x01, 0x80, 0x89, 0x8A, 0x88])
                        frame = bytes([opcode, 0x80 | min(len(text), 125)]) + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(text[:125]))
                        s.sendall(broken(generator, frame))
                        left -= 1
                except OSError:
                    pass
    for work in (requests, frames):
        threads = [threading.Thread(target=work, args=(options.SEED * 4 + n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert gateway.process.poll() is None, gateway.stderr()[-500:]
        assert wait_until(lambda: gateway.get('/health')[0] == 200, 'the server goes on')
    wait_until(lambda: len(os.listdir(f'/proc/{gateway.process.pid}/fd')) < 40, 'descriptors are free again')
    grown = kilobytes(gateway.process) - before
    assert grown < 40_000, f'{grown} kB more'
    gateway.ends_soon('broken requests')
    print(f'{count} requests, {count} frames, {grown} kB more')
