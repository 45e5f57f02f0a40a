"""Clients of the Bluetooth proxy that mean harm, or are odd: each is refused, and nothing else stops."""
import asyncio, base64, concurrent.futures, contextlib, os, random, socket, struct, threading, time

import pytest

from jelling import esphome
from jelling.child import free_port
from jelling.esphome import KEY, Client, go, until
from jelling.measures import kilobytes

# What the radio's first device is called.
DEVICE = 0xC13800000000
HELLO = b'\x00\x08\x01\x0a\x02hi\x10\x01\x18\x0c'
SUBSCRIBE, PING = b'\x00\x02\x42\x08\x01', b'\x00\x00\x07'
NOISE_HELLO = b'\x01\x00\x00'


def noise(content):
    return b'\x01' + struct.pack('>H', len(content)) + content


KEYS = {'plain': None, 'noise': KEY}


@pytest.fixture(params=list(KEYS))
def stage(bench, request):
    return Stage(bench, request.param)


@pytest.fixture
def stages(bench):
    """Both, for what waits for a limit of the gateway: at the same time."""
    return [Stage(bench, name) for name in KEYS]


def together(work, stages):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for one in [pool.submit(work, stage) for stage in stages]:
            one.result()


class Stage:
    """A gateway under load with MQTT, a page and a proxy."""

    def __init__(self, bench, name):
        if lacking := esphome.lacking():
            pytest.fail(lacking)
        if not bench.broker:
            bench.start_broker()
        self.bench, self.key = bench, KEYS[name]
        self.heard = bench.subscribe(f'jelling/{name}/devices/#')
        self.radio = bench.radio('--devices', '5', '--rate', '200', name=f'radio-{name}')
        port = free_port()
        self.gateway = esphome.start(bench, self.radio.socket, key=self.key, name=name, more=f'http: {{listen: "127.0.0.1:{port}"}}\n')
        self.gateway.port = port
        self.before = kilobytes(self.gateway.process)

    def connect(self, octets=b'', buffer=None, timeout=60):
        s = socket.socket()
        s.settimeout(timeout)
        if buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        s.connect(self.gateway.place[:2])
        s.sendall(octets)
        return s

    def session(self, **how):
        """A connection on which messages can be sent: with Noise it has a cipher."""
        if self.key is None:
            s = self.connect(HELLO, **how)
            return s, lambda message: message
        from noise.connection import NoiseConnection
        proto = NoiseConnection.from_name(b'Noise_NNpsk0_25519_ChaChaPoly_SHA256')
        proto.set_as_initiator()
        proto.set_psks(base64.b64decode(self.key))
        proto.set_prologue(b'NoiseAPIInit\0\0')
        proto.start_handshake()
        s = self.connect(NOISE_HELLO + noise(b'\0' + proto.write_message()), **how)
        frames = []
        while len(frames) < 2:
            head = receive(s, 3)
            frames.append(receive(s, struct.unpack('>H', head[1:])[0]))
        proto.read_message(frames[1][1:])

        def seal(message):
            """Of a plain frame with short numbers."""
            return noise(proto.encrypt(struct.pack('>HH', message[2], len(message) - 3) + message[3:]))
        s.sendall(seal(HELLO))
        return s, seal

    async def goes_on(self, what):
        """A client that means well, MQTT, the page, and the memory."""
        async with Client(self.gateway) as client:
            count = len(self.heard.messages)
            await client.hears(DEVICE, count=5)
            start = time.monotonic()
            await client.api.device_info()
            assert time.monotonic() - start < 15, f'{what}: an answer took {time.monotonic() - start:.1f} s'
            await until(lambda: len(self.heard.messages) > count + 20, f'{what}: documents')
            assert await asyncio.to_thread(self.gateway.is_healthy), what
            grown = kilobytes(self.gateway.process) - self.before
            assert grown < 40_000, f'{what}: {grown} kB more'

    def check(self, what):
        go(self.goes_on(what))


def receive(s, count):
    octets = b''
    while len(octets) < count:
        more = s.recv(count - len(octets))
        assert more, 'the connection has ended'
        octets += more
    return octets


def ends(s):
    """All until the connection ends."""
    octets = b''
    with contextlib.suppress(ConnectionError):
        while more := s.recv(65536):
            octets += more
    s.close()
    return octets


def test_keys(stage):
    """a wrong key, none, and one where none is needed: the client knows which, and the others go on"""
    from aioesphomeapi import APIClient, APIConnectionError, InvalidEncryptionKeyAPIError, RequiresEncryptionAPIError
    from aioesphomeapi.core import EncryptionPlaintextAPIError
    host, port, key = stage.gateway.place
    other = base64.b64encode(os.urandom(32)).decode()
    wanted = {other: InvalidEncryptionKeyAPIError, None: RequiresEncryptionAPIError} if key else {other: EncryptionPlaintextAPIError}

    async def work():
        async with Client(stage.gateway) as client:
            for wrong, error in wanted.items():
                for _ in range(5):
                    with pytest.raises(error):
                        await APIClient(host, port, None, noise_psk=wrong).connect(login=True)
            await client.hears(DEVICE, count=5)
    go(work())
    assert stage.gateway.metric('proxy_wrong_keys_total') >= 5 * len(wanted)
    stage.check('wrong keys')


def test_half_handshakes(stages):
    """those who begin and stop at every place are sent away after a while, and take no place of others"""
    together(half_handshakes, stages)


def half_handshakes(stage):
    first = HELLO if stage.key is None else NOISE_HELLO + noise(b'\0' + bytes(48))
    half = []

    async def work():
        async with Client(stage.gateway) as client:
            for _ in range(3):
                for end in range(len(first)):
                    half.append(stage.connect(first[:end]))
                await client.hears(DEVICE, count=5)
    go(work())
    stage.check('half handshakes')
    started = time.monotonic()
    for s in half:
        ends(s)
    assert time.monotonic() - started < 60, 'they were not sent away'


@pytest.mark.slow
def test_stopped_reader(stages):
    """a subscriber that stops reading, and one that asks without reading: dropped, then sent away; the memory stays. It lasts as long as a
    client may read nothing, 30 s"""
    together(stopped_reader, stages)


def stopped_reader(stage):
    slow, seal = stage.session(buffer=4096)
    slow.sendall(seal(SUBSCRIBE))
    flood, seal = stage.session(buffer=4096)
    stop = threading.Event()

    def ask():
        flood.settimeout(0.5)
        with contextlib.suppress(OSError):
            while not stop.is_set():
                pings = b''.join(seal(PING) for _ in range(200))
                while pings and not stop.is_set():
                    with contextlib.suppress(TimeoutError):
                        pings = pings[flood.send(pings):]
    asking = threading.Thread(target=ask)
    asking.start()
    for _ in range(5):
        stage.check('clients that do not read')
    stage.gateway.wait_metric('proxy_stalls_total', 0)
    stop.set()
    asking.join()
    for s in (slow, flood):
        s.close()
    stage.check('afterwards')


def test_floods(stage):
    """connections in great number, and messages in great number from one who reads"""
    busy, seal = stage.session()
    answers = threading.Thread(target=ends, args=(busy,), daemon=True)
    answers.start()

    async def work():
        async with Client(stage.gateway) as client:
            for _ in range(20):
                sockets = [stage.connect() for _ in range(50)]
                await asyncio.to_thread(busy.sendall, b''.join(seal(PING) for _ in range(2000)))
                await client.hears(DEVICE, count=5)
                for s in sockets:
                    s.close()
    go(work())
    assert stage.gateway.metric('proxy_connections_total') >= 1000
    assert stage.gateway.metric('proxy_refusals_total') > 100
    busy.shutdown(socket.SHUT_RDWR)
    stage.check('floods')


def broken(random, seal):
    """A message that has been spoilt, before or after it was sealed."""
    message = random.choice((
        HELLO, SUBSCRIBE, PING, b'\x00\x0a\x44\x08\x81\x80\x80\x80\x80\xc0\x37\x10\x05\x18', b'\x00\x06\x4b\x08\x01\x10\x03\x22\x00',
        b'\x00\x04\x91\x01\x08\x01\x10\x06', b'\x00\xff\xff\xff\x7f\x07', b'\x00' + b'\xff' * 10, bytes(random.randbytes(20))))
    if seal and random.random() < 0.5 and len(message) > 3:
        content = bytearray(message[3:])
        for _ in range(2):
            content.insert(random.randrange(len(content) + 1), random.randrange(256))
        return seal(message[:3] + bytes(content))
    octets = bytearray(seal(message) if seal and len(message) > 3 else message)
    octets[random.randrange(len(octets))] = random.randrange(256)
    if random.random() < 0.3:
        octets = octets[:random.randrange(1, len(octets) + 1)]
    return bytes(octets)


def test_broken_frames(stage, count=int(os.environ.get('BROKEN_FRAMES', '100000'))):
    """a hundred thousand broken frames: only their connections end"""
    draw = random.Random(36)
    sent = 0

    def attack():
        nonlocal sent
        while sent < count:
            s, seal = (stage.connect(), None) if draw.random() < 0.3 else stage.session()
            with contextlib.suppress(OSError):
                s.settimeout(0.001)
                while sent < count:
                    s.sendall(b''.join(broken(draw, seal) for _ in range(50)))
                    sent += 50
                    with contextlib.suppress(TimeoutError):
                        if not s.recv(65536):
                            break
            s.close()

    async def work():
        async with Client(stage.gateway) as client:
            attacking = asyncio.create_task(asyncio.to_thread(attack))
            while not attacking.done():
                await client.hears(DEVICE, count=5)
            await attacking
            await client.hears(DEVICE, count=5)
    go(work(), 600)
    assert stage.gateway.metric('proxy_violations_total') + stage.gateway.metric('proxy_wrong_keys_total') > count / 500
    stage.check('broken frames')
    print(f'{sent} frames on {int(stage.gateway.metric("proxy_connections_total"))} connections')


def test_end(stage):
    """SIGTERM ends it at once, whatever clients do"""
    clients = [stage.session()[0] for _ in range(5)] + [stage.connect() for _ in range(5)]
    stage.gateway.ends_soon('clients that stay')
    assert stage.gateway.process.returncode == 0, stage.gateway.stderr()
    for s in clients:
        ends(s)
