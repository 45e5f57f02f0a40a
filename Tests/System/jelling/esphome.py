"""The Bluetooth proxy of jelling-gateway, between simulated controllers and clients of ESPHome's native API.

Clients run inside of the test's own process, unmodified, from .cache/esphome/venv."""
import asyncio, base64, contextlib, glob, os, socket, subprocess, sys

from jelling.bus import BUS
from jelling.child import Child, free_port
from jelling.gateway import PATIENCE, wait_until
from jelling.programs import ROOT

CACHE = os.environ.get('ESPHOME_CLIENTS') or os.path.join(ROOT, '.cache', 'esphome')
for folder in glob.glob(os.path.join(CACHE, 'venv', 'lib', 'python3*', 'site-packages')):
    # Behind those of the tests, whose versions count.
    sys.path.append(folder)

PEER = 0xF2F1F0000002
KEY = base64.b64encode(bytes(range(32))).decode()
# Characteristics of the peer, and what they are for.
HEART_RATE, BATTERY = '2a37', '2a19'


def lacking():
    if not glob.glob(os.path.join(CACHE, 'venv', 'lib', 'python3*', 'site-packages', 'aioesphomeapi')):
        return f'no clients of ESPHome in {CACHE}: Tools/install esphome'


class Avahi:
    """Avahi's daemon on a bus and a loopback interface of its own."""

    def __init__(self, bench):
        self.bench, self.folder, self.bus = bench, bench.path('services'), f'unix:path={bench.path("bus")}'
        self.root = os.path.join(CACHE, 'root', 'usr')
        os.mkdir(self.folder)
        self.environment = {**os.environ, 'DBUS_SYSTEM_BUS_ADDRESS': self.bus,
                            'LD_LIBRARY_PATH': ':'.join(glob.glob(os.path.join(self.root, 'lib', '*-linux-gnu')))}
        self.daemon = None

    def __enter__(self):
        self.bench.write('bus.conf', BUS.format(path=self.bench.path('bus')))
        self.bench.write('avahi.conf', '[server]\nallow-interfaces=lo\nuse-ipv6=no\n')
        # What it needs of the system, for it alone: an interface with multicast, a user, its folders.
        self.bench.write('daemon.sh', f"""
            ip link set lo multicast on up && ip route add 224.0.0.0/4 dev lo
            mount -t tmpfs tmpfs /run && mkdir -p /run/avahi-daemon
            mount -t overlay overlay -o lowerdir=/etc,upperdir={self.bench.path('up')},workdir={self.bench.path('work')} /etc
            echo 'avahi:x:777:777::/:/bin/false' >> /etc/passwd && echo 'avahi:x:777:' >> /etc/group
            mkdir -p /etc/avahi/services && mount --bind {self.folder} /etc/avahi/services
            exec {self.root}/sbin/avahi-daemon --no-drop-root --no-chroot --no-rlimits -f {self.bench.path('avahi.conf')}""")
        for name in ('up', 'work'):
            os.mkdir(self.bench.path(name))
        self.spawn('dbus-daemon', 'dbus-daemon', '--nofork', f'--config-file={self.bench.path("bus.conf")}')
        wait_until(lambda: os.path.exists(self.bench.path('bus')), 'the bus listens')
        return self

    def __exit__(self, *_):
        self.stop()

    def spawn(self, name, *command):
        self.bench.number += 1
        child = Child(name, command, self.bench.path(f'{name}{self.bench.number}.err'), self.environment)
        self.bench.children.append(child)
        return child

    def start(self):
        self.stop()
        self.daemon = self.spawn('avahi-daemon', 'unshare', '--net', '--mount', 'bash', '-e', self.bench.path('daemon.sh'))
        self.daemon.wait_stderr('Server startup complete')

    def stop(self):
        if self.daemon:
            self.daemon.end()
        self.daemon = None

    def browse(self):
        """What is announced as a proxy: its name, port and texts; None if nothing is."""
        said = subprocess.run([f'{self.root}/bin/avahi-browse', '-rpt', '_esphomelib._tcp'], env=self.environment, capture_output=True,
                              text=True, timeout=PATIENCE).stdout
        for line in said.splitlines():
            words = line.split(';')
            if words[0] == '=':
                return {'name': words[3], 'port': words[8], 'texts': set(words[9].strip('"').split('" "'))}


def start(bench, *adapters, key=None, host='127.0.0.1', port=None, more='', own='', name='kitchen', mqtt=True):
    """A gateway with a proxy; its `place` is (host, port, key)."""
    port = port or free_port()
    secret = f', keyFile: {bench.write(f"{name}.key", key)}' if key else ''
    adapters = ', '.join(f'"{adapter}"' for adapter in adapters)
    file = bench.write(f'{name}.yaml', f'name: {name}\nadapters: [{adapters}]\npublish: {{interval: 0, refresh: 0.2}}\nbonds: {bench.path(name + "-bonds")}\n'
                       + (f'mqtt: {{url: "{bench.url}"}}\n' if mqtt else '')
                       + f'esphome: {{listen: "{host}:{port}"{secret}{own}}}\n{more}')
    gateway = bench.start('--config', file)
    gateway.place = host, port, key
    wait_until(lambda: listens(gateway.place) or gateway.process.poll() is not None, lambda: f'the proxy listens: {gateway.stderr()}')
    return gateway


def listens(place):
    with socket.socket() as s:
        return s.connect_ex(place[:2]) == 0


def go(work, limit=PATIENCE):
    """Runs an asynchronous function to its end."""
    return asyncio.run(asyncio.wait_for(work, limit))


async def until(condition, what, timeout=PATIENCE):
    end = asyncio.get_running_loop().time() + timeout
    while not (value := condition()):
        assert asyncio.get_running_loop().time() < end, f'{what}: not within {timeout} s'
        await asyncio.sleep(0.02)
    return value


class Client:
    """aioesphomeapi, connected, with all its subscriptions."""

    def __init__(self, gateway, subscribes=True):
        from aioesphomeapi import APIClient
        host, port, key = gateway.place
        self.api = APIClient(host, port, None, noise_psk=key)
        self.subscribes, self.packets, self.states, self.slots, self.links, self.values = subscribes, [], [], [], [], []

    async def __aenter__(self):
        await self.api.connect(login=True)
        self.info = await self.api.device_info()
        if self.subscribes:
            self.api.subscribe_bluetooth_scanner_state(self.states.append)
            self.api.subscribe_bluetooth_connections_free(lambda free, limit, taken: self.slots.append((free, limit, [t for t in taken if t])))
            self.api.subscribe_bluetooth_le_raw_advertisements(lambda batch: self.packets.extend(batch.advertisements))
        return self

    async def __aexit__(self, *_):
        with contextlib.suppress(Exception):
            await self.api.disconnect()

    async def hears(self, address=PEER, count=1):
        """So many more packets of a device."""
        begin = len(self.packets)
        return await until(lambda: (lambda f: f if len(f) >= count else None)([p for p in self.packets[begin:] if p.address == address]),
                           'advertisements')

    async def connect(self, address=PEER, cached=False, timeout=30, kind=1):
        """Its state, as (connected, mtu, error), is added to `links`."""
        return await self.api.bluetooth_device_connect(
            address, lambda *state: self.links.append(state), timeout=timeout, disconnect_timeout=10, has_cache=cached,
            feature_flags=self.info.bluetooth_proxy_feature_flags, address_type=kind)

    async def characteristics(self, address=PEER):
        """By the first eight digits of their UUIDs, without zeros."""
        services = (await self.api.bluetooth_gatt_get_services(address)).services
        self.services = services
        return {c.uuid[:8].lstrip('0'): c for s in services for c in s.characteristics}

    async def subscribe(self, characteristic, address=PEER):
        await self.api.bluetooth_gatt_start_notify(address, characteristic.handle, lambda _, value: self.values.append(bytes(value)))
        configuration = next(d for d in characteristic.descriptors if d.uuid.startswith('00002902'))
        await self.api.bluetooth_gatt_write_descriptor(address, configuration.handle, b'\1\0')

    @staticmethod
    def elsewhere(gateway):
        """One in a process of its own that has connected to the peer, and then does nothing."""
        process = subprocess.Popen([sys.executable, '-c', f'''
import asyncio, types
from jelling.esphome import Client
async def work():
    async with Client(types.SimpleNamespace(place={gateway.place!r})) as client:
        await client.hears()
        await client.connect()
        print('connected', flush=True)
        await asyncio.sleep(1000)
asyncio.run(work())'''], stdout=subprocess.PIPE, text=True, cwd=os.path.join(ROOT, 'Tests', 'System'))
        assert process.stdout.readline() == 'connected\n', 'the other client has not connected'
        return process

    async def waits_slots(self, free):
        await until(lambda: self.slots and self.slots[-1][0] == free, f'{free} free slots ({self.slots[-1:]})')
