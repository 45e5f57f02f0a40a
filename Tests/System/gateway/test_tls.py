"""The HTTP server with TLS: who may connect, and what becomes of those who break it or do not speak it."""
import json, os, socket, ssl, threading, time

from jelling.child import free_port
from jelling.gateway import wait_until

from gateway.test_trouble import certificate, openssl

REFUSED = [
    ('listen: "0.0.0.0:PORT"', 'http.listen: an address that others reach needs ‘tokenFile’ or ‘clientCAFile’, and ‘certFile’'),
    ('listen: "0.0.0.0:PORT", tokenFile: DIR/token', 'http.listen: an address that others reach needs'),
    ('listen: "0.0.0.0:PORT", certFile: DIR/g.pem, keyFile: DIR/g.key', 'http.listen: an address that others reach needs'),
    ('listen: "127.0.0.1:PORT", certFile: DIR/g.pem', '‘certFile’ and ‘keyFile’ need each other'),
    ('listen: "127.0.0.1:PORT", clientCAFile: DIR/ca.pem', 'certificates of clients need ‘certFile’ and ‘keyFile’'),
    ('listen: "127.0.0.1:PORT", certFile: DIR/g.key, keyFile: DIR/g.key', 'http.certFile: DIR/g.key has no certificate in PEM form'),
    ('listen: "127.0.0.1:PORT", certFile: DIR/g.pem, keyFile: DIR/client.key', 'http.certFile: the key DIR/client.key cannot be used'),
    ('listen: "127.0.0.1:PORT", certFile: DIR/none, keyFile: DIR/g.key', 'http.certFile: DIR/none cannot be read'),
]


def prepare(bench):
    certificate(bench, 'g')
    certificate(bench, 'client', subject='client')
    bench.write('token', 'secret')


def start(bench, http):
    port = free_port()
    text = http.replace('PORT', str(port)).replace('DIR', bench.dir)
    # Not as `listen: "127.0.0.1:…"`: the bench would ask without TLS.
    gateway = bench.configured(f'name: g\nadapters: [sim]\nhttp: {{{text}}}\n')
    gateway.port = port
    return gateway


def context(bench, client=None):
    found = ssl.create_default_context(cafile=bench.path('ca.pem'))
    found.check_hostname = False
    if client:
        found.load_cert_chain(bench.path(f'{client}.pem'), bench.path(f'{client}.key'))
    return found


def get(bench, port, path='/health', client=None, token='secret'):
    """(status, body); 0 if the connection is refused."""
    try:
        with socket.create_connection(('127.0.0.1', port), 60) as plain, context(bench, client).wrap_socket(plain) as s:
            s.sendall(f'GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n'.encode())
            octets = b''
            while chunk := s.recv(65536):
                octets += chunk
    except OSError:
        return 0, b''
    head, _, body = octets.partition(b'\r\n\r\n')
    return int(head.split(b' ')[1]), body


def test_tls_settings(bench):
    """what others reach needs TLS and a token or certificates of clients, and files that are what they should be: exit status 2"""
    prepare(bench)
    for text, wanted in REFUSED:
        port = free_port()
        text = text.replace('PORT', str(port)).replace('DIR', bench.dir)
        file = bench.write('wrong.yaml', f'adapters: [sim]\nhttp: {{{text}}}\n')
        said = bench.run('--config', file, status=2).stderr()
        assert wanted.replace('DIR', bench.dir) in said, (text, said)


def test_tls_clients(bench):
    """pages and events over TLS, for all addresses; plain clients, half handshakes and broken records harm nobody"""
    prepare(bench)
    gateway = start(bench, 'listen: "0.0.0.0:PORT", tokenFile: DIR/token, certFile: DIR/g.pem, keyFile: DIR/g.key')
    wait_until(lambda: get(bench, gateway.port)[0] == 200, 'served')
    assert get(bench, gateway.port, token='wrong')[0] == 401
    devices = wait_until(lambda: json.loads(get(bench, gateway.port, '/api/devices')[1])['devices'], 'devices')
    assert devices[0]['address'].startswith('C0:DE')
    with socket.create_connection(('127.0.0.1', gateway.port), 60) as plain, context(bench).wrap_socket(plain) as s:
        s.sendall(b'GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n')
        octets = b''
        while octets.count(b'event: device') < 10:
            octets += s.recv(65536)
    silent = [socket.create_connection(('127.0.0.1', gateway.port), 60) for _ in range(20)]
    for number, s in enumerate(silent):
        s.sendall((b'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n', b'\x16\x03\x01', os.urandom(500), b'')[number % 4])
    stop = threading.Event()

    def renew():
        # A client that breaks off within its handshake, again and again.
        while not stop.wait(0.01):
            try:
                with socket.create_connection(('127.0.0.1', gateway.port), 60) as s:
                    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
                    half = context(bench).wrap_bio(incoming, outgoing)
                    try:
                        half.do_handshake()
                    except ssl.SSLWantReadError:
                        s.sendall(outgoing.read())
            except OSError:
                pass
    thread = threading.Thread(target=renew)
    thread.start()
    try:
        for _ in range(20):
            assert get(bench, gateway.port)[0] == 200
    finally:
        stop.set()
        thread.join()
    started = time.monotonic()
    for s in silent:
        try:
            while s.recv(65536):
                pass
        except ConnectionError:
            pass
    assert time.monotonic() - started < 60, 'half handshakes stay'
    old = context(bench)
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_2
    with socket.create_connection(('127.0.0.1', gateway.port), 60) as plain, old.wrap_socket(plain) as s:
        assert s.version() == 'TLSv1.2'
    gateway.ends_soon('TLS')


def test_tls_certificates(bench):
    """with clientCAFile only clients with a certificate of that authority are served"""
    prepare(bench)
    gateway = start(bench, 'listen: "0.0.0.0:PORT", clientCAFile: DIR/ca.pem, certFile: DIR/g.pem, keyFile: DIR/g.key')
    wait_until(lambda: get(bench, gateway.port, client='client')[0] == 200, 'served')
    assert get(bench, gateway.port)[0] == 0, 'served without a certificate'
    stranger = ('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'stranger.key', '-out', 'stranger.pem', '-days', '3', '-subj', '/CN=client')
    openssl(bench, *stranger)
    assert get(bench, gateway.port, client='stranger')[0] == 0, 'served with a certificate of its own'
    gateway.ends_soon('certificates')
