"""What Home Assistant has between itself and bleak: bleak-retry-connector and habluetooth."""
import asyncio

import pytest

from jelling.bluez import DEVICE, HCI0, PEER, Ear

from bluez.test_bleak import PEER as ADDRESS, found


def test_retry_connector(desk):
    """It finds the adapter and the device by their paths, connects, and closes a stale link"""
    async def use():
        from bleak import BleakClient
        from bleak_retry_connector import (BleakClientWithServiceCache, close_stale_connections, device_source, establish_connection,
                                           get_connected_devices)
        device = await found()
        client = await establish_connection(BleakClientWithServiceCache, device, 'peer', max_attempts=2)
        assert await client.read_gatt_char('2A38') == b'\1'
        await client.disconnect()
        async with Ear() as ear:
            await ear.call(PEER, DEVICE, 'Connect')
            await ear.property(PEER, 'ServicesResolved', True)
            assert await get_connected_devices(device)
            await close_stale_connections(device)
            await ear.property(PEER, 'Connected', False)
        client = await establish_connection(BleakClient, device, 'peer', max_attempts=2)
        await client.disconnect()
    desk.go(use())


def test_habluetooth(desk):
    """A manager with the adapter as its local scanner finds the peer and connects through it"""
    async def use():
        from bleak_retry_connector import BleakSlotManager
        from bluetooth_adapters import get_adapters
        from habluetooth import BluetoothManager, BluetoothScanningMode, HaScanner, set_manager
        adapters = get_adapters()
        await adapters.refresh()
        assert 'hci0' in adapters.adapters, adapters.adapters
        address = adapters.adapters['hci0']['address']
        slots = BleakSlotManager()
        manager = BluetoothManager(adapters, slots)
        set_manager(manager)
        await manager.async_setup()
        try:
            scanner = HaScanner(BluetoothScanningMode.ACTIVE, 'hci0', address)
            scanner.async_setup()
            manager.async_register_scanner(scanner, connection_slots=2)
            await scanner.async_start()
            assert scanner.scanning
            for _ in range(300):
                if (info := manager.async_last_service_info(ADDRESS, True)):
                    break
                await asyncio.sleep(0.1)
            assert info.name == 'BumblePeer' and info.source == address, info
            from bleak import BleakClient
            device = manager.async_ble_device_from_address(ADDRESS, True)
            from habluetooth.wrappers import HaBleakClientWrapper
            client = HaBleakClientWrapper(device)
            await client.connect()
            assert await client.read_gatt_char('2A38') == b'\1'
            await client.disconnect()
            await scanner.async_stop()
        finally:
            manager.async_stop()
    desk.go(use())
