"""The main job: devices, documents, topics, delivery."""
import collections, json, os, signal, time

from jelling.child import free_port
from jelling.gateway import PATIENCE, PEER, SENSOR, check_order, wait_until
from jelling.programs import GATEWAY

WITHOUT_PAUSE = 'publish: {interval: 0}\n'


def test_main_job(bench):
    """a sensor of Bumble reaches mosquitto_sub with its values; the gateway is online, then offline"""
    bench.start_broker()
    lab = bench.lab(*SENSOR)
    everything = bench.subscribe('jelling/#')
    gateway = bench.start('-t', lab.endpoint, '--mqtt', bench.url, '--name', 'kitchen')
    everything.wait(lambda t, p, r: t == 'jelling/kitchen/status' and p == 'online', 'online')
    everything.wait(lambda t, p, r: t == f'jelling/kitchen/devices/{PEER}', 'document of the sensor')
    found = everything.documents(PEER)[-1]
    assert found['values'] == {'temperature': 25, 'humidity': 50.55}, f'values {found["values"]}'
    assert found['units'] == {'temperature': '°C', 'humidity': '%'}, f'units {found["units"]}'
    assert (found['gateway'], found['adapter'], found['name']) == ('kitchen', lab.endpoint, 'BumblePeer'), found
    assert {'uuid': '180D', 'name': 'Heart Rate'} in found['services'], f'services {found["services"]}'
    # Who comes later learns the status; the document is not retained.
    late = bench.subscribe('jelling/#')
    late.wait(lambda t, p, r: r and t == 'jelling/kitchen/status' and p == 'online', 'retained status')
    gateway.ends_well()
    everything.wait(lambda t, p, r: t == 'jelling/kitchen/status' and p == 'offline', 'offline')


def test_last_will(bench):
    """killed with -9, the gateway is offline by its last will"""
    status = bench.heard('jelling/+/status')
    gateway = bench.start('-t', 'sim', '--mqtt', bench.url, '--name', 'g')
    status.wait(lambda t, p, r: p == 'online', 'online')
    gateway.end(signal.SIGKILL)
    status.wait(lambda t, p, r: p == 'offline', 'offline')


def test_printing(bench):
    """without a broker, --print shows the documents, and --count ends it"""
    child = bench.run('-t', 'sim', '--print', '--count', '3')
    assert len(child.lines) == 3 and not child.strays, f'{child.lines} {child.strays}'
    assert all('values' in l and 'advertisement' in l for l in child.lines), child.lines


def test_stalled_reader(bench):
    """a reader of --print that stops reading: the gateway goes on, tells it, and ends when it is told to"""
    radio = bench.radio('--devices', '20', '--rate', '400')
    file = bench.settings(radio, more=WITHOUT_PAUSE + f'http: {{listen: "127.0.0.1:{free_port()}"}}\n')
    # Its output is a pipe that nobody empties: it takes 64 KiB.
    reader, output = os.pipe()
    gateway = bench.start('--config', file, '--print', command=('bash', '-c', f'exec "$0" "$@" >&{output}', GATEWAY), pass_fds=[output])
    gateway.wait_metric('documents_total', 3000)
    gateway.process.terminate()
    assert gateway.process.wait(PATIENCE) == 0, f'exit status {gateway.process.returncode}'
    assert gateway.stderr().count('not read fast enough') == 1, 'the loss is not told'
    os.close(output)
    os.close(reader)


def test_versions(bench):
    """MQTT 5, quality 0 and 2"""
    bench.start_broker()
    for version, quality in (('5', 2), ('5', 1), ('3.1.1', 0), ('3.1.1', 2)):
        heard = bench.subscribe('jelling/#', options=('-V', 'mqttv5' if version == '5' else 'mqttv311', '-q', '2'))
        gateway = bench.configured(f'name: v{version[0]}q{quality}\nadapters: [sim]\nmqtt:\n  url: {bench.url}\n'
                                   f'  version: "{version}"\n  qos: {quality}\n')
        heard.wait(lambda t, p, r: '/devices/' in t, f'documents with {version} and quality {quality}')
        assert [l['qos'] for l in heard.lines if '/devices/' in l['topic']][0] == quality, f'quality of {heard.lines[-1]}'
        gateway.end()
        heard.end()


def test_broker_away(bench, seconds=float(os.environ.get('AWAY', '10'))):
    """the broker is away under load: nothing is lost, and the order of each device is kept"""
    heard = bench.heard('jelling/g/devices/#', options=('-c', '-i', 'judge'))
    radio = bench.radio('--devices', '40', '--rate', '200')
    gateway = bench.start('--config', bench.settings(radio, more=WITHOUT_PAUSE), page=True)
    heard.wait(lambda t, p, r: True, 'documents', 400)
    bench.stop_broker()
    time.sleep(seconds)
    assert gateway.metric('mqtt_connected') == 0, 'the gateway thinks that it has a broker'
    waiting = gateway.metric('queue_messages')
    assert waiting > 100 * seconds, f'only {waiting} messages wait after {seconds} s'
    bench.resume_broker()
    before = len(heard.messages)
    heard.wait(lambda t, p, r: True, 'what waited', before + int(waiting) + 400)
    made = int(gateway.drain(radio))
    gateway.end()
    heard.wait_documents(made)
    devices, documents, repeats = check_order(heard.documents())
    assert (devices, documents) == (40, made), f'{documents} of {made} documents of {devices} devices'
    print(f'{made} documents, {int(waiting)} of them waited; {repeats} were repeated')


def test_killed_with_queue(bench):
    """the gateway is killed with -9 while the broker is away: what was queued arrives, in order"""
    heard = bench.heard('jelling/g/devices/#', options=('-c', '-i', 'judge'))
    radio = bench.radio('--devices', '20', '--rate', '150')
    gateway = bench.start('--config', bench.settings(radio, more=WITHOUT_PAUSE), page=True)
    heard.wait(lambda t, p, r: True, 'documents', 100)
    bench.stop_broker()
    for _ in range(3):
        time.sleep(2)
        queued = int(gateway.metric('queue_messages'))
        gateway.end(signal.SIGKILL)
        gateway = bench.start('--config', bench.settings(radio, more=WITHOUT_PAUSE), page=True)
        found = wait_until(lambda: gateway.metric('queue_messages'), 'the queue was read')
        # The last ones came after the count.
        assert found >= queued, f'{queued} were queued, {found} found'
    bench.resume_broker()
    wait_until(lambda: gateway.metric('mqtt_connected') == 1, 'connected')
    radio.end()
    gateway.wait_empty()
    time.sleep(1)
    gateway.end()
    devices, documents, repeats = check_order(heard.documents(), lossless=False)
    assert devices == 20, f'{devices} devices'
    # Each life of the gateway numbers its documents from 1: all of each but the last few, which were not yet queued.
    lives = collections.defaultdict(list)
    for d in sorted({(d['address'], d['time'], d['sequence']) for d in heard.documents()}):
        if d[2] == 1 or not lives[d[0]]:
            lives[d[0]].append([])
        lives[d[0]][-1].append(d[2])
    gaps = [(a, l) for a, found in lives.items() for l in found if l != list(range(l[0], l[0] + len(l)))]
    assert not gaps, f'gaps: {str(gaps[:2])[:400]}'
    print(f'{documents} documents, {repeats} repeated')


def test_full_queue(bench):
    """a full queue drops the oldest messages, or those that a newer one has replaced"""
    for policy in ('oldest', 'superseded'):
        radio = bench.radio('--devices', '150', '--rate', '300', name=policy)
        file = bench.settings(radio, more=WITHOUT_PAUSE + f'queue: {{messages: 200, drop: {policy}}}\n', name=f'{policy}.yaml')
        gateway = bench.start('--config', file, page=True)
        gateway.wait_metric('queue_dropped_total', 300)
        gateway.end_radio(radio)
        wait_until(lambda: gateway.metric('queue_messages') == 200, 'the queue holds 200')
        heard = bench.start_broker_for(gateway, 'jelling/g/devices/#', options=('-c', '-i', policy))
        gateway.wait_empty()
        wait_until(lambda: len(heard.documents()) >= 200, '200 documents')
        gateway.end()
        bench.stop_broker()
        documents = heard.documents()
        check_order(documents, lossless=False)
        if policy == 'superseded':
            assert len({d['address'] for d in documents}) == 150, 'a device lost its last state'
        heard.end()


def test_adapters(bench):
    """two adapters: one goes away and comes back, the other is not disturbed"""
    heard = bench.heard('jelling/#')
    one = bench.radio('--devices', '5', '--rate', '50', name='one')
    two = bench.radio('--devices', '5', '--rate', '50', '--first', '100', name='two')
    gateway = bench.start('-t', one.socket, '-t', two.socket, '--mqtt', bench.url, '--name', 'g')
    heard.wait(lambda t, p, r: one.socket in p, 'documents of the first')
    heard.wait(lambda t, p, r: two.socket in p, 'documents of the second')
    one.end()
    gateway.wait_stderr(one.socket)
    heard.wait(lambda t, p, r: two.socket in p, 'documents of the second while the first is away',
               sum(two.socket in p for _, p, _ in heard.messages) + 10)
    one = bench.radio('--devices', '5', '--rate', '50', name='one')
    count = len(heard.messages)
    wait_until(lambda: any(one.socket in p for _, p, _ in heard.messages[count:]), 'the first is back')
    gateway.end()


def test_home_assistant(bench):
    """Home Assistant: entities are announced before the first document, and again when it starts"""
    bench.start_broker()
    lab = bench.lab(*SENSOR)
    heard = bench.subscribe('homeassistant/#', 'jelling/#')
    gateway = bench.start('-t', lab.endpoint, '--mqtt', bench.url, '--name', 'g', '--home-assistant')
    topic = 'homeassistant/sensor/jelling_g_f2f1f0000002/temperature/config'
    heard.wait(lambda t, p, r: t == topic, 'discovery')
    found = json.loads(next(p for t, p, _ in heard.messages if t == topic))
    assert (found['device_class'], found['unit_of_measurement']) == ('temperature', '°C'), found
    heard.wait(lambda t, p, r: t == found['state_topic'], 'document at the state topic')
    assert found['availability_topic'] == 'jelling/g/status', found
    os.system(f'mosquitto_pub -h 127.0.0.1 -p {bench.port} -t homeassistant/status -m online')
    heard.wait(lambda t, p, r: t == topic, 'discovery again', 2)
    gateway.end()
