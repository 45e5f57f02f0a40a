"""What brokers refuse: messages, sessions and what a session may do; told, and nothing is lost that could be taken later."""
import json, random, threading, time

import pytest

from jelling.gateway import check_order, wait_until
from jelling.scripted_broker import ScriptedBroker


def settings(bench, radio, url, mqtt='', more='', version='5'):
    return bench.settings(radio, mqtt=f', version: "{version}"{mqtt}', more='publish: {interval: 0}\n' + more, url=url)


def begin(bench, broker, mqtt='', more='', radio=('--devices', '10', '--rate', '40'), version='5'):
    """(radio, gateway)"""
    radio = bench.radio(*radio)
    return radio, bench.start('--config', settings(bench, radio, f'mqtt://127.0.0.1:{broker.port}', mqtt, more, version), page=True)


def documents(broker):
    return [json.loads(p.payload) for p in list(broker.published) if '/devices/' in p.topic]


def finish(broker, radio, gateway):
    """Everything that was made has arrived, in order."""
    made = gateway.drain(radio)
    lost = gateway.metric('mqtt_refused_total') + gateway.metric('queue_dropped_total')
    assert lost == 0, f'{lost} messages were dropped'
    wait_documents(broker, made)
    gateway.ends_well()
    broker.close()
    assert not broker.malformed, broker.malformed
    return f'{made:.0f} documents'


def wait_documents(broker, count):
    wait_until(lambda: check_order(documents(broker))[1] >= count, f'{count} documents')


def test_refused_for_now(bench):
    """a broker whose quota is exceeded, or that refuses without a final reason: nothing is lost, the order is kept, told once"""
    told = []
    for reason, name in ((0x97, 'quota exceeded'), (0x80, 'unspecified error'), (0x83, 'implementation specific error')):
        for qos in (1, 2):
            broker, full = ScriptedBroker(), threading.Event()
            full.set()
            broker.publish = lambda s, p: reason if full.is_set() and '/devices/' in p.topic else 0
            radio, gateway = begin(bench, broker, f', qos: {qos}')
            wait_until(lambda: (gateway.metric('mqtt_postponed_total') or 0) >= 15, 'refusals')
            status, body = gateway.get('/health')
            assert name in body, body
            assert gateway.metric('mqtt_refused_topics') > 0, 'no topic counts as refused'
            full.clear()
            assert gateway.stderr().count('refuses a message for jelling/g/devices/') == 1 and name in gateway.stderr(), gateway.stderr()
            told.append(finish(broker, radio, gateway))
    print(', '.join(told))


def test_refused_at_random(bench):
    """a broker that refuses a third of all messages for the moment, at random: nothing is lost, each device is in order"""
    broker, generator = ScriptedBroker(), random.Random(23)
    broker.publish = lambda s, p: 0x97 if '/devices/' in p.topic and generator.random() < 0.3 else 0
    radio, gateway = begin(bench, broker, radio=('--devices', '20', '--rate', '30'))
    wait_until(lambda: len(documents(broker)) > 150, 'documents')
    broker.publish = lambda s, p: 0
    print(finish(broker, radio, gateway))


def test_refused_for_good(bench):
    """messages that are refused for good are dropped, counted and told once each; others arrive"""
    broker = ScriptedBroker()
    reasons = {'00:00:01': 0x87, '00:00:02': 0x90, '00:00:03': 0x99}
    broker.publish = lambda s, p: reasons.get(p.topic[-8:], 0x10)
    radio, gateway = begin(bench, broker)
    gateway.wait_metric('mqtt_refused_total', 30)
    wait_until(lambda: len(documents(broker)) > 100, 'documents of the others')
    gateway.drain(radio)
    for name in ('not authorized', 'topic name invalid', 'payload format invalid'):
        assert gateway.stderr().count(name) == 1, f'{name}: {gateway.stderr()}'
    # That no one has subscribed is a success.
    made, refused = gateway.metric('documents_total'), gateway.metric('mqtt_refused_total')
    devices, taken, repeats = check_order(documents(broker))
    assert devices == 7 and taken == made - refused and not repeats, f'{devices} devices, {taken} of {made}, {refused} refused'
    assert 'no matching' not in gateway.stderr(), gateway.stderr()
    gateway.end()
    broker.close()


@pytest.mark.slow
def test_refused_too_often(bench):
    """a message that is refused eight times without a final reason is dropped, and its topic goes on when the broker takes it"""
    broker, since = ScriptedBroker(), {}
    broker.publish = lambda s, p: 0x80 if p.topic.endswith('00:00:01') and len(since.setdefault(p.topic, [])) < 9 and \
        not since[p.topic].append(p.payload) else 0
    radio, gateway = begin(bench, broker, radio=('--devices', '3', '--rate', '3'))
    wait_until(lambda: (gateway.metric('mqtt_refused_total') or 0) == 2, 'two are dropped', 400)
    wait_until(lambda: any(d['address'].endswith('00:00:01') for d in documents(broker)), 'the third is taken')
    tries = next(iter(since.values()))
    assert len(set(tries)) == 2 and tries[:8] == [tries[0]] * 8, 'not eight tries of the first and one of the second'
    gateway.drain(radio)
    check_order([d for d in documents(broker)])
    gateway.end()
    broker.close()


def test_session_limits(bench):
    """a session with limits: quality of service, packet size, messages on the way and keep-alive are those of the broker, and told"""
    broker = ScriptedBroker()
    broker.connack = lambda s: (0, {'maximum_qos': 1, 'receive_maximum': 5, 'maximum_packet_size': 700, 'server_keep_alive': 7,
                                    'topic_alias_maximum': 3, 'wildcard_available': 0, 'subscription_identifiers_available': 0,
                                    'shared_available': 0})
    seen = []
    broker.publish = lambda s, p: (seen.append(p), time.sleep(0.005), 0)[2]
    radio, gateway = begin(bench, broker, ', qos: 2', 'homeAssistant: {}\n', radio=('--devices', '20', '--rate', '100'))
    wait_until(lambda: len(documents(broker)) > 200, 'documents')
    assert {p.qos for p in seen} == {1} and max(p.length for p in seen) <= 700, f'{ {p.qos for p in seen} } {max(p.length for p in seen)}'
    assert max(s.most_unanswered for s in broker.sessions) <= 5, f'{[s.most_unanswered for s in broker.sessions]} on the way'
    for text in ('quality of service 1 at most', 'packets of 700 octets', '5 messages without acknowledgement, not 100', '7 s, not 30 s'):
        assert gateway.stderr().count(text) == 1, f'{text}: {gateway.stderr()}'
    limits = gateway.health()['broker']['limits']
    assert len(limits) == 4, limits
    finish(broker, radio, gateway)


def test_packet_size(bench):
    """messages that are longer than the broker takes are dropped, counted and told; shorter ones arrive"""
    broker = ScriptedBroker()
    broker.connack = lambda s: (0, {'maximum_packet_size': 300})
    radio, gateway = begin(bench, broker, more='presence: {timeout: 600}\ndevices: [{address: "C1:38:00:00:00:01"}]\n')
    gateway.wait_metric('mqtt_refused_total', 20)
    assert gateway.stderr().count('the broker takes packets of 300 octets at most; it was dropped') == 1, gateway.stderr()
    assert gateway.metric('mqtt_connected') == 1 and len(broker.sessions) == 1, 'the session ended'
    assert max(p.length for p in broker.published) <= 300, 'a packet was too long'
    gateway.drain(radio)
    gateway.end()
    broker.close()


def test_quality_zero(bench):
    """a broker with quality of service 0 only refuses the last will first: the next session works, and is told"""
    broker = ScriptedBroker()
    broker.connack = lambda s: 0x9B if s.will.qos else (0, {'maximum_qos': 0})
    radio, gateway = begin(bench, broker)
    wait_until(lambda: len(documents(broker)) > 100, 'documents')
    assert {p.qos for p in broker.published} == {0}, 'another quality'
    assert 'quality of service 0 at most' in gateway.stderr() and 'QoS not supported' in gateway.stderr(), gateway.stderr()
    assert gateway.get('/health')[0] == 200, 'not healthy'
    broker.session.close()
    wait_until(lambda: len(broker.sessions) > 2 and gateway.metric('mqtt_connected') == 1, 'another session')
    print(finish(broker, radio, gateway))


def test_retains_nothing(bench):
    """a broker that retains nothing: neither will, status, presence nor announcements are retained, and it is told"""
    broker = ScriptedBroker()
    broker.connack = lambda s: 0x9A if s.will.retain else (0, {'retain_available': 0})
    radio, gateway = begin(bench, broker, more='homeAssistant: {}\npresence: {timeout: 600}\ndevices: [{address: "C1:38:00:00:00:01"}]\n')
    wait_until(lambda: len(documents(broker)) > 100, 'documents')
    assert not [p for p in broker.published if p.retain], 'retained messages'
    assert 'retains no messages' in gateway.stderr(), gateway.stderr()
    print(finish(broker, radio, gateway))


def once(action):
    """An answer for the first message of a device, and for the others a success."""
    done = threading.Event()

    def publish(session, message):
        if '/devices/' not in message.topic or done.is_set():
            return 0
        done.set()
        return action(session)
    return publish


def test_ended_with_reason(bench):
    """sessions that the broker ends with a reason: each is told with what helps, and every document arrives"""
    reasons = ((0x8E, 'session taken over; does another client'), (0x97, 'quota exceeded'), (0x89, 'server busy'), (0x98, 'administrative action'),
               (0x9C, 'use another server; name the other server'), (0x9D, 'server moved'), (0x96, 'message rate too high'),
               (0x8B, 'server shutting down'), (0x80, 'unspecified error'), (0x9A, 'retain not supported'), (0x9B, 'QoS not supported'),
               (0x93, 'receive maximum exceeded'))
    for reason, text in reasons:
        broker = ScriptedBroker()
        broker.publish = once(lambda s: s.disconnect(reason))
        radio, gateway = begin(bench, broker, ', qos: 2', radio=('--devices', '5', '--rate', '20'))
        wait_until(lambda: len(documents(broker)) > 20, f'documents after {reason:#x}')
        assert f'the broker ended the session: {text}' in gateway.stderr(), f'{reason:#x}: {gateway.stderr()}'
        last = [p for p in broker.published if '/devices/' in p.topic][-1]
        assert last.qos == (1 if reason == 0x9B else 2), f'{reason:#x}: {last}'
        if reason == 0x9A:
            assert not broker.session.will.retain, 'a retained will'
        finish(broker, radio, gateway)
    print(f'{len(reasons)} reasons')


def test_message_at_fault(bench):
    """a broker that ends the session for one message, and says so: that message is dropped, all others arrive"""
    for reason in (0x95, 0x87, 0x90, 0x99):
        broker = ScriptedBroker()
        broker.publish = lambda s, p: s.disconnect(reason) if p.topic.endswith('00:00:01') else 0
        radio, gateway = begin(bench, broker, radio=('--devices', '5', '--rate', '20'))
        gateway.wait_stderr('the message was dropped')
        wait_until(lambda: len(documents(broker)) > 60, f'documents after {reason:#x}')
        found = {d['address'] for d in documents(broker)}
        assert len(found) == 4, f'{reason:#x}: {found}'
        gateway.end()
        broker.close()


def stays(gateway, seconds=5):
    """Waits for a session that lasts."""
    sessions = []
    wait_until(lambda: (sessions.append(gateway.metric('mqtt_sessions_total')), time.sleep(1), sessions[-seconds:] == [sessions[-1]] * seconds)[2],
               'a session that stays')


def test_announcement_at_fault(bench):
    """a broker of MQTT 3.1.1 that ends each session at an announcement: that is found and left out, also from what is retained"""
    broker = ScriptedBroker()
    broker.publish = lambda s, p: s.close() if p.topic.startswith('homeassistant/') else 0
    radio, gateway = begin(bench, broker, more='homeAssistant: {}\npresence: {timeout: 600}\ndevices: [{address: "C1:38:00:00:00:01"}]\n',
                           radio=('--devices', '5', '--rate', '20'), version='3.1.1')
    gateway.wait_stderr('the message was dropped')
    stays(gateway)
    broker.session.close()
    wait_until(lambda: gateway.metric('mqtt_connected') == 1, 'another session')
    stays(gateway)
    assert broker.payloads('jelling/g/presence/C1:38:00:00:00:01')[-1] == 'home', 'no presence'
    made = gateway.drain(radio)
    wait_documents(broker, made)
    gateway.end()
    broker.close()


def test_session_refused(bench):
    """sessions that the broker refuses, with MQTT 3.1.1 and 5: the reason, what helps, and another attempt"""
    ways = [('3.1.1', code, text) for code, text in ((1, 'unacceptable protocol version; ‘mqtt.version’'), (2, 'identifier rejected; give'),
                                                   (3, 'server unavailable'), (4, 'bad user name or password; check'), (5, 'not authorized; check'))]
    ways += [('5', code, text) for code, text in ((0x84, 'unsupported protocol version; set'), (0x85, 'client identifier not valid; give'),
                                                (0x86, 'bad user name or password; check'), (0x87, 'not authorized; check'),
                                                (0x88, 'server unavailable'), (0x8A, 'banned'), (0x9D, 'server moved; name'), (0x9F, 'connection rate'))]
    broker = ScriptedBroker()
    radio = bench.radio('--devices', '2', '--rate', '5')
    for version, code, text in ways:
        broker.sessions.clear()
        broker.connack = lambda s: (code, {'server_reference': 'other:1883'} if code == 0x9D else {}) if len(broker.sessions) < 3 else 0
        gateway = bench.start('--config', settings(bench, radio, f'mqtt://127.0.0.1:{broker.port}', version=version))
        gateway.wait_stderr(f'the broker refused the session: {text}')
        gateway.wait_stderr('connected to the broker')
        assert code != 0x9D or 'other:1883' in gateway.stderr(), gateway.stderr()
        assert gateway.stderr().count('refused the session') == 1, gateway.stderr()
        gateway.end()
    broker.close()
    print(f'{len(ways)} codes')


def test_credentials(bench):
    """wrong credentials are not tried each second: the pause is the longest at once"""
    broker = ScriptedBroker()
    broker.connack = lambda s: 0x86
    radio = bench.radio('--devices', '2', '--rate', '5')
    text = f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "mqtt://127.0.0.1:{broker.port}", version: "5", longestBackoff: 3600}}\n'
    gateway = bench.configured(text)
    gateway.wait_stderr('the broker refused the session')
    time.sleep(10)
    assert len(broker.sessions) == 1, f'{len(broker.sessions)} sessions'
    gateway.end()
    broker.close()


def test_status_refused(bench):
    """a broker that does not let the gateway subscribe, and refuses its status for the moment: told, and the status comes later"""
    broker, tries = ScriptedBroker(), []
    broker.suback = lambda s, t, q: 0x87
    broker.publish = lambda s, p: 0x97 if p.topic.endswith('/status') and p.payload == b'online' and not tries.append(1) and len(tries) < 2 else 0
    radio, gateway = begin(bench, broker, more='homeAssistant: {}\n')
    gateway.wait_stderr('does not let the gateway subscribe')
    gateway.wait_stderr("refuses the gateway's status: quota exceeded")
    wait_until(lambda: 'online' in broker.payloads('jelling/g/status'), 'the status')
    print(finish(broker, radio, gateway))


def limited(bench, line, documents, begins):
    """Mosquitto with a limit: `begins` starts the gateway of this radio; then so many documents arrive, and all that follow."""
    # A listener's own options come after it.
    bench.start_broker(f'listener {bench.port} 127.0.0.1\n{line}\n' if line.startswith('max_qos') else line)
    heard = bench.subscribe('jelling/g/devices/#', options=('-q', '0') if line == 'max_qos 0' else ())
    radio = bench.radio('--devices', '5', '--rate', '20')
    gateway = begins(radio)
    heard.wait(lambda t, p, r: True, f'documents with {line}', documents)
    made = gateway.drain(radio)
    assert gateway.metric('mqtt_refused_total') == 0, f'{line}: messages were refused'
    heard.wait_documents(made)
    gateway.end()
    heard.end()
    bench.stop_broker()


def test_mosquitto_limits(bench):
    """Mosquitto with max_qos 1 and 0, without retained messages, with a largest packet and a longest keep-alive: told, documents arrive"""
    for line, text in (('max_qos 1', 'quality of service 1 at most'), ('max_qos 0', 'quality of service 0 at most'),
                       ('retain_available false', 'retains no messages'), ('max_packet_size 900', 'packets of 900 octets'),
                       ('max_keepalive 10', '10 s, not 30 s')):
        def begins(radio):
            gateway = bench.start('--config', settings(bench, radio, bench.url, ', qos: 2'), page=True)
            gateway.wait_stderr(text)
            return gateway
        limited(bench, line, 50, begins)


def test_mosquitto_without_reasons(bench):
    """Mosquitto with limits and MQTT 3.1.1, which cannot tell them: what helps is told; with version 5 what waited arrives"""
    for line, text in (('max_qos 1', 'with ‘mqtt.version’ "5" it can tell why'), ('max_qos 0', 'needs ‘mqtt.version’ "5"'),
                       ('retain_available false', 'needs ‘mqtt.version’ "5"')):
        def begins(radio):
            gateway = bench.start('--config', settings(bench, radio, bench.url, ', qos: 2', version='3.1.1'), page=True)
            gateway.wait_stderr(text)
            settings(bench, radio, bench.url, ', qos: 2')
            gateway.wait_stderr('loaded again')
            return gateway
        limited(bench, line, 30, begins)


def test_access_rules(bench):
    """Mosquitto with rules for topics: what this user may not publish is refused, told and counted; with MQTT 5 only it says so"""
    bench.write('rules', 'topic readwrite jelling/g/status\npattern read jelling/#\ntopic read jelling/#\ntopic write jelling/g/devices/+\n')
    bench.start_broker(f'acl_file {bench.path("rules")}')
    heard = bench.subscribe('jelling/#')
    radio = bench.radio('--devices', '5', '--rate', '20')
    gateway = bench.start('--config', settings(bench, radio, bench.url, more='homeAssistant: {}\npresence: {timeout: 1}\ndevices: [{address: "C1:38:00:00:00:01"}]\n'), page=True)
    heard.wait(lambda t, p, r: '/devices/' in t, 'documents', 50)
    wait_until(lambda: (gateway.metric('mqtt_refused_total') or 0) >= 1, 'a refusal')
    gateway.wait_stderr('not authorized; check what the broker lets this user publish')
    # Mosquitto 2.0.11 also ends the session with each refusal: nothing is refused twice.
    stays(gateway)
    assert gateway.stderr().count('refuses a message') == 1, gateway.stderr()
    made = gateway.drain(radio)
    heard.wait_documents(made)
    gateway.end()
