"""What is retained at the broker: it is true, also after restarts, reloads and the loss of everything; nothing old stays."""
import glob, json, os, signal, subprocess, time

from bench import Failure, free_port, wait_until
from gateway_cases import case, need
from scripted_broker import ScriptedBroker

# Addresses and advertising data for radio.py: BTHome v2, 25 °C and 50.55 %.
SENSORS = [[f'A4:C1:38:00:00:{n:02X}', '0201060a16d2fc4002c40903bf13'] for n in range(1, 10)]
PHONE = SENSORS[0][0]


def radio(b, numbers=(1,), name='radio'):
    file = b.write(f'{name}.json', json.dumps([SENSORS[n - 1] for n in numbers]))
    return b.radio('--rate', '20', '--packets', file, name=name)


def settings(b, adapter, more='', url=None):
    return b.write('gateway.yaml', f'name: g\nadapters: ["{adapter}"]\nmqtt: {{url: "{url or b.url}", longestBackoff: 1}}\n'
                                   f'publish: {{refresh: 1, retain: true}}\n{more}')


def retained(b):
    """{topic: payload} as a new subscriber finds it."""
    found = subprocess.run(['mosquitto_sub', '-h', '127.0.0.1', '-p', str(b.port), '-t', '#', '--retained-only', '-W', '2', '-F', '%t %p'],
                           capture_output=True, text=True)
    return dict(line.split(' ', 1) for line in found.stdout.splitlines() if ' ' in line)


def topics(b):
    return {t for t in retained(b) if not t.endswith('/status')}


def wait_topics(b, wanted, what):
    found = set()
    try:
        wait_until(lambda: (found.clear(), found.update(topics(b)), found == set(wanted))[2], what)
    except Failure as e:
        raise Failure(f'{e}: want {sorted(wanted)}, found {sorted(found)}') from None


PRESENCE = f'jelling/g/presence/{PHONE}'
DEVICES = f'devices: [{{address: "{PHONE}", name: phone}}]\n'


@case('a device that was home when the gateway was killed, and is not heard any more, is not_home after the next start')
def presence_restart(b):
    b.start_broker()
    source = radio(b)
    file = settings(b, source.socket, DEVICES + 'presence: {timeout: 5}\n')
    gateway = b.start('--config', file)
    wait_until(lambda: retained(b).get(PRESENCE) == 'home', 'home')
    time.sleep(2)
    gateway.end(signal.SIGKILL)
    source.end()
    gateway = b.start('--config', file)
    need(retained(b).get(PRESENCE) == 'home', 'not home before the time-out')
    wait_until(lambda: retained(b).get(PRESENCE) == 'not_home', 'not_home')
    gateway.end()


@case('devices and identities of the settings that were never heard are not_home; those that a reload removes lose their presence')
def presence_of_settings(b):
    b.start_broker()
    source = radio(b, (2,))
    identities = 'identities: [{name: watch, irk: ec0234a357c8ad05341010a60a397d9b}, {name: keys, irk: fc0234a357c8ad05341010a60a397d9b, address: "C0:00:00:00:00:01"}]\n'
    gateway = b.start('--config', settings(b, source.socket, DEVICES + identities + 'presence: {timeout: 2}\npublish: {retain: false}\n'.replace('publish: {retain: false}\n', '')))
    wanted = {PRESENCE: 'not_home', 'jelling/g/presence/watch': 'not_home', 'jelling/g/presence/C0:00:00:00:00:01': 'not_home'}
    wait_until(lambda: {t: p for t, p in retained(b).items() if '/presence/' in t} == wanted, f'{wanted}')
    heard = b.subscribe('jelling/g/presence/#')
    settings(b, source.socket, identities.replace('watch', 'band') + 'presence: {timeout: 2}\n')
    wanted = {'jelling/g/presence/band': 'not_home', 'jelling/g/presence/C0:00:00:00:00:01': 'not_home'}
    wait_until(lambda: {t: p for t, p in retained(b).items() if '/presence/' in t} == wanted, f'{wanted}, found {retained(b)}')
    removed = [t for t, p, _ in heard.messages if not p]
    need(sorted(removed) == sorted([PRESENCE, 'jelling/g/presence/watch']), f'removed: {removed}')
    settings(b, source.socket, identities)
    wait_until(lambda: not any('/presence/' in t for t in retained(b)), 'no presence')
    gateway.end()


@case('a broker that comes back without its retained messages gets them all again, from memory too')
def broker_forgets(b):
    for queue in ('{}', '{memory: true}'):
        b.start_broker()
        source = radio(b, (1, 2))
        gateway = b.start('--config', settings(b, source.socket, DEVICES + f'presence: {{timeout: 600}}\nhomeAssistant: {{}}\nqueue: {queue}\n'))
        wait_until(lambda: len(topics(b)) == 8, 'everything')
        before = topics(b)
        source.end()
        b.wait_stderr(gateway, f'{source.socket}: ')
        b.stop_broker(signal.SIGKILL)
        for name in glob.glob(b.path('mosquitto.db*')):
            os.unlink(name)
        b.resume_broker()
        wait_topics(b, before, 'everything again')
        need(retained(b)['jelling/g/status'] == 'online', 'not online')
        gateway.end()
        b.stop_broker()
        for name in glob.glob(b.path('mosquitto.db*')):
            os.unlink(name)


@case('another prefix, other templates, no presence, no retained documents, by reload and while the gateway is not running: the old is removed, once')
def old_topics(b):
    b.start_broker()
    source = radio(b)
    heard = b.subscribe('#')
    base = DEVICES + 'presence: {timeout: 600}\nhomeAssistant: {prefix: PREFIX}\ntopics: {device: "TOP/{id}", presence: "TOP/p/{address}", status: "TOP/status"}\n'
    node = f'jelling_g_{PHONE.replace(":", "").lower()}'

    def wanted(prefix, top):
        entities = [f'{prefix}/{c}/{node}/{v}/config' for c, v in (('sensor', 'temperature'), ('sensor', 'humidity'), ('device_tracker', 'presence'))]
        return {*entities, f'{top}/{node[10:]}', f'{top}/p/{PHONE}'}
    gateway = b.start('--config', settings(b, source.socket, base.replace('PREFIX', 'one').replace('TOP', 'a')))
    wait_topics(b, wanted('one', 'a'), 'the first')
    settings(b, source.socket, base.replace('PREFIX', 'two').replace('TOP', 'b'))
    b.wait_stderr(gateway, 'loaded again')
    wait_topics(b, wanted('two', 'b'), 'after a reload')
    wait_until(lambda: 'a/status' not in retained(b), 'the old status is removed')
    gateway.end()
    gateway = b.start('--config', settings(b, source.socket, base.replace('PREFIX', 'three').replace('TOP', 'c')))
    wait_topics(b, wanted('three', 'c'), 'after a restart')
    wait_until(lambda: set(t for t in retained(b) if t.endswith('status')) == {'c/status'}, 'only one status')
    gateway.end()
    for _ in range(2):
        file = settings(b, source.socket)
        open(file, 'a', encoding='utf-8').write('')
        b.write('gateway.yaml', open(file, encoding='utf-8').read().replace('retain: true', 'retain: false'))
        gateway = b.start('--config', file)
        wait_topics(b, (), 'nothing')
        b.wait_stderr(gateway, 'connected to the broker')
        time.sleep(2)
        gateway.end()
    removed = [t for t, p, _ in heard.messages if not p]
    need(len(removed) == len(set(removed)) == 18, f'{len(removed)} removals of {len(set(removed))} topics: {sorted(removed)}')


@case('a removal that the broker did not acknowledge is made again with the next start, and after its acknowledgement never')
def removal(b):
    broker = ScriptedBroker()
    url, source = f'mqtt://127.0.0.1:{broker.port}', radio(b)
    gateway = b.start('--config', settings(b, source.socket, 'homeAssistant: {}\n', url))
    wait_until(lambda: len([t for t in broker.retained if t.startswith('homeassistant/')]) == 2, 'announcements')
    time.sleep(2)
    gateway.end()
    removals = []
    broker.publish = lambda s, p: None if not p.payload and not removals.append(p.topic) else 0
    gateway = b.start('--config', settings(b, source.socket, '', url))
    wait_until(lambda: len(removals) == 2, 'removals')
    gateway.end(signal.SIGKILL)
    need(len([t for t in broker.retained if t.startswith('homeassistant/')]) == 2, 'removed without an acknowledgement')
    broker.publish = lambda s, p: 0
    for _ in range(2):
        before = len(broker.sessions)
        gateway = b.start('--config', settings(b, source.socket, '', url))
        wait_until(lambda: not [t for t in broker.retained if t.startswith('homeassistant/')], 'they are removed')
        wait_until(lambda: len(broker.sessions) > before, 'a session')
        time.sleep(3)
        gateway.end()
    empty = [p.topic for p in broker.published if not p.payload]
    need(len(empty) == 2, f'{empty}')
    broker.close()


@case('the limit of announced devices counts over starts; a device of the settings is announced beyond it')
def announced_limit(b):
    b.start_broker()
    more = f'homeAssistant: {{devices: 3}}\ndevices: [{{address: "{SENSORS[8][0]}"}}]\n'

    def announced():
        return {t.split('/')[2][-2:] for t in retained(b) if t.startswith('homeassistant/')}
    for numbers, wanted in (((1, 2, 3), {'01', '02', '03'}), ((4, 5, 6), {'01', '02', '03'}), ((7, 9), {'01', '02', '03', '09'})):
        source = radio(b, numbers, f'radio{numbers[0]}')
        gateway = b.start('--config', settings(b, source.socket, more))
        last = f'/devices/{SENSORS[numbers[-1] - 1][0]}'
        wait_until(lambda: any(last in t for t in retained(b)), 'documents')
        time.sleep(3)
        wait_until(lambda: announced() == wanted, f'{wanted}, found {announced()}')
        gateway.end()
        source.end()


@case('a state folder that cannot be written, or a table that is no database: told, and what is retained is stated all the same')
def table_lost(b):
    b.start_broker()
    source = radio(b)
    os.makedirs(b.path('state'), exist_ok=True)
    b.write('state/gateway-g.retained.sqlite', 'this is no database, and long enough to be looked at as one' * 20)
    gateway = b.start('--config', settings(b, source.socket, DEVICES + 'presence: {timeout: 600}\nhomeAssistant: {}\n'))
    wait_until(lambda: len(topics(b)) == 5, 'everything')
    time.sleep(2)
    gateway.end()
    port = free_port()
    os.unlink(b.path('state/gateway-g.retained.sqlite'))
    os.mkdir(b.path('state/gateway-g.retained.sqlite'))
    gateway = b.start('--config', settings(b, source.socket, DEVICES + 'presence: {timeout: 600}\nhomeAssistant: {prefix: other}\n'),
                      '--http', f'127.0.0.1:{port}')
    b.wait_stderr(gateway, 'what the broker retains is known in memory only')
    wait_until(lambda: len([t for t in topics(b) if t.startswith('other/')]) == 3, 'announcements')
    wait_until(lambda: (b.metric(port, 'retained_topics') or 0) == 6, 'they are counted')
    gateway.end()
