"""Who means harm: advertisers that invent names and addresses, clients of the broker, of the HTTP server, and odd files."""
import os, pathlib, socket, subprocess, time

from jelling.measures import kilobytes
from jelling.gateway import check_order, wait_until


KEYED = 'devices: [{address: "54:48:E6:8F:80:A5", key: 231d39c1d7cc1ab1aee224cd096db932}]\n'


def test_poison(bench):
    """a message too long for the broker, which then closes the session: told, dropped with those like it, the others arrive"""
    long = 'A4:C1:38:00:00:99'
    packets = [[f'A4:C1:38:00:00:{n:02x}', '0201060716d2fc4002@@09'] for n in range(5)]
    # Eleven values in one packet.
    culprit = bench.packets([long, '0201061a16d2fc40' + '01@@' * 11], rate=3, name='long')
    bench.start_broker('max_packet_size 700\n')
    heard = bench.subscribe('jelling/g/devices/#')
    radio = bench.packets(*packets, rate=20)
    gateway = bench.start('--config', bench.settings(radio, culprit), page=True)
    gateway.wait_stderr(f'for jelling/g/devices/{long}; the message was dropped', 400)
    count = len(heard.messages)
    heard.wait(lambda t, p, r: True, 'documents of the others', count + 50)
    culprit.end()

    def quiet():
        """No session ends while documents arrive: whatever was too long has been dropped."""
        ends, count = gateway.metric('mqtt_disconnections_total'), len(heard.messages)
        heard.wait(lambda t, p, r: True, 'more documents of the others', count + 50)
        return gateway.metric('mqtt_disconnections_total') == ends
    wait_until(quiet, 'sessions no longer end', 400)
    gateway.drain(radio)
    made, refused = gateway.metric('documents_total'), gateway.metric('mqtt_refused_total')
    gateway.ends_well()
    heard.wait_documents(made - refused)
    devices, documents, repeats = check_order(heard.documents())
    assert (devices, documents) == (5, made - refused), f'{devices} devices, {documents} of {made} documents, {refused} refused'
    print(f'{documents} documents arrived, {refused:.0f} refused, {repeats} repeated')


def test_huge_message(bench):
    """a message of 50 MB that is retained where the gateway listens for Home Assistant: with MQTT 5 the broker does not send it"""
    bench.start_broker('max_queued_messages 1000\n')
    pathlib.Path(bench.path('huge')).write_bytes(b'online' * 8_000_000)
    sent = subprocess.run(['mosquitto_pub', '-h', '127.0.0.1', '-p', str(bench.port), '-t', 'homeassistant/status', '-r', '-f', bench.path('huge')],
                          capture_output=True, text=True, timeout=400)
    assert sent.returncode == 0, sent.stderr
    heard = bench.subscribe('jelling/#')
    radio = bench.radio('--devices', '5', '--rate', '50')
    gateway = bench.configured(f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{bench.url}", version: "5"}}\nhomeAssistant: {{}}\n')
    heard.wait(lambda t, p, r: '/devices/' in t, 'documents', 100)
    peak = kilobytes(gateway.process, 'VmHWM')
    # A debug build takes 55 MB by itself: with the message it would be over 100.
    assert peak < 90_000, f'{peak} kB at most'
    gateway.end()
    assert gateway.process.returncode == 0 and 'no session' not in gateway.stderr(), gateway.stderr()[-300:]
    print(f'{peak // 1024} MB at most')


def test_names(bench):
    """names with wildcards, levels and control characters stay within the topic of their device"""
    bench.start_broker()
    texts = ['+́/́#́', '$SYS/broker', 'a/b', '\x1b[31mred', 'a￿b', '‮live', '..', ' ', '😀' * 5]
    packets = []
    for number, text in enumerate(texts):
        octets = text.encode()[:26]
        packets.append([f'A4:C1:38:00:01:{number:02x}', bytes([len(octets) + 1, 9]).hex() + octets.hex()])
    heard = bench.subscribe('#', '$SYS/broker/#')
    radio = bench.packets(*packets, rate=50)
    gateway = bench.configured(f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{bench.url}"}}\n'
                               'topics: {device: "{name}/{id}"}\nhomeAssistant: {}\n')
    ends = {f'a4c13800010{n}' for n in range(len(texts))}
    topics = lambda: {t for t, _, _ in heard.messages if t.split('/')[-1] in ends}   # noqa: E731
    wait_until(lambda: {t.split('/')[-1] for t in topics()} == ends, f'a document of every device: {topics()}')
    for topic in topics():
        assert len(topic.split('/')) == 2 and not topic.startswith('$'), f'{topic!r}'
    gateway.ends_well()


def test_crowd(bench):
    """a sender of ever new addresses: memory and announcements are bounded, a device with settings is reported all the time"""
    heard = bench.heard('jelling/g/devices/A4:C1:38:FF:FF:FF', 'homeassistant/#')
    # 40,000 addresses, more than the gateway remembers, each with a temperature.
    packets = [[f'C0:01:{n >> 24 & 255:02x}:{n >> 16 & 255:02x}:{n >> 8 & 255:02x}:{n & 255:02x}', '0201060716d2fc4002c409']
               for n in range(40000)]
    for place in range(0, len(packets), 500):
        packets[place] = ['A4:C1:38:FF:FF:FF', f'0201060716d2fc4002{place // 500:02x}09']
    radio = bench.packets(*packets, rate=2000)
    gateway = bench.configured(f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{bench.url}"}}\npublish: {{interval: 0}}\n'
                               'homeAssistant: {devices: 50}\ndevices: [{address: "A4:C1:38:FF:FF:FF", name: Mine}]\n'
                               'queue: {messages: 5000}\n', page=True)
    gateway.wait_metric('devices_evicted_total', 3000, 400)
    most = kilobytes(gateway.process)
    evicted = gateway.metric('devices_evicted_total')
    gateway.wait_metric('devices_evicted_total', evicted + 8000, 400)
    assert kilobytes(gateway.process) < most * 1.3 + 10_000, f'{most} kB, then {kilobytes(gateway.process)} kB'
    assert gateway.metric('devices') <= 16384, 'devices'
    announced = {t for t, _, _ in heard.messages if t.startswith('homeassistant/')}
    assert len({t.split('/')[2] for t in announced}) == 51, f'{len(announced)} announcements'
    assert 'was told of 50 devices' in gateway.stderr(), gateway.stderr()[-400:]
    before = len(heard.documents('FF:FF:FF'))
    heard.wait(lambda t, p, r: t.endswith('FF:FF:FF'), 'documents of the device with settings', before + 20)
    gateway.end()
    print(f'{evicted + 8000:.0f} devices forgotten, {most // 1024} MB')


def test_same_name(bench):
    """two gateways of one name throw each other out: told with the cause, ever more rarely"""
    bench.start_broker()
    file = bench.write('gateway.yaml', f'name: g\nadapters: [sim]\nmqtt: {{url: "{bench.url}", longestBackoff: 30}}\n')
    one = bench.start('--config', file)
    one.wait_stderr('connected to the broker')
    two = bench.start('--config', file, '--state', bench.path('state2'))
    one.wait_stderr('does another client have the name ‘jelling-g’?')
    time.sleep(5)
    # With pauses of 1, 2, 4, … seconds.
    assert one.stderr().count('no session with') < 8, one.stderr()
    two.end()
    one.wait_stderr('connected to the broker')
    one.end()


def test_http_clients(bench):
    """a client of the HTTP server that never ends its request, or sends 50 MB of header: nothing else stops"""
    bench.start_broker()
    radio = bench.radio('--devices', '5', '--rate', '50')
    gateway = bench.start('-t', radio.socket, '--mqtt', bench.url, '--name', 'g', page=True)
    wait_until(gateway.is_healthy, 'healthy')
    before = kilobytes(gateway.process)
    idle = []
    for number in range(300):
        try:
            peer = socket.create_connection(('127.0.0.1', gateway.port), 10)
            peer.sendall(b'GET /health HTTP/1.1\r\nA: ' if number % 2 else b'')
            idle.append(peer)
        except OSError:
            break
    flood = socket.create_connection(('127.0.0.1', gateway.port), 10)
    flood.settimeout(5)
    sent = 0
    try:
        flood.sendall(b'GET /health HTTP/1.1\r\n')
        while sent < 50 << 20:
            sent += flood.send(b'X-Long: ' + b'a' * 65536)
    except OSError:
        pass
    assert kilobytes(gateway.process) < before + 40_000, f'{before} kB before, {kilobytes(gateway.process)} kB after {sent >> 10} kB of header'
    status = gateway.get('/health')[0]
    assert status == 200, f'/health says {status} with {len(idle)} idle clients'
    reports = gateway.metric('reports_total')
    gateway.wait_metric('reports_total', reports + 20)
    flood.close()
    for peer in idle:
        peer.close()
    after = kilobytes(gateway.process)
    gateway.end()
    print(f'{len(idle)} idle clients, {sent >> 10} kB of header, {before // 1024} MB before, {after // 1024} MB after')


def test_recorded_before(bench):
    """packets that were recorded before the gateway was started again: refused, because it keeps the counters; damaged ones are told"""
    heard = bench.heard('jelling/g/devices/#')
    older, newer = ('0f16d2fc415b9396e80300007c46cd1b', '0f16d2fc41b14bcfea0300006cf06f19')   # 20 °C, 1000; 22 °C, 1002

    def start(data):
        radio = bench.packets(['54:48:E6:8F:80:A5', data], rate=4, name=f'radio{bench.number}')
        file = bench.settings(radio, more='publish: {refresh: 1}\n' + KEYED)
        return radio, bench.start('--config', file, page=True)
    radio, gateway = start(newer)
    heard.wait(lambda t, p, r: '"temperature":22' in p, '22 degrees')
    gateway.end()
    radio.end()
    path = bench.path('state/gateway-g.counters')
    assert os.stat(path).st_mode & 0o777 == 0o600, f'mode {os.stat(path).st_mode:o}'
    count = len(heard.messages)
    radio, gateway = start(older)
    gateway.wait_stderr('54:48:E6:8F:80:A5 sent a packet with counter 1000 after 1002')
    wait_until(lambda: (gateway.metric('reports_replayed_total') or 0) >= 3, 'more recorded packets')
    assert not any('"temperature":20' in p for _, p, _ in heard.messages[count:]), 'a recorded packet was used'
    gateway.end()
    radio.end()
    pathlib.Path(path).write_text('5448e68f80a5 zz')
    radio, gateway = start(older)
    gateway.wait_stderr('gateway-g.counters is damaged')
    # The other file has the packets that were received.
    gateway.wait_stderr('54:48:E6:8F:80:A5 sent a packet with counter 1000 again')
    wait_until(lambda: (gateway.metric('reports_replayed_total') or 0) >= 3, 'recorded packets')
    assert not any('"temperature":20' in p for _, p, _ in heard.messages[count:]), 'a recorded packet was used'
    gateway.ends_well()


def test_odd_files(bench):
    """files of settings that are no settings: exit status 2 and what is wrong, a line for each problem"""
    os.mkdir(bench.path('folder'))
    bomb = 'a: &a [x,x,x,x,x,x,x,x,x]\n' + ''.join(
        f'{chr(98 + n)}: &{chr(98 + n)} [{",".join(["*" + chr(97 + n)] * 9)}]\n' for n in range(12))
    files = {
        'folder': None, 'nothing': None, 'binary': os.urandom(5000), 'zero': bytes(5000), 'long': b'# ' + b'a' * (5 << 20),
        'deep': b'[' * 200_000, 'deeper': b'a:\n' + b''.join(b' ' * n + b'a:\n' for n in range(1, 2000)), 'bomb': bomb.encode(),
        'scalar': b'forty-two', 'list': b'- 1\n- 2\n', 'tag': b'name: !!python/object/apply:os.system ["id"]\n',
        'merge': b'x: &x {name: a}\n<<: *x\n', 'twice': b'name: a\nname: b\n', 'tab': b'mqtt:\n\turl: mqtt://x\n',
        'number': b'publish: {interval: 1e400}\n', 'nan': b'publish: {interval: .nan}\n', 'minus': b'queue: {messages: -1}\n',
        'topic': b'topics: {device: "a/+/{id}"}\n', 'port': b'mqtt: {url: "mqtt://h:99999"}\n',
    }
    for name, octets in files.items():
        if octets is not None:
            pathlib.Path(bench.path(name)).write_bytes(octets)
        child = bench.run('--config', bench.path(name), '--check', status=None)
        said = child.stderr().strip()
        assert child.process.returncode == 2, f'{name}: exit status {child.process.returncode}: {said[-300:]}'
        lines = said.splitlines()
        assert all(l.startswith('jelling-gateway: error: ') and len(l) < 600 for l in lines) and len(lines) <= 20, f'{name}: {said[:300]}'


def test_recorded(bench):
    """recorded packets of a device that encrypts, and packets in clear with its address: told, and their values are not used"""
    heard = bench.heard('jelling/g/devices/#')
    # 20, 21 and 22 degrees with the counters 1000 to 1002; 30 degrees in clear.
    first, second, third = ('0f16d2fc415b9396e80300007c46cd1b', '0f16d2fc41e0d550e90300000a46972d', '0f16d2fc41b14bcfea0300006cf06f19')
    sent = [first] * 4 + [second] * 48 + [first, '0716d2fc4002b80b'] + [third] * 8
    radio = bench.packets(*(['54:48:E6:8F:80:A5', data] for data in sent), rate=4)
    gateway = bench.start('--config', bench.settings(radio, more=KEYED), page=True)
    gateway.wait_stderr('54:48:E6:8F:80:A5 sent a packet with counter 1000 after')
    # One notice in ten minutes; both are counted.
    wait_until(lambda: gateway.metric('reports_unprotected_total') >= 1, 'the packet in clear is counted')
    heard.wait(lambda t, p, r: '"temperature":22' in p, '22 degrees')
    assert gateway.metric('reports_replayed_total') >= 1, 'reports_replayed_total'
    values = [d['values'].get('temperature') for d in heard.documents()]
    assert values == sorted(values) and set(values) <= {20, 21, 22}, values
    assert gateway.stderr().count('recorded packets') == 1, gateway.stderr()[-600:]
    gateway.ends_well()
