"""Odd and hostile devices, as the scripted controller has them."""
import asyncio, struct

import pytest

from jelling.attributes import INDICATE, NOTIFY, READ, WRITE
from jelling.bluez import ADAPTER, CHARACTERISTIC, DEVICE, HCI0, Ear
from jelling.measures import kilobytes

LOCK = HCI0 + '/dev_C0_00_00_00_00_01'
VALUE = '6a656c6c-696e-6700-8000-000000000001'
pytestmark = pytest.mark.desk(peer=False, kinds=['scripted'])


def lock(desk, properties=READ | WRITE | INDICATE, value=bytes(100)):
    peer = desk.device()
    peer.server.service('180D')
    peer.value = peer.server.characteristic(VALUE, properties, value)
    return peer.advertise()


def test_indications(desk):
    """A client has the value before its peer has the confirmation, and a client that leaves or hangs costs the peer little"""
    peer = lock(desk)

    async def work():
        async with Ear() as ear:
            await ear.connect(LOCK)
            path = await ear.attribute(VALUE, LOCK)
            await ear.call(path, CHARACTERISTIC, 'StartNotify')
            for number in range(100):
                assert await asyncio.to_thread(peer.indicate, peer.value, bytes([number]))
                assert ear.changes(path, 'Value') == [bytes([n]) for n in range(number + 1)]
        assert await asyncio.to_thread(peer.indicate, peer.value, b'left')
    desk.go(work(), 90)


def test_sessions_of_the_next_link(desk):
    """A session of notifying goes on at the next link"""
    peer = lock(desk, READ | NOTIFY)

    async def work():
        async with Ear() as ear:
            await ear.connect(LOCK)
            path = await ear.attribute(VALUE, LOCK)
            await ear.call(path, CHARACTERISTIC, 'StartNotify')
            since = len(ear.notes)
            peer.disconnect()
            await ear.property(LOCK, 'Connected', False, since=since)
            peer.server.attribute(peer.value + 1).value = b'\0\0'
            await ear.call(LOCK, DEVICE, 'Connect')
            while peer.server.attribute(peer.value + 1).value != b'\1\0':
                await asyncio.sleep(0.05)
            peer.notify(peer.value, b'again')
            await ear.property(path, 'Value', b'again', since=since)
            assert ear.changes(path, 'Notifying') == [True]
    desk.go(work())


def test_parts(desk):
    """A part of a value is read from its offset, and written from there, also reliably"""
    from dbus_fast import Variant
    peer = lock(desk)

    async def work():
        async with Ear() as ear:
            await ear.connect(LOCK)
            path = await ear.attribute(VALUE, LOCK)
            await ear.call(path, CHARACTERISTIC, 'WriteValue', 'aya{sv}', bytes(range(50)), {})
            part = await ear.call(path, CHARACTERISTIC, 'ReadValue', 'a{sv}', {'offset': Variant('q', 40)})
            assert part == bytes(range(40, 50))
            for kind in 'request', 'reliable':
                await ear.call(path, CHARACTERISTIC, 'WriteValue', 'aya{sv}', b'part', {'offset': Variant('q', 10), 'type': Variant('s', kind)})
            prepared = [pdu for pdu in peer.sent(opcodes={0x16})]
            assert prepared == [struct.pack('<BHH', 0x16, peer.value, 10) + b'part'] * 2, prepared
    desk.go(work())


def test_names(desk):
    """Names with control characters, with octets that are no UTF-8, and with characters that the bus does not take, hide no device"""
    names = [b'\0\0\0', b'a\0b', b'\x1b[2J\x07', b'\xff\xfe\xfd', b'\xc0\xaf', b'\xed\xa0\x80', b'\xef\xbf\xbf', b'\xef\xb7\x90', b'\xf4\x8f\xbf\xbf', b'\xf0\x9f']
    for number, name in enumerate(names):
        peer = desk.device('', f'C0:00:00:00:01:{number:02X}')
        peer.scan_response = bytes([len(name) + 1, 9]) + name
        peer.advertise()
    desk.device('Plain').advertise()

    async def work():
        async with Ear() as ear:
            await ear.call(HCI0, ADAPTER, 'StartDiscovery')
            wanted = {LOCK} | {f'{HCI0}/dev_C0_00_00_00_01_{number:02X}' for number in range(len(names))}
            while not wanted <= set(objects := await ear.objects()):
                await asyncio.sleep(0.05)
            while (await ear.objects())[LOCK][DEVICE].get('Name') != 'Plain':
                await asyncio.sleep(0.05)
            for path in wanted:
                assert objects[path][DEVICE]['Alias'] is not None
                assert (await ear.get(path, DEVICE, 'Address')).startswith('C0:00')
    desk.go(work())


def test_new_addresses_without_end(desk):
    """A flood of new addresses hides no device that is there, and costs little memory"""
    desk.device('Plain').advertise()

    async def work():
        async with Ear() as ear:
            await ear.call(HCI0, ADAPTER, 'StartDiscovery')
            await ear.wait(lambda note: note[:2] == ('added', LOCK), 'the device')
            for number in range(12_000):
                desk.controller.report(0, 1, ':'.join(f'{octet:02X}' for octet in struct.pack('>HI', 0xC100, number)), b'\x02\x01\x06')
                if number % 200 == 0:
                    await asyncio.sleep(0)
                    assert await ear.get(LOCK, DEVICE, 'Address')
            assert await ear.get(LOCK, DEVICE, 'Address') == 'C0:00:00:00:00:01'
            late = desk.device('Late', 'C0:00:00:00:00:02').advertise()
            await ear.wait(lambda note: note[:2] == ('added', LOCK[:-1] + '2'), 'one that comes behind the flood')
            desk.controller.remove(late)
    desk.go(work(), 180)
    assert kilobytes(desk.door.process, 'VmRSS') < 100 * 1024


def test_a_large_database(desk):
    """A device with 10,000 attributes: others are answered meanwhile, and it can be used"""
    peer = desk.device()
    for number in range(33):
        peer.server.service('180D')
        for _ in range(100):
            last = peer.server.characteristic('2A37', READ | NOTIFY, b'x')
    assert len(peer.server.attributes) > 9900
    peer.advertise()

    async def work():
        async with Ear() as ear, Ear() as other:
            connecting, answered = asyncio.create_task(ear.connect(LOCK)), 0
            while not connecting.done():
                assert await other.get(HCI0, ADAPTER, 'Address')
                answered += 1
                await asyncio.sleep(0.1)
            await connecting
            assert answered > 3
            paths = [path for path in await ear.objects() if path.startswith(LOCK + '/')]
            assert len(paths) == len(peer.server.attributes) - 3300
            path = next(path for path in paths if path.endswith(f'char{last - 1:04x}'))
            assert await ear.call(path, CHARACTERISTIC, 'ReadValue', 'a{sv}', {}) == b'x'
            await ear.call(LOCK, DEVICE, 'Disconnect')
            await ear.call(HCI0, ADAPTER, 'RemoveDevice', 'o', LOCK)
            assert not [path for path in await ear.objects() if path.startswith(LOCK)]
    desk.go(work(), 300)


def test_a_database_that_changes(desk):
    """A device that says without end that everything has changed can be left, and harms nobody"""
    peer = lock(desk)
    peer.server.service('1801')
    changed = peer.server.characteristic('2A05', INDICATE)

    async def work():
        async with Ear() as ear:
            await ear.connect(LOCK)
            for number in range(300):
                peer.send(4, struct.pack('<BHHH', 0x1D, changed, 1, 0xFFFF))
                if number % 50 == 0:
                    assert await ear.get(HCI0, ADAPTER, 'Address')
            await ear.call(LOCK, DEVICE, 'Disconnect')
            await ear.property(LOCK, 'Connected', False)
    desk.go(work(), 120)


@pytest.mark.desk(start=False)
def test_bearer(desk):
    """Asked for what BlueZ calls experimental, devices show their bearer, which can be connected and disconnected"""
    bearer = 'org.bluez.Bearer.LE1'
    lock(desk)
    desk.socket = desk.bled(desk.endpoint)
    desk.start_door('--experimental')

    async def work():
        async with Ear() as ear:
            while HCI0 not in await ear.objects():
                await asyncio.sleep(0.05)
            await ear.find(LOCK)
            assert (await ear.objects())[LOCK][bearer] == {'Adapter': HCI0, 'Paired': False, 'Bonded': False, 'Connected': False}
            assert (await ear.refused(LOCK, bearer, 'Disconnect'))[0] == 'NotConnected'
            await ear.call(LOCK, bearer, 'Connect')
            assert await ear.get(LOCK, bearer, 'Connected') is True
            assert (await ear.refused(LOCK, bearer, 'Connect'))[0] == 'AlreadyConnected'
            await ear.call(LOCK, bearer, 'Disconnect')
            await ear.property(LOCK, 'Connected', False)
    desk.go(work())
