"""The order of signals and replies, as BlueZ has it: a raw client notes them."""
import asyncio, os, struct

import pytest

from jelling.bluez import ADAPTER, CHARACTERISTIC, DEVICE, HCI0, PEER, PROPERTIES, Ear

from bluez.test_bleak import characteristics


def test_discovery(desk):
    """StartDiscovery: reply, Discovering, the device in one piece, its RSSI again and again; at the end all is taken back"""
    async def work():
        from dbus_fast import Variant
        async with Ear() as ear:
            await ear.call(HCI0, ADAPTER, 'SetDiscoveryFilter', 'a{sv}', {'Transport': Variant('s', 'le')})
            await ear.call(HCI0, ADAPTER, 'StartDiscovery')
            added = await ear.wait(lambda note: note[:2] == ('added', PEER), 'the device')
            reply = ear.place(lambda note: note == ('reply', HCI0, 'StartDiscovery'))
            on = ear.place(lambda note: note[0] == 'changed' and note[3].get('Discovering') is True)
            assert reply < on < ear.notes.index(added), ear.notes
            device = added[2][DEVICE]
            assert {'Address', 'AddressType', 'Name', 'Alias', 'Paired', 'Bonded', 'Trusted', 'Blocked', 'LegacyPairing', 'RSSI',
                    'Connected', 'UUIDs', 'Adapter', 'ServicesResolved', 'AdvertisingFlags'} == set(device)
            assert {PROPERTIES, 'org.freedesktop.DBus.Introspectable'} < set(added[2])
            start = len(ear.notes)
            await asyncio.sleep(1)
            told = [note for note in ear.notes[start:] if note[0] == 'changed' and 'RSSI' in note[3]]
            assert len(told) > 3, ear.notes
            await ear.call(HCI0, ADAPTER, 'StopDiscovery')
            await ear.property(HCI0, 'Discovering', False)
            off = ear.place(lambda note: note[0] == 'changed' and note[3].get('Discovering') is False)
            gone = ear.place(lambda note: note[0] == 'changed' and note[1] == PEER and 'RSSI' in note[4])
            assert gone < off and ear.place(lambda note: note == ('reply', HCI0, 'StopDiscovery')) < off
            assert 'RSSI' not in await ear.call(PEER, PROPERTIES, 'GetAll', 's', DEVICE)
    desk.go(work())


def test_discovery_ends_with_its_client(desk):
    """A client that leaves the bus ends its discovery, and nobody else's"""
    async def work():
        async with Ear() as ear:
            async with Ear() as other:
                await other.call(HCI0, ADAPTER, 'StartDiscovery')
                await ear.property(HCI0, 'Discovering', True)
            await ear.property(HCI0, 'Discovering', False)
            await ear.call(HCI0, ADAPTER, 'StartDiscovery')
            async with Ear() as other:
                await other.call(HCI0, ADAPTER, 'StartDiscovery')
            await asyncio.sleep(0.3)
            assert await ear.get(HCI0, ADAPTER, 'Discovering') is True
    desk.go(work())


def test_connection(desk):
    """Connect: Connected, reply, the objects with parents first, then ServicesResolved with the UUIDs; Disconnect in BlueZ's order"""
    async def work():
        async with Ear() as ear:
            await ear.find()
            await ear.call(PEER, DEVICE, 'Connect')
            await ear.property(PEER, 'ServicesResolved', True)
            connected = ear.place(lambda note: note[0] == 'changed' and note[3].get('Connected') is True)
            reply = ear.place(lambda note: note == ('reply', PEER, 'Connect'))
            resolved = ear.place(lambda note: note[0] == 'changed' and note[3].get('ServicesResolved') is True)
            added = [place for place, note in enumerate(ear.notes) if note[0] == 'added' and note[1].startswith(PEER + '/')]
            assert connected < reply < resolved and connected < added[0] and added[-1] < resolved
            paths = [ear.notes[place][1] for place in added]
            assert all(path.rpartition('/')[0] in paths[:number] + [PEER] for number, path in enumerate(paths))
            assert len(ear.notes[resolved][3]['UUIDs']) > 3
            await ear.wait(lambda note: note[0] == 'added' and 'org.bluez.Battery1' in note[2], 'the battery')
            assert await ear.get(PEER, 'org.bluez.Battery1', 'Percentage') == 0x57
            start = len(ear.notes)
            await ear.call(PEER, DEVICE, 'Disconnect')
            await ear.property(PEER, 'Connected', False)
            notes = ear.notes[start:]
            order = []
            for note in notes:
                if note[0] == 'removed':
                    order.append('battery')
                elif note[0] == 'reply':
                    order.append('reply')
                else:
                    order += [name for name in note[3] if name in ('Connected', 'ServicesResolved')]
            assert order == ['battery', 'ServicesResolved', 'reply', 'Connected'], notes
            # At the next connection nothing is added.
            start = len(ear.notes)
            await ear.call(PEER, DEVICE, 'Connect')
            await ear.wait(lambda note: note in ear.notes[start:] and note[0] == 'changed' and note[3].get('ServicesResolved') is True, 'services')
            assert not [note for note in ear.notes[start:] if note[0] == 'added' and note[1] != PEER], ear.notes[start:]
            start = len(ear.notes)
            await ear.call(HCI0, ADAPTER, 'RemoveDevice', 'o', PEER)
            removed = [note[1] for note in ear.notes[start:] if note[0] == 'removed' and note[2] != ['org.bluez.Battery1']]
            assert removed[-1] == PEER and sorted(removed, reverse=True)[-1] == PEER
            assert all(path.rpartition('/')[0] in removed[number:] + [HCI0] for number, path in enumerate(removed))
            services = [path for path in removed if path.rpartition('/')[0] == PEER]
            assert services == sorted(services) and len(services) > 2
            assert ear.notes[-1] == ('reply', HCI0, 'RemoveDevice')
            # A scan sees it again.
            await ear.find()
    desk.go(work())


def test_no_signal_without_change(desk):
    """Connect with a link, and Disconnect without one: success without a signal"""
    async def work():
        async with Ear() as ear:
            await ear.connect()
            await asyncio.sleep(0.5)
            start = len(ear.notes)
            await ear.call(PEER, DEVICE, 'Connect')
            assert ear.notes[start:] == [('reply', PEER, 'Connect')]
            await ear.call(PEER, DEVICE, 'Disconnect')
            await ear.property(PEER, 'Connected', False)
            start = len(ear.notes)
            await ear.call(PEER, DEVICE, 'Disconnect')
            assert ear.notes[start:] == [('reply', PEER, 'Disconnect')]
    desk.go(work())


def test_link_outlives_its_client(desk):
    """A connection does not end with the client that made it"""
    async def work():
        async with Ear() as ear:
            async with Ear() as other:
                await other.connect()
            await asyncio.sleep(0.3)
            assert await ear.get(PEER, DEVICE, 'Connected') is True
    desk.go(work())


def test_values(desk):
    """Notifying before the reply; each value by a signal, also the same again; reading tells the value before the reply"""
    async def work():
        names = characteristics(desk)
        async with Ear() as ear:
            await ear.connect()
            stream, control = await ear.attribute(names['STREAM']), await ear.attribute(names['CONTROL'])
            await ear.call(stream, CHARACTERISTIC, 'StartNotify')
            notifying = ear.place(lambda note: note[0] == 'changed' and note[1] == stream and note[3].get('Notifying') is True)
            assert notifying < ear.place(lambda note: note == ('reply', stream, 'StartNotify'))
            for _ in range(2):
                await ear.call(control, CHARACTERISTIC, 'WriteValue', 'aya{sv}', b'\x01' + struct.pack('<IH', 4, 4), {})
            for _ in range(100):
                if len(ear.changes(stream, 'Value')) == 2:
                    break
                await asyncio.sleep(0.05)
            assert len(ear.changes(stream, 'Value')) == 2
            await ear.call(stream, CHARACTERISTIC, 'StopNotify')
            assert await ear.get(stream, CHARACTERISTIC, 'Notifying') is False
            location = await ear.attribute('2A38')
            for _ in range(2):
                assert await ear.call(location, CHARACTERISTIC, 'ReadValue', 'a{sv}', {}) == b'\1'
            notes = [note for note in ear.notes if note[1] == location]
            assert [note[0] for note in notes] == ['changed', 'reply'] * 2 or [note[0] for note in notes[1:]] == ['changed', 'reply'] * 2, notes
    desk.go(work())


def test_notify_socket(desk):
    """AcquireNotify: a socket with a value a packet, and no signals of values; closing it ends it"""
    async def work():
        import socket
        names = characteristics(desk)
        async with Ear() as ear:
            await ear.connect()
            stream, control = await ear.attribute(names['STREAM']), await ear.attribute(names['CONTROL'])
            reply = await ear.ask('org.bluez', stream, CHARACTERISTIC, 'AcquireNotify', 'a{sv}', {})
            assert reply.body[1] == 517
            end = socket.socket(fileno=reply.unix_fds[reply.body[0]])
            assert end.type & ~socket.SOCK_NONBLOCK == socket.SOCK_SEQPACKET
            assert await ear.get(stream, CHARACTERISTIC, 'NotifyAcquired') is True
            end.setblocking(False)
            await ear.call(control, CHARACTERISTIC, 'WriteValue', 'aya{sv}', b'\x01' + struct.pack('<IH', 1000, 100), {})
            loop = asyncio.get_running_loop()
            values = [await loop.sock_recv(end, 600) for _ in range(10)]
            assert [struct.unpack('<I', value[:4])[0] for value in values] == list(range(10))
            assert not ear.changes(stream, 'Value')
            end.close()
            await ear.property(stream, 'NotifyAcquired', False)
    desk.go(work())


def test_write_socket(desk):
    """AcquireWrite: each packet is a write without response"""
    async def work():
        import socket
        names = characteristics(desk)
        async with Ear() as ear:
            await ear.connect()
            command, counters = await ear.attribute(names['WWR']), await ear.attribute(names['COUNTERS'])
            reply = await ear.ask('org.bluez', command, CHARACTERISTIC, 'AcquireWrite', 'a{sv}', {})
            end = socket.socket(fileno=reply.unix_fds[reply.body[0]])
            end.setblocking(False)
            assert await ear.refused(command, CHARACTERISTIC, 'WriteValue', 'aya{sv}', b'x', {}) == ('NotPermitted', 'Write acquired')
            for _ in range(200):
                await asyncio.get_running_loop().sock_sendall(end, bytes(50))
            end.close()
            await ear.property(command, 'WriteAcquired', False)
            for _ in range(100):
                value = await ear.call(counters, CHARACTERISTIC, 'ReadValue', 'a{sv}', {})
                if struct.unpack('<III', value)[1] == 200:
                    break
                await asyncio.sleep(0.05)
            assert struct.unpack('<III', value) == (10000, 200, 50)
    desk.go(work())


def test_peer_leaves(desk):
    """The peer ends the link: both are told, and operations fail as BlueZ's do"""
    async def work():
        names = characteristics(desk)
        async with Ear() as ear:
            await ear.connect()
            control = await ear.attribute(names['CONTROL'])
            await ear.call(control, CHARACTERISTIC, 'WriteValue', 'aya{sv}', b'\x03', {})
            await ear.property(PEER, 'Connected', False)
            await ear.property(PEER, 'ServicesResolved', False)
            assert await ear.refused(control, CHARACTERISTIC, 'ReadValue', 'a{sv}', {}) == ('Failed', 'Not connected')
    desk.go(work())


def test_pairing(desk):
    """Pair: Paired and Bonded in one signal, before the reply"""
    async def work():
        async with Ear() as ear:
            await ear.connect()
            await ear.call(PEER, DEVICE, 'Pair')
            paired = ear.place(lambda note: note[0] == 'changed' and note[3].get('Paired') is True)
            assert ear.notes[paired][3].get('Bonded') is True
            assert paired < ear.place(lambda note: note == ('reply', PEER, 'Pair'))
            assert await ear.refused(PEER, DEVICE, 'Pair') == ('AlreadyExists', 'Already Exists')
            await ear.call(HCI0, ADAPTER, 'RemoveDevice', 'o', PEER)
            await ear.find()
            assert await ear.get(PEER, DEVICE, 'Paired') is False
    desk.go(work())


def test_pairing_connects(desk):
    """Pair without a link connects, and is answered when the services are known"""
    async def work():
        async with Ear() as ear:
            await ear.find()
            await ear.call(PEER, DEVICE, 'Pair')
            resolved = ear.place(lambda note: note[0] == 'changed' and note[3].get('ServicesResolved') is True)
            assert resolved < ear.place(lambda note: note == ('reply', PEER, 'Pair'))
            assert await ear.get(PEER, DEVICE, 'Paired') is True
            await ear.call(PEER, DEVICE, 'Disconnect')
    desk.go(work())


@pytest.mark.desk(peer=False)
def test_pairable(desk):
    """The first agent makes the adapter pairable, and when the last one is gone it no longer is"""
    async def work():
        agents = '/org/bluez', 'org.bluez.AgentManager1'
        async with Ear() as ear:
            await ear.call(*agents, 'RegisterAgent', 'os', '/a', '')
            await ear.property(HCI0, 'Pairable', True)
            assert ear.notes[-2][0] == 'reply', ear.notes
            async with Ear() as other:
                await other.call(*agents, 'RegisterAgent', 'os', '/b', '')
                await ear.call(*agents, 'UnregisterAgent', 'o', '/a')
                assert await ear.get(HCI0, ADAPTER, 'Pairable') is True
            await ear.property(HCI0, 'Pairable', False)
            assert ear.changes(HCI0, 'Pairable') == [True, False]
    desk.go(work())


def test_power(desk):
    """Off: on-disabling, then Powered, Discovering and off together; what needs the radio is refused until it is on"""
    async def work():
        async with Ear() as ear:
            await ear.connect()
            since = len(ear.notes)
            await ear.call(HCI0, ADAPTER, 'StartDiscovery')
            await ear.property(HCI0, 'Discovering', True, since=since)
            start = len(ear.notes)
            await ear.set(HCI0, ADAPTER, 'Powered', 'b', False)
            await ear.property(PEER, 'Connected', False)
            changes = [note[3] for note in ear.notes[start:] if note[0] == 'changed' and note[1] == HCI0]
            assert changes[0] == {'PowerState': 'on-disabling'}
            assert {'Powered': False, 'Discovering': False, 'PowerState': 'off'} in changes, changes
            assert await ear.refused(HCI0, ADAPTER, 'StartDiscovery') == ('NotReady', 'Resource Not Ready')
            start = len(ear.notes)
            await ear.set(HCI0, ADAPTER, 'Powered', 'b', True)
            assert [note[3].get('PowerState') for note in ear.notes[start:] if note[0] == 'changed'] == ['off-enabling', 'on']
            await ear.connect()
    desk.go(work())
