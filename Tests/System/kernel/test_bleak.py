"""bleak, Python's library for BLE, as a central on BlueZ's daemon."""
import asyncio

from pytest import mark

from kernel.bluez import BlueZ, forget, has_agent
from kernel.harness import OUR_NAME, Served

pytestmark = mark.usefixtures('bluez')

LIMIT = 240     # seconds
MEASUREMENT, LOCATION = (f'0000{number}-0000-1000-8000-00805f9b34fb' for number in ('2a37', '2a38'))
CONTROL, ENCRYPTED, INDICATED = (f'6b7a000{number}-9d1c-4f5e-8a2b-3c4d5e6f7081' for number in (3, 6, 4))


async def told(client, characteristic):
    """The first two values of one characteristic."""
    values = asyncio.Queue()
    await client.start_notify(characteristic, lambda _, value: values.put_nowait(bytes(value)))
    first = [await values.get(), await values.get()]
    await client.stop_notify(characteristic)
    return first


async def use():
    from bleak import BleakClient, BleakScanner     # of the guest
    device = await BleakScanner.find_device_by_filter(lambda _, heard: heard.local_name == OUR_NAME, LIMIT)
    assert device is not None, 'bleak does not find it'
    gone = asyncio.Event()
    async with BleakClient(device, lambda _: gone.set(), timeout=LIMIT) as client:
        found = {c.uuid: sorted(c.properties) for service in client.services for c in service.characteristics}
        assert found.get(CONTROL) == ['read', 'write'] and found.get(INDICATED) == ['indicate'], found
        assert await client.read_gatt_char(LOCATION) == b'\1\2', 'another value of Body Sensor Location'
        await client.write_gatt_char(CONTROL, b'\x11\x22\x33', response=True)
        assert await client.read_gatt_char(CONTROL) == b'\x11\x22\x33', 'what was written is not read'
        for characteristic, value in ((MEASUREMENT, b'\x00\x48'), (INDICATED, b'\x1d\x1c')):
            values = await told(client, characteristic)
            assert values == [value, value], f'{characteristic}: {values}'
        assert await client.pair(), 'not paired'
        assert await client.read_gatt_char(ENCRYPTED) == b'\x5e\xc2\xe7', 'another value behind encryption'
    await gone.wait()


def test_bleak_uses_what_is_served():
    """bleak finds `serve`, discovers, reads, writes, is notified and indicated, pairs, and hears of the end of the link"""
    has_agent('NoInputNoOutput')
    BlueZ.forgets()
    served = Served()
    try:
        asyncio.run(asyncio.wait_for(use(), LIMIT))
        served.wait_event('disconnected')
    finally:
        served.stop()
        forget()
