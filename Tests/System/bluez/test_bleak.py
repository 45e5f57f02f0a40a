"""bleak, unmodified: what its programs do."""
import asyncio, struct

import pytest

PEER = 'F2:F1:F0:00:00:02'
pytestmark = pytest.mark.desk(kinds=['bumble', 'btvirt', 'simulator'])


async def found(**filters):
    from bleak import BleakScanner
    device = await BleakScanner.find_device_by_address(PEER, timeout=20, **filters)
    assert device, 'not found'
    return device


def test_scan(desk, air):
    """A scan finds the peer, with its name, its services and its signal"""
    async def scan():
        from bleak import BleakScanner
        seen = asyncio.get_running_loop().create_future()

        def heard(device, data):
            if device.address == PEER and not seen.done():
                seen.set_result((device, data))
        async with BleakScanner(heard):
            device, data = await asyncio.wait_for(seen, 20)
        assert data.local_name == device.name == 'BumblePeer'
        assert '0000180d-0000-1000-8000-00805f9b34fb' in data.service_uuids
        # btvirt does not know it.
        assert -127 <= data.rssi <= 20 or air == 'btvirt'
        assert device.details['path'] == '/org/bluez/hci0/dev_F2_F1_F0_00_00_02'
    desk.go(scan())


# btvirt reports a device once.
@pytest.mark.desk(kinds=['bumble', 'simulator'])
def test_each_report_is_told(desk):
    """A peer that advertises each 100 ms is told about ten times a second"""
    async def scan():
        from bleak import BleakScanner
        count = 0

        def heard(device, data):
            nonlocal count
            count += device.address == PEER
        async with BleakScanner(heard):
            await asyncio.sleep(3)
        assert count >= 15, count
    desk.go(scan())


def test_filters(desk):
    """A scan for a service finds only those that have it; one by name finds the name"""
    async def scan():
        from bleak import BleakScanner
        assert PEER in [d.address for d in await BleakScanner.discover(2, service_uuids=['0000180d-0000-1000-8000-00805f9b34fb'])]
        assert await BleakScanner.find_device_by_name('BumblePeer', timeout=20)
    desk.go(scan())


def test_services(desk):
    """Connecting finds the whole database, as the peer has it"""
    async def connect():
        from bleak import BleakClient
        async with BleakClient(await found()) as client:
            assert client.is_connected
            shown = {s.uuid: s for s in client.services}
            assert '00001800-0000-1000-8000-00805f9b34fb' not in shown
            for service in desk.database():
                if service['uuid'] == '1800':
                    continue
                ours = next(s for s in shown.values() if s.handle == service['handle'])
                assert [c.handle + 1 for c in ours.characteristics if True] == \
                    [c['valueHandle'] for c in service['characteristics']] or \
                    sorted(c.handle + 1 for c in ours.characteristics) == sorted(c['valueHandle'] for c in service['characteristics'])
                for theirs in service['characteristics']:
                    characteristic = next(c for c in ours.characteristics if c.handle + 1 == theirs['valueHandle'])
                    assert sorted(d.handle for d in characteristic.descriptors) == sorted(d['handle'] for d in theirs['descriptors'])
        assert not client.is_connected
    desk.go(connect())
    desk.wait_peer('disconnected')


def characteristics(desk):
    """The value handles of the peer's own service by their names."""
    names = ['LONG_R', 'LONG_W', 'WWR', 'INDICATE', 'ENC', 'AUTH', 'CONTROL', 'STREAM', 'COUNTERS']
    service = next(s for s in desk.database() if len(s['uuid']) > 4)
    return {name: c['uuid'] for name, c in zip(names, service['characteristics'])}


def test_values(desk):
    """Reading, writing with and without response, long values, descriptors"""
    async def use():
        from bleak import BleakClient
        names = characteristics(desk)
        async with BleakClient(await found()) as client:
            assert await client.read_gatt_char('2A38') == b'\1'
            assert await client.read_gatt_char(names['LONG_R']) == bytes(i % 251 for i in range(512))
            value = bytes(range(200)) * 2
            await client.write_gatt_char(names['LONG_W'], value, response=True)
            assert await client.read_gatt_char(names['LONG_W']) == value
            characteristic = client.services.get_characteristic(names['WWR'])
            assert characteristic.max_write_without_response_size == 514
            await client.write_gatt_char(names['CONTROL'], b'\x04', response=True)
            for number in range(20):
                await client.write_gatt_char(names['WWR'], bytes([number]) * 100, response=False)
            octets, count, last = struct.unpack('<III', await client.read_gatt_char(names['COUNTERS']))
            assert (octets, count, last) == (2000, 20, 100)
            descriptor = client.services.get_characteristic(names['INDICATE']).descriptors[0]
            assert await client.read_gatt_descriptor(descriptor.handle) in (b'an indication', b'\0\0')
    desk.go(use())


@pytest.mark.parametrize('name', ['STREAM', 'INDICATE'])
def test_notifications(desk, name):
    """Notifications come in their order, and so do indications; none after the session has ended"""
    async def use():
        from bleak import BleakClient
        names = characteristics(desk)
        async with BleakClient(await found()) as client:
            values, enough = [], asyncio.Event()

            def heard(_, value):
                values.append(bytes(value))
                if len(values) == 50 or name == 'INDICATE':
                    enough.set()
            await client.start_notify(names[name], heard)
            await client.write_gatt_char(names['CONTROL'], b'\x01' + struct.pack('<IH', 5000, 100) if name == 'STREAM' else b'\x02abc', response=True)
            await asyncio.wait_for(enough.wait(), 30)
            if name == 'STREAM':
                assert [struct.unpack('<I', value[:4])[0] for value in values] == list(range(50))
            else:
                assert values == [b'abc']
            await client.stop_notify(names[name])
            await client.write_gatt_char(names['CONTROL'], b'\x01' + struct.pack('<IH', 200, 100) if name == 'STREAM' else b'\x02abc', response=True)
            await asyncio.sleep(0.5)
            assert len(values) == (50 if name == 'STREAM' else 1)
    desk.go(use())


def test_disconnect_callback(desk):
    """The peer ends the link: the callback is called, and operations fail"""
    async def use():
        from bleak import BleakClient
        from bleak.exc import BleakError
        names = characteristics(desk)
        gone = asyncio.Event()
        client = BleakClient(await found(), disconnected_callback=lambda _: gone.set())
        await client.connect()
        await client.write_gatt_char(names['CONTROL'], b'\x03', response=True)
        await asyncio.wait_for(gone.wait(), 20)
        assert not client.is_connected
        with pytest.raises(BleakError):
            await client.read_gatt_char('2A38')
        # The device can be connected again.
        await client.connect()
        assert await client.read_gatt_char('2A38') == b'\1'
        await client.disconnect()
    desk.go(use())


def test_pairing(desk):
    """Pairing needs no agent, and a value that needs encryption can be read then; the bond can be removed"""
    async def use():
        from bleak import BleakClient
        names = characteristics(desk)
        async with BleakClient(await found()) as client:
            await client.pair()
            assert await client.read_gatt_char(names['ENC']) == b'secret'
            await client.unpair()
    desk.go(use())


def test_automatic_pairing(desk):
    """Reading a value that needs encryption pairs by itself"""
    async def use():
        from bleak import BleakClient
        names = characteristics(desk)
        async with BleakClient(await found()) as client:
            assert await client.read_gatt_char(names['ENC']) == b'secret'
    desk.go(use())


def test_errors(desk):
    """Errors of the peer are told with their numbers"""
    async def use():
        from bleak import BleakClient
        from bleak.exc import BleakDBusError, BleakError
        names = characteristics(desk)
        async with BleakClient(await found()) as client:
            with pytest.raises(BleakError) as refused:
                await client.write_gatt_char(names['CONTROL'], b'\xff', response=True)
            assert '0x80' in str(refused.value).lower() or 'application' in str(refused.value).lower(), refused.value
    desk.go(use())


def test_many_connects(desk):
    """Twenty connects in a row"""
    async def use():
        from bleak import BleakClient
        device = await found()
        for _ in range(20):
            async with BleakClient(device) as client:
                assert await client.read_gatt_char('2A38') == b'\1'
    desk.go(use(), 120)
