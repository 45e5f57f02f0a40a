"""The main job: devices, documents, topics, delivery."""
import collections, json, os, signal, subprocess, time

from bench import GATEWAY, PATIENCE, PYTHON, Failure, count_of, free_port, wait_until

Case = collections.namedtuple('Case', 'name sentence test')
CASES = []


def case(sentence):
    def register(test):
        CASES.append(Case(test.__name__, sentence, test))
        return test
    return register


def need(condition, message):
    if not condition:
        raise Failure(message)


PEER = 'F2:F1:F0:00:00:02'
SENSOR = ('--service-data', 'FCD2:4002c40903bf13')   # BTHome v2: 25 °C, 50.55 %


@case('a sensor of Bumble reaches mosquitto_sub with its values; the gateway is online, then offline')
def main_job(b):
    b.start_broker()
    lab = b.lab(*SENSOR)
    everything = b.subscribe('jelling/#')
    gateway = b.start('-t', lab.endpoint, '--mqtt', b.url, '--name', 'kitchen')
    everything.wait(lambda t, p, r: t == 'jelling/kitchen/status' and p == 'online', 'online')
    everything.wait(lambda t, p, r: t == f'jelling/kitchen/devices/{PEER}', 'document of the sensor')
    found = everything.documents(PEER)[-1]
    need(found['values'] == {'temperature': 25, 'humidity': 50.55}, f'values {found["values"]}')
    need(found['units'] == {'temperature': '°C', 'humidity': '%'}, f'units {found["units"]}')
    need((found['gateway'], found['adapter'], found['name']) == ('kitchen', lab.endpoint, 'BumblePeer'), f'{found}')
    need({'uuid': '180D', 'name': 'Heart Rate'} in found['services'], f'services {found["services"]}')
    # Who comes later learns the status; the document is not retained.
    late = b.subscribe('jelling/#')
    late.wait(lambda t, p, r: r and t == 'jelling/kitchen/status' and p == 'online', 'retained status')
    gateway.end()
    need(gateway.process.returncode == 0, f'exit status {gateway.process.returncode}: {gateway.stderr()}')
    everything.wait(lambda t, p, r: t == 'jelling/kitchen/status' and p == 'offline', 'offline')


@case('killed with -9, the gateway is offline by its last will')
def last_will(b):
    b.start_broker()
    status = b.subscribe('jelling/+/status')
    gateway = b.start('-t', 'sim', '--mqtt', b.url, '--name', 'g')
    status.wait(lambda t, p, r: p == 'online', 'online')
    gateway.end(signal.SIGKILL)
    status.wait(lambda t, p, r: p == 'offline', 'offline')


@case('without a broker, --print shows the documents, and --count ends it')
def printing(b):
    child = b.run('-t', 'sim', '--print', '--count', '3')
    need(len(child.lines) == 3 and not child.strays, f'{child.lines} {child.strays}')
    need(all('values' in l and 'advertisement' in l for l in child.lines), f'{child.lines}')


@case('a reader of --print that stops reading: the gateway goes on, tells it, and ends when it is told to')
def stalled_reader(b):
    radio = b.radio('--devices', '20', '--rate', '400')
    port = free_port()
    file = b.write('gateway.yaml', f'name: g\nadapters: ["{radio.socket}"]\npublish: {{interval: 0}}\nhttp: {{listen: "127.0.0.1:{port}"}}\n')
    said = open(b.path('stalled.err'), 'w+', encoding='utf-8')
    gateway = subprocess.Popen([GATEWAY, '--state', b.path('state'), '--config', file, '--print'], stdout=subprocess.PIPE, stderr=said)
    try:
        # A pipe takes 64 KiB.
        wait_until(lambda: (b.metric(port, 'documents_total') or 0) > 3000, 'documents')
        gateway.terminate()
        need(gateway.wait(PATIENCE) == 0, f'exit status {gateway.returncode}')
        said.seek(0)
        need(said.read().count('not read fast enough') == 1, 'the loss is not told')
    finally:
        gateway.kill()
        gateway.stdout.close()
        said.close()


@case('MQTT 5, quality 0 and 2')
def versions(b):
    b.start_broker()
    for version, quality in (('5', 2), ('5', 1), ('3.1.1', 0), ('3.1.1', 2)):
        heard = b.subscribe('jelling/#', options=('-V', 'mqttv5' if version == '5' else 'mqttv311', '-q', '2'))
        file = b.write('gateway.yaml', f'name: v{version[0]}q{quality}\nadapters: [sim]\nmqtt:\n  url: {b.url}\n'
                                       f'  version: "{version}"\n  qos: {quality}\n')
        gateway = b.start('--config', file)
        heard.wait(lambda t, p, r: '/devices/' in t, f'documents with {version} and quality {quality}')
        need([l['qos'] for l in heard.lines if '/devices/' in l['topic']][0] == quality, f'quality of {heard.lines[-1]}')
        gateway.end()
        heard.end()


def check_order(documents, lossless=True):
    """Every device's documents in order; repeated ones are allowed, missing ones are not."""
    sequences = collections.defaultdict(list)
    for d in documents:
        sequences[d['address']].append((d['time'], d['sequence']))
    repeats = 0
    for address, found in sequences.items():
        fresh = list(dict.fromkeys(found))
        repeats += len(found) - len(fresh)
        need(fresh == sorted(fresh), f'{address}: out of order')
        # The sequence begins again with each start of the gateway.
        for (_, before), (_, after) in zip(fresh, fresh[1:]):
            need(not lossless or after in (before + 1, 1), f'{address}: {before} is followed by {after}')
    return len(sequences), sum(len(set(f)) for f in sequences.values()), repeats


def slow(b, radio, queue='', more=''):
    return b.write('gateway.yaml', f'name: g\nadapters: ["{radio.socket}"]\nmqtt:\n  url: {b.url}\n  longestBackoff: 1\n'
                                   f'publish: {{interval: 0}}\nqueue: {{{queue}}}\n{more}')


@case('the broker is away under load: nothing is lost, and the order of each device is kept')
def broker_away(b, seconds=float(os.environ.get('AWAY', '10'))):
    b.start_broker()
    heard = b.subscribe('jelling/g/devices/#', options=('-c', '-i', 'judge'))
    radio = b.radio('--devices', '40', '--rate', '200')
    port = free_port()
    gateway = b.start('--config', slow(b, radio), '--http', f'127.0.0.1:{port}')
    heard.wait(lambda t, p, r: True, 'documents', 400)
    b.stop_broker()
    time.sleep(seconds)
    need(b.metric(port, 'mqtt_connected') == 0, 'the gateway thinks that it has a broker')
    waiting = b.metric(port, 'queue_messages')
    need(waiting > 100 * seconds, f'only {waiting} messages wait after {seconds} s')
    b.resume_broker()
    before = len(heard.messages)
    heard.wait(lambda t, p, r: True, 'what waited', before + int(waiting) + 400)
    b.end_radio(radio, gateway)
    b.wait_empty(port)
    made = int(b.metric(port, 'documents_total'))
    gateway.end()
    wait_until(lambda: check_order(heard.documents())[1] >= made, f'{made} documents')
    devices, documents, repeats = check_order(heard.documents())
    need((devices, documents) == (40, made), f'{documents} of {made} documents of {devices} devices')
    return f'{made} documents, {int(waiting)} of them waited; {repeats} were repeated'


@case('the gateway is killed with -9 while the broker is away: what was queued arrives, in order')
def killed_with_queue(b):
    b.start_broker()
    heard = b.subscribe('jelling/g/devices/#', options=('-c', '-i', 'judge'))
    radio = b.radio('--devices', '20', '--rate', '150')
    port = free_port()
    gateway = b.start('--config', slow(b, radio), '--http', f'127.0.0.1:{port}')
    heard.wait(lambda t, p, r: True, 'documents', 100)
    b.stop_broker()
    for _ in range(3):
        time.sleep(2)
        queued = int(b.metric(port, 'queue_messages'))
        gateway.end(signal.SIGKILL)
        gateway = b.start('--config', slow(b, radio), '--http', f'127.0.0.1:{port}')
        found = wait_until(lambda: b.metric(port, 'queue_messages'), 'the queue was read')
        # The last ones came after the count.
        need(found >= queued, f'{queued} were queued, {found} found')
    b.resume_broker()
    wait_until(lambda: b.metric(port, 'mqtt_connected') == 1, 'connected')
    radio.end()
    b.wait_empty(port)
    time.sleep(1)
    gateway.end()
    devices, documents, repeats = check_order(heard.documents(), lossless=False)
    need(devices == 20, f'{devices} devices')
    # Each life of the gateway numbers its documents from 1: all of each but the last few, which were not yet queued.
    lives = collections.defaultdict(list)
    for d in sorted({(d['address'], d['time'], d['sequence']) for d in heard.documents()}):
        if d[2] == 1 or not lives[d[0]]:
            lives[d[0]].append([])
        lives[d[0]][-1].append(d[2])
    gaps = [(a, l) for a, found in lives.items() for l in found if l != list(range(l[0], l[0] + len(l)))]
    need(not gaps, f'gaps: {str(gaps[:2])[:400]}')
    return f'{documents} documents, {repeats} repeated'


@case('a full queue drops the oldest messages, or those that a newer one has replaced')
def full_queue(b):
    for policy in ('oldest', 'superseded'):
        radio = b.radio('--devices', '150', '--rate', '300', name=policy)
        port = free_port()
        file = b.write(f'{policy}.yaml', f'name: {policy}\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{b.url}", longestBackoff: 1}}\n'
                                         f'publish: {{interval: 0}}\nqueue: {{messages: 200, drop: {policy}}}\n')
        gateway = b.start('--config', file, '--http', f'127.0.0.1:{port}')
        wait_until(lambda: (b.metric(port, 'queue_dropped_total') or 0) > 300, 'messages were dropped')
        b.end_radio(radio, gateway)
        wait_until(lambda: b.metric(port, 'queue_messages') == 200, 'the queue holds 200')
        heard = b.start_broker_for(gateway, f'jelling/{policy}/devices/#', options=('-c', '-i', policy))
        b.wait_empty(port)
        wait_until(lambda: len(heard.documents()) >= 200, '200 documents')
        gateway.end()
        b.stop_broker()
        documents = heard.documents()
        check_order(documents, lossless=False)
        if policy == 'superseded':
            need(len({d['address'] for d in documents}) == 150, 'a device lost its last state')
        heard.end()


@case('two adapters: one goes away and comes back, the other is not disturbed')
def adapters(b):
    b.start_broker()
    heard = b.subscribe('jelling/#')
    one = b.radio('--devices', '5', '--rate', '50', name='one')
    two = b.radio('--devices', '5', '--rate', '50', '--first', '100', name='two')
    gateway = b.start('-t', one.socket, '-t', two.socket, '--mqtt', b.url, '--name', 'g')
    heard.wait(lambda t, p, r: one.socket in p, 'documents of the first')
    heard.wait(lambda t, p, r: two.socket in p, 'documents of the second')
    one.end()
    b.wait_stderr(gateway, one.socket)
    count = len(heard.messages)
    heard.wait(lambda t, p, r: two.socket in p, 'documents of the second while the first is away',
               sum(two.socket in p for _, p, _ in heard.messages) + 10)
    one = b.radio('--devices', '5', '--rate', '50', name='one')
    count = len(heard.messages)
    wait_until(lambda: any(one.socket in p for _, p, _ in heard.messages[count:]), 'the first is back')
    gateway.end()


@case('Home Assistant: entities are announced before the first document, and again when it starts')
def home_assistant(b):
    b.start_broker()
    lab = b.lab(*SENSOR)
    heard = b.subscribe('homeassistant/#', 'jelling/#')
    gateway = b.start('-t', lab.endpoint, '--mqtt', b.url, '--name', 'g', '--home-assistant')
    topic = 'homeassistant/sensor/jelling_g_f2f1f0000002/temperature/config'
    heard.wait(lambda t, p, r: t == topic, 'discovery')
    found = json.loads(next(p for t, p, _ in heard.messages if t == topic))
    need((found['device_class'], found['unit_of_measurement']) == ('temperature', '°C'), f'{found}')
    heard.wait(lambda t, p, r: t == found['state_topic'], 'document at the state topic')
    need(found['availability_topic'] == 'jelling/g/status', f'{found}')
    os.system(f'mosquitto_pub -h 127.0.0.1 -p {b.port} -t homeassistant/status -m online')
    heard.wait(lambda t, p, r: t == topic, 'discovery again', 2)
    gateway.end()
