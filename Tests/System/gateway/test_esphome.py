"""The Bluetooth proxy: aioesphomeapi and bleak-esphome through jelling-gateway to a device of Bumble's."""
import asyncio, os, signal, time

import pytest

from jelling import esphome
from jelling.child import free_port
from jelling.esphome import BATTERY, HEART_RATE, KEY, PEER, Client, go, until
from jelling.gateway import SENSOR, wait_until
from jelling.lab import Lab


@pytest.fixture
def air(bench):
    """Three controllers on one air, and a device on the second."""
    if lacking := esphome.lacking():
        pytest.fail(lacking)
    lab = Lab('bumble', 3)
    bench.labs.append(lab)
    lab.open(False)
    lab.start_peer(*SENSOR)
    return lab


@pytest.mark.parametrize('key', [None, KEY], ids=['plain', 'noise'])
def test_advertisements(bench, air, key):
    """what the proxy says of itself, raw packets for two clients, the scanner's mode; MQTT gets the same"""
    heard = bench.heard('jelling/kitchen/devices/#')
    gateway = esphome.start(bench, air.endpoint, key=key)

    async def work():
        async with Client(gateway) as one, Client(gateway) as two:
            assert one.info.name == 'kitchen' and one.info.bluetooth_proxy_feature_flags == 0xFF, one.info
            assert one.info.bluetooth_mac_address == one.info.mac_address and one.info.mac_address.count(':') == 5, one.info
            assert one.info.api_encryption_supported == bool(key) and one.api.api_version.minor >= 10, one.info
            for client in (one, two):
                packet = (await client.hears())[0]
                assert packet.address_type == 1 and bytes.fromhex('16d2fc4002c40903bf13') in packet.data and packet.rssi < 0, packet
                assert client.slots == [(3, 3, [])], client.slots
            assert len(one.states) == 1 and (one.states[0].state, one.states[0].mode, one.states[0].configured_mode) == (2, 1, 1), one.states
            one.api.bluetooth_scanner_set_mode(0)
            for client in (one, two):
                await until(lambda: client.states[-1].mode == 0, 'passive')
                assert (client.states[-1].state, client.states[-1].configured_mode) == (2, 1), client.states
            await two.hears(count=5)
            one.api.bluetooth_scanner_set_mode(1)
            await until(lambda: two.states[-1].mode == 1, 'active again')
            await one.hears(count=5)
            count = len(heard.documents())
            await until(lambda: len(heard.documents()) > count, 'documents of MQTT')
    go(work())
    gateway.ends_well()


@pytest.mark.parametrize('cached', [False, True], ids=['uncached', 'cached'])
def test_connection(bench, air, cached):
    """connect, services, read, write, descriptors, notify, parameters, disconnect; the scan goes on meanwhile"""
    heard = bench.heard('jelling/kitchen/devices/#')
    radio = bench.radio('--devices', '3', '--rate', '20')
    gateway = esphome.start(bench, air.endpoint, radio.socket)

    async def work():
        async with Client(gateway) as client:
            await client.hears()
            await client.connect(cached=cached)
            assert client.links == [(True, 517, 0)], client.links
            await client.waits_slots(2)
            assert client.slots[-1] == (2, 3, [PEER]), client.slots
            found = await client.characteristics()
            uuids = [s.uuid[4:8] for s in client.services]
            assert '1800' in uuids and '1801' in uuids and HEART_RATE in found, uuids
            expected = {(c['uuid'].lower()[:8].lstrip('0') if len(c['uuid']) > 4 else c['uuid'].lower(), c['valueHandle'])
                        for s in air.database() for c in s['characteristics']}
            assert {(uuid, c.handle) for uuid, c in found.items()} == expected, f'{found} {air.database()}'
            assert await client.api.bluetooth_gatt_read(PEER, found[BATTERY].handle), 'nothing was read'
            await client.subscribe(found[HEART_RATE])
            await until(lambda: len(client.values) >= 3, 'notifications')
            long = bytes(range(256)) * 2
            for characteristic, value, response in (('6b7a0003', long, True), ('6b7a0004', b'\x2a', False)):
                await client.api.bluetooth_gatt_write(PEER, found[characteristic].handle, value, response)
            assert bytes(await client.api.bluetooth_gatt_read(PEER, found['6b7a0003'].handle)) == long, 'what was written is not there'
            description = next(d for d in found['6b7a0005'].descriptors if d.uuid.startswith('00002901'))
            assert await client.api.bluetooth_gatt_read_descriptor(PEER, description.handle), 'no description'
            # The device's own errors, a handle that it does not have, and a value that is too long.
            for work, code in ((client.api.bluetooth_gatt_write(PEER, found['2a39'].handle, b'\x2a', True), 128),
                               (client.api.bluetooth_gatt_read(PEER, 0xFFF0), 1),
                               (client.api.bluetooth_gatt_write(PEER, found['6b7a0003'].handle, bytes(513), True), 13)):
                with pytest.raises(Exception, match=f'error={code} '):
                    await work
            await client.api.bluetooth_device_set_connection_params(PEER, 24, 40, 0, 500)
            count = len(heard.documents())
            await until(lambda: len(heard.documents()) > count + 20, 'documents of MQTT during the link')
            await client.api.bluetooth_device_disconnect(PEER)
            await until(lambda: client.links[-1] == (False, 0, 0x16), f'the end {client.links}')
            await client.waits_slots(3)
            for work in (client.api.bluetooth_gatt_read(PEER, found[BATTERY].handle),
                         client.api.bluetooth_device_set_connection_params(PEER, 24, 40, 0, 500)):
                with pytest.raises(Exception):
                    await work
            await client.hears()
    go(work())
    gateway.ends_well()


def test_lost_link(bench, air):
    """the device leaves: its reason, then the slot"""
    gateway = esphome.start(bench, air.endpoint, mqtt=False)

    async def work():
        async with Client(gateway) as client:
            await client.hears()
            await client.connect()
            air.peer.end(signal.SIGKILL)
            await until(lambda: not client.links[-1][0], 'the end')
            assert client.links[-1][2] in (0x08, 0x13), client.links
            await client.waits_slots(3)
            # It is not there any more: the attempt is cancelled, and its slot is free again.
            with pytest.raises(Exception):
                await client.connect(timeout=2)
            await client.waits_slots(3)
    go(work())
    gateway.ends_well()


def test_slots(bench, air):
    """each client has its own links; the slots are shared, and those of one who goes are free for the others"""
    gateway = esphome.start(bench, air.endpoint, own=', slots: 1', mqtt=False)

    async def work():
        async with Client(gateway) as client:
            other = await asyncio.to_thread(Client.elsewhere, gateway)
            await client.waits_slots(0)
            assert client.slots[-1][2] == [PEER], client.slots
            for address in (0xC0DE00000099, PEER):
                await client.connect(address, timeout=5)
            assert client.links == [(False, 0, 0), (False, 0, 0x0B)], client.links
            with pytest.raises(Exception, match='error=-1'):
                await client.api.bluetooth_gatt_read(PEER, 3)
            # A client that is killed says no goodbye.
            other.kill()
            other.wait()
            start = time.monotonic()
            await client.waits_slots(1)
            assert time.monotonic() - start < 8, 'the slot was not free within 8 s'
            await client.hears()
            await client.connect()
            assert client.links[-1][0], client.links
    go(work())
    gateway.ends_well()


def test_pairing(bench, air):
    """pair, pair again, unpair, clear the cache; and a proxy that may not"""
    gateway = esphome.start(bench, air.endpoint, mqtt=False)

    async def work():
        async with Client(gateway) as client:
            await client.hears()
            await client.connect()
            secret = (await client.characteristics())['6b7a0006'].handle

            async def is_refused():
                # Nobody pairs by itself: the client decides.
                with pytest.raises(Exception, match='error=(5|15) '):
                    await client.api.bluetooth_gatt_read(PEER, secret)
            await is_refused()
            for _ in range(2):
                answer = await client.api.bluetooth_device_pair(PEER)
                assert answer.paired and answer.error == 0, answer
            assert os.path.getsize(bench.path('kitchen-bonds/bonds')) > 0
            await client.api.bluetooth_gatt_read(PEER, secret)
            await client.api.bluetooth_device_disconnect(PEER)
            await client.waits_slots(3)
            await client.hears()
            await client.connect(cached=True)
            await client.api.bluetooth_gatt_read(PEER, secret)
            answer = await client.api.bluetooth_device_clear_cache(PEER)
            assert answer.success, answer
            answer = await client.api.bluetooth_device_unpair(PEER)
            assert answer.success, answer
            await client.waits_slots(3)
            await client.hears()
            await client.connect(cached=True)
            await is_refused()
    go(work())
    gateway.ends_well()
    gateway = esphome.start(bench, air.endpoint, own=', pairing: false', mqtt=False)

    async def refused():
        async with Client(gateway) as client:
            assert client.info.bluetooth_proxy_feature_flags == 0xFF - 8, client.info
            await client.hears()
            await client.connect()
            answer = await client.api.bluetooth_device_pair(PEER)
            assert not answer.paired and answer.error, answer
    go(refused())
    gateway.ends_well()


def test_bled(bench, air):
    """through bled, whose controller others share"""
    socket = air.bled(air.endpoint)
    gateway = esphome.start(bench, f'bled:{socket}', mqtt=False, key=KEY)

    async def work():
        async with Client(gateway) as client:
            await client.hears()
            await client.connect()
            found = await client.characteristics()
            await client.subscribe(found[HEART_RATE])
            await until(lambda: len(client.values) >= 3, 'notifications')
            await client.api.bluetooth_device_disconnect(PEER)
            await client.waits_slots(3)
    go(work())
    gateway.ends_well()


def test_restart(bench, air):
    """after kill -9 the port is used again at once, also while clients hold on to it"""
    port = free_port()
    gateway = esphome.start(bench, air.endpoint, port=port, mqtt=False)

    async def work():
        nonlocal gateway
        async with Client(gateway) as client:
            await client.hears()
            gateway.end(signal.SIGKILL)
            gateway = esphome.start(bench, air.endpoint, port=port, mqtt=False)
            async with Client(gateway) as other:
                await other.hears()
    go(work())
    assert 'esphome.listen' not in gateway.stderr(), gateway.stderr()
    # Another one at the same port says so, and gets it later.
    file = bench.write('gateway.yaml', f'name: late\nadapters: [sim]\nesphome: {{listen: "127.0.0.1:{port}"}}\n')
    said = bench.run('--config', file, '--check', status=2).stderr()
    assert f'gateway.yaml:3: esphome.listen: 127.0.0.1:{port} cannot be used: Address already in use' in said, said
    late = bench.start('--config', file)
    late.wait_stderr(f'esphome.listen: 127.0.0.1:{port} cannot be used')
    gateway.ends_well()
    late.wait_stderr('is used again')
    late.place = '127.0.0.1', port, None

    async def at_last():
        async with Client(late) as client:
            await client.hears(address=0xC0DE00000001)
    go(at_last())
    late.ends_well()


def test_places(bench):
    """several addresses, of both kinds; without a broker, and with a page alone"""
    if lacking := esphome.lacking():
        pytest.fail(lacking)
    port, page = free_port(), free_port()
    gateway = bench.configured(f'name: a.b_c\nadapters: [sim]\nesphome: {{listen: ["127.0.0.1:{port}", "127.3.2.1:{port}", "[::1]:{port}"]}}\n'
                               f'http: {{listen: "127.0.0.1:{page}"}}\n')
    gateway.port = page

    async def work():
        for host in ('127.0.0.1', '127.3.2.1', '::1'):
            gateway.place = host, port, None
            async with Client(gateway) as client:
                assert client.info.name == 'a-b-c', client.info
                await client.hears(address=0xC0DE00000001)
    wait_until(lambda: esphome.listens(('127.0.0.1', port)), 'the proxy listens')
    go(work())
    assert gateway.metric('proxy_connections_total') >= 3 and gateway.metric('links_limit') == 3
    gateway.ends_well()
    gateway = bench.configured(f'adapters: [sim]\nhttp: {{listen: "127.0.0.1:{page}"}}\n')
    gateway.port = page
    wait_until(gateway.is_healthy, 'a gateway with a page alone')
    gateway.ends_well()


def test_announcement(bench):
    """Avahi's daemon announces the proxy as long as it runs, also after the daemon was away; and by a file"""
    if lacking := esphome.lacking():
        pytest.fail(lacking)
    with esphome.Avahi(bench) as avahi:
        settings = 'name: kitchen\nadapters: [sim]\nesphome: {listen: "127.0.0.1:%d", keyFile: %s, advertise: %s}\n'
        key = bench.write('api.key', KEY)
        port = free_port()
        gateway = bench.configured(settings % (port, key, 'avahi'), environment={'DBUS_SYSTEM_BUS_ADDRESS': avahi.bus})
        gateway.wait_stderr('Avahi does not announce the proxy')
        for _ in range(2):
            avahi.start()
            found = wait_until(avahi.browse, 'the proxy is found')
            assert found['name'] == 'kitchen' and found['port'] == str(port), found
            assert {'mac=00aa01000001', 'version=2026.6.5', 'api_encryption=Noise_NNpsk0_25519_ChaChaPoly_SHA256'} <= found['texts'], found
        gateway.ends_well()
        wait_until(lambda: not avahi.browse(), 'the proxy is not announced any more')
        gateway = bench.configured(settings % (port, key, avahi.folder))
        wait_until(lambda: os.listdir(avahi.folder), 'the file')
        avahi.start()
        found = wait_until(avahi.browse, 'the proxy is found')
        assert found['port'] == str(port) and 'mac=00aa01000001' in found['texts'], found
        gateway.ends_well()
        assert not os.listdir(avahi.folder), 'the file is still there'


def test_manager(bench, air):
    """bleak-esphome and habluetooth: of two gateways on one air the manager uses the better one, then the other"""
    def weaker(direction, packet):
        # Extended reports of one device: the signal is behind its address and PHYs.
        if packet[:2] == b'\x04\x3e' and packet[3] == 0x0D and packet[4] == 1:
            return packet[:18] + bytes([(packet[18] - 30) & 255]) + packet[19:]
        if packet[:2] == b'\x04\x3e' and packet[3] == 0x02 and packet[4] == 1:
            return packet[:-1] + bytes([(packet[-1] - 30) & 255])
        return True
    from jelling.relay import Relay
    relay = Relay(air.dir, air.endpoints[2], weaker)
    air.relays.append(relay)
    # Their port is fixed: an address for each gateway, of this process alone.
    own = f'127.{os.getpid() >> 8 & 127 | 64}.{os.getpid() & 255}'
    near = esphome.start(bench, air.endpoint, host=f'{own}.1', port=6053, key=KEY, name='near', mqtt=False)
    far = esphome.start(bench, relay.endpoint, host=f'{own}.2', port=6053, key=KEY, name='far', mqtt=False)

    async def work():
        import habluetooth
        from bleak_esphome.connection_manager import APIConnectionManager
        from bluetooth_adapters import BluetoothAdapters

        class NoAdapters(BluetoothAdapters):
            adapters, default_adapter, history = {}, 'none', {}

            async def refresh(self):
                pass

        manager = habluetooth.BluetoothManager(NoAdapters(), None)
        habluetooth.set_manager(manager)
        await manager.async_setup()
        connections = [APIConnectionManager({'address': g.place[0], 'noise_psk': KEY}) for g in (near, far)]
        await asyncio.gather(*(c.start() for c in connections))
        address = 'F2:F1:F0:00:00:02'
        seen = lambda: manager.async_scanner_devices_by_address(address, True)
        await until(lambda: len(seen()) == 2, 'both gateways hear the device')

        async def uses():
            device = await until(lambda: manager.async_ble_device_from_address(address, True), 'the device')
            # habluetooth's wrapper, which bleak's own name means now.
            import bleak
            async with bleak.BleakClient(device) as client:
                values = []
                await client.start_notify('00002a37-0000-1000-8000-00805f9b34fb', lambda _, value: values.append(bytes(value)))
                await until(lambda: len(values) >= 3, 'notifications')
                taken = {s.name.split(' ')[0]: s.get_allocations() for s in manager.async_current_scanners()}
                used = [name for name, a in taken.items() if a and a.free < a.slots]
                await client.stop_notify('00002a37-0000-1000-8000-00805f9b34fb')
                return used, await client.read_gatt_char('00002a19-0000-1000-8000-00805f9b34fb')
        used, level = await uses()
        assert used == ['near'] and level, f'{used} was used'
        # Its slot is free before it goes.
        near.end(signal.SIGKILL)
        await until(lambda: len(seen()) == 1, 'one gateway is gone')
        used, level = await uses()
        assert used == ['far'] and level, f'{used} was used'
        for connection in connections:
            await connection.stop()
        manager.async_stop()
    go(work())
    far.ends_well()
