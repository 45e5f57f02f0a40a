"""BlueZ's errors, by name and text: programs compare both."""
import pytest

from jelling.bluez import ADAPTER, CHARACTERISTIC, DESCRIPTOR, DEVICE, HCI0, PEER, PROPERTIES, Ear

from bluez.test_bleak import characteristics

INVALID = ('InvalidArguments', 'Invalid arguments in method call')
GONE = ('DoesNotExist', 'Does Not Exist')
TWICE = ('AlreadyExists', 'Already Exists')
NOT_SUPPORTED = ('NotSupported', 'Operation is not supported')
MANAGER, AGENTS = 'org.bluez.GattManager1', 'org.bluez.AgentManager1'


@pytest.mark.desk(peer=False)
def test_adapter(desk):
    """Discovery, filters, devices and agents that are not there"""
    async def work():
        from dbus_fast import Variant
        async with Ear() as ear:
            assert await ear.refused(HCI0, ADAPTER, 'StopDiscovery') == ('Failed', 'No discovery started')
            await ear.call(HCI0, ADAPTER, 'StartDiscovery')
            assert await ear.refused(HCI0, ADAPTER, 'StartDiscovery') == ('InProgress', 'Operation already in progress')
            await ear.call(HCI0, ADAPTER, 'StopDiscovery')
            assert await ear.refused(HCI0, ADAPTER, 'StopDiscovery') == ('Failed', 'No discovery started')
            for filters in ({'Nonsense': Variant('s', '')}, {'RSSI': Variant('s', '')}, {'Transport': Variant('s', 'pigeon')},
                            {'UUIDs': Variant('as', ['zz'])}, {'RSSI': Variant('n', -90), 'Pathloss': Variant('q', 20)}):
                assert await ear.refused(HCI0, ADAPTER, 'SetDiscoveryFilter', 'a{sv}', filters) == INVALID
            assert await ear.refused(HCI0, ADAPTER, 'RemoveDevice', 'o', PEER) == GONE
            agents = '/org/bluez', AGENTS
            assert await ear.refused(*agents, 'UnregisterAgent', 'o', '/a') == GONE
            assert await ear.refused(*agents, 'RequestDefaultAgent', 'o', '/a') == GONE
            assert await ear.refused(*agents, 'RegisterAgent', 'os', '/a', 'Telepathy') == INVALID
            await ear.call(*agents, 'RegisterAgent', 'os', '/a', '')
            assert await ear.refused(*agents, 'RegisterAgent', 'os', '/a', '') == TWICE
            await ear.call(*agents, 'UnregisterAgent', 'o', '/a')
            assert await ear.refused(HCI0, MANAGER, 'UnregisterApplication', 'o', '/a') == GONE
    desk.go(work())


@pytest.mark.desk(peer=False)
def test_bus(desk):
    """Errors of D-Bus itself"""
    async def work():
        async with Ear() as ear:
            bus = 'org.freedesktop.DBus.Error.'

            async def name(*words):
                return (await ear.refused(*words))[0]
            assert await name(PEER, DEVICE, 'Connect') == bus + 'UnknownObject'
            assert await name(HCI0, ADAPTER, 'Fly') == bus + 'UnknownMethod'
            assert await name(HCI0, ADAPTER, 'RemoveDevice', 's', 'x') == bus + 'UnknownMethod'
            assert await name(HCI0, 'org.example.Nothing', 'StartDiscovery') == bus + 'UnknownMethod'
            assert await name(HCI0, PROPERTIES, 'Get', 'ss', ADAPTER, 'Nothing') == bus + 'InvalidArgs'
            assert await name(HCI0, PROPERTIES, 'Get', 'ss', 'org.example.Nothing', 'Powered') == bus + 'InvalidArgs'
            from dbus_fast import Variant
            for property, expected in ('Address', 'PropertyReadOnly'), ('Nothing', 'UnknownProperty'):
                assert await name(HCI0, PROPERTIES, 'Set', 'ssv', ADAPTER, property, Variant('s', 'x')) == bus + expected
            assert 'node' in await ear.call('/', 'org.freedesktop.DBus.Introspectable', 'Introspect')
            assert 'Adapter1' in await ear.call(HCI0, 'org.freedesktop.DBus.Introspectable', 'Introspect')
    desk.go(work())


def test_attributes(desk):
    """Reading, writing and sessions"""
    async def work():
        from dbus_fast import Variant
        names = characteristics(desk)
        async with Ear() as ear:
            await ear.connect()
            at = {name: await ear.attribute(uuid) for name, uuid in names.items()}
            location, measurement, point = [await ear.attribute(uuid) for uuid in ('2A38', '2A37', '2A39')]

            async def read(path, **options):
                return await ear.refused(path, CHARACTERISTIC, 'ReadValue', 'a{sv}', options)

            async def write(path, value, **options):
                return await ear.refused(path, CHARACTERISTIC, 'WriteValue', 'aya{sv}', value, options)
            assert await read(at['LONG_R'], offset=Variant('q', 600)) == ('InvalidArguments', 'Invalid offset')
            assert await read(measurement) == ('NotPermitted', 'Read not permitted')
            assert await write(at['LONG_W'], bytes(513)) == ('InvalidArguments', 'Invalid Length')
            assert await write(location, b'x') == NOT_SUPPORTED
            assert await write(at['LONG_W'], b'x', type=Variant('s', 'pigeon')) == NOT_SUPPORTED
            assert await write(at['CONTROL'], b'\xff') == ('Failed', 'Operation failed with ATT error: 0x80')
            for method in 'StartNotify', 'AcquireNotify', 'AcquireWrite':
                words = ('a{sv}', {}) if method != 'StartNotify' else ()
                assert await ear.refused(location, CHARACTERISTIC, method, *words) == NOT_SUPPORTED
            assert await ear.refused(measurement, CHARACTERISTIC, 'StopNotify') == ('Failed', 'No notify session started')
            await ear.call(at['STREAM'], CHARACTERISTIC, 'StartNotify')
            assert await ear.refused(at['STREAM'], CHARACTERISTIC, 'AcquireNotify', 'a{sv}', {}) == ('InProgress', 'In Progress')
            await ear.call(at['STREAM'], CHARACTERISTIC, 'StopNotify')
            await ear.ask('org.bluez', at['STREAM'], CHARACTERISTIC, 'AcquireNotify', 'a{sv}', {})
            assert await ear.refused(at['STREAM'], CHARACTERISTIC, 'StartNotify') == ('NotPermitted', 'Notify acquired')
            assert await ear.refused(at['STREAM'], CHARACTERISTIC, 'AcquireNotify', 'a{sv}', {}) == ('NotPermitted', 'Notify acquired')
            await ear.ask('org.bluez', at['WWR'], CHARACTERISTIC, 'AcquireWrite', 'a{sv}', {})
            assert await ear.refused(at['WWR'], CHARACTERISTIC, 'AcquireWrite', 'a{sv}', {}) == ('NotPermitted', 'Write acquired')
            configuration = await ear.attribute('2902', measurement, DESCRIPTOR)
            assert await ear.refused(configuration, DESCRIPTOR, 'WriteValue', 'aya{sv}', b'\1\0', {}) == ('NotPermitted', 'Write not permitted')
            assert await ear.call(configuration, DESCRIPTOR, 'ReadValue', 'a{sv}', {}) == b'\0\0'
            assert await ear.refused(PEER, DEVICE, 'CancelPairing') == GONE
    desk.go(work())


def test_connecting(desk):
    """Disconnect ends Connect, and a second Connect meanwhile is refused"""
    async def work():
        import asyncio
        async with Ear() as ear:
            await ear.find()
            # It no longer advertises.
            desk.peer.end()
            first = asyncio.ensure_future(ear.refused(PEER, DEVICE, 'Connect'))
            await asyncio.sleep(0.3)
            assert await ear.refused(PEER, DEVICE, 'Connect') == ('Failed', 'Operation already in progress')
            await ear.call(PEER, DEVICE, 'Disconnect')
            assert await first == ('Failed', 'le-connection-abort-by-local')
    desk.go(work())
