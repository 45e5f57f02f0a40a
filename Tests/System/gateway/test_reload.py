"""Settings that change while the gateway runs, and what --check finds before it does."""
import json, os, pathlib, re, signal, socket, subprocess, time

from jelling.child import free_port
from jelling.gateway import wait_until
from jelling.programs import ROOT
from jelling.web import Events

from gateway.test_trouble import certificate

SENSOR = 'A4:C1:38:00:00:01'


def temperature(hundredths):
    """Advertising data of BTHome in clear."""
    return '0716d2fc4002' + hundredths.to_bytes(2, 'little').hex()


def loaded(bench, gateway, keys):
    gateway.wait_stderr('the settings were loaded again; in force: ' + keys)


def words(keys):
    keys = [f'‘{key}’' for key in keys]
    return keys[0] if len(keys) == 1 else ', '.join(keys[:-1]) + ' and ' + keys[-1]


# A change of every key.
CHANGES = {
    'name': 'h', 'adapters': '["unix:SOCKET", "unix:/run/other"]', 'mqtt': '{url: "URL", keepAlive: 40}',
    'topics': '{device: "a/{gateway}/{id}"}', 'queue': '{messages: 5000}', 'publish': '{retain: true}', 'filters': '{rssi: -90}',
    'presence': '{timeout: 30}', 'smoothing': '{time: 9}', 'devices': '[{address: "A4:C1:38:00:00:09"}]',
    'identities': '[{name: p, irk: ec0234a357c8ad05341010a60a397d9b}]', 'bonds': 'BONDS', 'homeAssistant': '{prefix: other}',
    'http': '{listen: "127.0.0.1:PORT"}', 'esphome': '{listen: "127.0.0.1:PORT"}',
    'matter': '{url: "ws://127.0.0.1:PORT/ble"}', 'gatt': '{sessions: 3}', 'watchdog': '{silence: 77}', 'state': '/tmp',
}


def test_every_key(bench):
    """a change of each key comes into force, or the log says that it needs a restart; the guide names the same keys"""
    bench.start_broker()
    radio = bench.scripted_radio()
    wrong = bench.run('--config', bench.write('wrong.yaml', 'nonsense: 1\n'), '--check', status=2).stderr()
    known = re.search(r'known keys: (.*)', wrong)[1].split(', ')
    assert set(known) == set(CHANGES), f'keys without a change: {set(known) ^ set(CHANGES)}'
    sentence = re.search(r'Changes of (`[^,]*,.{,150}?)\s+need a\s+restart', pathlib.Path(f'{ROOT}/Documentation/Gateway.md').read_text(encoding='utf-8'), re.S)
    restart = re.findall(r'`(\w+)`', sentence[1])

    def fill(text):
        return text.replace('unix:SOCKET', radio.socket).replace('URL', bench.url).replace('PORT', str(free_port())).replace('BONDS', bench.path('bonds'))
    base = {'name': 'g', 'adapters': '["unix:SOCKET"]', 'mqtt': '{url: "URL"}'}

    def write(settings):
        bench.write('gateway.yaml', fill(''.join(f'{k}: {v}\n' for k, v in settings.items())))
    write(base)
    # Without --state, which would override the key.
    gateway = bench.start('--config', bench.path('gateway.yaml'), environment={'XDG_STATE_HOME': bench.path('home')}, has_state=False)
    gateway.wait_stderr('connected to the broker')
    for key in known:
        write({**base, key: CHANGES[key]})
        if key in restart:
            gateway.wait_stderr(f'changes of ‘{key}’ need a restart')
        else:
            loaded(bench, gateway, f'‘{key}’')
        count = gateway.stderr().count('were loaded again')
        write(base)
        wait_until(lambda: gateway.stderr().count('were loaded again') > count, f'{key} as before')
    write({**base, **CHANGES, 'adapters': base['adapters'], 'name': 'g', 'mqtt': base['mqtt']})
    wanted = words([key for key in known if key in restart])
    gateway.wait_stderr(f'changes of {wanted} need a restart; everything else is in force')
    gateway.ends_well()


def test_http(bench):
    """another address, token and certificate for HTTP, and none: in force at once; an address that is in use leaves all as it was"""
    radio, first, second = bench.scripted_radio(), free_port(), free_port()
    certificate(bench, 'one', subject='one')
    certificate(bench, 'two', subject='two')
    bench.write('token', 'secret')
    bench.write('other', 'hidden')
    base = f'name: g\nadapters: ["{radio.socket}"]\nmatter: {{url: "ws://127.0.0.1:{free_port()}/ble"}}\n'
    gateway = bench.configured(base)

    def change(http, more=''):
        bench.write('gateway.yaml', base + (f'http: {{{http}}}\n' if http else '') + more)

    def status(port, token=None):
        gateway.port = port
        return gateway.get('/api', token)[0]
    change(f'listen: "127.0.0.1:{first}"')
    wait_until(lambda: status(first) == 200, 'HTTP that was added')
    # A stream that began without a token ends when one is needed.
    events = Events(first)
    change(f'listen: "127.0.0.1:{first}", tokenFile: "{bench.path("token")}"')
    wait_until(lambda: status(first) == 401 and events.has_ended, 'a token')
    assert status(first, 'secret') == 200
    with socket.socket() as other:
        other.bind(('127.0.0.1', second))
        other.listen()
        change(f'listen: "127.0.0.1:{second}"')
        gateway.wait_stderr(f'cannot serve HTTP on 127.0.0.1:{second}: Address already in use; until then it stays as it was, on 127.0.0.1:{first}')
        # The old address does not lose its token with it.
        assert status(first) == 401
        health, body = gateway.get('/health', 'secret')
        assert health == 503 and f'127.0.0.1:{second}' in json.loads(body)['http']['problem'], body
    wait_until(lambda: status(second) == 200, 'the other address')
    assert status(first) == 0, 'the first address is still served'
    # The same port of another address, which includes the first one.
    tls = f'certFile: {bench.path("cert.pem")}, keyFile: {bench.path("cert.key")}, tokenFile: {bench.path("other")}'

    def install(name):
        for end in ('key', 'pem'):
            bench.write(f'cert.{end}', pathlib.Path(bench.path(f'{name}.{end}')).read_text())
    install('one')
    change(f'listen: "0.0.0.0:{second}", {tls}')

    def subject():
        told = subprocess.run(['openssl', 's_client', '-connect', f'127.0.0.1:{second}'], input='', capture_output=True, text=True, timeout=60)
        return (re.search(r'subject=.*CN = (\w+)', told.stdout) or [None, None])[1]
    wait_until(lambda: subject() == 'one', 'TLS')
    # Renewed in their files, the key first: between the two nothing is lost.
    install('two')
    wait_until(lambda: subject() == 'two', 'the renewed certificate')
    gateway.wait_stderr('the certificate for HTTP was read again')
    change('')
    wait_until(lambda: subject() is None and status(second) == 0, 'HTTP that was removed')
    # What waits for a restart is said by the page.
    change(f'listen: "127.0.0.1:{first}"', 'gatt: {mqtt: false}\n')
    gateway.wait_stderr('changes of ‘gatt’ need a restart')
    wait_until(lambda: status(first) == 200, 'HTTP again')
    assert gateway.health()['needRestart'] == ['gatt'] and gateway.is_healthy() == (gateway.health()['status'] == 'ok')
    shown = json.loads(gateway.get('/api/settings')[1])
    assert shown['needRestart'] == ['gatt'] and 'gatt' not in shown, shown
    change(f'listen: "127.0.0.1:{first}"')
    gateway.wait_stderr('nothing waits for a restart any more')
    assert 'needRestart' not in gateway.health()
    gateway.ends_well()


def test_queue(bench):
    """limits of the queue: a smaller one drops the oldest at once, what is superseded goes first from then on; its file needs a restart"""
    radio = bench.radio('--devices', '20', '--rate', '400')

    def settings(queue):
        return bench.settings(radio, more=f'publish: {{interval: 0}}\nqueue: {{{queue}}}\n')
    path = bench.path('q.sqlite')
    gateway = bench.start('--config', settings(f'path: "{path}"'), page=True)
    gateway.wait_metric('queue_messages', 1000)
    # What others have left; no newer message comes for it.
    settings(f'path: "{path}", messages: 300')
    loaded(bench, gateway, '‘queue’')
    wait_until(lambda: gateway.metric('queue_messages') <= 300 and gateway.metric('queue_dropped_total') > 700, 'the smaller queue')
    settings(f'path: "{path}", messages: 100, drop: superseded')
    wait_until(lambda: gateway.metric('queue_messages') <= 100, 'another rule')
    dropped = gateway.metric('queue_dropped_total')
    gateway.wait_metric('queue_dropped_total', dropped + 500)
    settings(f'path: "{bench.path("r.sqlite")}", messages: 100, drop: superseded')
    gateway.wait_stderr('changes of ‘queue.path’ need a restart')
    assert not os.path.exists(bench.path('r.sqlite')) and json.loads(gateway.get('/api/settings')[1])['queue']['drop'] == 'superseded'
    assert 'cannot use' not in gateway.stderr(), gateway.stderr()
    heard = bench.start_broker_for(gateway, 'jelling/g/devices/#', options=('-c', '-i', 'judge'))
    made = gateway.drain(radio)
    wait_until(lambda: sum({d['address']: d['sequence'] for d in heard.documents()}.values()) >= made, 'the last document of each device')
    gateway.ends_well()


def test_watchdog(bench):
    """the watchdog of adapters that scan changes with the settings"""
    radio = bench.scripted_radio()
    base = f'name: g\nadapters: ["{radio.socket}"]\n'
    gateway = bench.configured(base + 'watchdog: {silence: 80000}\n', '--print')
    time.sleep(2)
    bench.write('gateway.yaml', base + 'watchdog: {silence: 1, attempts: 1}\n')
    loaded(bench, gateway, '‘watchdog’')
    gateway.wait_stderr('although it was reopened 1 times; giving up')
    wait_until(lambda: gateway.process.poll() is not None, 'the end')
    assert gateway.process.returncode == 1, f'exit status {gateway.process.returncode}'


def test_prefix(bench):
    """another discovery prefix: announced there, and again when Home Assistant starts there"""
    heard = bench.heard('homeassistant/#', 'other/#', 'jelling/#')
    radio = bench.packets([SENSOR, temperature(2000)])
    base = f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{bench.url}"}}\npublish: {{refresh: 1}}\n'
    gateway = bench.configured(base + 'homeAssistant: {}\n')
    topic = 'sensor/jelling_g_a4c138000001/temperature/config'
    heard.wait(lambda t, p, r: t == 'homeassistant/' + topic, 'discovery')
    bench.write('gateway.yaml', base + 'homeAssistant: {prefix: other}\n')
    heard.wait(lambda t, p, r: t == 'other/' + topic and p, 'discovery under the other prefix')
    time.sleep(11)

    def again():
        subprocess.run(['mosquitto_pub', '-h', '127.0.0.1', '-p', str(bench.port), '-t', 'other/status', '-m', 'online'], check=True)
        time.sleep(1.5)
        return sum(t == 'other/' + topic and p != '' for t, p, _ in heard.messages) > 1
    wait_until(again, 'discovery again')
    gateway.end()


def test_removed_device(bench):
    """a device that is removed from the settings loses its name and what was decrypted with its key"""
    heard = bench.heard('jelling/g/devices/#')
    sensor = '54:48:E6:8F:80:A5'
    radio = bench.packets([sensor, '0f16d2fc415b9396e80300007c46cd1b'])
    base = f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{bench.url}"}}\npublish: {{refresh: 1}}\n'
    gateway = bench.configured(base + f'devices: [{{address: "{sensor}", name: Cellar, key: 231d39c1d7cc1ab1aee224cd096db932}}]\n')
    heard.wait(lambda t, p, r: '"temperature":20' in p and 'Cellar' in p, '20 degrees')
    bench.write('gateway.yaml', base)
    loaded(bench, gateway, '‘devices’')
    count = len(heard.messages)
    wait_until(lambda: len(heard.messages) > count + 2, 'documents')
    for _, payload, _ in heard.messages[count + 1:]:
        assert 'Cellar' not in payload and 'temperature' not in payload, payload
    gateway.end()


def test_empty(bench):
    """a file that becomes empty: without a broker it changes nothing; with one among the arguments the defaults are in force"""
    heard = bench.heard('jelling/#')
    radio = bench.packets([SENSOR, temperature(2000)], ['A4:C1:38:00:00:02', temperature(2100)])
    rest = f'filters: {{allow: [{{address: "{SENSOR}"}}]}}\npublish: {{refresh: 1}}\n'
    file = bench.write('gateway.yaml', rest + f'mqtt: {{url: "{bench.url}"}}\n')
    gateway = bench.start('--config', file, '-t', radio.socket, '--name', 'g')
    heard.wait(lambda t, p, r: t == f'jelling/g/devices/{SENSOR}', 'documents')
    open(file, 'w').close()
    gateway.wait_stderr('no broker')
    gateway.wait_stderr('the settings stay as they were')
    before = len(heard.messages)
    heard.wait(lambda t, p, r: len(heard.messages) > before + 1, 'further documents')
    assert not any(t.endswith('02') for t, _, _ in heard.messages), 'the filter'
    gateway.ends_well()
    pathlib.Path(file).write_text(rest, encoding='utf-8')
    gateway = bench.start('--config', file, '-t', radio.socket, '--name', 'h', '--mqtt', bench.url)
    heard.wait(lambda t, p, r: t == f'jelling/h/devices/{SENSOR}', 'documents')
    open(file, 'w').close()
    loaded(bench, gateway, '‘publish’ and ‘filters’')
    heard.wait(lambda t, p, r: t == 'jelling/h/devices/A4:C1:38:00:00:02', 'documents of the other device')
    gateway.ends_well()


def test_early(bench):
    """a change in the first moments after the start is not missed, also one of the same length in the same file"""
    radio = bench.scripted_radio()
    base = f'name: g\nadapters: ["{radio.socket}"]\nsmoothing: {{time: %d}}\n'
    gateways = []
    for milliseconds in (0, 10, 20, 40, 80, 160, 320, 640):
        path = bench.path(f'{milliseconds}.yaml')
        pathlib.Path(path).write_text(base % 1, encoding='utf-8')
        gateways.append(bench.start('--config', path, '--print'))
        time.sleep(milliseconds / 1000)
        for number in (2, 3, 4):
            with open(path, 'r+', encoding='utf-8') as f:
                f.write(base % number)
            time.sleep(0.001)
    time.sleep(3)
    for gateway in gateways:
        # If it had missed the last one, it would find that now.
        gateway.process.send_signal(signal.SIGHUP)
        gateway.wait_stderr('the settings were loaded again; none has changed')
        assert '‘smoothing’' not in gateway.stderr().split('none has changed')[1], gateway.stderr()
        assert gateway.stderr().rstrip().endswith('none has changed'), gateway.stderr()
        gateway.end()
    print(f'{len(gateways)} moments')


def test_replaced(bench):
    """files that are replaced as editors and Kubernetes do it, folders that go and come: every change is seen"""
    radio = bench.scripted_radio()
    text = f'name: g\nadapters: ["{radio.socket}"]\nsmoothing: {{time: %d}}\n'
    folder = bench.path('config')

    def kubernetes(number):
        """A folder for each version, a link to it that is replaced, and a link to the file in it."""
        os.makedirs(f'{folder}/..{number}')
        pathlib.Path(f'{folder}/..{number}/gateway.yaml').write_text(text % number, encoding='utf-8')
        os.symlink(f'..{number}', f'{folder}/..new')
        os.rename(f'{folder}/..new', f'{folder}/..data')
        if not os.path.lexists(f'{folder}/gateway.yaml'):
            os.symlink('..data/gateway.yaml', f'{folder}/gateway.yaml')
    kubernetes(1)
    gateway = bench.start('--config', f'{folder}/gateway.yaml', '--print')
    time.sleep(1)
    seen = 0

    def changed(what):
        nonlocal seen
        seen += 1
        wait_until(lambda: gateway.stderr().count('in force: ‘smoothing’') >= seen, f'{what}; stderr: {gateway.stderr()[-400:]}')
    kubernetes(2)
    changed('another version of Kubernetes')
    pathlib.Path(f'{folder}/..2/gateway.yaml').write_text(text % 3, encoding='utf-8')
    changed('the file behind the links')
    os.rename(folder, folder + '.away')
    gateway.wait_stderr('gateway.yaml: cannot be read: No such file')
    os.mkdir(folder)
    pathlib.Path(f'{folder}/gateway.yaml.tmp').write_text(text % 4, encoding='utf-8')
    os.rename(f'{folder}/gateway.yaml.tmp', f'{folder}/gateway.yaml')
    changed('another folder')
    os.rename(f'{folder}/gateway.yaml', f'{folder}/gateway.yaml~')
    pathlib.Path(f'{folder}/gateway.yaml').write_text(text % 5, encoding='utf-8')
    changed('a copy of the old file, and a new one')
    # In several steps.
    with open(f'{folder}/gateway.yaml', 'w', encoding='utf-8') as f:
        for line in (text % 6).splitlines(True):
            f.write(line)
            f.flush()
            time.sleep(0.1)
    changed('a file that is written slowly')
    gateway.ends_well()


# (settings, what is said of them); DIR is a folder, PORT a port that is in use, PEM a certificate, KEY its key.
FOUND = [
    ('http: {listen: "127.0.0.1:PORT"}', ':3: http.listen: 127.0.0.1:PORT cannot be used: Address already in use'),
    ('http: {listen: "localhost:9464"}', ':3: http.listen: the host is no address'),
    ('http: {listen: "192.0.2.1:9464", tokenFile: DIR/text, certFile: DIR/pem, keyFile: DIR/key}', ':3: http.listen: 192.0.2.1:9464 cannot be used: Cannot assign'),
    ('http: {listen: "127.0.0.1:FREE", tokenFile: DIR/none}', ':3: http.tokenFile: DIR/none cannot be read: No such file'),
    ('http: {listen: "127.0.0.1:FREE", tokenFile: DIR/empty}', ':3: http.tokenFile: DIR/empty is empty'),
    ('MQTT {url: "mqtt://a@b", passwordFile: DIR/none}', ':2: mqtt.passwordFile: DIR/none cannot be read: No such file'),
    ('MQTT {url: "mqtt://a@b", passwordFile: DIR}', ':2: mqtt.passwordFile: DIR is a folder'),
    ('MQTT {url: "mqtt://a@b", passwordFile: DIR/empty}', ':2: mqtt.passwordFile: DIR/empty has nothing in its first line'),
    ('MQTT {url: "mqtt://b", passwordFile: DIR/text}', ':2: mqtt.passwordFile: a password needs a user'),
    ('MQTT {url: "mqtt://b", password: x}', ':2: mqtt.password: a password needs a user'),
    ('MQTT {url: "mqtts://b", caFile: DIR/none}', ':2: mqtt.caFile: DIR/none cannot be read: No such file'),
    ('MQTT {url: "mqtts://b", caFile: DIR/text}', ':2: mqtt.caFile: DIR/text has no certificate in PEM form'),
    ('MQTT {url: "mqtts://b", certFile: DIR/pem, keyFile: DIR/text}', ':2: mqtt.keyFile: DIR/text has no private key in PEM form'),
    ('MQTT {url: "mqtts://b", certFile: DIR/text, keyFile: DIR/key}', ':2: mqtt.certFile: DIR/text has no certificate in PEM form'),
    ('MQTT {url: "mqtts://b", certFile: DIR/pem, keyFile: DIR/locked}', ':2: mqtt.keyFile: DIR/locked has a passphrase'),
    ('MQTT {url: "mqtt://:1883"}', ':2: mqtt.url: the host is missing'),
    ('state: DIR/text/state', ':3: state: DIR/text/state cannot be created: DIR/text'),
    ('state: DIR/text/a/b', ':3: state: DIR/text/a/b cannot be created: DIR/text'),
    ('state: DIR/text', ':3: state: ‘DIR/text’ is a file'),
    ('queue: {path: DIR/none/q.sqlite}', ':3: queue.path: DIR/none/q.sqlite cannot be created: DIR/none: No such file'),
    ('queue: {path: DIR}', ':3: queue.path: DIR is no file'),
    ('bonds: DIR/text', ':3: bonds: ‘DIR/text’ is a file'),
    ('adapters: ["bluetooth:0"]', ':3: adapters[0]: ‘bluetooth:0’ is not a transport'),
    ('adapters: ["sim:DIR/none"]', ':3: adapters[0]: '),
    ('adapters: ["replay:DIR/text"]', ':3: adapters[0]: '),
    ('topics: {device: "$SYS/{id}"}', ':3: topics.device: topics that begin with ‘$’ are the broker’s own'),
    ('topics: {status: "a/{address}"}', ':3: topics.status: {address} has no value in this topic'),
    ('topics: {presence: "a/{id}/{adapter}"}', ':3: topics.presence: {adapter} has no value in this topic'),
    ('topics: {device: "a/{id}", presence: "a/{id}"}', ':3: topics.presence: ‘device’ and ‘presence’ need different topics'),
    ('homeAssistant: {prefix: "ha/{gateway}"}', ':3: homeAssistant.prefix: nothing in braces is replaced here'),
    ('homeAssistant: {prefix: "ha/"}', ':3: homeAssistant.prefix: it begins or ends with ‘/’'),
    ('devices: [{address: "A4:C1:38:00:00:01", key: +31d39c1d7cc1ab1aee224cd096db932}]',
     ':3: devices[0].key: it has other characters than hexadecimal digits'),
    ('devices: [{address: "A4:C1:38:00:00:01", key: 231d39c1d7cc1ab1aee224cd096db93}]', ':3: devices[0].key: it has 31 digits'),
]


def test_check(bench):
    """--check finds what the start would find, with the line and the key, and creates nothing"""
    port = free_port()
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', port))
        listener.listen()
        for name, content in (('text', 'secret\n'), ('empty', '\n')):
            pathlib.Path(bench.path(name)).write_text(content, encoding='utf-8')
        for arguments in (['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', bench.path('key'), '-out', bench.path('pem'), '-subj', '/CN=x'],
                          ['pkey', '-in', bench.path('key'), '-aes128', '-passout', 'pass:secret', '-out', bench.path('locked')]):
            subprocess.run(['openssl', *arguments], check=True, capture_output=True)

        def fill(text):
            return text.replace('DIR', bench.dir).replace('PORT', str(port)).replace('FREE', str(free_port()))
        for text, said in FOUND:
            lines = ['name: g', 'mqtt: {url: "mqtt://b"}', text]
            if text.startswith('MQTT'):
                lines = ['name: g', text.replace('MQTT', 'mqtt:')]
            before = set(os.listdir(bench.dir))
            child = bench.run('--config', bench.write('wrong.yaml', fill('\n'.join(lines)) + '\n'), '--check', status=2, has_state=False,
                                environment={'XDG_STATE_HOME': bench.path('home')})
            assert 'wrong.yaml' + fill(said) in child.stderr(), f'{text}: {child.stderr()!r}, want {said!r}'
            assert len(child.stderr().splitlines()) == 1, f'{text}: {child.stderr()!r}'
            made = {n for n in set(os.listdir(bench.dir)) - before if not n.endswith('.err') and n != 'wrong.yaml'}
            assert not made, f'{text}: --check made {made}'
        right = (f'name: g\nmqtt: {{url: "mqtts://a@b", caFile: {bench.dir}/pem, certFile: {bench.dir}/pem, keyFile: {bench.dir}/key, '
                 f'passwordFile: {bench.dir}/text}}\nhttp: {{listen: "127.0.0.1:{free_port()}", tokenFile: {bench.dir}/text}}\n'
                 f'state: {bench.dir}/a/b\nqueue: {{path: {bench.dir}/q.sqlite}}\nbonds: {bench.dir}/bonds\nadapters: [sim]\n')
        child = bench.run('--config', bench.write('right.yaml', right), '--check', has_state=False)
        assert 'the settings are right' in child.stderr(), child.stderr()
        assert not any(os.path.exists(bench.path(n)) for n in ('a', 'q.sqlite', 'bonds')), '--check made something'
    print(f'{len(FOUND)} settings')


def test_everything_wrong(bench):
    """all that is wrong is said at once, of the file, of arguments and of the environment; the exit statuses are as documented"""
    text = ('name: a/b\nadapters: [nonsense, sim]\nmqtt:\n  url: mqtt://\n  qos: 7\npublish:\n  interval: soon\n  intervall: 1\n'
            'devices:\n  - {key: 12}\n  - {address: x, interval: y}\nhttp: {listen: "0.0.0.0:80"}\nwatchdog: {attempts: many}\n')
    file = bench.write('wrong.yaml', text)
    for arguments, status in ((('--check',), 2), ((), 2)):
        said = bench.run('--config', file, *arguments, '--http', 'nonsense', status=status, environment={'JELLING_GATEWAY_TRANSPORT': 'x'}).stderr()
        for problem in (':1: name:', ':2: adapters[0]:', ':4: mqtt.url:', ':5: mqtt.qos:', ':7: publish.interval:', ':8: publish.intervall:',
                        ':10: devices[0].address: is missing', ':10: devices[0].key:', ':11: devices[1].address:', ':11: devices[1].interval:',
                        ':12: http.listen:', ':13: watchdog.attempts:', '--http: the port is missing', 'JELLING_GATEWAY_TRANSPORT: ‘x’'):
            assert problem in said, f'{problem} is not in {said}'
        lines = said.splitlines()
        assert len(lines) == 14 and all(l.startswith('jelling-gateway: error: ') for l in lines), said
        numbers = [int(l.split('wrong.yaml:')[1].split(':')[0]) for l in lines if 'wrong.yaml:' in l]
        assert numbers == sorted(numbers), said
    # The start without --check refuses the files of TLS, too, as wrong settings.
    said = bench.run('-t', 'sim', '--config', bench.write('tls.yaml', 'mqtt: {url: "mqtts://b", caFile: /none}\n'), status=2).stderr()
    assert 'tls.yaml:1: mqtt.caFile: /none cannot be read' in said, said
    said = bench.run('--check', '-t', 'sim', status=2).stderr()
    assert 'no broker' in said, said
    bench.run('--check', '-t', 'sim', '--print')
    # While it runs: everything is said, and nothing changes.
    radio = bench.scripted_radio()
    file = bench.write('gateway.yaml', f'adapters: ["{radio.socket}"]\n')
    gateway = bench.start('--config', file, '--print')
    time.sleep(1)
    bench.write('gateway.yaml', text)
    gateway.wait_stderr('the settings stay as they were')
    assert ':8: publish.intervall:' in gateway.stderr() and ':13: watchdog.attempts:' in gateway.stderr(), gateway.stderr()
    gateway.ends_well()
