"""Applications and advertisements of clients, as Bumble's central meets them."""
import asyncio

import pytest

from jelling.bluez import ADAPTER, DEVICE, HCI0, PROPERTIES, Ear, plain

BASE = '6a656c6c-696e-6700-8000-0000000000{:02x}'
SERVICE, VALUE, SECRET = BASE.format(0x40), BASE.format(0x41), BASE.format(0x42)
MANAGER, ADVERTISING = 'org.bluez.GattManager1', 'org.bluez.LEAdvertisingManager1'


async def ended(child):
    """Waits for a program while the loop goes on."""
    while child.process.poll() is None:
        await asyncio.sleep(0.05)
    await asyncio.to_thread(child.reader.join, 10)
    return [line for line in child.lines if 'step' in line]


@pytest.mark.desk(peer=False)
def test_bless(desk):
    """bless, unmodified: a central finds it, reads, writes and is notified"""
    async def serve():
        from bless import (BlessServer, GATTAttributePermissions as May, GATTCharacteristicProperties as Can)
        server = BlessServer(name='Blessed', loop=asyncio.get_running_loop())
        values = {}
        server.read_request_func = lambda c, **_: values.get(c.uuid, bytearray(b'first'))

        def written(characteristic, value, **_):
            values[characteristic.uuid] = bytearray(value)
            characteristic.value = value
        server.write_request_func = written
        await server.add_new_service(SERVICE)
        await server.add_new_characteristic(SERVICE, VALUE, Can.read | Can.write | Can.notify, None, May.readable | May.writeable)
        await server.start()
        assert await server.is_advertising()
        central = desk.central('--peer', desk.lab_address, '--long-write', VALUE)
        steps = await ended(central)
        assert central.process.returncode == 0, (steps[-3:], central.lines[-1:], central.stderr())
        reads = [step for step in steps if step['step'] == 'read' and step['uuid'].lower() in (VALUE, f'uuid({VALUE})')] or steps
        assert any(bytes.fromhex(step.get('value', '')) == b'first' for step in reads if 'value' in step), steps
        assert [step for step in steps if step['step'] == 'write-and-read-back' and step['ok']], steps
        await server.stop()
    desk.go(serve(), 90)


class Objects:
    """An application of a raw client: its objects, by `dbus_fast`'s service interfaces."""

    def __init__(self, ear):
        from dbus_fast import PropertyAccess
        from dbus_fast.annotations import DBusBool, DBusBytes, DBusDict, DBusObjectPath, DBusStr, DBusUInt16
        from dbus_fast.service import ServiceInterface, dbus_method, dbus_property
        said = self.said = []

        class Service(ServiceInterface):
            @dbus_property(access=PropertyAccess.READ)
            def UUID(self) -> 's':
                return SERVICE

            @dbus_property(access=PropertyAccess.READ)
            def Primary(self) -> 'b':
                return True

            @dbus_property()
            def Handle(self) -> 'q':
                return getattr(self, 'handle', 0)

            @Handle.setter
            def Handle(self, value: 'q'):
                self.handle = value

        class Characteristic(ServiceInterface):
            value = b'one'

            @dbus_property(access=PropertyAccess.READ)
            def UUID(self) -> 's':
                return VALUE

            @dbus_property(access=PropertyAccess.READ)
            def Service(self) -> 'o':
                return '/app/service0'

            @dbus_property(access=PropertyAccess.READ)
            def Flags(self) -> 'as':
                return ['read', 'write', 'notify']

            @dbus_property(access=PropertyAccess.READ)
            def Value(self) -> 'ay':
                return self.value

            @dbus_method()
            def ReadValue(self, options: 'a{sv}') -> 'ay':
                said.append(('read', plain(options)))
                return self.value

            @dbus_method()
            def WriteValue(self, value: 'ay', options: 'a{sv}'):
                said.append(('write', bytes(value), plain(options)))
                self.value = bytes(value)

            @dbus_method()
            def StartNotify(self):
                said.append(('start',))
                self.emit_properties_changed({'Value': b'told'})

            @dbus_method()
            def StopNotify(self):
                said.append(('stop',))

        class Advertisement(ServiceInterface):
            @dbus_property(access=PropertyAccess.READ)
            def Type(self) -> 's':
                return 'peripheral'

            @dbus_property(access=PropertyAccess.READ)
            def ServiceUUIDs(self) -> 'as':
                return [SERVICE]

            @dbus_property(access=PropertyAccess.READ)
            def LocalName(self) -> 's':
                return 'Raw'

            @dbus_method()
            def Release(self):
                said.append(('release',))

        self.service, self.characteristic = Service('org.bluez.GattService1'), Characteristic('org.bluez.GattCharacteristic1')
        self.advertisement = Advertisement('org.bluez.LEAdvertisement1')
        ear.bus.export('/app/service0', self.service)
        ear.bus.export('/app/service0/char0', self.characteristic)
        ear.bus.export('/advertisement', self.advertisement)


@pytest.mark.desk(peer=False)
def test_application(desk):
    """An application and its advertisement: order of signals, the options of reads and writes, sessions, the central as a device"""
    async def serve():
        async with Ear() as ear:
            application = Objects(ear)
            assert await ear.get(HCI0, ADVERTISING, 'ActiveInstances') == 0
            supported = await ear.get(HCI0, ADVERTISING, 'SupportedInstances')
            await ear.call(HCI0, MANAGER, 'RegisterApplication', 'oa{sv}', '/app', {})
            uuids = ear.place(lambda note: note[0] == 'changed' and note[1] == HCI0 and SERVICE in note[3].get('UUIDs', []))
            assert uuids < ear.place(lambda note: note == ('reply', HCI0, 'RegisterApplication'))
            assert await ear.refused(HCI0, MANAGER, 'RegisterApplication', 'oa{sv}', '/app', {}) == ('AlreadyExists', 'Already Exists')
            await ear.call(HCI0, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/advertisement', {})
            active = ear.place(lambda note: note[0] == 'changed' and note[3] == {'ActiveInstances': 1, 'SupportedInstances': supported - 1})
            assert active < ear.place(lambda note: note == ('reply', HCI0, 'RegisterAdvertisement'))
            assert await ear.refused(HCI0, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/advertisement', {}) == ('AlreadyExists', 'Already Exists')
            central = desk.central('--peer', desk.lab_address, '--long-write', VALUE)
            device = HCI0 + '/dev_F0_F1_F2_00_00_01'
            await ear.property(device, 'Connected', True)
            steps = await ended(central)
            assert central.process.returncode == 0, (steps[-3:], central.lines[-1:], application.said, central.stderr())
            await ear.property(device, 'Connected', False)
            assert application.service.handle > 0
            reads = [note for note in application.said if note[0] == 'read']
            assert reads[0][1] == {'device': device, 'link': 'LE', 'mtu': 517}, reads
            writes = [note for note in application.said if note[0] == 'write']
            assert writes[0][2] == {'device': device, 'link': 'LE', 'mtu': 517, 'type': 'request'}, writes
            kinds = [note[0] for note in application.said]
            assert kinds.count('start') == 1 and kinds.count('stop') == 1, kinds
            await ear.call(HCI0, ADVERTISING, 'UnregisterAdvertisement', 'o', '/advertisement')
            assert await ear.get(HCI0, ADVERTISING, 'ActiveInstances') == 0
            assert ('release',) not in application.said
            await ear.call(HCI0, MANAGER, 'UnregisterApplication', 'o', '/app')
            assert SERVICE not in await ear.get(HCI0, ADAPTER, 'UUIDs')
    desk.go(serve(), 90)


@pytest.mark.desk(peer=False)
def test_what_a_client_offers_ends_with_it(desk):
    """A client that leaves the bus takes its services and its advertisement with it"""
    async def serve():
        async with Ear() as ear:
            async with Ear() as other:
                Objects(other)
                await other.call(HCI0, MANAGER, 'RegisterApplication', 'oa{sv}', '/app', {})
                await other.call(HCI0, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/advertisement', {})
                await ear.property(HCI0, 'ActiveInstances', 1)
            await ear.property(HCI0, 'ActiveInstances', 0)
            while SERVICE in await ear.get(HCI0, ADAPTER, 'UUIDs'):
                await asyncio.sleep(0.05)
            assert await ear.refused(HCI0, MANAGER, 'RegisterApplication', 'oa{sv}', '/nothing', {}) == ('Failed', 'No object received')
            assert await ear.refused(HCI0, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/nothing', {}) == \
                ('Failed', 'Failed to parse advertisement.')
    desk.go(serve())


def test_passive_scan(desk):
    """bleak's passive scan: a monitor with patterns finds the peer"""
    async def scan():
        from bleak import BleakScanner
        from bleak.args.bluez import BlueZScannerArgs, OrPattern
        from bleak.assigned_numbers import AdvertisementDataType
        seen = asyncio.Event()

        def heard(device, data):
            if device.address == 'F2:F1:F0:00:00:02':
                seen.set()
        patterns = [OrPattern(0, AdvertisementDataType.FLAGS, b'\x06')]
        async with BleakScanner(heard, scanning_mode='passive', bluez=BlueZScannerArgs(or_patterns=patterns)):
            await asyncio.wait_for(seen.wait(), 20)
    desk.go(scan())
