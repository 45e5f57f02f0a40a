"""Matter's BLE proxy: a scripted matter-server, and a scripted device that can be commissioned; servers that mean harm."""
import base64, concurrent.futures, contextlib, fcntl, hashlib, json, os, random, socket, ssl, struct, time

import pytest

from jelling import btp, link, options
from jelling.attributes import NOTIFY, READ, WRITE, WRITE_COMMAND
from jelling.controller import Controller
from jelling.gateway import PATIENCE, wait_until
from jelling.matter import Commissioner, Device, Refused, Server, octets
from jelling.measures import kilobytes

from gateway.test_trouble import certificate


class Stage:
    """A gateway that is the client of a server, and a device on the air."""

    def __init__(self, bench, more='', server=None, name='g', **device):
        self.bench, self.path = bench, bench.path(f'{name}.hci')
        self.controller = Controller(self.path)
        self.device = Device(self.controller, **device)
        self.device.advertise()
        self.server = server or Server()
        if not bench.broker:
            bench.start_broker()
        self.heard = bench.subscribe(f'jelling/{name}/#')
        # The device says the same all the time: documents come with each refresh.
        self.gateway = bench.start('--config', bench.write(
            f'{name}.yaml', f'name: {name}\nadapters: ["{self.controller.endpoint}"]\nmqtt: {{url: "{bench.url}"}}\n'
            f'publish: {{interval: 0, refresh: 0.2}}\nmatter: {{url: "{self.server.url}"{more}}}\n'), page=True)
        self.before = None

    def goes_on(self, what):
        count = len(self.heard.documents())
        wait_until(lambda: len(self.heard.documents()) > count, f'{what}: documents')
        size = kilobytes(self.gateway.process)
        self.before = self.before or size
        assert size < self.before + 30_000, f'{what}: {self.before} kB before, {size} kB after'

    def is_free(self):
        """The gateway has no link to the device."""
        wait_until(lambda: not self.device.link or not self.device.link.open, 'the link has ended')


@pytest.fixture
def stage(bench, request):
    stages = []

    def make(*arguments, **how):
        stages.append(Stage(bench, *arguments, **how))
        return stages[-1]

    def close():
        for one in stages:
            one.server.close()
            one.controller.close()
    request.addfinalizer(close)
    return make


def refused(session, word, command, **arguments):
    with pytest.raises(Refused) as found:
        session.ask(command, **arguments)
    assert found.value.args[0] == word, f'{command} {arguments}: {found.value.args}'
    assert found.value.args[1], command


@pytest.mark.parametrize('mtu', [247, 64, 23])
def test_matter_commissioning(stage, mtu):
    """scan, connect, BTP's handshake, and PASE's first messages in fragments, at three ATT_MTUs; on the air are the octets that the
    specification of BTP and the page of the protocol say, in that order"""
    stage = stage(mtu=mtu)
    session = stage.server.session()
    assert stage.server.hellos == ['{"type":"hello","version":1}']
    session.ask('start_scan', service_uuids=['fff6'], allow_duplicates=False)
    found = session.event('device_discovered')
    assert found['address'] == stage.device.address and found['connectable'] and -127 < found['rssi'] < 20, found
    assert base64.b64decode(found['service_data']['fff6']) == btp.advertised(3840, 0xFFF1, 0x8000), found
    session.ask('stop_scan')
    commissioner = Commissioner(session, stage.device.address)
    size = max(mtu, 23) - 3
    assert (commissioner.mtu, commissioner.services) == (mtu, ['fff6'])
    assert commissioner.characteristics == {btp.C1: ['write'], btp.C2: ['indicate'], btp.C3: ['read']}
    assert commissioner.response == btp.response(min(size, 244), 6)
    assert base64.b64decode(session.ask('read_characteristic', connection_handle=commissioner.handle, characteristic_uuid=btp.C3.lower())[
        'value']) == b'\x15\x18'
    message = btp.parameter_request(bytes(range(32)), 0x4321)
    asked = commissioner.send(message)
    answer, answered = commissioner.receive()
    last = commissioner.side.acknowledge()
    session.send(struct.pack('>BH', 1, commissioner.handle) + last)
    assert stage.device.messages == [message] and answer == btp.parameter_response(
        message, stage.device.RANDOM, 0x5678, 1000, stage.device.SALT)
    device = stage.device
    wait_until(lambda: device.air[-1][1][3:] == last, 'the last acknowledgement on the air')
    written, indicated = struct.pack('<BH', 0x12, device.c1), struct.pack('<BH', 0x1D, device.c2)
    passed = [(host, pdu) for host, pdu in device.air if pdu[0] in (0x12, 0x1D, 0x52)]
    assert passed == (
        [(True, written + commissioner.request), (True, struct.pack('<BH', 0x12, device.c2 + 1) + b'\2\0'), (False, indicated + commissioner.response)]
        + [(True, written + packet) for packet in asked] + [(False, indicated + packet) for packet in answered] + [(True, written + last)])
    assert len([pdu for host, pdu in device.air if host and pdu == b'\x1e']) == 1 + len(answered), 'confirmations'
    assert asked[0][:2] == b'\x0d\x00' if mtu == 247 else asked[0][:2] == b'\x09\x00' and asked[-1][0] & btp.END, asked[0].hex()
    assert session.ask('request_mtu', connection_handle=commissioner.handle, mtu=517) == {'mtu': mtu}
    session.ask('disconnect', connection_handle=commissioner.handle)
    stage.is_free()
    refused(session, 'not_connected', 'disconnect', connection_handle=commissioner.handle)
    assert session.events == [] and session.strays == []
    print(f'{len(asked)} and {len(answered)} fragments')


def test_matter_words(stage):
    """each word for an error where the page says it; filters, duplicates, UUIDs of each form; what is written, read and subscribed"""
    stage = stage()
    server = stage.device.server
    server.service('180D')
    both = server.characteristic('2A37', NOTIFY | READ, b'\x00\x40')
    plain = server.characteristic('2A39', WRITE | WRITE_COMMAND | READ, b'\x01')
    session, address = stage.server.session(), stage.device.address
    refused(session, 'not_scanning', 'stop_scan')
    refused(session, 'device_not_found', 'connect', address=address)
    session.ask('start_scan', service_uuids=['180d'])
    refused(session, 'already_scanning', 'start_scan')
    session.ask('stop_scan')
    for form in ('FFF6', '0000fff6', '0000fff6-0000-1000-8000-00805f9b34fb', '0000FFF600001000800000805F9B34FB'):
        session.ask('start_scan', service_uuids=[form])
        session.event('device_discovered')
        session.event('device_discovered')
        session.ask('stop_scan')
    session.ask('start_scan')
    session.ask('stop_scan')
    handle, mtu = session.link(address)
    on = {'connection_handle': handle}
    refused(session, 'already_connected', 'connect', address=address)
    refused(session, 'device_not_found', 'connect', address='00:11:22:33:44:55')
    assert session.ask('discover_services', **on)['services'] == [{'uuid': 'fff6'}, {'uuid': '180d'}]
    refused(session, 'service_not_found', 'discover_characteristics', service_uuid='1234', **on)
    for command in ('read_characteristic', 'subscribe_characteristic', 'unsubscribe_characteristic'):
        refused(session, 'characteristic_not_found', command, characteristic_uuid='2a00', **on)
        refused(session, 'not_connected', command, characteristic_uuid='2a37', connection_handle=handle + 1)
    refused(session, 'characteristic_not_found', 'write_characteristic', characteristic_uuid='2a00', value='', **on)
    refused(session, 'not_subscribed', 'unsubscribe_characteristic', characteristic_uuid='2a37', **on)
    refused(session, 'notify_not_supported', 'subscribe_characteristic', characteristic_uuid='2a39', **on)
    refused(session, 'notify_not_supported', 'write_and_subscribe', write_uuid='2a39', write_value='', subscribe_uuid='2a39', **on)
    refused(session, 'read_failed', 'read_characteristic', characteristic_uuid=btp.C1, **on)
    refused(session, 'write_failed', 'write_characteristic', characteristic_uuid='2a37', value='AAAA', response=True, **on)
    session.ask('write_characteristic', characteristic_uuid='2a39', value=octets(b'one'), response=True, **on)
    session.ask('write_characteristic', characteristic_uuid='2a39', value=octets(b'two'), **on)
    assert session.ask('read_characteristic', characteristic_uuid='00002A39-0000-1000-8000-00805F9B34FB', **on) == {'value': octets(b'two')}
    assert [(h, v, o) for h, v, _, o in server.written if h == plain] == [(plain, b'one', 0x12), (plain, b'two', 0x52)]
    session.send(struct.pack('>BH', 1, handle) + b'three')
    assert session.ask('read_characteristic', characteristic_uuid='2a39', **on) == {'value': octets(b'three')}
    session.ask('subscribe_characteristic', characteristic_uuid='2a37', **on)
    stage.device.notify(both, b'\x00\x41')
    assert session.frame() == struct.pack('>BH', 2, handle) + b'\x00\x41'
    session.ask('subscribe_characteristic', characteristic_uuid=btp.C2, **on)
    stage.device.notify(both, b'\x00\x42')
    assert session.event('characteristic_notification') == {'connection_handle': handle, 'characteristic_uuid': '2a37', 'value': octets(b'\x00\x42')}
    session.ask('unsubscribe_characteristic', characteristic_uuid='2a37', **on)
    assert server.attribute(both + 1).value == b'\0\0' and server.attribute(stage.device.c2 + 1).value == b'\2\0'
    for command, arguments in {'fly': {}, 'connect': {'address': 7}, 'disconnect': {}, 'start_scan': {'service_uuids': ['no']},
                               'write_characteristic': {'characteristic_uuid': '2a39', 'value': 'A', **on}}.items():
        refused(session, 'internal_error', command, **arguments)
    session.send({'id': 900, 'command': 'disconnect', 'args': ['no object']})
    with pytest.raises(Refused, match='internal_error'):
        session.answer(900)
    stage.device.disconnect()
    gone = session.event('disconnected')
    assert gone['connection_handle'] == handle and gone['reason'], gone
    again, _ = session.link(address)
    assert again != handle
    stage.controller.remove(stage.device)
    refused(session, 'not_connected', 'request_mtu', connection_handle=handle, mtu=100)
    session.ask('disconnect', connection_handle=again)
    refused(session, 'timeout', 'connect', address=address, timeout=1500)


def test_matter_ends(stage):
    """links end with the session, and so does a scan; the gateway comes back by itself, and ends a session when it ends"""
    stage = stage()
    session = stage.server.session()
    handle, _ = session.link(stage.device.address)
    session.ask('start_scan')
    session.connection.close()
    stage.is_free()
    session = stage.server.session()
    refused(session, 'not_connected', 'disconnect', connection_handle=handle)
    refused(session, 'device_not_found', 'connect', address=stage.device.address)
    handle, _ = session.link(stage.device.address)
    session.connection.socket.shutdown(socket.SHUT_RDWR)
    stage.is_free()
    session = stage.server.session()
    session.link(stage.device.address)
    stage.gateway.ends_soon('a session')
    session.wait_end()
    stage.is_free()
    assert stage.gateway.process.returncode == 0, stage.gateway.stderr()[-300:]


def test_matter_radio(stage):
    """an adapter that disappears ends scan and link with an event; until it is back there is no scan"""
    stage = stage()
    session = stage.server.session()
    handle, _ = session.link(stage.device.address)
    session.ask('start_scan')
    stage.controller.close()
    assert session.event('scan_stopped') == {'reason': 'adapter_off'}
    assert session.event('disconnected')['connection_handle'] == handle
    refused(session, 'bluetooth_unavailable', 'start_scan')
    os.unlink(stage.path)
    stage.controller = Controller(stage.path)
    stage.device.controller = stage.controller
    stage.device.advertise()

    def scans():
        try:
            session.ask('start_scan')
            return True
        except Refused:
            time.sleep(0.2)
    wait_until(scans, 'a scan')
    session.event('device_discovered')


def test_matter_token(stage, bench):
    """a token is sent, and read again for each connection; a wrong one, another path and another version are said once"""
    token = bench.write('token', 'wrong\n')
    stage = stage(f', tokenFile: "{token}"', server=Server('right'))
    stage.gateway.wait_stderr('it wants a token that is right')
    bench.write('token', 'right\n')
    stage.server.session()
    assert 401 in stage.server.statuses and stage.server.statuses[-1] == 101
    for other, text in ((Server(path='/other'), 'start the server with --ble-proxy'), (Server(version=2), 'the server speaks version 2')):
        bench.start('--config', bench.write('other.yaml', f'name: h\nadapters: [sim]\nmatter: {{url: "{other.url}"}}\n')).wait_stderr(text)
        other.close()


def test_matter_tls(stage, bench):
    """wss:// with an authority of the settings: a server whose certificate is of another, or has expired, gets nothing, not even the token; a
    conversation goes through, also with long messages"""
    certificate(bench, 'good')
    certificate(bench, 'old', days='-1')
    os.rename(bench.path('ca.pem'), bench.path('authority.pem'))
    certificate(bench, 'stranger')
    token = bench.write('token', 'right\n')
    more = f', caFile: {bench.path("authority.pem")}, tokenFile: {token}'
    for name in ('stranger', 'old'):
        other = Server('right', security=identity(bench, name))
        bench.start('--config', bench.write('other.yaml', f'name: h\nadapters: [sim]\nmatter: {{url: "{other.url}"{more}}}\n')).wait_stderr(
            'certificate verify failed')
        assert other.statuses == []
        other.close()
    stage = stage(more, server=Server('right', security=identity(bench, 'good')))
    session = stage.server.session()
    commissioner = Commissioner(session, stage.device.address)
    commissioner.send(btp.parameter_request(bytes(32), 1))
    assert commissioner.receive()[0].endswith(stage.device.SALT + b'\x18\x18')
    session.send({'id': 77, 'command': 'x' * 60_000})
    assert session.wait(lambda: session.answers.get(77), 'answer')['error'] == 'internal_error'
    session.connection.close()
    stage.is_free()
    stage.server.session()


def identity(bench, name):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(bench.path(f'{name}.pem'), bench.path(f'{name}.key'))
    return context


def noise(source):
    """Messages without a meaning, or with a wrong one: text, octets, commands."""
    words = ['start_scan', 'stop_scan', 'connect', 'disconnect', 'discover_services', 'discover_characteristics', 'read_characteristic',
             'write_characteristic', 'subscribe_characteristic', 'write_and_subscribe', 'unsubscribe_characteristic', 'request_mtu', 'x' * 300]
    values = [None, True, -1, 0, 70000, 1e300, '', '\0', 'fff6', 'A' * 5000, [], ['fff6'] * 40, {}, {'a': {'b': []}}, '00:11:22:33:44:55']
    keys = ['address', 'timeout', 'connection_handle', 'service_uuid', 'characteristic_uuid', 'value', 'write_uuid', 'write_value', 'mtu',
            'subscribe_uuid', 'service_uuids', 'allow_duplicates', 'response']
    return {'id': source.randrange(1 << 30), 'command': source.choice(words),
            'args': {k: source.choice(values) for k in source.sample(keys, source.randrange(len(keys)))}}


# Each ends a session.
BROKEN = {'noise': lambda: text(b'no JSON') * 40 + b'\x82\x01\x01' * 40, 'depth': lambda: text(b'[' * 60_000) * 100,
          'utf8': lambda: b'\x81\x02\xff\xfe', 'length': lambda: b'\x82\x7f' + b'\xff' * 8, 'chance': lambda: random.Random(2).randbytes(100_000)}


def test_matter_malformed(stage, bench):
    """10,000 commands with wrong names and arguments (--messages 100000: so many) are each answered; text that is no JSON, frames without a
    head, deep text, broken UTF-8, impossible lengths and chance end the session, and the gateway comes back; memory stays"""
    stage = stage()
    session, source = stage.server.session(), random.Random(options.SEED)
    stage.goes_on('before')
    count, batch = options.MESSAGES or 10_000, 500
    for first in range(0, count, batch):
        said = [{**noise(source), 'id': n} for n in range(first, min(first + batch, count))]
        session.connection.socket.sendall(b''.join(text(json.dumps(one).encode()) for one in said))
        session.wait(lambda: session.answers.get(said[-1]['id']), 'answers')
    assert sorted(session.answers) == list(range(count))
    stage.goes_on('malformed commands')
    # To one gateway each: the pauses of one grow with each session that ends.
    others = {name: Server() for name in BROKEN}
    for name, server in others.items():
        server.gateway = bench.start('--config', bench.write(
            f'{name}.yaml', f'name: {name}\nadapters: [sim]\nmatter: {{url: "{server.url}"}}\n'), page=True)
    for name, server in others.items():
        session, before = server.session(), kilobytes(server.gateway.process)
        with contextlib.suppress(OSError):
            session.connection.socket.sendall(BROKEN[name]())
        session.wait_end()
        server.session()
        assert server.gateway.metric('matter_violations_total') == 1, name
        grown = kilobytes(server.gateway.process) - before
        assert grown < 30_000, f'{name}: {grown} kB more'
        server.close()
    print(f'{count} commands')


@pytest.mark.slow
def test_matter_slow(stage, bench):
    """a server that answers nothing, says no Hello, asks or pings without reading, or lets reports pile up: each loses its session and its
    link; documents go on, memory stays, and SIGTERM ends the gateway in such a session. It lasts as long as a server may read nothing, 30 s"""
    work = {'silent': silent, 'asks': lambda stage: floods(stage, text(b'{"id":1,"command":"stop_scan"}')),
            'pings': lambda stage: floods(stage, b'\x89\x7d' + bytes(125)), 'unread': unread}
    stages = {name: stage(server=RawServer(), name=name) for name in work}
    # At the same time: each waits for limits of the gateway.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = [pool.submit(work[name], one) for name, one in stages.items()]
        for one in running:
            one.result()


def silent(stage):
    server = stage.server
    stage.goes_on('before')
    assert read_all(server.accept(upgrades=False)).startswith(b'GET /ble HTTP/1.1\r\n'), 'no end'
    assert len(read_all(server.accept())) > 20, 'no Hello'
    for problem in ('the server does not answer', 'the server does not say Hello'):
        stage.gateway.wait_stderr(problem)
    stage.goes_on('a server that says nothing')


def scanned(stage):
    """A session with reports, which is not read any more."""
    stage.goes_on('before')
    session = stage.server.accept(hello=True)
    session.sendall(text(b'{"id":1,"command":"start_scan"}'))
    # So many octets have reports in them; they are masked.
    read = b''
    while len(read) < 2000:
        read += session.recv(2000)
    return session


def stalls(stage, session, what):
    """The gateway ends a session that is not read, by its own decision."""
    wait_until(lambda: stage.gateway.metric('matter_stalls_total'), f'{what}: the end of the session')
    assert 'the server reads nothing' in stage.gateway.stderr(), stage.gateway.stderr()[-300:]
    session.settimeout(PATIENCE)
    with pytest.raises(ConnectionError):
        while True:
            session.sendall(bytes(1000))
    stage.is_free()
    stage.goes_on(what)
    assert stage.gateway.metric('matter_stalls_total') == 1


def floods(stage, request):
    session, device = scanned(stage), stage.device
    session.sendall(text(json.dumps({'id': 2, 'command': 'connect', 'args': {'address': device.address}}).encode()))
    device.wait(lambda: device.link and device.link.open, 'link')
    # As much as the gateway takes; it must not take everything.
    session.settimeout(1)
    with pytest.raises(TimeoutError):
        for _ in range(64 << 20 >> 13):
            session.sendall(request * (8192 // len(request) + 1))
    # It reads no more: what waits in the kernel for it stays there, and nothing has ended.
    waiting = unsent(session)
    time.sleep(2)
    assert unsent(session) == waiting > 0, f'it reads on: {waiting}, then {unsent(session)} octets'
    assert device.link.open and stage.gateway.metric('matter_stalls_total') == 0
    stage.goes_on('a flood without reading')
    stalls(stage, session, 'a flood without reading')


def unread(stage):
    # So many that they soon fill what the kernel keeps for the server.
    stage.controller.add(*(link.Device(f'C0:00:00:00:01:{n:02X}', data=stage.device.data) for n in range(20)))
    session = scanned(stage)
    stage.gateway.wait_metric('matter_devices_dropped_total', 0)
    stalls(stage, session, 'reports that nobody reads')
    scanned(stage)
    stage.gateway.ends_soon('a session that nobody reads')


def unsent(connection):
    """The octets that the other side's kernel has not taken (SIOCOUTQ)."""
    return struct.unpack('i', fcntl.ioctl(connection, 0x5411, bytes(4)))[0]


def text(said):
    return bytes([0x81, len(said)]) + said if len(said) < 126 else b'\x81\x7e' + struct.pack('>H', len(said)) + said


def read_all(connection):
    """All octets up to the end of the connection."""
    found = b''
    connection.settimeout(PATIENCE)
    with contextlib.suppress(ConnectionError):
        while chunk := connection.recv(65536):
            found += chunk
    return found


class RawServer:
    """A matter-server without a library, which reads nothing that it is not asked to read."""

    def __init__(self):
        self.listener = socket.socket()
        # So that what it does not read soon waits in the gateway.
        for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            self.listener.setsockopt(socket.SOL_SOCKET, buffer, 4096)
        self.listener.bind(('127.0.0.1', 0))
        self.listener.listen()
        self.listener.settimeout(PATIENCE)
        self.url = f'ws://127.0.0.1:{self.listener.getsockname()[1]}/ble'

    def accept(self, upgrades=True, hello=False):
        while True:
            # One that waited too long to be accepted is gone.
            with contextlib.suppress(ConnectionError):
                return self.begin(upgrades, hello)

    def begin(self, upgrades, hello):
        connection, _ = self.listener.accept()
        connection.settimeout(PATIENCE)
        if upgrades:
            request = b''
            while not request.endswith(b'\r\n\r\n'):
                request += (octet := connection.recv(1))
                if not octet:
                    raise ConnectionError
            key = request.split(b'Sec-WebSocket-Key: ')[1].split(b'\r\n')[0]
            proof = base64.b64encode(hashlib.sha1(key + b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())
            connection.sendall(b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: '
                               + proof + b'\r\n\r\n')
        if hello:
            connection.sendall(text(b'{"type":"hello_response","version":1}'))
        return connection

    def close(self):
        self.listener.close()
