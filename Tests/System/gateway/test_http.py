"""Clients of the HTTP server that mean harm, or are odd: each is refused, and nothing else stops."""
import contextlib, os, socket, threading, time

from jelling.child import free_port
from jelling.measures import kilobytes
from jelling.gateway import wait_until


class Stage:
    """A gateway under load, whose documents, other clients, watchdog and signals must go on while `during` lasts."""

    def __init__(self, bench, http=''):
        self.bench, self.port = bench, free_port()
        bench.start_broker()
        self.said = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.said.bind(bench.path('notify'))
        self.said.settimeout(30)
        self.heard = bench.subscribe('jelling/#')
        self.radio = bench.radio('--devices', '5', '--rate', '50')
        self.gateway = bench.configured(f'name: g\nadapters: ["{self.radio.socket}"]\nmqtt: {{url: "{bench.url}"}}\npublish: {{interval: 0}}\n'
                                        f'http: {{listen: "127.0.0.1:{self.port}"{http}}}\n', environment={
            'NOTIFY_SOCKET': bench.path('notify'), 'WATCHDOG_USEC': '1500000'})
        self.heard.wait(lambda t, p, r: '/devices/' in t, 'documents')

        def listens():
            with contextlib.suppress(ConnectionRefusedError), self.connect():
                return True
        wait_until(listens, 'the server listens')
        # Not through the server: it may need a token.
        self.before = kilobytes(self.gateway.process)

    def connect(self, timeout=30, buffer=None):
        s = socket.socket()
        s.settimeout(timeout)
        if buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        s.connect(('127.0.0.1', self.port))
        return s

    def ask(self, octets, half=False):
        """What a request is answered, up to the end of the connection: (status, everything)."""
        with self.connect() as s:
            with contextlib.suppress(ConnectionError):
                s.sendall(octets)
                if half:
                    s.shutdown(socket.SHUT_WR)
            return read(s)

    def goes_on(self, what):
        """Documents, /health and the watchdog, each from now on."""
        count = len(self.heard.messages)
        started = time.monotonic()
        status = self.gateway.get('/health')[0]
        took = time.monotonic() - started
        assert status == 200, f'{what}: /health says {status}'
        assert took < 15, f'{what}: /health took {took:.1f} s'
        self.heard.wait(lambda t, p, r: '/devices/' in t, f'{what}: documents', count + 100)
        # What came before is of before.
        self.said.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self.said.recv(100):
                pass
        self.said.settimeout(30)
        # Not what is said of the start.
        while self.said.recv(100) != b'WATCHDOG=1':
            pass

    def ends(self, what):
        took = self.gateway.ends_soon(what)
        assert self.gateway.process.returncode == 0, self.gateway.stderr()[-300:]
        return took


def read(s):
    """(status, octets) until the connection ends."""
    octets = b''
    with contextlib.suppress(ConnectionResetError):
        while chunk := s.recv(65536):
            octets += chunk
    return (int(octets.split(b' ', 2)[1]) if octets.startswith(b'HTTP/1.1 ') else 0), octets


HOST = b'Host: localhost\r\n'


def test_http_long_lines(bench):
    """request lines of 200 kB and 1 MB without a space: 414, and documents, /health, the watchdog and SIGTERM go on"""
    stage = Stage(bench)
    clients = []
    for size in (200_000, 200_000, 1_000_000, 1_000_000):
        s = stage.connect()
        # Slowly enough that the server has to read all the time.
        sender = threading.Thread(target=lambda s=s, size=size: send_quietly(s, b'A' * size), daemon=True)
        sender.start()
        clients.append((s, sender))
    stage.goes_on('long lines')
    for s, sender in clients:
        sender.join(30)
        assert read(s)[0] == 414, 'not 414'
    assert stage.ask(b'GET /' + b'a' * 300_000 + b' HTTP/1.1\r\n')[0] == 414, 'a long path: not 414'
    assert kilobytes(stage.gateway.process) < stage.before + 20_000, f'{stage.before} kB before, {kilobytes(stage.gateway.process)} kB after'
    open_lines = [stage.connect() for _ in range(4)]
    for s in open_lines:
        send_quietly(s, b'A' * 1_000_000)
    print(f'ended after {stage.ends("long lines"):.1f} s')


def send_quietly(s, octets):
    with contextlib.suppress(OSError):
        s.sendall(octets)


def test_http_slow(bench):
    """a hundred clients that send a header octet by octet: 408 or 503, and others are served; SIGTERM ends the gateway among them"""
    stage = Stage(bench)
    slow, stop = [], threading.Event()
    for _ in range(100):
        s = stage.connect()
        send_quietly(s, b'GET /health HTTP/1.1\r\nX: ')
        slow.append(s)

    def trickle():
        while not stop.wait(0.5):
            for s in slow:
                send_quietly(s, b'a')
    trickler = threading.Thread(target=trickle, daemon=True)
    trickler.start()
    for turn in range(5):
        stage.goes_on(f'slow clients, turn {turn}')
    started = time.monotonic()
    statuses = [read(s)[0] for s in slow]
    stop.set()
    trickler.join()
    assert time.monotonic() - started < 60, 'slow clients stay'
    assert set(statuses) <= {0, 408, 503} and statuses.count(408) >= 10, statuses
    again = [stage.connect() for _ in range(100)]
    for s in again:
        send_quietly(s, b'GET /h')
    took = stage.ends('slow clients')
    print(f'{statuses.count(408)} times 408, {statuses.count(503)} times 503; ended after {took:.1f} s')


def test_http_requests(bench):
    """many headers, long ones, bodies, pipelined and half requests, methods, versions: each has its status, and one answer"""
    stage = Stage(bench)
    many = b''.join(b'X-%d: a\r\n' % n for n in range(10_000))
    cases = {
        'plain': (b'GET /health HTTP/1.1\r\n' + HOST + b'\r\n', 200),
        'version 1.0': (b'GET /health HTTP/1.0\r\n\r\n', 200),
        'line feeds': (b'GET /health HTTP/1.0\n\n', 200),
        'absolute': (b'GET http://127.0.0.1/health HTTP/1.1\r\n' + HOST + b'\r\n', 200),
        'query': (b'GET /metrics?x=1 HTTP/1.1\r\n' + HOST + b'\r\n', 200),
        'head': (b'HEAD /health HTTP/1.1\r\n' + HOST + b'\r\n', 200),
        'pipelined': ((b'GET /health HTTP/1.1\r\n' + HOST + b'\r\n') * 1000, 200),
        '10,000 headers': (b'GET /health HTTP/1.1\r\n' + HOST + many + b'\r\n', 431),
        'a header of 1 MB': (b'GET /health HTTP/1.1\r\n' + HOST + b'X: ' + b'a' * 1_000_000 + b'\r\n\r\n', 431),
        'no host': (b'GET /health HTTP/1.1\r\n\r\n', 400),
        'two hosts': (b'GET /health HTTP/1.1\r\n' + HOST * 2 + b'\r\n', 400),
        'a foreign host': (b'GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n', 421),
        'a foreign host with a port': (b'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1.evil.example:9464\r\n\r\n', 421),
        'a foreign absolute target': (b'GET http://evil.example/health HTTP/1.1\r\n' + HOST + b'\r\n', 421),
        'an address': (b'GET /health HTTP/1.1\r\nHost: 192.168.1.2:9464\r\n\r\n', 200),
        'IPv6': (b'GET /health HTTP/1.1\r\nHost: [::1]:9464\r\n\r\n', 200),
        'nowhere': (b'GET / HTTP/1.1\r\n' + HOST + b'\r\n', 404),
        'POST': (b'POST /health HTTP/1.1\r\n' + HOST + b'Content-Length: 3\r\n\r\nabc', 405),
        'a body': (b'GET /health HTTP/1.1\r\n' + HOST + b'Content-Length: 3\r\n\r\nabc', 413),
        'a body of 2^70': (b'GET /health HTTP/1.1\r\n' + HOST + b'Content-Length: 1180591620717411303424\r\n\r\n', 413),
        'chunks': (b'GET /health HTTP/1.1\r\n' + HOST + b'Transfer-Encoding: chunked\r\n\r\n' + b'1\r\na\r\n' * 100_000, 413),
        'a chunk without end': (b'GET /health HTTP/1.1\r\n' + HOST + b'Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n', 413),
        'chunks and a length': (b'GET /health HTTP/1.1\r\n' + HOST + b'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n', 400),
        'HTTP/2': (b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505),
        'TLS': (bytes.fromhex('16030100c8010000c40303') + bytes(200), 400),
        'nothing that is known': (os.urandom(4096), None),
    }
    for name, (octets, wanted) in cases.items():
        status, answer = stage.ask(octets)
        assert wanted is None or status == wanted, f'{name}: {status}, not {wanted}: {answer[:100]}'
        assert answer.count(b'HTTP/1.1 ') <= 1, f'{name}: several answers'
        if wanted and wanted != 200:
            assert b'\r\nConnection: close\r\n' in answer, f'{name}: {answer}'
    assert b'\r\n\r\n{' not in stage.ask(cases['head'][0])[1], 'HEAD has a body'
    assert b'Allow: GET, HEAD\r\n' in stage.ask(cases['POST'][0])[1], 'no Allow'
    # A client that only closes its side still has its answer; one that ends within its request is told.
    assert stage.ask(cases['plain'][0], half=True)[0] == 200, 'half closed'
    assert stage.ask(b'GET /health HT', half=True)[0] == 400, 'half a request'
    assert stage.ask(b'', half=True) == (0, b''), 'no request'
    stage.goes_on('requests')
    stage.ends('requests')


def test_http_crowd(bench):
    """clients that never read, and thousands of connections: memory and descriptors are bounded, others are served"""
    stage = Stage(bench)
    descriptors = lambda: len(os.listdir(f'/proc/{stage.gateway.process.pid}/fd'))   # noqa: E731
    before = descriptors()
    silent = []
    for _ in range(100):
        s = stage.connect(buffer=2048)
        send_quietly(s, (b'GET /metrics HTTP/1.1\r\n' + HOST + b'\r\n') * 100)
        silent.append(s)
    stage.goes_on('clients that never read')
    most = 0
    for turn in range(2000):
        s = stage.connect()
        send_quietly(s, b'GET /metrics HTTP/1.1\r\n' + HOST + b'\r\n' if turn % 2 else b'')
        silent.append(s)
        if turn % 100 == 0:
            most = max(most, descriptors())
        if len(silent) > 300:
            silent.pop(0).close()
    assert most <= before + 64 + 5, f'{most} descriptors, {before} before'
    stage.goes_on('thousands of connections')
    assert kilobytes(stage.gateway.process) < stage.before + 30_000, f'{stage.before} kB before, {kilobytes(stage.gateway.process)} kB after'
    for s in silent:
        s.close()
    wait_until(lambda: descriptors() <= before + 2, 'descriptors are free again')
    stage.ends('a crowd')
    print(f'{most} descriptors at most, {before} before; {stage.before // 1024} MB before')


def test_http_names_and_tokens(bench):
    """names of the settings are hosts, too; a token is compared whole, and a token file that is a pipe or missing serves nobody"""
    bench.write('token', 'a-secret\n')
    stage = Stage(bench, http=f', hosts: [Gateway.example], tokenFile: "{bench.path("token")}"')

    def ask(host, *fields):
        lines = [b'GET /health HTTP/1.1', b'Host: ' + host, *fields]
        return stage.ask(b'\r\n'.join(lines) + b'\r\n\r\n')[0]
    right = b'Authorization: Bearer a-secret'
    for host, fields, wanted in (
            (b'gateway.EXAMPLE:9464', [right], 200), (b'evil.example', [right], 421), (b'localhost', [right], 200),
            (b'localhost', [], 401), (b'localhost', [b'authorization:bearer a-secret'], 200),
            (b'localhost', [b'Authorization: Bearer a-secre'], 401), (b'localhost', [b'Authorization: Bearer a-secrets'], 401),
            (b'localhost', [b'Authorization: Bearer ' + b'a-secret' * 2], 401), (b'localhost', [b'Authorization: Bearer '], 401),
            (b'localhost', [b'Authorization: Basic a-secret'], 401), (b'localhost', [right, right], 400)):
        found = ask(host, *fields)
        assert found == wanted, f'{host} {fields}: {found}, not {wanted}'
    os.unlink(bench.path('token'))
    assert ask(b'localhost', right) == 503, 'without a token file'
    os.mkfifo(bench.path('token'))
    assert ask(b'localhost', right) == 503, 'the token file is a pipe'
    stage.gateway.wait_stderr('is a pipe, not a file')
    os.unlink(bench.path('token'))
    bench.write('token', '')
    assert ask(b'localhost', b'Authorization: Bearer ') == 503, 'an empty token'
    bench.write('token', 'other')
    assert ask(b'localhost', b'Authorization: Bearer other') == 200, 'a new token'
    stage.ends('tokens')


def test_http_address(bench):
    """the address is in use: told, tried again, and served when it is free; an address that is none is a wrong setting"""
    bench.start_broker()
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()
        port = other.getsockname()[1]
        gateway = bench.start('-t', 'sim', '--mqtt', bench.url, '--http', f'127.0.0.1:{port}')
        gateway.port = port
        gateway.wait_stderr(f'cannot serve HTTP on 127.0.0.1:{port}')
    wait_until(gateway.is_healthy, 'served')
    gateway.end()
    for listen in ('localhost:9464', '127.evil.example:9464', '999.0.0.1:80'):
        file = bench.write('wrong.yaml', f'mqtt: {{url: "{bench.url}"}}\nhttp: {{listen: "{listen}"}}\n')
        child = bench.run('--config', file, '--check', status=2)
        assert 'http.listen: the host is no address' in child.stderr(), child.stderr()
