"""What people write: settings, right and wrong, and changed while the gateway runs."""
import datetime, json

from jelling.child import free_port
from jelling.esphome import KEY
from jelling.gateway import PEER, SENSOR, wait_until

# (what stands in the file, what is said of it)
WRONG = [
    ('adapters: [sim]\nfilters:\n  allow:\n    - adress: A4:C1:38:00:00:01\n',
     ':4: filters.allow[0].adress: this is not a known key'),
    ('adapters: [nonsense]\n', ':1: adapters[0]: ‘nonsense’ is not a transport'),
    ('filters:\n  deny:\n    - decoder: Zigbee\n', ':3: filters.deny[0].decoder: unknown decoder ‘Zigbee’; known: AltBeacon, Apple'),
    ('filters: {allow: [{company: acme}]}\n', ':1: filters.allow[0].company: ‘acme’ is not a company'),
    ('filters: {allow: [{}]}\n', 'filters.allow[0]: the rule is empty'),
    ('publish:\n  interval: soon\n', ':2: publish.interval: ‘soon’ is not a number; expected a number of seconds from 0 to 86400'),
    ('publish:\n  changes:\n    temperature: warm\n',
     ':3: publish.changes.temperature: ‘warm’ is not a number; expected a number from 0'),
    ('topics:\n  device: jelling/#\n', ':2: topics.device: ‘+’, ‘#’ and control characters cannot stand'),
    ('topics:\n  device: jelling/{adres}\n', ':2: topics.device: unknown placeholder {adres}'),
    ('mqtt:\n  url: http://broker\n', ':2: mqtt.url: it begins with neither mqtt:// nor mqtts://; expected mqtt://HOST:PORT'),
    ('mqtt:\n  qos: 1\n', 'mqtt.url: is missing'),
    ('mqtt:\n  url: mqtt://b\n  certFile: a\n  keyFile: b\n', ':3: mqtt.certFile: certificates need TLS'),
    ('devices:\n  - address: A4:C1:38:00:00:01\n    key: 00\n',
     ':3: devices[0].key: it has 2 digits; expected 32 or 24 hexadecimal digits'),
    ('devices:\n  - name: x\n', 'devices[0].address: is missing'),
    ('identities:\n  - name: x\n    irk: 12\n', ':3: identities[0].irk: it has 2 digits; expected 32 hexadecimal digits'),
    ('http:\n  listen: 0.0.0.0:80\n', ':2: http.listen: an address that others reach needs ‘tokenFile’'),
    ('presence:\n  enter: -80\n  leave: -70\n', ':3: presence.leave: has to be at most ‘enter’'),
    ('name: a/b\n', ':1: name: ‘/’ cannot stand in it: a name has 1 to 64 letters'),
    ('name: a\nname: b\n', 'the key appears twice'),
    ('name: [\n', 'this is not YAML'),
    ('- a\n', ':1: this is a list; expected keys and values'),
    ('publish: {interval: -1}\n', ':1: publish.interval: -1 is too small; expected a number of seconds from 0 to 86400'),
    ('publish: {interval: [1]}\n', ':1: publish.interval: this is a list; expected a text or a number'),
    ('publish: {retain: maybe}\n', ':1: publish.retain: ‘maybe’ is neither; expected true or false'),
    ('publish: 5\n', ':1: publish: this is a single value; expected keys and values'),
    ('publish: {changes: 5}\n', ':1: publish.changes: this is a single value; expected names and numbers'),
    ('queue: {messages: 7}\n', ':1: queue.messages: 7 is too small; expected a number of messages from 100 to 10000000'),
    ('queue: {messages: 100.5}\n', ':1: queue.messages: 100.5 has a fraction; expected a whole number of messages from 100'),
    ('queue: {megabytes: 99999999}\n', ':1: queue.megabytes: 99999999 is too large; expected a number of megabytes from 1'),
    ('queue: {drop: newest}\n', ':1: queue.drop: ‘newest’ is not known; expected oldest or superseded'),
    ('queue: {path: ""}\n', ':1: queue.path: it is empty; write a value, or leave the key out'),
    ('mqtt: {url: mqtt://b, version: 4}\n', ':1: mqtt.version: ‘4’ is not known; expected 3.1.1 or 5'),
    ('mqtt: {url: mqtt://b, keepAlive: nan}\n', ':1: mqtt.keepAlive: ‘nan’ is not a number; expected a number of seconds from 5'),
    ('mqtt: {url: "mqtt://b:99999"}\n', ':1: mqtt.url: the port is not a number from 1 to 65535; expected mqtt://HOST:PORT'),
    ('mqtt: {url: "mqtt://"}\n', ':1: mqtt.url: the host is missing'),
    ('mqtt: {url: "mqtt://a b"}\n', ':1: mqtt.url: the host has a character that no name or address has'),
    ('http: {listen: 127.0.0.1}\n', ':1: http.listen: the port is missing; expected ADDRESS:PORT'),
    ('devices: {address: A4:C1:38:00:00:01}\n', ':1: devices: these are keys and values; expected a list'),
    ('matter:\n', ':1: matter: it is empty; write ‘url: "ws://127.0.0.1:5580/ble"’ below it'),
    ('matter: {tokenFile: /none}\n', ':1: matter.url: is missing; write ws://127.0.0.1:5580/ble'),
    ('matter: {url: "http://a:1"}\n', ':1: matter.url: it begins with neither ws:// nor wss://; expected ws://HOST:PORT or wss://HOST:PORT'),
    ('matter: {url: "ws://a/ble"}\n', ':1: matter.url: the port is missing'),
    ('matter: {url: "ws://me:secret@a:1"}\n', ':1: matter.url: a user and a password cannot stand in it; ‘tokenFile’ names a token'),
    ('matter: {url: "ws://a:1/b c"}\n', ':1: matter.url: the path has a character that no path has'),
    ('matter: {url: "ws://a:0"}\n', ':1: matter.url: the port is not a number from 1 to 65535'),
    ('matter:\n  url: "ws://a:1"\n  caFile: /etc/passwd\n', ':3: matter.caFile: without wss:// in ‘url’ it has no use'),
    ('matter:\n  url: "wss://a:1"\n  caFile: /etc/passwd\n', ':3: matter.caFile: the authorities /etc/passwd cannot be used'),
    ('matter:\n  url: "ws://a:1"\n  tokenFile: /none\n', ':3: matter.tokenFile: /none cannot be read'),
    ('matter:\n  url: "ws://a:1"\n  tokenFile: /dev/null\n', ':3: matter.tokenFile: /dev/null'),
    ('esphome:\n', ':1: esphome: it is empty; write ‘listen: "127.0.0.1:6053"’ below it'),
    ('esphome: {slots: 2}\n', ':1: esphome.listen: is missing; write 127.0.0.1:6053'),
    ('esphome: {listen: []}\n', ':1: esphome.listen: the list is empty'),
    ('esphome: {listen: [127.0.0.1]}\n', ':1: esphome.listen: the port is missing; expected ADDRESS:PORT, such as 127.0.0.1:6053'),
    ('esphome: {listen: "kitchen:6053"}\n', ':1: esphome.listen: the host is no address'),
    ('esphome: {listen: ["127.0.0.1:1", "127.0.0.1:1"]}\n', ':1: esphome.listen: 127.0.0.1:1 appears twice'),
    ('esphome: {listen: "0.0.0.0:6053"}\n', ':1: esphome.listen: an address that others reach needs ‘keyFile’'),
    ('esphome:\n  listen: "127.0.0.1:1"\n  keyFile: /none\n', ':3: esphome.keyFile: /none cannot be read'),
    ('esphome:\n  listen: "127.0.0.1:1"\n  keyFile: /etc/passwd\n', ':3: esphome.keyFile: /etc/passwd has no key; write 32 octets in Base64'),
    ('esphome: {listen: "127.0.0.1:1", slots: 33}\n', ':1: esphome.slots: 33 is too large; expected a number of links from 1 to 32'),
    ('esphome: {listen: "127.0.0.1:1", name: "a b"}\n', ':1: esphome.name: it becomes a host name'),
    ('esphome: {listen: "127.0.0.1:1", pairing: 2}\n', ':1: esphome.pairing: ‘2’ is neither; expected true or false'),
    ('esphome: {listen: "127.0.0.1:1", advertise: bonjour}\n', ':1: esphome.advertise: expected avahi, off, or the path of a folder'),
    ('watchdog: {attempts: many}\n', ':1: watchdog.attempts: ‘many’ is not a number; expected a number of reopenings from 0'),
]

# (arguments, what is said of them)
WRONG_ARGUMENTS = [
    (('--config', 'NONE'), 'cannot be read: No such file'),
    (('-t', 'x', '--print'), '--transport: ‘x’ is not a transport; use one of: user:N, raw:N'),
    (('--mqtt', 'broker'), '--mqtt: it begins with neither mqtt:// nor mqtts://; expected mqtt://HOST:PORT'),
    (('--mqtt', ''), '--mqtt: it is empty; expected mqtt://HOST:PORT'),
    ((), 'nowhere to publish'),
    (('--print', '--http', '0.0.0.0:1'), '--http: others reach this address, and need a token'),
    (('--print', '--http', '127.0.0.1'), '--http: the port is missing; expected a loopback address and a port'),
    (('--print', '--http', '127.0.0.1:http'), '--http: the port is not a number from 1 to 65535'),
    (('--print', '--count', 'abc'), 'use a whole number of at least 1'),
    (('--print', '--count', '1.5'), 'use a whole number of at least 1'),
    (('--print', '--count', '0'), 'it is too small; use a whole number of at least 1'),
    (('--print', '--count', '-1'), 'it is too small; use a whole number of at least 1'),
    (('--print', '--count', '99999999999999999999'), 'the number is too large'),
    (('--print', '--count', ''), 'it is empty; use a whole number of at least 1'),
    (('--print', '--duration', 'soon'), 'use a number of seconds, such as 30 or 0.5'),
    (('--print', '--duration', '-1'), 'it is too small; use 0.01 seconds or more'),
    (('--print', '--duration', 'nan'), 'use a number of seconds, such as 30 or 0.5'),
    (('--print', '--duration', 'inf'), 'the number is too large'),
    (('--print', '--name', 'a/b'), '--name: ‘/’ cannot stand in it: a name has 1 to 64 letters'),
    (('--print', '--name', ''), '--name: it is empty: a name has 1 to 64 letters'),
    (('--print', '--config', ''), '--config: it is empty; write a path'),
    (('--print', '--state', ''), '--state: it is empty; write a path'),
]


def test_wrong_files(bench):
    """a wrong file is refused with its line, its key and what would be right"""
    for text, said in WRONG:
        file = bench.write('wrong.yaml', text)
        child = bench.run('--config', file, '--check', '-t', 'sim', status=2)
        assert said in child.stderr(), f'{text!r}: {child.stderr()!r}, want {said!r}'
    for arguments, said in WRONG_ARGUMENTS:
        child = bench.run(*(bench.path('none') if word == 'NONE' else word for word in arguments), status=2)
        assert said in child.stderr(), f'{arguments}: {child.stderr()!r}'
    print(f'{len(WRONG)} files, {len(WRONG_ARGUMENTS)} lines')


SECRET = '5ec2e70123456789abcdef0123456789'


def test_secrets(bench):
    """what is wrong with a key or a password is said without the key or the password"""
    device = 'devices:\n  - {address: "A4:C1:38:00:00:01", key: %s}\n'
    for text in (device % (SECRET + '0'), device % SECRET[:31], device % ('x' + SECRET[1:]), device % f'[{SECRET}]',
                 f'devices:\n  - {{address: {SECRET}, key: {SECRET}}}\n', f'identities:\n  - {{name: a, irk: {SECRET}00}}\n',
                 f'mqtt: {{url: "mqtt://user:{SECRET}@b:port"}}\n', f'mqtt: {{url: "http://user:{SECRET}@b"}}\n',
                 f'mqtt: {{url: "mqtt://user@b", password: [{SECRET}]}}\n', f'publish: {{interval: {SECRET}}}\n'):
        child = bench.run('--config', bench.write('wrong.yaml', text), '--check', '-t', 'sim', status=2)
        said = child.stderr()
        assert '5ec2' not in said and '6789' not in said and 'wrong.yaml:' in said, f'{text!r}: {said!r}'
    url = f'mqtt://user:{SECRET}@broker'
    for arguments in (('--mqtt', url + ':port'), ('--mqtt', url.replace('mqtt', 'http')), (url,), ('--mqt', url),
                      ('--check=' + url,)):
        said = bench.run(*arguments, status=2).stderr()
        assert '5ec2' not in said, f'{arguments}: {said!r}'


EVERYTHING = '''
name: kitchen
adapters:
  - sim
  - {transport: "unix:/run/hci1", passive: true}
mqtt:
  url: mqtts://broker.example:8884
  version: "5"
  username: gateway
  passwordFile: /etc/secret
  caFile: /etc/ca.pem
  keepAlive: 60
  qos: 2
topics: {device: "ble/{gateway}/{id}", status: "ble/{gateway}"}
queue: {path: /var/lib/q.sqlite, messages: 5000, drop: superseded}
publish:
  interval: 5
  refresh: 300
  rssi: 6
  changes: {temperature: 0.2, humidity: 1}
  retain: yes
filters:
  rssi: -90
  privateAddresses: drop
  allow:
    - {prefix: "A4:C1:38"}
    - {decoder: BTHome, rssi: -80}
    - {company: 0x0499}
  deny: [{name: "Test*"}]
presence: {timeout: 120, enter: -75, leave: -90}
smoothing: {time: 10}
devices:
  - {address: "A4:C1:38:00:00:01", name: Cellar, key: 231d39c1d7cc1ab1aee224cd096db932, interval: 60}
identities:
  - {name: phone, irk: ec0234a357c8ad05341010a60a397d9b, address: "C0:00:00:00:00:01"}
homeAssistant: {expireAfter: 900}
http: {listen: "127.0.0.1:9464"}
esphome: {listen: ["127.0.0.1:6053"], keyFile: /etc/api.key, slots: 5, name: kitchen-2, pairing: no, advertise: off}
watchdog: {silence: 60, attempts: 3}
'''


def test_right_files(bench):
    """a file with every key is right, as YAML and as JSON"""
    for name, content in (('secret', 'x\n'), ('ca.pem', '-----BEGIN CERTIFICATE-----\n'), ('api.key', f'{KEY}\n')):
        bench.write(name, content)
    text = EVERYTHING.replace('/etc/', bench.dir + '/').replace('/var/lib/', bench.dir + '/').replace('9464', str(free_port())).replace('6053', str(free_port()))
    bench.run('--config', bench.write('all.yaml', text), '--check')
    bench.run('--config', bench.write('all.json', json.dumps({'name': 'a', 'mqtt': {'url': 'mqtt://b'}, 'publish': {'interval': 2}})),
          '--check')


def test_reload(bench):
    """settings are loaded again under load: another filter holds, a wrong file changes nothing, a name moves the status"""
    heard = bench.heard('jelling/#')
    radio = bench.radio('--devices', '20', '--rate', '200')
    base = f'adapters: ["{radio.socket}"]\nmqtt: {{url: "{bench.url}"}}\npublish: {{interval: 0}}\n'
    gateway = bench.configured('name: g\n' + base)
    heard.wait(lambda t, p, r: t.endswith('00:00:05'), 'documents')
    bench.write('gateway.yaml', 'name: g\n' + base + 'filters: {allow: [{address: "C1:38:00:00:00:01"}]}\n')
    gateway.wait_stderr('the settings were loaded again')
    loaded = datetime.datetime.now(datetime.timezone.utc).isoformat()

    def later():
        """What was made after the settings were loaded: what waited before may come behind it."""
        return [d for d in heard.documents() if d['time'] > loaded]
    wait_until(lambda: len(later()) > 20, 'documents of the one device')
    others = {d['address'] for d in later()} - {'C1:38:00:00:00:01'}
    assert not others, f'others were reported: {others}'
    bench.write('gateway.yaml', 'name: g\n' + base + 'filters: {alow: []}\n')
    gateway.wait_stderr('filters.alow: this is not a known key')
    count = len(heard.messages)
    heard.wait(lambda t, p, r: True, 'documents go on', count + 20)
    bench.write('gateway.yaml', 'name: h\n' + base)
    heard.wait(lambda t, p, r: t == 'jelling/h/status' and p == 'online', 'online under the other name')
    heard.wait(lambda t, p, r: t == 'jelling/g/status' and p == 'offline', 'offline under the first')
    heard.wait(lambda t, p, r: t.startswith('jelling/h/devices/'), 'documents under the other name', 30)
    # One session all the time: nothing was lost but what the filter held back.
    gateway.ends_well()


def test_presence(bench):
    """presence of a device of Bumble: home, and not_home when it is gone"""
    bench.start_broker()
    lab = bench.lab(*SENSOR)
    heard = bench.subscribe('jelling/+/presence/#')
    gateway = bench.configured(f'name: g\nadapters: ["{lab.endpoint}"]\nmqtt: {{url: "{bench.url}"}}\npresence: {{timeout: 3}}\n'
                               f'devices: [{{address: "{PEER}"}}]\n')
    heard.wait(lambda t, p, r: t == f'jelling/g/presence/{PEER}' and p == 'home', 'home')
    lab.peer.end()
    heard.wait(lambda t, p, r: p == 'not_home', 'not_home')
    gateway.end()


def test_keys(bench):
    """an encrypted sensor of Bumble is read with its key, and its name comes from the file"""
    # The published example of BTHome: temperature 25.06 °C, humidity 50.55 %, for 54:48:E6:8F:80:A5.
    bench.start_broker()
    lab = bench.lab('--address', '54:48:E6:8F:80:A5/P', '--service-data', 'FCD2:41a47266c95f730011223378237214')
    heard = bench.subscribe('jelling/#')
    gateway = bench.configured(f'name: g\nadapters: ["{lab.endpoint}"]\nmqtt: {{url: "{bench.url}"}}\n'
                               'devices: [{address: "54:48:E6:8F:80:A5", name: Cellar, key: '
                               '231d39c1d7cc1ab1aee224cd096db932}]\n')
    heard.wait(lambda t, p, r: '/devices/' in t, 'document')
    found = heard.documents()[-1]
    assert found['address'] == '54:48:E6:8F:80:A5', found
    assert found['values'] == {'temperature': 25.06, 'humidity': 50.55} and found['name'] == 'Cellar', found
    gateway.end()
