"""What brokers refuse: messages, sessions and what a session may do; told, and nothing is lost that could be taken later."""
import json, random, threading, time

from bench import free_port, wait_until
from gateway_cases import case, check_order, need
from scripted_broker import ScriptedBroker


def settings(b, radio, url, mqtt='', more=''):
    return b.write('gateway.yaml', f'name: g\nadapters: ["{radio.socket}"]\npublish: {{interval: 0}}\n'
                                   f'mqtt: {{url: "{url}", version: "5", longestBackoff: 1{mqtt}}}\n{more}')


def begin(b, broker, mqtt='', more='', radio=('--devices', '10', '--rate', '40')):
    """(radio, gateway, port of /metrics)"""
    radio, port = b.radio(*radio), free_port()
    gateway = b.start('--config', settings(b, radio, f'mqtt://127.0.0.1:{broker.port}', mqtt, more), '--http', f'127.0.0.1:{port}')
    return radio, gateway, port


def documents(broker):
    return [json.loads(p.payload) for p in list(broker.published) if '/devices/' in p.topic]


def finish(b, broker, radio, gateway, port):
    """Everything that was made has arrived, in order."""
    b.end_radio(radio, gateway)
    b.wait_empty(port)
    made, lost = b.metric(port, 'documents_total'), b.metric(port, 'mqtt_refused_total') + b.metric(port, 'queue_dropped_total')
    need(lost == 0, f'{lost} messages were dropped')
    wait_until(lambda: check_order(documents(broker))[1] >= made, f'{made} documents')
    gateway.end()
    need(gateway.process.returncode == 0, gateway.stderr()[-300:])
    broker.close()
    need(not broker.malformed, f'{broker.malformed}')
    return f'{made:.0f} documents'


@case('a broker whose quota is exceeded, or that refuses without a final reason: nothing is lost, the order is kept, told once')
def refused_for_now(b):
    told = []
    for reason, name in ((0x97, 'quota exceeded'), (0x80, 'unspecified error'), (0x83, 'implementation specific error')):
        for qos in (1, 2):
            broker, full = ScriptedBroker(), threading.Event()
            full.set()
            broker.publish = lambda s, p: reason if full.is_set() and '/devices/' in p.topic else 0
            radio, gateway, port = begin(b, broker, f', qos: {qos}')
            wait_until(lambda: (b.metric(port, 'mqtt_postponed_total') or 0) >= 15, 'refusals')
            status, body = b.get(port, '/health')
            need(name in body, f'{body}')
            need(b.metric(port, 'mqtt_refused_topics') > 0, 'no topic counts as refused')
            full.clear()
            need(gateway.stderr().count(f'refuses a message for jelling/g/devices/') == 1 and name in gateway.stderr(), gateway.stderr())
            told.append(finish(b, broker, radio, gateway, port))
    return ', '.join(told)


@case('a broker that refuses a third of all messages for the moment, at random: nothing is lost, each device is in order')
def refused_at_random(b):
    broker, generator = ScriptedBroker(), random.Random(23)
    broker.publish = lambda s, p: 0x97 if '/devices/' in p.topic and generator.random() < 0.3 else 0
    radio, gateway, port = begin(b, broker, radio=('--devices', '20', '--rate', '30'))
    wait_until(lambda: len(documents(broker)) > 150, 'documents')
    broker.publish = lambda s, p: 0
    return finish(b, broker, radio, gateway, port)


@case('messages that are refused for good are dropped, counted and told once each; others arrive')
def refused_for_good(b):
    broker = ScriptedBroker()
    reasons = {'00:00:01': 0x87, '00:00:02': 0x90, '00:00:03': 0x99}
    broker.publish = lambda s, p: reasons.get(p.topic[-8:], 0x10)
    radio, gateway, port = begin(b, broker)
    wait_until(lambda: (b.metric(port, 'mqtt_refused_total') or 0) > 30, 'refusals')
    wait_until(lambda: len(documents(broker)) > 100, 'documents of the others')
    b.end_radio(radio, gateway)
    b.wait_empty(port)
    for name in ('not authorized', 'topic name invalid', 'payload format invalid'):
        need(gateway.stderr().count(name) == 1, f'{name}: {gateway.stderr()}')
    # That no one has subscribed is a success.
    made, refused = b.metric(port, 'documents_total'), b.metric(port, 'mqtt_refused_total')
    devices, taken, repeats = check_order(documents(broker))
    need(devices == 7 and taken == made - refused and not repeats, f'{devices} devices, {taken} of {made}, {refused} refused')
    need('no matching' not in gateway.stderr(), gateway.stderr())
    gateway.end()
    broker.close()


@case('a message that is refused eight times without a final reason is dropped, and its topic goes on when the broker takes it')
def refused_too_often(b):
    broker, since = ScriptedBroker(), {}
    broker.publish = lambda s, p: 0x80 if p.topic.endswith('00:00:01') and len(since.setdefault(p.topic, [])) < 9 and \
        not since[p.topic].append(p.payload) else 0
    radio, gateway, port = begin(b, broker, radio=('--devices', '3', '--rate', '3'))
    wait_until(lambda: (b.metric(port, 'mqtt_refused_total') or 0) == 2, 'two are dropped', 400)
    wait_until(lambda: any(d['address'].endswith('00:00:01') for d in documents(broker)), 'the third is taken')
    tries = next(iter(since.values()))
    need(len(set(tries)) == 2 and tries[:8] == [tries[0]] * 8, 'not eight tries of the first and one of the second')
    b.end_radio(radio, gateway)
    b.wait_empty(port)
    check_order([d for d in documents(broker)])
    gateway.end()
    broker.close()


@case('a session with limits: quality of service, packet size, messages on the way and keep-alive are those of the broker, and told')
def session_limits(b):
    broker = ScriptedBroker()
    broker.connack = lambda s: (0, {'maximum_qos': 1, 'receive_maximum': 5, 'maximum_packet_size': 700, 'server_keep_alive': 7,
                                    'topic_alias_maximum': 3, 'wildcard_available': 0, 'subscription_identifiers_available': 0,
                                    'shared_available': 0})
    seen = []
    broker.publish = lambda s, p: (seen.append(p), time.sleep(0.005), 0)[2]
    radio, gateway, port = begin(b, broker, ', qos: 2', 'homeAssistant: {}\n', radio=('--devices', '20', '--rate', '100'))
    wait_until(lambda: len(documents(broker)) > 200, 'documents')
    need({p.qos for p in seen} == {1} and max(p.length for p in seen) <= 700, f'{ {p.qos for p in seen} } {max(p.length for p in seen)}')
    need(max(s.most_unanswered for s in broker.sessions) <= 5, f'{[s.most_unanswered for s in broker.sessions]} on the way')
    for text in ('quality of service 1 at most', 'packets of 700 octets', '5 messages without acknowledgement, not 100', '7 s, not 30 s'):
        need(gateway.stderr().count(text) == 1, f'{text}: {gateway.stderr()}')
    limits = json.loads(b.get(port, '/health')[1])['broker']['limits']
    need(len(limits) == 4, f'{limits}')
    finish(b, broker, radio, gateway, port)


@case('messages that are longer than the broker takes are dropped, counted and told; shorter ones arrive')
def packet_size(b):
    broker = ScriptedBroker()
    broker.connack = lambda s: (0, {'maximum_packet_size': 300})
    radio, gateway, port = begin(b, broker, more='presence: {timeout: 600}\ndevices: [{address: "C1:38:00:00:00:01"}]\n')
    wait_until(lambda: (b.metric(port, 'mqtt_refused_total') or 0) > 20, 'messages are dropped')
    need(gateway.stderr().count('the broker takes packets of 300 octets at most; it was dropped') == 1, gateway.stderr())
    need(b.metric(port, 'mqtt_connected') == 1 and len(broker.sessions) == 1, 'the session ended')
    need(max(p.length for p in broker.published) <= 300, 'a packet was too long')
    b.end_radio(radio, gateway)
    b.wait_empty(port)
    gateway.end()
    broker.close()


@case('a broker with quality of service 0 only refuses the last will first: the next session works, and is told')
def quality_zero(b):
    broker = ScriptedBroker()
    broker.connack = lambda s: 0x9B if s.will.qos else (0, {'maximum_qos': 0})
    radio, gateway, port = begin(b, broker)
    wait_until(lambda: len(documents(broker)) > 100, 'documents')
    need({p.qos for p in broker.published} == {0}, 'another quality')
    need('quality of service 0 at most' in gateway.stderr() and 'QoS not supported' in gateway.stderr(), gateway.stderr())
    need(b.get(port, '/health')[0] == 200, 'not healthy')
    broker.session.close()
    wait_until(lambda: len(broker.sessions) > 2 and b.metric(port, 'mqtt_connected') == 1, 'another session')
    return finish(b, broker, radio, gateway, port)


@case('a broker that retains nothing: neither will, status, presence nor announcements are retained, and it is told')
def retains_nothing(b):
    broker = ScriptedBroker()
    broker.connack = lambda s: 0x9A if s.will.retain else (0, {'retain_available': 0})
    radio, gateway, port = begin(b, broker, more='homeAssistant: {}\npresence: {timeout: 600}\ndevices: [{address: "C1:38:00:00:00:01"}]\n')
    wait_until(lambda: len(documents(broker)) > 100, 'documents')
    need(not [p for p in broker.published if p.retain], 'retained messages')
    need('retains no messages' in gateway.stderr(), gateway.stderr())
    return finish(b, broker, radio, gateway, port)


def once(action):
    """An answer for the first message of a device, and for the others a success."""
    done = threading.Event()

    def publish(session, message):
        if '/devices/' not in message.topic or done.is_set():
            return 0
        done.set()
        return action(session)
    return publish


@case('sessions that the broker ends with a reason: each is told with what helps, and every document arrives')
def ended_with_reason(b):
    reasons = ((0x8E, 'session taken over; does another client'), (0x97, 'quota exceeded'), (0x89, 'server busy'), (0x98, 'administrative action'),
               (0x9C, 'use another server; name the other server'), (0x9D, 'server moved'), (0x96, 'message rate too high'),
               (0x8B, 'server shutting down'), (0x80, 'unspecified error'), (0x9A, 'retain not supported'), (0x9B, 'QoS not supported'),
               (0x93, 'receive maximum exceeded'))
    for reason, text in reasons:
        broker = ScriptedBroker()
        broker.publish = once(lambda s: s.disconnect(reason))
        radio, gateway, port = begin(b, broker, ', qos: 2', radio=('--devices', '5', '--rate', '20'))
        wait_until(lambda: len(documents(broker)) > 20, f'documents after {reason:#x}')
        need(f'the broker ended the session: {text}' in gateway.stderr(), f'{reason:#x}: {gateway.stderr()}')
        last = [p for p in broker.published if '/devices/' in p.topic][-1]
        need(last.qos == (1 if reason == 0x9B else 2), f'{reason:#x}: {last}')
        if reason == 0x9A:
            need(not broker.session.will.retain, 'a retained will')
        finish(b, broker, radio, gateway, port)
    return f'{len(reasons)} reasons'


@case('a broker that ends the session for one message, and says so: that message is dropped, all others arrive')
def message_at_fault(b):
    for reason in (0x95, 0x87, 0x90, 0x99):
        broker = ScriptedBroker()
        broker.publish = lambda s, p: s.disconnect(reason) if p.topic.endswith('00:00:01') else 0
        radio, gateway, port = begin(b, broker, radio=('--devices', '5', '--rate', '20'))
        b.wait_stderr(gateway, 'the message was dropped')
        wait_until(lambda: len(documents(broker)) > 60, f'documents after {reason:#x}')
        found = {d['address'] for d in documents(broker)}
        need(len(found) == 4, f'{reason:#x}: {found}')
        gateway.end()
        broker.close()


def stays(b, port, seconds=5):
    """Waits for a session that lasts."""
    sessions = []
    wait_until(lambda: (sessions.append(b.metric(port, 'mqtt_sessions_total')), time.sleep(1), sessions[-seconds:] == [sessions[-1]] * seconds)[2],
               'a session that stays')


@case('a broker of MQTT 3.1.1 that ends each session at an announcement: that is found and left out, also from what is retained')
def announcement_at_fault(b):
    broker = ScriptedBroker()
    broker.publish = lambda s, p: s.close() if p.topic.startswith('homeassistant/') else 0
    radio, port = b.radio('--devices', '5', '--rate', '20'), free_port()
    file = settings(b, radio, f'mqtt://127.0.0.1:{broker.port}', more='homeAssistant: {}\npresence: {timeout: 600}\n'
                    'devices: [{address: "C1:38:00:00:00:01"}]\n')
    b.write('gateway.yaml', open(file, encoding='utf-8').read().replace('"5"', '"3.1.1"'))
    gateway = b.start('--config', file, '--http', f'127.0.0.1:{port}')
    b.wait_stderr(gateway, 'the message was dropped')
    stays(b, port)
    broker.session.close()
    wait_until(lambda: b.metric(port, 'mqtt_connected') == 1, 'another session')
    stays(b, port)
    need(broker.payloads('jelling/g/presence/C1:38:00:00:00:01')[-1] == 'home', 'no presence')
    b.end_radio(radio, gateway)
    b.wait_empty(port)
    made = b.metric(port, 'documents_total')
    wait_until(lambda: check_order(documents(broker))[1] >= made, f'{made} documents')
    gateway.end()
    broker.close()


@case('sessions that the broker refuses, with MQTT 3.1.1 and 5: the reason, what helps, and another attempt')
def session_refused(b):
    ways = [('3.1.1', code, text) for code, text in ((1, 'unacceptable protocol version; ‘mqtt.version’'), (2, 'identifier rejected; give'),
                                                   (3, 'server unavailable'), (4, 'bad user name or password; check'), (5, 'not authorized; check'))]
    ways += [('5', code, text) for code, text in ((0x84, 'unsupported protocol version; set'), (0x85, 'client identifier not valid; give'),
                                                (0x86, 'bad user name or password; check'), (0x87, 'not authorized; check'),
                                                (0x88, 'server unavailable'), (0x8A, 'banned'), (0x9D, 'server moved; name'), (0x9F, 'connection rate'))]
    broker = ScriptedBroker()
    radio = b.radio('--devices', '2', '--rate', '5')
    for version, code, text in ways:
        broker.sessions.clear()
        broker.connack = lambda s: (code, {'server_reference': 'other:1883'} if code == 0x9D else {}) if len(broker.sessions) < 3 else 0
        file = settings(b, radio, f'mqtt://127.0.0.1:{broker.port}').replace('gateway', 'gateway')
        b.write('gateway.yaml', open(file, encoding='utf-8').read().replace('version: "5"', f'version: "{version}"'))
        gateway = b.start('--config', file)
        b.wait_stderr(gateway, f'the broker refused the session: {text}')
        b.wait_stderr(gateway, 'connected to the broker')
        need(code != 0x9D or 'other:1883' in gateway.stderr(), gateway.stderr())
        need(gateway.stderr().count('refused the session') == 1, gateway.stderr())
        gateway.end()
    broker.close()
    return f'{len(ways)} codes'


@case('wrong credentials are not tried each second: the pause is the longest at once')
def credentials(b):
    broker = ScriptedBroker()
    broker.connack = lambda s: 0x86
    radio = b.radio('--devices', '2', '--rate', '5')
    file = settings(b, radio, f'mqtt://127.0.0.1:{broker.port}')
    b.write('gateway.yaml', open(file, encoding='utf-8').read().replace('longestBackoff: 1', 'longestBackoff: 3600'))
    gateway = b.start('--config', file)
    b.wait_stderr(gateway, 'the broker refused the session')
    time.sleep(10)
    need(len(broker.sessions) == 1, f'{len(broker.sessions)} sessions')
    gateway.end()
    broker.close()


@case('a broker that does not let the gateway subscribe, and refuses its status for the moment: told, and the status comes later')
def status_refused(b):
    broker, tries = ScriptedBroker(), []
    broker.suback = lambda s, t, q: 0x87
    broker.publish = lambda s, p: 0x97 if p.topic.endswith('/status') and p.payload == b'online' and not tries.append(1) and len(tries) < 2 else 0
    radio, gateway, port = begin(b, broker, more='homeAssistant: {}\n')
    b.wait_stderr(gateway, 'does not let the gateway subscribe')
    b.wait_stderr(gateway, "refuses the gateway's status: quota exceeded")
    wait_until(lambda: 'online' in broker.payloads('jelling/g/status'), 'the status')
    return finish(b, broker, radio, gateway, port)


@case('Mosquitto with max_qos 1 and 0, without retained messages, with a largest packet and a longest keep-alive: told, documents arrive')
def mosquitto_limits(b):
    for line, text in (('max_qos 1', 'quality of service 1 at most'), ('max_qos 0', 'quality of service 0 at most'),
                       ('retain_available false', 'retains no messages'), ('max_packet_size 900', 'packets of 900 octets'),
                       ('max_keepalive 10', '10 s, not 30 s')):
        # A listener's own options come after it.
        b.start_broker(f'listener {b.port} 127.0.0.1\n{line}\n' if line.startswith('max_qos') else line)
        heard = b.subscribe('jelling/g/devices/#', options=('-q', '0') if line == 'max_qos 0' else ())
        radio, port = b.radio('--devices', '5', '--rate', '20'), free_port()
        gateway = b.start('--config', settings(b, radio, b.url, ', qos: 2'), '--http', f'127.0.0.1:{port}')
        heard.wait(lambda t, p, r: True, f'documents with {line}', 50)
        b.wait_stderr(gateway, text)
        b.end_radio(radio, gateway)
        b.wait_empty(port)
        need(b.metric(port, 'mqtt_refused_total') == 0, f'{line}: messages were refused')
        made = b.metric(port, 'documents_total')
        wait_until(lambda: check_order(heard.documents())[1] >= made, f'{made} documents with {line}')
        gateway.end()
        heard.end()
        b.stop_broker()


@case('Mosquitto with limits and MQTT 3.1.1, which cannot tell them: what helps is told; with version 5 what waited arrives')
def mosquitto_without_reasons(b):
    for line, text in (('max_qos 1', 'with ‘mqtt.version’ "5" it can tell why'), ('max_qos 0', 'needs ‘mqtt.version’ "5"'),
                       ('retain_available false', 'needs ‘mqtt.version’ "5"')):
        b.start_broker(f'listener {b.port} 127.0.0.1\n{line}\n' if line.startswith('max_qos') else line)
        heard = b.subscribe('jelling/g/devices/#', options=('-q', '0') if line == 'max_qos 0' else ())
        radio, port = b.radio('--devices', '5', '--rate', '20'), free_port()
        file = settings(b, radio, b.url, ', qos: 2')
        text5 = open(file, encoding='utf-8').read()
        gateway = b.start('--config', b.write('gateway.yaml', text5.replace('"5"', '"3.1.1"')), '--http', f'127.0.0.1:{port}')
        b.wait_stderr(gateway, text)
        b.write('gateway.yaml', text5)
        b.wait_stderr(gateway, 'loaded again')
        heard.wait(lambda t, p, r: True, f'documents with {line}', 30)
        b.end_radio(radio, gateway)
        b.wait_empty(port)
        need(b.metric(port, 'mqtt_refused_total') == 0, f'{line}: messages were refused')
        made = b.metric(port, 'documents_total')
        wait_until(lambda: check_order(heard.documents())[1] >= made, f'{made} documents with {line}')
        gateway.end()
        heard.end()
        b.stop_broker()


@case('Mosquitto with rules for topics: what this user may not publish is refused, told and counted; with MQTT 5 only it says so')
def access_rules(b):
    b.write('rules', 'topic readwrite jelling/g/status\npattern read jelling/#\ntopic read jelling/#\ntopic write jelling/g/devices/+\n')
    b.start_broker(f'acl_file {b.path("rules")}')
    heard = b.subscribe('jelling/#')
    radio, port = b.radio('--devices', '5', '--rate', '20'), free_port()
    gateway = b.start('--config', settings(b, radio, b.url, more='homeAssistant: {}\npresence: {timeout: 1}\ndevices: [{address: "C1:38:00:00:00:01"}]\n'),
                      '--http', f'127.0.0.1:{port}')
    heard.wait(lambda t, p, r: '/devices/' in t, 'documents', 50)
    wait_until(lambda: (b.metric(port, 'mqtt_refused_total') or 0) >= 1, 'a refusal')
    b.wait_stderr(gateway, 'not authorized; check what the broker lets this user publish')
    # Mosquitto 2.0.11 also ends the session with each refusal: nothing is refused twice.
    stays(b, port)
    need(gateway.stderr().count('refuses a message') == 1, gateway.stderr())
    b.end_radio(radio, gateway)
    b.wait_empty(port)
    made = b.metric(port, 'documents_total')
    wait_until(lambda: check_order(heard.documents())[1] >= made, f'{made} documents')
    gateway.end()
