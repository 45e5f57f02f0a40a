"""Requests for GATT over MQTT and HTTP, with the simulator's devices: answers, values, turns, ends, mistakes."""
import json, random, subprocess, time

from jelling.child import free_port
from jelling.gateway import wait_until
from jelling.measures import kilobytes
from jelling.web import Events, Lines, ask, broken, request

HEART = {'address': 'C0:DE:00:00:00:01', 'addressType': 'random'}


class Desk:
    """A gateway that takes requests, and a subscriber of its answers."""

    def __init__(self, bench, gatt='', mqtt='', more=''):
        self.bench = bench
        bench.write('token', 'secret\n')
        bench.start_broker()
        self.heard = bench.subscribe('jelling/g/gatt/response/#', 'jelling/g/gatt/notify/#')
        port = free_port()
        self.gateway = bench.configured(
            f'name: g\nadapters: [sim]\nmqtt: {{url: "{bench.url}"{mqtt}}}\nhttp: {{listen: "127.0.0.1:{port}"}}\n'
            f'gatt: {{tokenFile: "{bench.path("token")}"{gatt}}}\n{more}')
        wait_until(self.gateway.is_healthy, 'the gateway works')

    def publish(self, request, *options):
        text = request if isinstance(request, str) else json.dumps(request)
        subprocess.run(['mosquitto_pub', '-h', '127.0.0.1', '-p', str(self.bench.port), '-q', '1', '-t', 'jelling/g/gatt/request', '-m', text,
                        *options], check=True, capture_output=True, timeout=60)

    def answers(self, id):
        return [json.loads(p) for t, p, _ in self.heard.messages if t == f'jelling/g/gatt/response/{id}']

    def values(self, id):
        return [json.loads(p) for t, p, _ in self.heard.messages if t == f'jelling/g/gatt/notify/{id}']

    def wait_done(self, id):
        wait_until(lambda: any(a.get('done') for a in self.answers(id)), lambda: f'{id} is done: {self.answers(id)}')
        return self.answers(id)

    def ask(self, id, *steps, **more):
        self.publish({'id': id, **HEART, 'steps': list(steps), **more})
        return self.wait_done(id)

    def post(self, *steps, fields=('Authorization: Bearer secret', 'Content-Type: application/json'), **more):
        body = json.dumps({**HEART, 'steps': list(steps), **more}).encode()
        return Lines(self.gateway.port, request('POST', '/api/gatt', *fields, body=body))

    def sessions(self):
        return json.loads(self.gateway.get('/api/sessions')[1])


def check(answers, id, count, is_ok=True):
    """Each step in order, and one end."""
    assert [a.get('done', False) for a in answers] == [False] * (len(answers) - 1) + [True], answers
    assert answers[-1]['ok'] == is_ok and all(a['id'] == id for a in answers), answers
    assert [a['step'] for a in answers[:-1]] == list(range(count)), answers


def test_gatt_broker(bench):
    """reads, writes, notifications and services by MQTT, as objects and as lines of a script; one final answer each"""
    desk = Desk(bench)
    answers = desk.ask('r-1', 'connect', {'read': '2A19'}, 'read "Body Sensor Location"', {'write': '2A39', 'value': '01'},
                       {'read': '0x0014', 'form': 'uint8'}, {'discover': '180F'}, 'disconnect')
    check(answers, 'r-1', 7)
    events = [(a['event'], a['ok']) for a in answers[:-1]]
    assert events == [(e, True) for e in ('connected', 'value', 'value', 'written', 'value', 'database', 'disconnected')]
    level, where, database = answers[1], answers[2], answers[5]
    assert (level['uuid'], level['value'], level['text']) == ('2A19', '57', '87 %') and level['values'][0]['value'] == 87
    assert where['text'] == 'Chest' and answers[4]['text'] == '87' and answers[0]['mtu'] == 517
    assert [c['uuid'] for s in database['services'] for c in s['characteristics']] == ['2A19']
    # What bletool says of the same.
    answers = desk.ask('r-2', {'subscribe': '2A37'}, {'wait': {'count': 3, 'duration': 60}}, {'read': '2A19'})
    check(answers, 'r-2', 3)
    assert answers[0]['event'] == 'subscribed' and (answers[1]['event'], answers[1]['count']) == ('waited', 3)
    values = desk.values('r-2')
    assert len(values) >= 3 and all(v['event'] == 'notified' and v['uuid'] == '2A37' and 'bpm' in v['text'] for v in values)
    check(desk.ask('r-3', {'write': '6A656C6C-696E-6700-8000-000000000002', 'value': 'cafe'},
                   {'read': '6A656C6C-696E-6700-8000-000000000002'}), 'r-3', 2)
    assert desk.answers('r-3')[1]['value'] == 'cafe'
    failed = desk.ask('r-4', {'read': '2A19'}, {'read': '2A00'}, {'read': '2A6E'}, {'read': '2A19'})
    check(failed, 'r-4', 3, is_ok=False)
    assert failed[2]['error']['name'] == 'attributeNotFound' and '2A6E' in failed[2]['error']['text']
    refused = desk.ask('r-5', {'read': '2A39'})
    assert refused[0]['error'] == {'name': 'attError', 'code': 2, 'text': refused[0]['error']['text']}, refused
    away = desk.publish({'id': 'r-6', 'address': 'C0:DE:00:00:00:99', 'steps': ['connect'], 'timeout': 3})
    away = desk.wait_done('r-6')
    check(away, 'r-6', 1, is_ok=False)
    wait_until(lambda: desk.sessions()['free'] == 8 and not desk.sessions()['sessions'], 'all links have ended')
    desk.gateway.ends_soon('requests')


def test_gatt_http(bench):
    """the same over HTTP, with a token; values come as lines while they are waited for, and later as events"""
    desk = Desk(bench)
    events = Events(desk.gateway.port, '?event=gatt', 'Authorization: Bearer secret')
    others = Events(desk.gateway.port)
    for wrong in ((), ('Authorization: Bearer secreT',)):
        assert ask(desk.gateway.port, request('GET', '/events?event=gatt', *wrong))[0] == 401
    answer = desk.post('connect', {'subscribe': '2A37'}, {'wait': {'count': 2, 'duration': 60}}, {'read': '2A19'}, id='h-1', keep=60)
    lines = answer.wait_end()
    assert answer.status == 200 and b'application/x-ndjson' in answer.octets
    assert [l.get('event') for l in lines] == ['connected', 'subscribed', 'notified', 'notified', 'waited', 'value', None], lines
    assert lines[-1] == {'id': 'h-1', 'ok': True, 'done': True}
    assert [s['state'] for s in desk.sessions()['sessions']] == ['kept']
    events.wait(lambda i, e, d: d.get('event') == 'notified' and d['id'] == 'h-1' and d.get('address') == HEART['address'], 'values as events', 2)
    again = desk.post({'read': '2A19'}, 'disconnect', id='h-2').wait_end()
    assert [l.get('event') for l in again] == ['value', 'disconnected', None], again
    repeated = ask(desk.gateway.port, request('POST', '/api/gatt', 'Authorization: Bearer secret', 'Content-Type: application/json',
                                              body=json.dumps({**HEART, 'id': 'h-2', 'steps': ['connect']}).encode()))
    assert repeated[0] == 409 and json.loads(repeated[1])['done'] is True
    assert desk.post('connect', fields=('Content-Type: application/json',)).status == 401
    wait_until(lambda: desk.sessions()['free'] == 8, 'the link has ended')
    others.wait(lambda i, e, d: e == 'adapter', 'other events go on', 1)
    assert b'h-1' not in others.octets and b'event: gatt' not in others.octets, 'answers without the token'
    desk.gateway.ends_soon('requests')


def test_gatt_places(bench):
    """readers of events without the token take all their places, and those with it still have theirs"""
    desk = Desk(bench)
    crowd = [Events(desk.gateway.port) for _ in range(20)]
    assert [s.status for s in crowd] == [200] * 16 + [429] * 4
    check(desk.post({'read': '2A19'}, id='p-1').wait_end(), 'p-1', 1)
    reader = Events(desk.gateway.port, '?event=gatt', 'Authorization: Bearer secret')
    check(desk.post({'read': '2A19'}, id='p-2').wait_end(), 'p-2', 1)
    reader.wait(lambda i, e, d: d['id'] == 'p-2' and d.get('done'), 'the answers as events')
    wait_until(lambda: crowd[0].has_ended, 'the oldest one has made room')
    assert not crowd[15].has_ended and desk.gateway.is_healthy()
    for s in (*crowd, reader):
        s.close()
    desk.gateway.ends_soon('readers')


def test_gatt_names(bench):
    """one who asks by MQTT under a hundred names has a share of the places, and HTTP has its turn at once"""
    desk = Desk(bench)
    lines = [json.dumps({'id': f'n-{n}', 'requester': f'n-{n}', 'address': f'C0:DE:00:00:01:{n:02X}', 'addressType': 'random',
                         'steps': ['connect'], 'timeout': 300}) for n in range(100)]
    subprocess.run(['mosquitto_pub', '-h', '127.0.0.1', '-p', str(bench.port), '-q', '1', '-t', 'jelling/g/gatt/request', '-l'],
                   input='\n'.join(lines).encode(), check=True, timeout=60)
    desk.gateway.wait_metric('gatt_refused_total', 20)
    assert desk.sessions()['waiting'] <= 64
    check(desk.post({'read': '2A19'}, id='n-0', requester='n-0', timeout=120).wait_end(), 'n-0', 1)
    assert desk.sessions()['waiting'] > 50, 'the others still wait'
    desk.gateway.ends_soon('names')


MISTAKES = [
    ({'steps': ['connect'], 'id': 'm'}, '‘address’ needs'), ({'id': 'm', **HEART}, '‘steps’ needs 1 to 256'),
    ({'id': 'm', **HEART, 'steps': []}, '‘steps’ needs'), ({'id': 'm', **HEART, 'steps': ['fly']}, 'step 0: ‘fly’ is not one of'),
    ({'id': 'm', **HEART, 'steps': ['connect', {'read': 5}]}, 'step 1: ‘read’ needs'), ({'id': 'm', **HEART, 'steps': [[]]}, 'step 0: expected'),
    ({'id': 'm', **HEART, 'steps': [{'write': '2A39'}]}, 'needs ‘value’'), ({'id': 'm', **HEART, 'steps': [{'write': '2A39', 'value': 'x'}]}, 'hexadecimal'),
    ({'id': 'm', **HEART, 'steps': [{'read': '2A19', 'value': '00'}]}, '‘value’ does not belong to ‘read’'),
    ({'id': 'm', **HEART, 'steps': ['connect'], 'timeout': 1e9}, '‘timeout’ has'), ({'id': 'm', **HEART, 'steps': ['connect'], 'keep': -1}, '‘keep’ has'),
    ({'id': 'm', **HEART, 'steps': ['connect'], 'more': 1}, '‘more’ is not a known key'), ({'id': 'm', **HEART, 'addressType': 5, 'steps': ['connect']}, '‘addressType’'),
    ({'id': 'm', **HEART, 'steps': ['subscribe 2A37 --count 1']}, 'more than one step'),
    ({'id': 'm', **HEART, 'steps': [{'wait': {'count': 1e300}}]}, 'numbers'), ({'id': 'm', **HEART, 'steps': ['read 2A19'] * 257}, '1 to 256'),
]


def test_gatt_mistakes(bench):
    """what is no request is answered once with what is wrong, by MQTT and HTTP; what names no topic is only counted"""
    desk = Desk(bench)
    for number, (wrong, wanted) in enumerate(MISTAKES):
        id = f'm-{number}'
        desk.publish({**wrong, 'id': id})
        answers = desk.wait_done(id)
        assert len(answers) == 1 and wanted in answers[0]['error']['text'] and answers[0]['ok'] is False, answers
        status, body = ask(desk.gateway.port, request('POST', '/api/gatt', 'Authorization: Bearer secret', 'Content-Type: application/json',
                                                      body=json.dumps({**wrong, 'id': id}).encode()))
        assert status == 400 and wanted in json.loads(body)['error']['text'], (wrong, body)
    before = desk.gateway.metric('gatt_malformed_total')
    for nameless in ('', '[]', '{', '{"id": "a/b"}', '{"id": "#"}', json.dumps({'id': 'x' * 65}), '{"steps": []}'):
        desk.publish(nameless)
    desk.gateway.wait_metric('gatt_malformed_total', before + 5)
    assert not [t for t, _, _ in desk.heard.messages if not t.split('/')[-1].startswith('m-')]
    desk.gateway.ends_soon('mistakes')


def test_gatt_once(bench):
    """a request that comes again is carried out once, and one that the broker has retained not at all"""
    desk = Desk(bench)
    one = {'id': 'o-1', **HEART, 'steps': [{'read': '2A19'}, {'wait': 1}]}
    for _ in range(5):
        desk.publish(one)
    desk.wait_done('o-1')
    desk.gateway.wait_metric('gatt_repeated_total', 3)
    check(desk.ask('o-2', {'read': '2A19'}), 'o-2', 1)
    check(desk.answers('o-1'), 'o-1', 2)
    desk.publish({'id': 'o-3', **HEART, 'steps': ['connect']}, '-r')
    desk.wait_done('o-3')       # it was there when this came
    desk.bench.stop_broker()
    desk.bench.resume_broker()
    fresh = desk.bench.subscribe('jelling/g/gatt/#')
    wait_until(desk.gateway.is_healthy, 'the session is back')
    desk.publish({'id': 'o-4', **HEART, 'steps': ['connect']})
    fresh.wait(lambda t, p, r: t.endswith('response/o-4') and '"done"' in p, 'an answer')
    assert not [t for t, _, _ in fresh.messages if t.endswith('response/o-3')], 'a retained request was carried out'
    desk.gateway.ends_soon('once')


def test_gatt_gone(bench):
    """the session of one who goes ends: over HTTP with the connection, by MQTT 5 when nobody subscribes, and at its time"""
    desk = Desk(bench, mqtt=', version: "5"')
    waiting = desk.post('connect', {'subscribe': '2A37'}, {'wait': 200}, id='g-1', timeout=300)
    wait_until(lambda: len(waiting.lines) > 3, 'values come')
    assert len(desk.sessions()['sessions']) == 1
    waiting.close()
    wait_until(lambda: not desk.sessions()['sessions'] and desk.sessions()['free'] == 8, 'the link has ended with the connection')
    # One who never reads is gone, too.
    desk.ask('g-2', {'read': '2A19'}, keep=300)
    assert [s['state'] for s in desk.sessions()['sessions']] == ['kept']
    desk.heard.end()
    desk.publish({'id': 'g-3', **HEART, 'steps': [{'read': '2A19'}, {'wait': 200}], 'timeout': 300, 'keep': 300})
    wait_until(lambda: not desk.sessions()['sessions'], 'nobody subscribes')
    desk.heard = bench.subscribe('jelling/g/gatt/response/#', 'jelling/g/gatt/notify/#')
    started = time.monotonic()
    late = desk.ask('g-4', {'subscribe': '2A37'}, {'wait': {'count': 100_000}}, timeout=3)
    check(late, 'g-4', 2, is_ok=False)
    assert late[1]['error']['name'] == 'timeout' and time.monotonic() - started >= 2.9
    kept = desk.ask('g-5', {'subscribe': '2A37'}, keep=3)
    check(kept, 'g-5', 1)
    wait_until(lambda: any(v.get('event') == 'disconnected' and v['done'] for v in desk.values('g-5')), 'it is kept no longer')
    assert any(v['event'] == 'notified' for v in desk.values('g-5'))
    wait_until(lambda: desk.sessions()['free'] == 8, 'all links have ended')
    desk.gateway.ends_soon('gone')


def test_gatt_turns(bench):
    """with one place for a link, each requester has its turn, and a link that is only kept makes room"""
    desk = Desk(bench, gatt=', sessions: 1')
    for number in range(5):
        desk.publish({'id': f'many-{number}', 'requester': 'many', **HEART, 'steps': ['connect', {'wait': 1}, 'disconnect'], 'timeout': 120})
    desk.publish({'id': 'few', 'requester': 'few', **HEART, 'steps': [{'read': '2A19'}, 'disconnect'], 'timeout': 120})
    for id in ('few', *(f'many-{n}' for n in range(5))):
        assert desk.wait_done(id)[-1]['ok'], desk.answers(id)
    done = [t.split('/')[-1] for t, p, _ in desk.heard.messages if '"done":true' in p]
    assert done.index('few') <= 2, done
    desk.ask('kept', {'read': '2A19'}, requester='many', keep=300)
    check(desk.ask('other', {'read': '2A19'}, requester='other', timeout=60), 'other', 1)
    assert any(v['event'] == 'disconnected' for v in desk.values('kept')), desk.values('kept')
    flood = [{'id': f'f-{n}', 'requester': 'flood', **HEART, 'steps': [{'wait': 5}], 'timeout': 300} for n in range(30)]
    for one in flood:
        desk.publish(one)
    desk.gateway.wait_metric('gatt_refused_total', 5)
    busy = [desk.answers(f'f-{n}')[0] for n in range(30) if desk.answers(f'f-{n}') and 'error' in desk.answers(f'f-{n}')[0]]
    assert busy and all(b['error']['name'] == 'busy' and b['done'] for b in busy), busy
    desk.gateway.ends_soon('turns')


def test_gatt_malformed(bench):
    """100,000 broken requests by MQTT: each is answered or counted, and the next one that is right is carried out"""
    desk = Desk(bench)
    generator = random.Random(3)
    whole = json.dumps({'id': 'z', 'address': '00:00:00:00:00:01', 'steps': [{'read': '2A19'}, 'write 2A39 01', {'wait': 3}], 'keep': 1, 'timeout': 1})
    before = kilobytes(desk.gateway.process)
    publisher = subprocess.Popen(['mosquitto_pub', '-h', '127.0.0.1', '-p', str(bench.port), '-q', '0', '-t', 'jelling/g/gatt/request', '-l'],
                                 stdin=subprocess.PIPE)
    sent = 0
    while sent < 100_000:
        line = broken(generator, whole.encode()).replace(b'\n', b' ').replace(b'\0', b' ')
        if line.strip():
            publisher.stdin.write(line + b'\n')
            sent += 1
    publisher.stdin.close()
    publisher.wait(300)
    counters = ('requests', 'malformed')
    wait_until(lambda: sum(desk.gateway.metric(f'gatt_{c}_total') for c in counters) > 50_000, 'broken requests arrive')
    check(desk.ask('right', {'read': '2A19'}), 'right', 1)
    found = [desk.gateway.metric(f'gatt_{c}_total') for c in (*counters, 'repeated', 'refused')]
    grown = kilobytes(desk.gateway.process) - before
    assert grown < 100_000, f'{grown} kB more'
    desk.gateway.ends_soon('broken requests')
    print(f'{sent} sent, {dict(zip((*counters, "repeated", "refused"), found))}; {grown} kB more')
