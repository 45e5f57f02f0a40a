"""What goes wrong: it is told and tried again, and nothing else stops."""
import json, os, re, signal, socket, sqlite3, subprocess, tempfile, threading, time

from bench import GATEWAY, PYTHON, Failure, free_port, wait_until
from gateway_cases import case, check_order, need


def openssl(b, *arguments):
    run = subprocess.run(['openssl', *arguments], cwd=b.dir, capture_output=True, text=True)
    need(run.returncode == 0, f'openssl {arguments}: {run.stderr}')


def certificate(b, name, days='30', subject='127.0.0.1', begin=None):
    """A key and a certificate that the authority of the bench signed."""
    if not os.path.exists(b.path('ca.pem')):
        openssl(b, 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '30',
                '-subj', '/CN=Authority')
    openssl(b, 'req', '-newkey', 'rsa:2048', '-nodes', '-keyout', f'{name}.key', '-out', f'{name}.csr', '-subj', f'/CN={subject}')
    b.write(f'{name}.ext', f'subjectAltName=IP:127.0.0.1\n')
    openssl(b, 'x509', '-req', '-in', f'{name}.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-out', f'{name}.pem',
            '-days', days, '-extfile', f'{name}.ext')


@case('TLS with certificates on both sides; an expired one is told and tried again, and a good one then works')
def tls(b):
    certificate(b, 'server')
    certificate(b, 'client', subject='gateway')
    certificate(b, 'expired', days='-1')
    plain = free_port()
    listeners = (f'listener {plain} 127.0.0.1\nlistener {b.port} 127.0.0.1\ncafile {b.dir}/ca.pem\nkeyfile {b.dir}/NAME.key\n'
                 f'certfile {b.dir}/NAME.pem\nrequire_certificate true\n')
    port = free_port()
    file = b.write('gateway.yaml', f'name: g\nadapters: [sim]\nmqtt:\n  url: mqtts://127.0.0.1:{b.port}\n  caFile: {b.dir}/ca.pem\n'
                                   f'  certFile: {b.dir}/client.pem\n  keyFile: {b.dir}/client.key\n  longestBackoff: 1\n')
    b.start_broker(listeners.replace('NAME', 'expired'))
    gateway = b.start('--config', file, '--http', f'127.0.0.1:{port}')
    b.wait_stderr(gateway, 'check that no certificate has expired')
    # The page may come up after the first attempt at the broker.
    wait_until(lambda: b.get(port, '/health')[0] == 503, 'unhealthy')
    status, body = b.get(port, '/health')
    need('TLS failed' in json.loads(body)['broker']['problem'], f'{status} {body}')
    b.stop_broker()
    b.start_broker(listeners.replace('NAME', 'server'))
    heard = b.subscribe('jelling/#', port=plain)
    heard.wait(lambda t, p, r: '/devices/' in t, 'documents by TLS')
    wait_until(lambda: b.get(port, '/health')[0] == 200, 'healthy')
    gateway.end()
    # Without a certificate of its own it is refused, and says so.
    file = b.write('other.yaml', f'name: g\nadapters: [sim]\nmqtt: {{url: "mqtts://127.0.0.1:{b.port}", caFile: {b.dir}/ca.pem}}\n')
    gateway = b.start('--config', file)
    b.wait_stderr(gateway, 'no session with')
    gateway.end()


@case('a broker that refuses the password: told, tried again; the file with the password is read each time')
def password(b):
    b.write('secret', 'wrong\n')
    subprocess.run(['mosquitto_passwd', '-b', '-c', b.path('passwords'), 'gateway', 'right'], check=True, capture_output=True)
    os.chmod(b.path('passwords'), 0o644)
    anonymous = free_port()
    b.start_broker(f'per_listener_settings true\nlistener {anonymous} 127.0.0.1\nallow_anonymous true\n'
                   f'listener {b.port} 127.0.0.1\nallow_anonymous false\npassword_file {b.dir}/passwords\n')
    heard = b.subscribe('jelling/#', port=anonymous)
    file = b.write('gateway.yaml', f'name: g\nadapters: [sim]\nmqtt:\n  url: {b.url}\n  username: gateway\n'
                                   f'  passwordFile: {b.dir}/secret\n  longestBackoff: 1\n')
    gateway = b.start('--config', file)
    b.wait_stderr(gateway, 'the broker refused the session')
    b.write('secret', 'right\n')
    heard.wait(lambda t, p, r: '/devices/' in t, 'documents')
    gateway.end()


@case('a run that ends by --duration fails if no adapter was opened, and says so')
def no_adapter(b):
    child = b.run('-t', 'unix:' + b.path('nobody'), '--print', '--duration', '0.5', status=1)
    need('no adapter was opened; giving up' in child.stderr(), child.stderr())
    # On a busy machine the adapter may take longer to open than a run lasts.
    for seconds in ('5', '30', '120'):
        child = b.run('-t', 'sim', '--print', '--duration', seconds, status=None)
        if child.process.returncode == 0:
            break
    need(child.process.returncode == 0, f'status {child.process.returncode} after {seconds} s: {child.stderr()[-600:]}')


@case('the password is not in the process list: from --mqtt-password-file, its variable or a credential; one in --mqtt is hidden, and warned of')
def hidden_password(b):
    b.write('secret', 'right-secret\n')
    subprocess.run(['mosquitto_passwd', '-b', '-c', b.path('passwords'), 'gateway', 'right-secret'], check=True, capture_output=True)
    os.chmod(b.path('passwords'), 0o644)
    b.start_broker(f'allow_anonymous false\npassword_file {b.dir}/passwords\n')
    os.mkdir(b.path('credentials'))
    b.write('credentials/mqtt-password', 'right-secret')
    b.write('wrong', 'wrong-secret\n')
    url = f'mqtt://gateway@127.0.0.1:{b.port}'
    ways = ((('--mqtt', url, '--mqtt-password-file', b.path('secret')), {}),
            (('--mqtt', url), {'JELLING_GATEWAY_MQTT_PASSWORD_FILE': b.path('secret')}),
            (('--mqtt', url), {'CREDENTIALS_DIRECTORY': b.path('credentials')}),
            (('--mqtt', url.replace('@', ':right-secret@')), {}),
            # The command line wins over the environment.
            (('--mqtt', url.replace('@', ':right-secret@')), {'JELLING_GATEWAY_MQTT_PASSWORD_FILE': b.path('wrong')}),
            ((f'--mqtt={url.replace("@", ":right-secret@")}', '--name', 'g'), {}))
    for arguments, environment in ways:
        gateway = b.start('-t', 'sim', *arguments, environment=environment)
        b.wait_stderr(gateway, 'connected to the broker')
        shown = open(f'/proc/{gateway.process.pid}/cmdline', 'rb').read()
        need(b'right-secret' not in shown and b'127.0.0.1' in shown, f'{shown}')
        isGiven = 'right-secret' in ' '.join(arguments)
        need(('could read the password in --mqtt until now' in gateway.stderr()) == isGiven, gateway.stderr())
        need((b':***@' in shown) == isGiven, f'{shown}')
        gateway.end()
    child = b.run('-t', 'sim', '--mqtt', b.url, '--mqtt-password-file', b.path('secret'), status=2)
    need('--mqtt-password-file: a password needs a user' in child.stderr(), child.stderr())


@case('a full disk: told, messages go on from memory, and the queue is used again when there is room')
def full_disk(b):
    os.mkdir(b.path('disk'))
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', b.path('disk')], capture_output=True, text=True)
    need(mounted.returncode == 0, f'a small disk cannot be mounted: {mounted.stderr}')
    try:
        b.start_broker()
        heard = b.subscribe('jelling/#', options=('-c', '-i', 'judge'))
        radio = b.radio('--devices', '20', '--rate', '200')
        port = free_port()
        file = b.write('gateway.yaml', f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{b.url}", longestBackoff: 1}}\n'
                                       f'publish: {{interval: 0}}\nqueue: {{path: "{b.path("disk/q.sqlite")}"}}\n')
        gateway = b.start('--config', file, '--http', f'127.0.0.1:{port}')
        heard.wait(lambda t, p, r: '/devices/' in t, 'documents', 50)
        b.stop_broker()
        others = os.open(b.path('disk/others'), os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(others, bytes(4096)):
                pass
        except OSError:
            os.close(others)
        b.wait_stderr(gateway, 'cannot use the queue')
        need(b.get(port, '/health')[0] == 503, 'the gateway counts as healthy')
        time.sleep(2)
        b.resume_broker()
        wait_until(lambda: b.metric(port, 'mqtt_connected') == 1, 'connected')
        count = len(heard.messages)
        heard.wait(lambda t, p, r: '/devices/' in t, 'documents go on', count + 500)
        os.unlink(b.path('disk/others'))
        b.wait_stderr(gateway, 'the queue can be written again')
        b.end_radio(radio, gateway)
        b.wait_empty(port)
        made, dropped = b.metric(port, 'documents_total'), b.metric(port, 'queue_dropped_total')
        need(dropped == 0, f'{dropped} messages were dropped')
        gateway.end()
        wait_until(lambda: check_order(heard.documents())[1] >= made, f'{made} documents')
        gateway.end()
    finally:
        for child in b.children:
            child.name == 'jelling-gateway' and child.end(signal.SIGKILL)
        subprocess.run(['umount', b.path('disk')], capture_output=True)


@case('a queue that is no database is put aside; one that cannot be opened is told, and messages go through memory')
def broken_queue(b):
    b.start_broker()
    b.write('q.sqlite', 'this is no database, and long enough to be looked at as one' * 20)
    for path, said in ((b.path('q.sqlite'), None), ('/proc/nowhere/q.sqlite', 'cannot use the queue')):
        heard = b.subscribe('jelling/#')
        file = b.write('gateway.yaml', f'name: g\nadapters: [sim]\nmqtt: {{url: "{b.url}"}}\nqueue: {{path: "{path}"}}\n')
        gateway = b.start('--config', file)
        heard.wait(lambda t, p, r: '/devices/' in t, 'documents')
        if said:
            b.wait_stderr(gateway, said)
        gateway.end()
        heard.end()
    need([n for n in os.listdir(b.dir) if n.startswith('q.sqlite.broken-')], 'the broken file is gone')


@case('the broker is away and the queue has its size on disk: the oldest messages go, the newest arrive')
def large_queue(b):
    path = b.path('q.sqlite')
    radio = b.radio('--devices', '20', '--rate', '400')
    port = free_port()
    file = b.write('gateway.yaml', f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{b.url}", longestBackoff: 1}}\n'
                                   f'publish: {{interval: 0}}\nqueue: {{path: "{path}", megabytes: 1}}\n'
                                   f'http: {{listen: "127.0.0.1:{port}"}}\n')
    gateway = b.start('--config', file)
    wait_until(lambda: (b.metric(port, 'queue_dropped_total') or 0) > 2000, 'messages are dropped', 400)
    size = os.path.getsize(path)
    need(size < 3 << 20, f'{size} octets')
    need(200 < b.metric(port, 'queue_messages') < 4000, f'{b.metric(port, "queue_messages")} messages')
    b.end_radio(radio, gateway)
    last = b.metric(port, 'documents_total')
    heard = b.start_broker_for(gateway, 'jelling/g/devices/#', options=('-c', '-i', 'judge'))
    b.wait_empty(port)
    wait_until(lambda: max((d['sequence'] for d in heard.documents()), default=0) >= last / 20 - 1, 'the newest documents')
    documents = heard.documents()
    need(last / 20 - 1 <= max(d['sequence'] for d in documents), 'the newest documents are missing')
    check_order(documents, lossless=False)
    gateway.end()
    return f'{size >> 10} kB, {len(documents)} of {last:.0f} documents'


@case('a full queue that drops what is superseded keeps the last message of every device; files without marks get them')
def superseded(b):
    path = b.path('q.sqlite')
    radio, port = b.radio('--devices', '20', '--rate', '400'), free_port()
    base = (f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{b.url}", longestBackoff: 1}}\npublish: {{interval: 0}}\n'
            f'http: {{listen: "127.0.0.1:{port}"}}\n')
    # What an earlier version left: ten devices that are not heard any more.
    with sqlite3.connect(path) as store:
        store.execute('CREATE TABLE message (id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, payload BLOB NOT NULL, '
                      'qos INTEGER NOT NULL, retain INTEGER NOT NULL)')
        for number in range(50):
            store.execute('INSERT INTO message (topic, payload, qos, retain) VALUES (?, ?, 1, 0)',
                          (f'jelling/g/gone/{number % 10}', f'{number}'.encode()))
    store.close()
    gateway = b.start('--config', b.write('gateway.yaml', base + f'queue: {{path: "{path}", messages: 200, drop: superseded}}\n'))
    wait_until(lambda: (b.metric(port, 'queue_dropped_total') or 0) > 2000, 'messages are dropped', 400)
    b.end_radio(radio, gateway)
    wait_until(lambda: b.metric(port, 'queue_unwritten_messages') == 0, 'everything is on disk')
    made, left = b.metric(port, 'documents_total'), b.metric(port, 'queue_messages')
    need(left == 200, f'{left} messages')
    heard = b.start_broker_for(gateway, 'jelling/g/devices/#', 'jelling/g/gone/#', options=('-c', '-i', 'judge'))
    b.wait_empty(port)

    def last():
        return sum({d['address']: d['sequence'] for d in heard.documents()}.values())
    wait_until(lambda: last() >= made, 'the last document of each device')
    gateway.end()
    gone = [p for t, p, _ in heard.messages if '/gone/' in t]
    need(gone == [f'{number}' for number in range(40, 50)], f'{gone}')
    documents = heard.documents()
    need(check_order(documents, lossless=False)[0] == 20, 'devices are missing')
    need(last() == made, f'{last()} of {made}: not the last documents')
    return f'{left:.0f} of {made:.0f} documents'


@case('a queue with pages that became unreadable: told, replaced, and new messages arrive')
def damaged_queue(b):
    path = b.path('q.sqlite')
    radio = b.radio('--devices', '20', '--rate', '200')
    port = free_port()
    file = b.write('gateway.yaml', f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{b.url}", longestBackoff: 1}}\n'
                                   f'publish: {{interval: 0}}\nqueue: {{path: "{path}"}}\nhttp: {{listen: "127.0.0.1:{port}"}}\n')
    gateway = b.start('--config', file)
    wait_until(lambda: (b.metric(port, 'queue_messages') or 0) > 500, 'messages wait')
    gateway.end()
    with sqlite3.connect(path) as store:
        size = store.execute('PRAGMA page_size').fetchone()[0]
        roots = {page for page, in store.execute('SELECT rootpage FROM sqlite_master')}
    store.close()
    octets = bytearray(open(path, 'rb').read())
    # The leaves of the table of messages.
    pages = [n for n in range(2, len(octets) // size + 1) if octets[(n - 1) * size] == 13 and n not in roots]
    need(len(pages) > 10, f'{len(pages)} pages')
    for page in pages:
        octets[(page - 1) * size:page * size] = b'\xff' * size
    with open(path, 'wb') as f:
        f.write(octets)
    b.start_broker()
    heard = b.subscribe('jelling/g/devices/#')
    gateway = b.start('--config', file)
    b.wait_stderr(gateway, f'the queue was damaged and is now {path}.broken-')
    count = len(heard.messages)
    heard.wait(lambda t, p, r: True, 'documents from the new queue', count + 200)
    need(json.loads(b.get(port, '/health')[1])['queue'].get('problem') is None, 'the queue still has a problem')
    gateway.end()
    need(gateway.process.returncode == 0, gateway.stderr()[-300:])
    need([n for n in os.listdir(b.dir) if n.startswith('q.sqlite.broken-')], 'the damaged file is gone')


@case('/health tells what fails, /metrics is read by the library of Prometheus, and a token is asked for')
def http(b):
    b.start_broker()
    heard = b.subscribe('jelling/#')
    radio = b.radio('--devices', '5', '--rate', '50')
    port = free_port()
    b.write('token', 'a-secret\n')
    file = b.write('gateway.yaml', f'name: g\nadapters: ["{radio.socket}"]\nmqtt: {{url: "{b.url}", longestBackoff: 1}}\n'
                                   f'http: {{listen: "127.0.0.1:{port}", tokenFile: "{b.path("token")}"}}\n')
    gateway = b.start('--config', file)
    heard.wait(lambda t, p, r: '/devices/' in t, 'documents')
    for token, wanted in ((None, 401), ('b-secret', 401), ('a-secre', 401), ('a-secret', 200)):
        need(b.get(port, '/health', token)[0] == wanted, f'{token}: not {wanted}')
        need(b.get(port, '/metrics', token)[0] == wanted, f'{token}: not {wanted}')
    text = b.get(port, '/metrics', 'a-secret')[1]
    judge = ('import sys\nfrom prometheus_client.parser import text_string_to_metric_families as read\n'
             'for f in read(sys.stdin.read()):\n for s in f.samples: print(s.name, s.labels, s.value)\n')
    read = subprocess.run([PYTHON, '-c', judge], input=text, capture_output=True, text=True)
    need(read.returncode == 0, read.stderr[-300:])
    for name in ('jelling_gateway_documents_total {}', 'jelling_gateway_queue_messages {}', 'jelling_gateway_mqtt_connected {} 1.0',
                 f"jelling_gateway_adapter_engine_advertising_reports_total {{'adapter': '{radio.socket}'}}"):
        need(name in read.stdout, f'{name} is missing: {read.stdout[-400:]}')
    radio.end()
    wait_until(lambda: b.get(port, '/health', 'a-secret')[0] == 503, 'an adapter fails')
    need(json.loads(b.get(port, '/health', 'a-secret')[1])['adapters'][0]['problem'], 'the problem is not named')
    b.stop_broker()
    wait_until(lambda: not json.loads(b.get(port, '/health', 'a-secret')[1])['broker']['connected'], 'the broker is away')
    gateway.end()


@case('an adapter that hears nothing is reopened, and after so many attempts the gateway ends')
def silence(b):
    radio = b.radio('--devices', '1', '--rate', '0.0001')
    file = b.write('gateway.yaml', f'name: g\nadapters: ["{radio.socket}"]\nwatchdog: {{silence: 2, attempts: 1}}\n')
    child = b.run('--config', file, '--print', status=1)
    need('no device was heard for 2 s, although it was reopened 1 times; giving up' in child.stderr(), child.stderr())


@case('systemd hears READY, WATCHDOG while the engine answers, and STOPPING; a stopped process feeds nothing')
def notify(b):
    b.start_broker()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as said:
        said.bind(b.path('notify'))
        said.settimeout(60)
        gateway = b.start('-t', 'sim', '--mqtt', b.url, environment={'NOTIFY_SOCKET': b.path('notify'), 'WATCHDOG_USEC': '1500000'})
        need(said.recv(100) == b'READY=1', 'not READY=1 first')
        for _ in range(3):
            need(said.recv(100) == b'WATCHDOG=1', 'not WATCHDOG=1')
        gateway.end()
        found = b''
        while found != b'STOPPING=1':
            found = said.recv(100)
            need(found in (b'WATCHDOG=1', b'STOPPING=1'), f'{found}')
