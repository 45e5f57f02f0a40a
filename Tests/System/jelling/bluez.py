"""`bled-bluez` on a private bus, between `bled` and clients of BlueZ: what its cases share.

Clients run inside of the test's own process, unmodified, from .cache/bluez/venv. `Ear` is a raw client that notes the signals in the
order in which they come."""
import asyncio, contextlib, glob, os, pathlib, signal, subprocess, sys

from jelling.bus import BUS
from jelling.child import PATIENCE, Child, Failure, wait_until
from jelling.client import is_listening
from jelling.controller import Controller
from jelling.lab import Lab
from jelling.peer import Peer
from jelling.programs import BLUEZ, ROOT, remedy

CACHE = os.environ.get('BLUEZ_CLIENTS') or os.path.join(ROOT, '.cache', 'bluez')
BLUETOOTHCTL = os.path.join(CACHE, 'root', 'usr', 'bin', 'bluetoothctl')
for folder in glob.glob(os.path.join(CACHE, 'venv', 'lib', 'python3*', 'site-packages')):
    # Behind those of the tests, whose versions count.
    sys.path.append(folder)

ADAPTER, DEVICE, CHARACTERISTIC = 'org.bluez.Adapter1', 'org.bluez.Device1', 'org.bluez.GattCharacteristic1'
DESCRIPTOR, PROPERTIES, OBJECTS = 'org.bluez.GattDescriptor1', 'org.freedesktop.DBus.Properties', 'org.freedesktop.DBus.ObjectManager'
HCI0 = '/org/bluez/hci0'
PEER = HCI0 + '/dev_F2_F1_F0_00_00_02'


def lacking():
    """What keeps the ring from running, and the remedy; None: nothing."""
    if not os.access(BLUEZ, os.X_OK):
        return f'{BLUEZ} is missing: {remedy("bled-bluez")}'
    if not os.path.exists(BLUETOOTHCTL) or not glob.glob(os.path.join(CACHE, 'venv', 'lib', 'python3*', 'site-packages', 'bleak')):
        return f'no clients of BlueZ in {CACHE}: Tools/install bluez'


class Desk(Lab):
    """Controllers of a kind, a peripheral on the second one, `bled` on the first, a bus and the door."""

    def open(self, peer=True):
        """The bus, too."""
        if self.kind == 'scripted':
            self.controller = Controller(self.path('hci0'))
            self.endpoint, self.endpoints, self.address, self.tool_options = self.controller.endpoint, [], self.controller.address, []
        else:
            super().open(peer)
        # The controller's own, as a central of Bumble's looks for it.
        self.lab_address = f'{self.address}/P' if self.address else None
        self.bus_address = f'unix:path={self.path("bus")}'
        os.environ['DBUS_SYSTEM_BUS_ADDRESS'] = self.bus_address
        pathlib.Path(self.path('bus.conf')).write_text(BUS.format(path=self.path('bus')))
        # Other users reach the bus, too.
        os.chmod(self.dir, 0o711)
        self.start_bus()
        return self

    def start_bus(self):
        self.bus = self.spawn('dbus-daemon', ['dbus-daemon', '--nofork', f'--config-file={self.path("bus.conf")}'])
        wait_until(lambda: is_listening(self.path('bus')), 'the bus listens')

    def device(self, name='Lock', address='C0:00:00:00:00:01', services=('180D',), **settings):
        """A device of the scripted controller's."""
        return Peer(self.controller, address, True, name, services, **settings)

    def close(self):
        super().close()
        if self.kind == 'scripted':
            self.controller.close()

    def start(self):
        """`bled` and the door, once its adapter is there."""
        self.socket = self.bled(self.endpoint)
        self.start_door()
        wait_until(lambda: 'hci0' in self.busctl('tree', 'org.bluez').stdout, 'the adapter is there')
        return self

    @property
    def bled_process(self):
        return next(child for _, child, _ in self.daemons.values())

    def door_command(self, *words):
        return [BLUEZ, '--state', self.path('door-state'), *words]

    def start_door(self, *words, **variables):
        environment = {**os.environ, 'JELLING_SOCKET': getattr(self, 'socket', self.path('none.sock')), **variables}
        self.door = self.spawn('bled-bluez', self.door_command(*words), environment)
        wait_until(lambda: self.owner() or self.door.process.poll() is not None, 'org.bluez is owned')
        if self.door.process.poll() is not None:
            raise Failure(f'bled-bluez has ended: {self.door.stderr()}')
        return self.door

    def owner(self):
        return self.busctl('status', 'org.bluez').returncode == 0

    def busctl(self, *words):
        return subprocess.run(['busctl', f'--address={self.bus_address}', *words], capture_output=True, text=True, timeout=PATIENCE)

    def go(self, work, limit=PATIENCE):
        """Runs an asynchronous function to its end."""
        return asyncio.run(asyncio.wait_for(work, limit))

    def check_end(self):
        """Whatever a case did, the door lives."""
        if getattr(self, 'door', None) and not self.door.is_ended and self.door.process.poll() is not None:
            raise Failure(f'bled-bluez ended with status {self.door.process.returncode}: {self.door.stderr()[-800:]}')


class Refused(Exception):
    def __init__(self, name, text):
        super().__init__(f'{name}: {text}')
        self.name, self.text = name, text


class Ear:
    """A client that calls, and notes all signals and its replies in the order in which they come."""

    async def __aenter__(self):
        from dbus_fast import BusType, Message, MessageType
        from dbus_fast.aio import MessageBus
        self.Message, self.types = Message, MessageType
        self.bus = await MessageBus(bus_type=BusType.SYSTEM, negotiate_unix_fd=True).connect()
        self.notes, self.changed, self.calls = [], asyncio.Event(), {}
        self.bus.add_message_handler(self.hear)
        await self.ask('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'AddMatch', 's',
                       "type='signal',sender='org.bluez'")
        return self

    async def __aexit__(self, *_):
        self.bus.disconnect()
        with contextlib.suppress(Exception):
            await self.bus.wait_for_disconnect()

    def hear(self, message):
        if message.reply_serial in self.calls:
            self.notes.append(('reply', *self.calls.pop(message.reply_serial)))
            return self.changed.set()
        if message.message_type != self.types.SIGNAL or not message.path.startswith('/org/bluez') and message.path != '/':
            return
        values = plain(message.body)
        if message.member == 'PropertiesChanged':
            note = ('changed', message.path, values[0], values[1], values[2])
        elif message.member in ('InterfacesAdded', 'InterfacesRemoved'):
            note = ('added' if message.member == 'InterfacesAdded' else 'removed', values[0], values[1])
        else:
            return
        self.notes.append(note)
        self.changed.set()

    async def ask(self, destination, path, interface, member, signature='', *body):
        serial = self.bus.next_serial()
        self.calls[serial] = path, member
        reply = await self.bus.call(self.Message(destination=destination, path=path, interface=interface, member=member,
                                                 signature=signature, body=list(body), serial=serial))
        if reply.message_type == self.types.ERROR:
            raise Refused(reply.error_name, reply.body[0] if reply.body else '')
        return reply

    async def call(self, path, interface, member, signature='', *body):
        reply = await self.ask('org.bluez', path, interface, member, signature, *body)
        values = plain(reply.body)
        return values[0] if len(values) == 1 else values or None

    async def get(self, path, interface, name):
        return await self.call(path, PROPERTIES, 'Get', 'ss', interface, name)

    async def set(self, path, interface, name, signature, value):
        from dbus_fast import Variant
        return await self.call(path, PROPERTIES, 'Set', 'ssv', interface, name, Variant(signature, value))

    async def objects(self):
        return await self.call('/', OBJECTS, 'GetManagedObjects')

    async def refused(self, *words):
        """The name after `org.bluez.Error.` or the whole one, and the text."""
        try:
            value = await self.call(*words)
        except Refused as error:
            return error.name.removeprefix('org.bluez.Error.'), error.text
        raise Failure(f'{words} is not refused: {value}')

    async def wait(self, condition, what, limit=PATIENCE, since=0):
        """The first note from `since` on for which the condition holds."""
        async def found():
            while True:
                self.changed.clear()
                for note in self.notes[since:]:
                    if condition(note):
                        return note
                await self.changed.wait()
        try:
            return await asyncio.wait_for(found(), limit)
        except asyncio.TimeoutError:
            raise Failure(f'{what}: not within {limit} s; {self.notes[-12:]}') from None

    async def property(self, path, name, value, limit=PATIENCE, since=0):
        return await self.wait(lambda note: note[0] == 'changed' and note[1] == path and note[3].get(name) == value,
                               f'{name} {value} of {path}', limit, since)

    def place(self, condition):
        """Where the first such note is."""
        for place, note in enumerate(self.notes):
            if condition(note):
                return place
        raise Failure(f'not among {self.notes}')

    def changes(self, path, name):
        """The values that signals gave a property, in their order."""
        return [note[3][name] for note in self.notes if note[0] == 'changed' and note[1] == path and name in note[3]]

    # What most cases begin with

    async def find(self, path=PEER):
        """Discovers until the device is there, and stops."""
        since = len(self.notes)
        await self.call(HCI0, ADAPTER, 'StartDiscovery')
        if path not in await self.objects():
            await self.wait(lambda note: note[0] == 'added' and note[1] == path, f'{path} is found', since=since)
        await self.call(HCI0, ADAPTER, 'StopDiscovery')

    async def connect(self, path=PEER):
        """Finds a device, connects, and waits for its services."""
        await self.find(path)
        since = len(self.notes)
        await self.call(path, DEVICE, 'Connect')
        if not await self.get(path, DEVICE, 'ServicesResolved'):
            await self.property(path, 'ServicesResolved', True, since=since)

    async def attribute(self, uuid, path=PEER, interface=CHARACTERISTIC):
        """The path of the first characteristic with this UUID, four digits or a whole one."""
        whole = uuid if len(uuid) > 4 else f'0000{uuid}-0000-1000-8000-00805f9b34fb'
        for found, interfaces in sorted((await self.objects()).items()):
            if found.startswith(path) and interfaces.get(interface, {}).get('UUID') == whole.lower():
                return found
        raise Failure(f'no {uuid} at {path}')


def plain(value):
    """Without variants."""
    from dbus_fast import Variant
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value
