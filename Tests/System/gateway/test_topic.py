"""Topics that change while a device is received: Home Assistant has to know where its values arrive."""
import json, time


SENSOR = 'A4:C1:38:00:00:01'


def temperature(hundredths):
    return '0716d2fc4002' + hundredths.to_bytes(2, 'little').hex()


def named(hundredths, name):
    octets = name.encode()
    return temperature(hundredths) + bytes([len(octets) + 1, 9]).hex() + octets.hex()


def check_topics(messages):
    """Each document is at the topic that the last announcement before it named; returns these topics, in order."""
    known, topics = {}, []
    for topic, payload, _ in messages:
        if topic.startswith('homeassistant/') and topic.endswith('/config'):
            if payload:
                known[topic] = json.loads(payload)
            else:
                known.pop(topic, None)
        elif '"values"' in payload:
            states = {a['state_topic'] for a in known.values() if 'value_template' in a}
            assert states == {topic}, f'a document at {topic}, announced are {states}'
            if not topics or topics[-1] != topic:
                topics.append(topic)
    assert len({a['unique_id'] for a in known.values()}) == len(known), known
    return topics


def test_adapter_topic(bench):
    """{adapter} in the topic: Home Assistant is told of each change of the adapter before the first document from there"""
    heard = bench.heard('#')
    one, two = bench.scripted_radio('one'), bench.scripted_radio('two')
    gateway = bench.configured(f'name: g\nadapters: ["{one.socket}", "{two.socket}"]\nmqtt: {{url: "{bench.url}"}}\nhomeAssistant: {{}}\n'
                               'publish: {interval: 0}\nsmoothing: {time: 0}\ntopics: {device: "ble/{id}/{adapter}"}\n')
    gateway.wait_stderr('connected to the broker')
    for number in range(72):
        # Every 12 s the other one is nearer, and in between for a moment.
        near = (one, two)[number // 24 % 2 ^ (number % 24 == 8)]
        for radio in (one, two):
            radio.say(SENSOR, temperature(2000 + number), -50 if radio is near else -90)
        time.sleep(0.5)
    places = ['ble/a4c138000001/unix:' + bench.path(name).replace('/', '_') for name in ('one', 'two')]
    heard.wait(lambda t, p, r: t == places[0] and '"temperature":20.71' in p, 'the last document')
    topics = check_topics(heard.messages)
    # The first document may come before the nearer adapter is open.
    assert topics[-3:] == [places[0], places[1], places[0]] and len(topics) <= 4, topics
    gateway.end()
    print(f'{len(topics)} topics')


def test_name_topic(bench):
    """{name} in the topics: a name that comes late, changes, or is in the settings later moves announcements, documents and presence"""
    heard = bench.heard('#')
    radio = bench.scripted_radio()
    base = (f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{bench.url}"}}\nhomeAssistant: {{}}\npublish: {{interval: 0}}\npresence: {{}}\n'
            'topics: {device: "ble/{name}/{id}", presence: "presence/{name}/{id}"}\n')
    gateway = bench.configured(base + f'devices: [{{address: "{SENSOR}"}}]\n')
    gateway.wait_stderr('connected to the broker')

    def say(data, topic, seconds=20):
        end = time.monotonic() + seconds
        count = 0
        while time.monotonic() < end:
            count += 1
            radio.say(SENSOR, data(2000 + count))
            time.sleep(0.5)
            if any(t == topic for t, _, _ in heard.messages):
                return
    say(temperature, f'ble/{SENSOR}/a4c138000001')
    for name in ('First', 'Second'):
        say(lambda n: named(n, name), f'ble/{name}/a4c138000001')
        heard.wait(lambda t, p, r: t == f'ble/{name}/a4c138000001', f'documents under {name}')
        heard.wait(lambda t, p, r: t == f'presence/{name}/a4c138000001' and p == 'home', f'presence under {name}')
    bench.write('gateway.yaml', base + f'devices: [{{address: "{SENSOR}", name: Cellar}}]\n')
    gateway.wait_stderr('in force: ‘devices’')
    say(lambda n: named(n + 100, 'Second'), 'ble/Cellar/a4c138000001')
    heard.wait(lambda t, p, r: t == 'ble/Cellar/a4c138000001', 'documents under the name of the settings')
    topics = check_topics([m for m in heard.messages if not m[0].startswith('presence/')])
    assert [t.split('/')[1] for t in topics] == [SENSOR, 'First', 'Second', 'Cellar'], topics
    trackers = [json.loads(p)['state_topic'] for t, p, _ in heard.messages if t.startswith('homeassistant/device_tracker/') and p]
    assert list(dict.fromkeys(trackers))[-1] == 'presence/Cellar/a4c138000001', trackers
    # Its id stays.
    ids = {json.loads(p)['unique_id'] for t, p, _ in heard.messages if t.startswith('homeassistant/sensor/') and p}
    assert ids == {'jelling_g_a4c138000001_temperature'}, ids
    gateway.end()


def test_changing_names(bench):
    """a sender that changes its name with each packet causes few announcements, and its values arrive where they are announced"""
    heard = bench.heard('#')
    radio = bench.scripted_radio()
    gateway = bench.configured(f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{bench.url}"}}\nhomeAssistant: {{}}\n'
                               'publish: {interval: 0}\ntopics: {device: "ble/{name}/{id}"}\n')
    gateway.wait_stderr('connected to the broker')
    for number in range(200):
        radio.say(SENSOR, named(2000 + number, f'n{number}'))
        time.sleep(0.1)
    heard.wait(lambda t, p, r: '"temperature":21.99' in p, 'the last document')
    topics = check_topics(heard.messages)
    announcements = sum(t.startswith('homeassistant/') and p != '' for t, p, _ in heard.messages)
    assert len(topics) <= 5 and announcements <= 5, f'{len(topics)} topics, {announcements} announcements'
    gateway.end()
