"""What goes wrong: it is told and tried again, and nothing else stops."""
import contextlib, json, os, pathlib, socket, sqlite3, subprocess, time

from jelling.child import free_port
from jelling.gateway import PYTHON, check_order, wait_until


WITHOUT_PAUSE = 'publish: {interval: 0}\n'


def openssl(bench, *arguments):
    run = subprocess.run(['openssl', *arguments], cwd=bench.dir, capture_output=True, text=True)
    assert run.returncode == 0, f'openssl {arguments}: {run.stderr}'


def certificate(bench, name, days='30', subject='127.0.0.1', begin=None):
    """A key and a certificate that the authority of the bench signed."""
    if not os.path.exists(bench.path('ca.pem')):
        openssl(bench, 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '30',
                '-subj', '/CN=Authority')
    openssl(bench, 'req', '-newkey', 'rsa:2048', '-nodes', '-keyout', f'{name}.key', '-out', f'{name}.csr', '-subj', f'/CN={subject}')
    bench.write(f'{name}.ext', 'subjectAltName=IP:127.0.0.1\n')
    openssl(bench, 'x509', '-req', '-in', f'{name}.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-out', f'{name}.pem',
            '-days', days, '-extfile', f'{name}.ext')


def test_tls(bench):
    """TLS with certificates on both sides; an expired one is told and tried again, and a good one then works"""
    certificate(bench, 'server')
    certificate(bench, 'client', subject='gateway')
    certificate(bench, 'expired', days='-1')
    plain = free_port()
    listeners = (f'listener {plain} 127.0.0.1\nlistener {bench.port} 127.0.0.1\ncafile {bench.dir}/ca.pem\nkeyfile {bench.dir}/NAME.key\n'
                 f'certfile {bench.dir}/NAME.pem\nrequire_certificate true\n')
    file = bench.write('gateway.yaml', f'name: g\nadapters: [sim]\nmqtt:\n  url: mqtts://127.0.0.1:{bench.port}\n  caFile: {bench.dir}/ca.pem\n'
                                   f'  certFile: {bench.dir}/client.pem\n  keyFile: {bench.dir}/client.key\n  longestBackoff: 1\n')
    bench.start_broker(listeners.replace('NAME', 'expired'))
    gateway = bench.start('--config', file, page=True)
    gateway.wait_stderr('check that no certificate has expired')
    # The page may come up after the first attempt at the broker.
    wait_until(lambda: gateway.get('/health')[0] == 503, 'unhealthy')
    status, body = gateway.get('/health')
    assert 'TLS failed' in json.loads(body)['broker']['problem'], f'{status} {body}'
    bench.stop_broker()
    bench.start_broker(listeners.replace('NAME', 'server'))
    heard = bench.subscribe('jelling/#', port=plain)
    heard.wait(lambda t, p, r: '/devices/' in t, 'documents by TLS')
    wait_until(gateway.is_healthy, 'healthy')
    gateway.end()
    # Without a certificate of its own it is refused, and says so.
    file = bench.write('other.yaml', f'name: g\nadapters: [sim]\nmqtt: {{url: "mqtts://127.0.0.1:{bench.port}", caFile: {bench.dir}/ca.pem}}\n')
    gateway = bench.start('--config', file)
    gateway.wait_stderr('no session with')
    gateway.end()


def test_password(bench):
    """a broker that refuses the password: told, tried again; the file with the password is read each time"""
    bench.write('secret', 'wrong\n')
    subprocess.run(['mosquitto_passwd', '-b', '-c', bench.path('passwords'), 'gateway', 'right'], check=True, capture_output=True)
    os.chmod(bench.path('passwords'), 0o644)
    anonymous = free_port()
    bench.start_broker(f'per_listener_settings true\nlistener {anonymous} 127.0.0.1\nallow_anonymous true\n'
                   f'listener {bench.port} 127.0.0.1\nallow_anonymous false\npassword_file {bench.dir}/passwords\n')
    heard = bench.subscribe('jelling/#', port=anonymous)
    gateway = bench.configured(f'name: g\nadapters: [sim]\nmqtt:\n  url: {bench.url}\n  username: gateway\n'
                               f'  passwordFile: {bench.dir}/secret\n  longestBackoff: 1\n')
    gateway.wait_stderr('the broker refused the session')
    bench.write('secret', 'right\n')
    heard.wait(lambda t, p, r: '/devices/' in t, 'documents')
    gateway.end()


def test_no_adapter(bench):
    """a run that ends by --duration fails if no adapter was opened, and says so"""
    child = bench.run('-t', 'unix:' + bench.path('nobody'), '--print', '--duration', '0.5', status=1)
    assert 'no adapter was opened; giving up' in child.stderr(), child.stderr()
    # On a busy machine the adapter may take longer to open than a run lasts.
    for seconds in ('5', '30', '120'):
        child = bench.run('-t', 'sim', '--print', '--duration', seconds, status=None)
        if child.process.returncode == 0:
            break
    assert child.process.returncode == 0, f'status {child.process.returncode} after {seconds} s: {child.stderr()[-600:]}'


def test_hidden_password(bench):
    """the password is not in the process list: from --mqtt-password-file, its variable or a credential; one in --mqtt is hidden, and warned of"""
    bench.write('secret', 'right-secret\n')
    subprocess.run(['mosquitto_passwd', '-b', '-c', bench.path('passwords'), 'gateway', 'right-secret'], check=True, capture_output=True)
    os.chmod(bench.path('passwords'), 0o644)
    bench.start_broker(f'allow_anonymous false\npassword_file {bench.dir}/passwords\n')
    os.mkdir(bench.path('credentials'))
    bench.write('credentials/mqtt-password', 'right-secret')
    bench.write('wrong', 'wrong-secret\n')
    url = f'mqtt://gateway@127.0.0.1:{bench.port}'
    ways = ((('--mqtt', url, '--mqtt-password-file', bench.path('secret')), {}),
            (('--mqtt', url), {'JELLING_GATEWAY_MQTT_PASSWORD_FILE': bench.path('secret')}),
            (('--mqtt', url), {'CREDENTIALS_DIRECTORY': bench.path('credentials')}),
            (('--mqtt', url.replace('@', ':right-secret@')), {}),
            # The command line wins over the environment.
            (('--mqtt', url.replace('@', ':right-secret@')), {'JELLING_GATEWAY_MQTT_PASSWORD_FILE': bench.path('wrong')}),
            ((f'--mqtt={url.replace("@", ":right-secret@")}', '--name', 'g'), {}))
    for arguments, environment in ways:
        gateway = bench.start('-t', 'sim', *arguments, environment=environment)
        gateway.wait_stderr('connected to the broker')
        shown = open(f'/proc/{gateway.process.pid}/cmdline', 'rb').read()
        assert b'right-secret' not in shown and b'127.0.0.1' in shown, shown
        isGiven = 'right-secret' in ' '.join(arguments)
        assert ('could read the password in --mqtt until now' in gateway.stderr()) == isGiven, gateway.stderr()
        assert (b':***@' in shown) == isGiven, shown
        gateway.end()
    child = bench.run('-t', 'sim', '--mqtt', bench.url, '--mqtt-password-file', bench.path('secret'), status=2)
    assert '--mqtt-password-file: a password needs a user' in child.stderr(), child.stderr()


def test_full_disk(bench):
    """a full disk: told, messages go on from memory, and the queue is used again when there is room"""
    with bench.small_disk('24m') as disk:
        heard = bench.heard('jelling/#', options=('-c', '-i', 'judge'))
        radio = bench.radio('--devices', '20', '--rate', '200')
        gateway = bench.start('--config', bench.settings(radio, more=WITHOUT_PAUSE + f'queue: {{path: "{disk}/q.sqlite"}}\n'), page=True)
        heard.wait(lambda t, p, r: '/devices/' in t, 'documents', 50)
        bench.stop_broker()
        with open(f'{disk}/others', 'wb', buffering=0) as others, contextlib.suppress(OSError):
            while others.write(bytes(4096)):
                pass
        gateway.wait_stderr('cannot use the queue')
        assert gateway.get('/health')[0] == 503, 'the gateway counts as healthy'
        time.sleep(2)
        bench.resume_broker()
        wait_until(lambda: gateway.metric('mqtt_connected') == 1, 'connected')
        count = len(heard.messages)
        heard.wait(lambda t, p, r: '/devices/' in t, 'documents go on', count + 500)
        os.unlink(f'{disk}/others')
        gateway.wait_stderr('the queue can be written again')
        made, dropped = gateway.drain(radio), gateway.metric('queue_dropped_total')
        assert dropped == 0, f'{dropped} messages were dropped'
        gateway.end()
        heard.wait_documents(made)


def test_broken_queue(bench):
    """a queue that is no database is put aside; one that cannot be opened is told, and messages go through memory"""
    bench.start_broker()
    bench.write('q.sqlite', 'this is no database, and long enough to be looked at as one' * 20)
    for path, said in ((bench.path('q.sqlite'), None), ('/proc/nowhere/q.sqlite', 'cannot use the queue')):
        heard = bench.subscribe('jelling/#')
        gateway = bench.configured(f'name: g\nadapters: [sim]\nmqtt: {{url: "{bench.url}"}}\nqueue: {{path: "{path}"}}\n')
        heard.wait(lambda t, p, r: '/devices/' in t, 'documents')
        if said:
            gateway.wait_stderr(said)
        gateway.end()
        heard.end()
    assert [n for n in os.listdir(bench.dir) if n.startswith('q.sqlite.broken-')], 'the broken file is gone'


def test_large_queue(bench):
    """the broker is away and the queue has its size on disk: the oldest messages go, the newest arrive"""
    path = bench.path('q.sqlite')
    radio = bench.radio('--devices', '20', '--rate', '400')
    gateway = bench.start('--config', bench.settings(radio, more=WITHOUT_PAUSE + f'queue: {{path: "{path}", megabytes: 1}}\n'), page=True)
    gateway.wait_metric('queue_dropped_total', 2000, 400)
    size = os.path.getsize(path)
    assert size < 3 << 20, f'{size} octets'
    assert 200 < gateway.metric('queue_messages') < 4000, f'{gateway.metric("queue_messages")} messages'
    gateway.end_radio(radio)
    last = gateway.metric('documents_total')
    heard = bench.start_broker_for(gateway, 'jelling/g/devices/#', options=('-c', '-i', 'judge'))
    gateway.wait_empty()
    wait_until(lambda: max((d['sequence'] for d in heard.documents()), default=0) >= last / 20 - 1, 'the newest documents')
    documents = heard.documents()
    assert last / 20 - 1 <= max(d['sequence'] for d in documents), 'the newest documents are missing'
    check_order(documents, lossless=False)
    gateway.end()
    print(f'{size >> 10} kB, {len(documents)} of {last:.0f} documents')


def test_superseded(bench):
    """a full queue that drops what is superseded keeps the last message of every device; files without marks get them"""
    path = bench.path('q.sqlite')
    radio, port = bench.radio('--devices', '20', '--rate', '400'), free_port()
    base = (f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{bench.url}", longestBackoff: 1}}\npublish: {{interval: 0}}\n'
            f'http: {{listen: "127.0.0.1:{port}"}}\n')
    # What an earlier version left: ten devices that are not heard any more.
    with sqlite3.connect(path) as store:
        store.execute('CREATE TABLE message (id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, payload BLOB NOT NULL, '
                      'qos INTEGER NOT NULL, retain INTEGER NOT NULL)')
        for number in range(50):
            store.execute('INSERT INTO message (topic, payload, qos, retain) VALUES (?, ?, 1, 0)',
                          (f'jelling/g/gone/{number % 10}', f'{number}'.encode()))
    store.close()
    gateway = bench.start('--config', bench.write('gateway.yaml', base + f'queue: {{path: "{path}", messages: 200, drop: superseded}}\n'))
    gateway.wait_metric('queue_dropped_total', 2000, 400)
    gateway.end_radio(radio)
    wait_until(lambda: gateway.metric('queue_unwritten_messages') == 0, 'everything is on disk')
    made, left = gateway.metric('documents_total'), gateway.metric('queue_messages')
    assert left == 200, f'{left} messages'
    heard = bench.start_broker_for(gateway, 'jelling/g/devices/#', 'jelling/g/gone/#', options=('-c', '-i', 'judge'))
    gateway.wait_empty()

    def last():
        return sum({d['address']: d['sequence'] for d in heard.documents()}.values())
    wait_until(lambda: last() >= made, 'the last document of each device')
    gateway.end()
    gone = [p for t, p, _ in heard.messages if '/gone/' in t]
    assert gone == [f'{number}' for number in range(40, 50)], gone
    documents = heard.documents()
    assert check_order(documents, lossless=False)[0] == 20, 'devices are missing'
    assert last() == made, f'{last()} of {made}: not the last documents'
    print(f'{left:.0f} of {made:.0f} documents')


def test_damaged_queue(bench):
    """a queue with pages that became unreadable: told, replaced, and new messages arrive"""
    path = bench.path('q.sqlite')
    radio = bench.radio('--devices', '20', '--rate', '200')
    file = bench.settings(radio, more=WITHOUT_PAUSE + f'queue: {{path: "{path}"}}\n')
    gateway = bench.start('--config', file, page=True)
    gateway.wait_metric('queue_messages', 500)
    gateway.end()
    with sqlite3.connect(path) as store:
        size = store.execute('PRAGMA page_size').fetchone()[0]
        roots = {page for page, in store.execute('SELECT rootpage FROM sqlite_master')}
    store.close()
    octets = bytearray(open(path, 'rb').read())
    # The leaves of the table of messages.
    pages = [n for n in range(2, len(octets) // size + 1) if octets[(n - 1) * size] == 13 and n not in roots]
    assert len(pages) > 10, f'{len(pages)} pages'
    for page in pages:
        octets[(page - 1) * size:page * size] = b'\xff' * size
    pathlib.Path(path).write_bytes(octets)
    heard = bench.heard('jelling/g/devices/#')
    gateway = bench.start('--config', file, page=True)
    gateway.wait_stderr(f'the queue was damaged and is now {path}.broken-')
    count = len(heard.messages)
    heard.wait(lambda t, p, r: True, 'documents from the new queue', count + 200)
    assert gateway.health()['queue'].get('problem') is None, 'the queue still has a problem'
    gateway.ends_well()
    assert [n for n in os.listdir(bench.dir) if n.startswith('q.sqlite.broken-')], 'the damaged file is gone'


def test_http(bench):
    """/health tells what fails, /metrics is read by the library of Prometheus, and a token is asked for"""
    heard = bench.heard('jelling/#')
    radio = bench.radio('--devices', '5', '--rate', '50')
    port = free_port()
    bench.write('token', 'a-secret\n')
    gateway = bench.configured(f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{bench.url}", longestBackoff: 1}}\n'
                               f'http: {{listen: "127.0.0.1:{port}", tokenFile: "{bench.path("token")}"}}\n')
    heard.wait(lambda t, p, r: '/devices/' in t, 'documents')
    for token, wanted in ((None, 401), ('b-secret', 401), ('a-secre', 401), ('a-secret', 200)):
        assert gateway.get('/health', token)[0] == wanted, f'{token}: not {wanted}'
        assert gateway.get('/metrics', token)[0] == wanted, f'{token}: not {wanted}'
    text = gateway.get('/metrics', 'a-secret')[1]
    judge = ('import sys\nfrom prometheus_client.parser import text_string_to_metric_families as read\n'
             'for f in read(sys.stdin.read()):\n for s in f.samples: print(s.name, s.labels, s.value)\n')
    read = subprocess.run([PYTHON, '-c', judge], input=text, capture_output=True, text=True)
    assert read.returncode == 0, read.stderr[-300:]
    for name in ('jelling_gateway_documents_total {}', 'jelling_gateway_queue_messages {}', 'jelling_gateway_mqtt_connected {} 1.0',
                 f"jelling_gateway_adapter_engine_advertising_reports_total {{'adapter': '{radio.socket}'}}"):
        assert name in read.stdout, f'{name} is missing: {read.stdout[-400:]}'
    radio.end()
    wait_until(lambda: gateway.get('/health', 'a-secret')[0] == 503, 'an adapter fails')
    assert json.loads(gateway.get('/health', 'a-secret')[1])['adapters'][0]['problem'], 'the problem is not named'
    bench.stop_broker()
    wait_until(lambda: not json.loads(gateway.get('/health', 'a-secret')[1])['broker']['connected'], 'the broker is away')
    gateway.end()


def test_silence(bench):
    """an adapter that hears nothing is reopened, and after so many attempts the gateway ends"""
    radio = bench.radio('--devices', '1', '--rate', '0.0001')
    file = bench.write('gateway.yaml', f'name: g\nadapters: ["{radio.socket}"]\nwatchdog: {{silence: 2, attempts: 1}}\n')
    child = bench.run('--config', file, '--print', status=1)
    assert 'no device was heard for 2 s, although it was reopened 1 times; giving up' in child.stderr(), child.stderr()


def test_notify(bench):
    """systemd hears READY, WATCHDOG while the engine answers, and STOPPING; a stopped process feeds nothing"""
    bench.start_broker()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as said:
        said.bind(bench.path('notify'))
        said.settimeout(60)
        gateway = bench.start('-t', 'sim', '--mqtt', bench.url, environment={'NOTIFY_SOCKET': bench.path('notify'), 'WATCHDOG_USEC': '1500000'})
        assert said.recv(100) == b'READY=1', 'not READY=1 first'
        for _ in range(3):
            assert said.recv(100) == b'WATCHDOG=1', 'not WATCHDOG=1'
        gateway.end()
        found = b''
        while found != b'STOPPING=1':
            found = said.recv(100)
            assert found in (b'WATCHDOG=1', b'STOPPING=1'), found
