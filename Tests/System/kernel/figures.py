"""What BlueZ's daemon and ours cost and how fast they are, in the words of org.bluez: one peripheral of the simulator, then a crowd."""
import asyncio, json, os, socket, statistics, time

from jelling.bluez import ADAPTER, CHARACTERISTIC, DEVICE, HCI0, Ear
from jelling.measures import kilobytes, processor_seconds

ADDRESS, PATH = 'C0:DE:00:00:00:F0', HCI0 + '/dev_C0_DE_00_00_00_F0'
LIMIT = 300         # seconds
ROUNDS, READS, SECONDS, CROWD, INTERVAL = 5, 100, 10, 500, 0.5
PERIPHERAL = {'name': 'Figures', 'address': ADDRESS, 'interval': 0.1, 'services': [{'uuid': '180D', 'characteristics': [
    {'uuid': '2A38', 'properties': ['read'], 'value': '01'},
    {'uuid': '2A37', 'properties': ['notify'], 'value': '0048', 'notifyEvery': 0.001}]}]}
BESIDE = json.dumps({'devices': [PERIPHERAL]})
AMONG = json.dumps({'devices': [{'name': f'Crowd {number}', 'address': f'C4:00:00:00:{number >> 8:02X}:{number & 255:02X}',
                                 'interval': INTERVAL, 'manufacturerData': f'ffff{number:04x}'} for number in range(CROWD)]})


def costs(desk):
    return sum(processor_seconds(child.process) for child in desk.running)


async def found(ear):
    """Seconds from StartDiscovery to the device."""
    since, began = len(ear.notes), time.monotonic()
    await ear.call(HCI0, ADAPTER, 'StartDiscovery')
    await ear.wait(lambda note: note[:2] == ('added', PATH), 'the device', LIMIT, since)
    took = time.monotonic() - began
    await ear.call(HCI0, ADAPTER, 'StopDiscovery')
    return took


async def connected(ear):
    """Seconds from Connect to ServicesResolved."""
    since, began = len(ear.notes), time.monotonic()
    await ear.call(PATH, DEVICE, 'Connect')
    await ear.property(PATH, 'ServicesResolved', True, LIMIT, since)
    return time.monotonic() - began


async def removed(ear):
    since = len(ear.notes)
    await ear.call(HCI0, ADAPTER, 'RemoveDevice', 'o', PATH)
    # BlueZ answers before it is gone.
    await ear.wait(lambda note: note[0] == 'removed' and note[1] == PATH and DEVICE in note[2], 'the end of the device', LIMIT, since)


async def reads(ear):
    """Seconds of one ReadValue each."""
    path, times = await ear.attribute('2A38', PATH), []
    for _ in range(READS):
        began = time.monotonic()
        assert await ear.call(path, CHARACTERISTIC, 'ReadValue', 'a{sv}', {}) == b'\1'
        times.append(time.monotonic() - began)
    return times


async def signalled(ear, desk):
    """Values a second by PropertiesChanged, and seconds of the processor for a thousand."""
    path = await ear.attribute('2A37', PATH)
    await ear.call(path, CHARACTERISTIC, 'StartNotify')
    await asyncio.sleep(1)
    before, count, began = costs(desk), len(ear.changes(path, 'Value')), time.monotonic()
    await asyncio.sleep(SECONDS)
    count, took = len(ear.changes(path, 'Value')) - count, time.monotonic() - began
    spent = costs(desk) - before
    await ear.call(path, CHARACTERISTIC, 'StopNotify')
    return count / took, spent / count * 1000


async def acquired(ear, desk):
    """The same through the socket of AcquireNotify."""
    path = await ear.attribute('2A37', PATH)
    reply = await ear.ask('org.bluez', path, CHARACTERISTIC, 'AcquireNotify', 'a{sv}', {})
    end = socket.socket(fileno=reply.unix_fds[reply.body[0]])
    end.setblocking(True)
    end.settimeout(LIMIT)
    end.recv(600)
    before, count, began = costs(desk), 0, time.monotonic()
    while time.monotonic() < began + SECONDS:
        count += len(end.recv(600)) == 2
    took, spent = time.monotonic() - began, costs(desk) - before
    end.close()
    await ear.property(path, 'NotifyAcquired', False)
    return count / took, spent / count * 1000


def signals_sent(desk):
    """Signals of changed properties a second, counted in the octets of a connection to the bus: to read them takes more time than to send
    them."""
    from dbus_fast import Message
    bus = {'destination': 'org.freedesktop.DBus', 'path': '/org/freedesktop/DBus', 'interface': 'org.freedesktop.DBus'}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(desk.path('bus'))
        connection.sendall(b'\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\r\n')
        assert connection.recv(1000).startswith(b'OK')
        connection.sendall(b'BEGIN\r\n' + Message(**bus, member='Hello', serial=1)._marshall(False) + Message(
            **bus, member='AddMatch', serial=2, signature='s', body=["type='signal',sender='org.bluez'"])._marshall(False))
        count, began = 0, time.monotonic()
        while (took := time.monotonic() - began) < SECONDS:
            count += connection.recv(1 << 20).count(b'PropertiesChanged')
    return count / took


def peripheral(desk):
    async def work():
        async with Ear() as ear:
            found_in, connected_in = [], []
            for _ in range(ROUNDS):
                found_in.append(await found(ear))
                connected_in.append(await connected(ear))
                await removed(ear)
            await found(ear)
            await connected(ear)
            read_in = await reads(ear)
            signals, each_signal = await signalled(ear, desk)
            packets, each_packet = await acquired(ear, desk)
            await removed(ear)
        return {'discovery': min(found_in), 'connection': min(connected_in), 'read': statistics.median(read_in),
                'signals': signals, 'signal cost': each_signal, 'packets': packets, 'packet cost': each_packet}
    return desk.go(work(), 3 * LIMIT)


def crowd(desk):
    async def work():
        from dbus_fast import Variant
        async with Ear() as ear:
            # What is signalled goes to nobody, but from the daemon to the bus.
            await ear.ask('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'RemoveMatch', 's',
                          "type='signal',sender='org.bluez'")
            await ear.call(HCI0, ADAPTER, 'SetDiscoveryFilter', 'a{sv}', {'Transport': Variant('s', 'le'), 'DuplicateData': Variant('b', True)})
            await ear.call(HCI0, ADAPTER, 'StartDiscovery')
            for _ in range(LIMIT):
                known = sum(DEVICE in interfaces for interfaces in (await ear.objects()).values())
                if known == CROWD:
                    break
                await asyncio.sleep(1)
            assert known == CROWD, known
            before, bus, began = costs(desk), processor_seconds(desk.bus.process), time.monotonic()
            await asyncio.sleep(2 * SECONDS)
            took = time.monotonic() - began
            result = {'processor': (costs(desk) - before) / took, 'bus': (processor_seconds(desk.bus.process) - bus) / took,
                      'memory': sum(kilobytes(child.process, 'VmRSS') for child in desk.running) / 1024}
            signals = await asyncio.to_thread(signals_sent, desk)
            return {**result, 'crowd signals': signals, 'crowd cost': result['processor'] / signals * 1000}
    return desk.go(work(), 3 * LIMIT)


# Of each figure: the words, the unit, the factor, digits behind the point.
ROWS = {
    'discovery': (f'`StartDiscovery` to the first `InterfacesAdded`, the best of {ROUNDS}', 'ms', 1000, 0),
    'connection': (f'`Connect` to `ServicesResolved`, the best of {ROUNDS}', 'ms', 1000, 0),
    'read': (f'`ReadValue`, the median of {READS}', 'ms', 1000, 1),
    'signals': ('values through `PropertiesChanged`, where 1,000/s are offered', '/s', 1, 0),
    'signal cost': ('processor for 1,000 of them', 's', 1, 2),
    'packets': ('values through `AcquireNotify`, where 1,000/s are offered', '/s', 1, 0),
    'packet cost': ('processor for 1,000 of them', 's', 1, 2),
    'processor': (f'processor among {CROWD} advertisers with 1,000 reports/s', '%', 100, 1),
    'memory': ('memory then', 'MB', 1, 1),
    'crowd signals': ('`PropertiesChanged` that are sent then', '/s', 1, 0),
    'crowd cost': ('processor for 1,000 of them', 's', 1, 2),
    'bus': ('processor of `dbus-daemon` then', '%', 100, 1),
}


def table(theirs, ours):
    lines = ['| | BlueZ | here | here / BlueZ |', '|---|---|---|---|']
    for name, (words, unit, factor, digits) in ROWS.items():
        there, here = theirs[name] * factor, ours[name] * factor
        lines.append(f'| {words} | {there:,.{digits}f} {unit} | {here:,.{digits}f} {unit} | {here / there:.2f} |')
    return '\n'.join(lines) + '\n'
