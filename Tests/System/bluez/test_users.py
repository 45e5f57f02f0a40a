"""Clients of other users, forged messages, answers that never come or never end: nobody else is harmed."""
import asyncio, random, struct, time

import pytest

from jelling.bluez import ADAPTER, HCI0, PROPERTIES, Ear, Refused
from jelling.child import wait_until
from jelling.measures import kilobytes
from jelling.programs import BLED
from jelling.raw_bus import RETURN, SIGNAL, Raw

from bluez.test_serving import ADVERTISING, MANAGER, SERVICE, Objects

MONITORS = 'org.bluez.AdvertisementMonitorManager1'
# The bus knows them.
NOBODY, SOMEBODY = 65534, 1
pytestmark = pytest.mark.desk(peer=False, kinds=['scripted'])


@pytest.mark.parametrize('manager, method', [(MANAGER, 'RegisterApplication'), (MONITORS, 'RegisterMonitor'), (ADVERTISING, 'RegisterAdvertisement')])
def test_places(desk, manager, method):
    """A user with many connections that registers and never answers leaves room for others, who are answered meanwhile"""
    clients = [Raw(desk.path('bus'), NOBODY) for _ in range(30)]
    for client in clients:
        for number in range(12):
            client.register(manager, method, f'/a{number}')

    async def others():
        async with Ear() as ear:
            Objects(ear)
            await ear.call(HCI0, MANAGER, 'RegisterApplication', 'oa{sv}', '/app', {})
            await ear.call(HCI0, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/advertisement', {})
            await ear.call(HCI0, MONITORS, 'RegisterMonitor', 'o', '/monitors')
    desk.go(others())
    other = Raw(desk.path('bus'), SOMEBODY)
    if manager != ADVERTISING:
        serial = other.register(manager, method, '/other')
        assert not any(b'Too many' in answer for answer in other.answers(serial, 2))
    for client in [*clients, other]:
        client.socket.close()


def connect_device(client, address):
    entries = b''
    for name, value in ('Address', address), ('AddressType', 'random'):
        entries += bytes(-len(entries) % 8) + struct.pack('<I', len(name)) + name.encode() + b'\0\1s\0'
        entries += bytes(-len(entries) % 4) + struct.pack('<I', len(value)) + value.encode() + b'\0'
    return client.send(HCI0, ADAPTER, 'ConnectDevice', 'a{sv}', struct.pack('<I', len(entries)) + bytes(4) + entries)


def test_connections_of_a_user(desk):
    """A user that connects to devices that are not there is refused at once, and nobody else: links end and come back, all goes on"""
    desk.device('Peer', 'C0:DE:00:00:00:01').advertise()
    device = f'{HCI0}/dev_C0_DE_00_00_00_01'

    async def work():
        async with Ear() as ear:
            Objects(ear)
            await ear.connect(device)
            clients = [Raw(desk.path('bus'), NOBODY) for _ in range(4)]
            for number in range(300):
                last = connect_device(clients[number % 4], f'C0:11:00:00:{number // 256:02X}:{number % 256:02X}')
            answers = await asyncio.to_thread(clients[3].answers, last, 5)
            assert b'le-connection-concurrent-connection-limit' in answers[0]
            calls = [
                (HCI0, MANAGER, 'RegisterApplication', 'oa{sv}', '/app', {}),
                (HCI0, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/advertisement', {}),
                (device, 'org.bluez.Device1', 'Disconnect'), (device, 'org.bluez.Device1', 'Connect'),
                (device, 'org.bluez.Device1', 'Disconnect'), (HCI0, ADAPTER, 'RemoveDevice', 'o', device)]
            for words in calls:
                await asyncio.wait_for(ear.call(*words), 60)
            for client in clients:
                client.socket.close()
            await ear.connect(device)
    desk.go(work(), 240)


def test_connections_of_two_users(desk):
    """A user that waits for devices which are not there does not delay the connection of another one to a device which is"""
    desk.device('Peer', 'C0:DE:00:00:00:01').advertise()
    greedy, other = Raw(desk.path('bus'), NOBODY), Raw(desk.path('bus'), SOMEBODY)
    for number in range(30):
        connect_device(greedy, f'C0:11:00:00:00:{number:02X}')
    wait_until(lambda: len(desk.controller.accept_list) == 8, 'the controller looks for them')
    began = time.monotonic()
    kind, answer = other.answer(connect_device(other, 'C0:DE:00:00:00:01'), 60)
    took = time.monotonic() - began
    assert kind == RETURN, answer
    # A turn of the others is 10 s.
    assert took < 5, f'{took:.1f} s'
    for client in greedy, other:
        client.socket.close()


def test_calls_of_a_user(desk):
    """Calls of one user that wait have a limit over all of its connections"""
    clients = [Raw(desk.path('bus'), NOBODY) for _ in range(8)]
    for number, client in enumerate(clients):
        for _ in range(200):
            connect_device(client, f'C0:00:00:00:00:{number:02X}')

    async def others():
        async with Ear() as ear:
            for _ in range(20):
                assert await ear.get(HCI0, ADAPTER, 'Address')
    desk.go(others())
    for client in clients:
        client.socket.close()


def test_forged_answers(desk):
    """Another client that answers in the place of the one that was asked is not heard"""
    asked, forger = Raw(desk.path('bus')), Raw(desk.path('bus'), NOBODY)
    serial = asked.register(MANAGER, 'RegisterApplication', '/app')
    question = asked.question('GetManagedObjects')
    for number in range(1, question + 200):
        forger.send('', '', '', 'a{oa{sa{sv}}}', struct.pack('<I', 0) + bytes(4), kind=RETURN, reply_to=number)
    # The bus passes on what a client sends in its order.
    last = forger.send(HCI0, 'org.freedesktop.DBus.Introspectable', 'Introspect')
    assert forger.answers(last, 5)
    assert not asked.answers(serial, 1)
    asked.send('', '', '', 'a{oa{sa{sv}}}', struct.pack('<I', 0) + bytes(4), kind=RETURN, reply_to=question)
    assert b'No object received' in asked.answers(serial, 5)[0]


def test_forged_signals(desk):
    """A client that says in the name of the bus or of another client what has happened is not heard"""
    async def work():
        async with Ear() as ear:
            Objects(ear)
            await ear.call(HCI0, ADAPTER, 'StartDiscovery')
            await ear.call(HCI0, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/advertisement', {})
            forger = Raw(desk.path('bus'), NOBODY)
            name = ear.bus.unique_name.encode()

            def text(octets):
                return struct.pack('<I', len(octets)) + octets + b'\0'
            body = text(name)
            for word in name, b'':
                body += bytes(-len(body) % 4) + text(word)
            forger.send('/org/freedesktop/DBus', 'org.freedesktop.DBus', 'NameOwnerChanged', 'sss', body, kind=SIGNAL)
            forger.send('/advertisement', PROPERTIES, 'PropertiesChanged', 'sa{sv}as',
                        text(b'org.bluez.LEAdvertisement1') + bytes(13), kind=SIGNAL)
            last = forger.send(HCI0, 'org.freedesktop.DBus.Introspectable', 'Introspect')
            assert await asyncio.to_thread(forger.answers, last, 5)
            assert await ear.get(HCI0, ADAPTER, 'Discovering') is True
            assert await ear.get(HCI0, ADVERTISING, 'ActiveInstances') == 1
    desk.go(work())


def test_a_hundred_megabytes(desk):
    """An application whose objects are 100 MB is refused; others are answered, and the memory is free again"""
    client = Raw(desk.path('bus'), NOBODY)
    serial = client.register(MANAGER, 'RegisterApplication', '/app')
    question = client.question('GetManagedObjects')
    # An array has 64 MB at most.
    half = struct.pack('<I', 50_000_000) + bytes(50_000_000)
    client.send('', '', '', 'ayay', half + half, kind=RETURN, reply_to=question)

    async def others():
        async with Ear() as ear:
            for _ in range(20):
                assert await ear.get(HCI0, ADAPTER, 'Address')
    desk.go(others(), 90)
    assert b'No object received' in client.answers(serial, 20)[0]
    wait_until(lambda: kilobytes(desk.door.process, 'VmRSS') < 60 * 1024, 'the memory is free', 20)


def test_changes_without_end(desk):
    """A client that says without end that its advertisement has changed, and answers nothing, costs little"""
    client = Raw(desk.path('bus'), NOBODY)
    serial = client.register(ADVERTISING, 'RegisterAdvertisement', '/advertisement')
    question = client.question('GetAll')
    entry = struct.pack('<I', 4) + b'Type\0' + b'\1s\0' + struct.pack('<I', 10) + b'peripheral\0'
    client.send('', '', '', 'a{sv}', struct.pack('<I', len(entry)) + bytes(4) + entry, kind=RETURN, reply_to=question)
    assert client.answers(serial, 10)
    name = b'org.bluez.LEAdvertisement1'
    body = struct.pack('<I', len(name)) + name + bytes(14)
    before = kilobytes(desk.door.process, 'VmRSS')
    for number in range(20_000):
        client.send('/advertisement', PROPERTIES, 'PropertiesChanged', 'sa{sv}as', body, kind=SIGNAL)
        if number % 100 == 0:
            client.drain()

    async def others():
        async with Ear() as ear:
            for _ in range(20):
                assert await ear.get(HCI0, ADAPTER, 'Address')
    desk.go(others())
    assert kilobytes(desk.door.process, 'VmRSS') - before < 20 * 1024


def test_settings_without_end(desk):
    """A client that sets a property without end does not keep others waiting, and what it set last is kept"""
    async def work():
        async with Ear() as ear, Ear() as other:
            for number in range(500):
                await ear.set(HCI0, ADAPTER, 'Alias', 's', f'name {number} ' + 'é' * 300)
                if number % 50 == 0:
                    assert await other.get(HCI0, ADAPTER, 'Address')
            assert (await other.get(HCI0, ADAPTER, 'Alias')).startswith('name 499 é')
    desk.go(work(), 120)
    desk.door.is_ended = True
    desk.door.process.terminate()
    assert desk.door.process.wait(20) == 0
    desk.start_door()

    async def look():
        async with Ear() as ear:
            while HCI0 not in await ear.objects():
                await asyncio.sleep(0.05)
            assert (await ear.get(HCI0, ADAPTER, 'Alias')).startswith('name 499 é')
    desk.go(look())


def test_release(desk):
    """When the service ends, what clients offered is released"""
    async def work():
        async with Ear() as ear:
            offered = Objects(ear)
            await ear.call(HCI0, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/advertisement', {})
            desk.door.is_ended = True
            desk.door.process.terminate()
            while ('release',) not in offered.said:
                await asyncio.sleep(0.05)
    desk.go(work())
    assert desk.door.process.wait(20) == 0


def test_the_bus_goes(desk):
    """Without its bus it ends with status 1, and on the next one it begins again"""
    desk.bus.is_ended = desk.door.is_ended = True
    desk.bus.process.kill()
    assert desk.door.process.wait(20) == 1 and 'bus' in desk.door.stderr(), desk.door.stderr()
    desk.start_bus()
    desk.start_door()

    async def look():
        async with Ear() as ear:
            while HCI0 not in await ear.objects():
                await asyncio.sleep(0.05)
    desk.go(look())


def test_bled_goes_at_any_time(desk):
    """`bled` is killed and started again while clients discover, connect, pair and register: each call has an end, and then all goes on"""
    dice = random.Random(1)
    for number in range(4):
        desk.device(f'Peer {number}', f'C0:00:00:00:00:0{number}').advertise()
    socket, bled = desk.socket, desk.bled_process

    async def clients(end):
        async with Ear() as ear:
            Objects(ear)
            while not end.is_set():
                device = f'{HCI0}/dev_C0_00_00_00_00_0{dice.randrange(4)}'
                words = dice.choice([
                    (HCI0, ADAPTER, 'StartDiscovery'), (HCI0, ADAPTER, 'StopDiscovery'), (device, 'org.bluez.Device1', 'Connect'),
                    (device, 'org.bluez.Device1', 'Pair'), (device, 'org.bluez.Device1', 'Disconnect'),
                    (HCI0, MANAGER, 'RegisterApplication', 'oa{sv}', '/app', {}), (HCI0, MANAGER, 'UnregisterApplication', 'o', '/app'),
                    (HCI0, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/advertisement', {}),
                    (HCI0, ADAPTER, 'RemoveDevice', 'o', device)])
                try:
                    await asyncio.wait_for(ear.call(*words), 60)
                except Refused:
                    await asyncio.sleep(0.01)

    async def work():
        nonlocal bled
        end = asyncio.Event()
        tasks = [asyncio.create_task(clients(end)) for _ in range(4)]
        for _ in range(8):
            await asyncio.sleep(dice.uniform(0.05, 1.5))
            bled.is_ended = True
            bled.process.kill()
            await asyncio.to_thread(bled.process.wait)
            await asyncio.sleep(dice.uniform(0, 0.5))
            bled = desk.spawn('bled', [BLED, '--adapter', desk.endpoint, '--socket', socket, '--state', desk.path('state2')])
        end.set()
        await asyncio.gather(*tasks)
        async with Ear() as ear:
            while HCI0 not in await ear.objects():
                await asyncio.sleep(0.05)
            await ear.connect(f'{HCI0}/dev_C0_00_00_00_00_01')
    desk.go(work(), 300)
