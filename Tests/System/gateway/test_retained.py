"""What is retained at the broker: it is true, also after restarts, reloads and the loss of everything; nothing old stays."""
import glob, os, signal, subprocess, time

from jelling.child import Failure
from jelling.gateway import wait_until
from jelling.scripted_broker import ScriptedBroker

# Addresses and advertising data for radio.py: BTHome v2, 25 °C and 50.55 %.
SENSORS = [[f'A4:C1:38:00:00:{n:02X}', '0201060a16d2fc4002c40903bf13'] for n in range(1, 10)]
PHONE = SENSORS[0][0]


def radio(bench, numbers=(1,), name='radio'):
    return bench.packets(*(SENSORS[n - 1] for n in numbers), rate=20, name=name)


def settings(bench, adapter, more='', url=None, retains='true'):
    return bench.settings(adapter, more=f'publish: {{refresh: 1, retain: {retains}}}\n{more}', url=url)


def retained(bench):
    """{topic: payload} as a new subscriber finds it."""
    found = subprocess.run(['mosquitto_sub', '-h', '127.0.0.1', '-p', str(bench.port), '-t', '#', '--retained-only', '-W', '2', '-F', '%t %p'],
                           capture_output=True, text=True)
    return dict(line.split(' ', 1) for line in found.stdout.splitlines() if ' ' in line)


def topics(bench):
    return {t for t in retained(bench) if not t.endswith('/status')}


def wait_topics(bench, wanted, what):
    found = set()
    try:
        wait_until(lambda: (found.clear(), found.update(topics(bench)), found == set(wanted))[2], what)
    except Failure as e:
        raise Failure(f'{e}: want {sorted(wanted)}, found {sorted(found)}') from None


PRESENCE = f'jelling/g/presence/{PHONE}'
DEVICES = f'devices: [{{address: "{PHONE}", name: phone}}]\n'


def test_presence_restart(bench):
    """a device that was home when the gateway was killed, and is not heard any more, is not_home after the next start"""
    bench.start_broker()
    source = radio(bench)
    file = settings(bench, source, DEVICES + 'presence: {timeout: 5}\n')
    gateway = bench.start('--config', file)
    wait_until(lambda: retained(bench).get(PRESENCE) == 'home', 'home')
    time.sleep(2)
    gateway.end(signal.SIGKILL)
    source.end()
    gateway = bench.start('--config', file)
    assert retained(bench).get(PRESENCE) == 'home', 'not home before the time-out'
    wait_until(lambda: retained(bench).get(PRESENCE) == 'not_home', 'not_home')
    gateway.end()


def test_presence_of_settings(bench):
    """devices and identities of the settings that were never heard are not_home; those that a reload removes lose their presence"""
    bench.start_broker()
    source = radio(bench, (2,))
    identities = 'identities: [{name: watch, irk: ec0234a357c8ad05341010a60a397d9b}, {name: keys, irk: fc0234a357c8ad05341010a60a397d9b, address: "C0:00:00:00:00:01"}]\n'
    gateway = bench.start('--config', settings(bench, source, DEVICES + identities + 'presence: {timeout: 2}\n'))
    absent = lambda *names: {f'jelling/g/presence/{name}': 'not_home' for name in names}
    presence = lambda: {t: p for t, p in retained(bench).items() if '/presence/' in t}
    wait_until(lambda: presence() == absent(PHONE, 'watch', 'C0:00:00:00:00:01'), 'not home')
    heard = bench.subscribe('jelling/g/presence/#')
    settings(bench, source, identities.replace('watch', 'band') + 'presence: {timeout: 2}\n')
    wait_until(lambda: presence() == absent('band', 'C0:00:00:00:00:01'), 'the new names')
    removed = [t for t, p, _ in heard.messages if not p]
    assert sorted(removed) == sorted([PRESENCE, 'jelling/g/presence/watch']), f'removed: {removed}'
    settings(bench, source, identities)
    wait_until(lambda: not presence(), 'no presence')
    gateway.end()


def test_broker_forgets(bench):
    """a broker that comes back without its retained messages gets them all again, from memory too"""
    for queue in ('{}', '{memory: true}'):
        bench.start_broker()
        source = radio(bench, (1, 2))
        gateway = bench.start('--config', settings(bench, source, DEVICES + f'presence: {{timeout: 600}}\nhomeAssistant: {{}}\nqueue: {queue}\n'))
        wait_until(lambda: len(topics(bench)) == 8, 'everything')
        before = topics(bench)
        source.end()
        gateway.wait_stderr(f'{source.socket}: ')
        bench.stop_broker(signal.SIGKILL)
        for name in glob.glob(bench.path('mosquitto.db*')):
            os.unlink(name)
        bench.resume_broker()
        wait_topics(bench, before, 'everything again')
        assert retained(bench)['jelling/g/status'] == 'online', 'not online'
        gateway.end()
        bench.stop_broker()
        for name in glob.glob(bench.path('mosquitto.db*')):
            os.unlink(name)


def test_old_topics(bench):
    """another prefix, other templates, no presence, no retained documents, by reload and while the gateway is not running: the old is removed, once"""
    bench.start_broker()
    source = radio(bench)
    heard = bench.subscribe('#')
    base = DEVICES + 'presence: {timeout: 600}\nhomeAssistant: {prefix: PREFIX}\ntopics: {device: "TOP/{id}", presence: "TOP/p/{address}", status: "TOP/status"}\n'
    node = f'jelling_g_{PHONE.replace(":", "").lower()}'

    def wanted(prefix, top):
        entities = [f'{prefix}/{c}/{node}/{v}/config' for c, v in (('sensor', 'temperature'), ('sensor', 'humidity'), ('device_tracker', 'presence'))]
        return {*entities, f'{top}/{node[10:]}', f'{top}/p/{PHONE}'}
    gateway = bench.start('--config', settings(bench, source, base.replace('PREFIX', 'one').replace('TOP', 'a')))
    wait_topics(bench, wanted('one', 'a'), 'the first')
    settings(bench, source, base.replace('PREFIX', 'two').replace('TOP', 'b'))
    gateway.wait_stderr('loaded again')
    wait_topics(bench, wanted('two', 'b'), 'after a reload')
    wait_until(lambda: 'a/status' not in retained(bench), 'the old status is removed')
    gateway.end()
    gateway = bench.start('--config', settings(bench, source, base.replace('PREFIX', 'three').replace('TOP', 'c')))
    wait_topics(bench, wanted('three', 'c'), 'after a restart')
    wait_until(lambda: set(t for t in retained(bench) if t.endswith('status')) == {'c/status'}, 'only one status')
    gateway.end()
    for _ in range(2):
        gateway = bench.start('--config', settings(bench, source, retains='false'))
        wait_topics(bench, (), 'nothing')
        gateway.wait_stderr('connected to the broker')
        time.sleep(2)
        gateway.end()
    removed = [t for t, p, _ in heard.messages if not p]
    assert len(removed) == len(set(removed)) == 18, f'{len(removed)} removals of {len(set(removed))} topics: {sorted(removed)}'


def test_removal(bench):
    """a removal that the broker did not acknowledge is made again with the next start, and after its acknowledgement never"""
    broker = ScriptedBroker()
    url, source = f'mqtt://127.0.0.1:{broker.port}', radio(bench)
    gateway = bench.start('--config', settings(bench, source, 'homeAssistant: {}\n', url))
    wait_until(lambda: len([t for t in broker.retained if t.startswith('homeassistant/')]) == 2, 'announcements')
    time.sleep(2)
    gateway.end()
    removals = []
    broker.publish = lambda s, p: None if not p.payload and not removals.append(p.topic) else 0
    gateway = bench.start('--config', settings(bench, source, '', url))
    wait_until(lambda: len(removals) == 2, 'removals')
    gateway.end(signal.SIGKILL)
    assert len([t for t in broker.retained if t.startswith('homeassistant/')]) == 2, 'removed without an acknowledgement'
    broker.publish = lambda s, p: 0
    for _ in range(2):
        before = len(broker.sessions)
        gateway = bench.start('--config', settings(bench, source, '', url))
        wait_until(lambda: not [t for t in broker.retained if t.startswith('homeassistant/')], 'they are removed')
        wait_until(lambda: len(broker.sessions) > before, 'a session')
        time.sleep(3)
        gateway.end()
    empty = [p.topic for p in broker.published if not p.payload]
    assert len(empty) == 2, empty
    broker.close()


def test_announced_limit(bench):
    """the limit of announced devices counts over starts; a device of the settings is announced beyond it"""
    bench.start_broker()
    more = f'homeAssistant: {{devices: 3}}\ndevices: [{{address: "{SENSORS[8][0]}"}}]\n'

    def announced():
        return {t.split('/')[2][-2:] for t in retained(bench) if t.startswith('homeassistant/')}
    for numbers, wanted in (((1, 2, 3), {'01', '02', '03'}), ((4, 5, 6), {'01', '02', '03'}), ((7, 9), {'01', '02', '03', '09'})):
        source = radio(bench, numbers, f'radio{numbers[0]}')
        gateway = bench.start('--config', settings(bench, source, more))
        last = f'/devices/{SENSORS[numbers[-1] - 1][0]}'
        wait_until(lambda: any(last in t for t in retained(bench)), 'documents')
        time.sleep(3)
        wait_until(lambda: announced() == wanted, f'{wanted}, found {announced()}')
        gateway.end()
        source.end()


def test_table_lost(bench):
    """a state folder that cannot be written, or a table that is no database: told, and what is retained is stated all the same"""
    bench.start_broker()
    source = radio(bench)
    os.makedirs(bench.path('state'), exist_ok=True)
    bench.write('state/gateway-g.retained.sqlite', 'this is no database, and long enough to be looked at as one' * 20)
    gateway = bench.start('--config', settings(bench, source, DEVICES + 'presence: {timeout: 600}\nhomeAssistant: {}\n'))
    wait_until(lambda: len(topics(bench)) == 5, 'everything')
    time.sleep(2)
    gateway.end()
    os.unlink(bench.path('state/gateway-g.retained.sqlite'))
    os.mkdir(bench.path('state/gateway-g.retained.sqlite'))
    gateway = bench.start('--config', settings(bench, source, DEVICES + 'presence: {timeout: 600}\nhomeAssistant: {prefix: other}\n'), page=True)
    gateway.wait_stderr('what the broker retains is known in memory only')
    wait_until(lambda: len([t for t in topics(bench) if t.startswith('other/')]) == 3, 'announcements')
    wait_until(lambda: (gateway.metric('retained_topics') or 0) == 6, 'they are counted')
    gateway.end()
