"""Clients that flood, hang or send nonsense harm nobody else."""
import asyncio, os, random, struct, time

import pytest

from jelling import options
from jelling.bluez import ADAPTER, CHARACTERISTIC, DEVICE, HCI0, PEER, PROPERTIES, Ear
from jelling.raw_bus import Raw
from jelling.measures import kilobytes


CALLS = [(HCI0, ADAPTER, 'StartDiscovery', ''), (HCI0, ADAPTER, 'SetDiscoveryFilter', 'a{sv}'), (HCI0, ADAPTER, 'RemoveDevice', 'o'),
         (HCI0, ADAPTER, 'ConnectDevice', 'a{sv}'), (HCI0, PROPERTIES, 'Set', 'ssv'), (HCI0, PROPERTIES, 'Get', 'ss'),
         ('/org/bluez', 'org.bluez.AgentManager1', 'RegisterAgent', 'os'), (HCI0, 'org.bluez.GattManager1', 'RegisterApplication', 'oa{sv}'),
         (HCI0, 'org.bluez.LEAdvertisingManager1', 'RegisterAdvertisement', 'oa{sv}'), (PEER, DEVICE, 'Connect', ''),
         (HCI0, 'org.bluez.AdvertisementMonitorManager1', 'RegisterMonitor', 'o'), (PEER, DEVICE, 'Pair', ''),
         ('/', 'org.freedesktop.DBus.ObjectManager', 'GetManagedObjects', '')]
WORDS = ['UUIDs', 'RSSI', 'Transport', 'Pathloss', 'Pattern', 'DuplicateData', 'Discoverable', 'Address', 'AddressType', 'Alias', 'Powered',
         ADAPTER, DEVICE, '', 'le', 'x' * 300, 'org.bluez']


def octets(dice, signature, at=0, depth=0):
    """A body of a signature, with aligned values from the dice."""
    out = b''
    place = 0
    while place < len(signature):
        kind = signature[place]
        size = {'y': 1, 'b': 4, 'n': 2, 'q': 2, 'i': 4, 'u': 4, 'x': 8, 't': 8, 'd': 8}.get(kind)
        if size:
            out += bytes(-(at + len(out)) % size)
            out += struct.pack('<I', dice.randrange(2)) if kind == 'b' else dice.randbytes(size)
            place += 1
        elif kind in 'so':
            text = dice.choice(WORDS) if kind == 's' else dice.choice(['/', '/a', PEER, HCI0, '/org/bluez', '/a/b/c'])
            out += bytes(-(at + len(out)) % 4) + struct.pack('<I', len(text)) + text.encode() + b'\0'
            place += 1
        elif kind == 'g':
            out += b'\1y\0'
            place += 1
        elif kind == 'v':
            inner = dice.choice(['s', 'n', 'q', 'u', 'b', 'y', 'as', 'ay', 'a{sv}', '(yyay)', 'av', 'd', 'x', 'o'] if depth < 6 else ['s'])
            out += bytes([len(inner)]) + inner.encode() + b'\0'
            out += octets(dice, inner, at + len(out), depth + 1)
            place += 1
        elif kind == 'a':
            end = place + 2
            if signature[place + 1] in '({':
                level, end = 1, place + 2
                while level:
                    level += signature[end] in '({'
                    level -= signature[end] in ')}'
                    end += 1
            element = signature[place + 1:end]
            out += bytes(-(at + len(out)) % 4)
            start = len(out)
            out += bytes(4)
            out += bytes(-(at + len(out)) % (8 if element[0] in '({xtd' else 4 if element[0] in 'soubia' else 2 if element[0] in 'nq' else 1))
            first = len(out)
            for _ in range(dice.randrange(4)):
                if element[0] in '({':
                    out += bytes(-(at + len(out)) % 8)
                    out += octets(dice, element[1:-1], at + len(out), depth + 1)
                else:
                    out += octets(dice, element, at + len(out), depth + 1)
            out = out[:start] + struct.pack('<I', len(out) - first) + out[start + 4:]
            place = end
        elif kind == '(':
            out += bytes(-(at + len(out)) % 8)
            end = signature.index(')', place)
            out += octets(dice, signature[place + 1:end], at + len(out), depth)
            place = end + 1
    return out


def test_nonsense(desk):
    """Calls with any values and with types that no method has: the service answers others meanwhile, and stays small"""
    count = options.MESSAGES or 4000
    dice = random.Random(options.SEED)
    before = kilobytes(desk.door.process, 'VmRSS')

    async def others():
        async with Ear() as ear:
            for _ in range(20):
                start = time.monotonic()
                assert await ear.get(HCI0, ADAPTER, 'Address')
                assert time.monotonic() - start < 10
    raw = Raw(desk.path('bus'))
    for number in range(count):
        path, interface, member, signature = dice.choice(CALLS)
        if dice.random() < 0.5:
            signature = ''.join(dice.choice(['s', 'o', 'a{sv}', 'v', 'ay', 'q', 'as', 'u', '(sv)', 'a(yyay)', 'av']) for _ in range(dice.randrange(4)))
        raw.send(path, interface, member, signature, octets(dice, signature))
        if number % 50 == 0:
            raw.drain()
        if number % 1000 == 0:
            desk.go(others())
    desk.go(others())
    raw.socket.close()
    assert kilobytes(desk.door.process, 'VmRSS') - before < 20 * 1024


def test_flood(desk):
    """A client that calls without reading: others are answered; what it wanted ends with it"""
    raw = Raw(desk.path('bus'))
    raw.send(HCI0, ADAPTER, 'StartDiscovery')
    raw.socket.settimeout(2)
    try:
        for _ in range(20000):
            raw.send('/', 'org.freedesktop.DBus.ObjectManager', 'GetManagedObjects')
    except OSError:
        pass

    async def others():
        async with Ear() as ear:
            start = time.monotonic()
            for _ in range(20):
                assert await ear.get(HCI0, ADAPTER, 'Address')
            assert time.monotonic() - start < 20
            raw.socket.close()
            while await ear.get(HCI0, ADAPTER, 'Discovering'):
                await asyncio.sleep(0.05)
    desk.go(others())
    assert kilobytes(desk.door.process, 'VmRSS') < 60 * 1024


def test_a_socket_that_nobody_reads(desk):
    """A client that acquires notifications and reads none: the link goes on for others"""
    from bluez.test_bleak import characteristics

    async def work():
        names = characteristics(desk)
        async with Ear() as ear:
            await ear.connect()
            stream, control = await ear.attribute(names['STREAM']), await ear.attribute(names['CONTROL'])
            reply = await ear.ask('org.bluez', stream, CHARACTERISTIC, 'AcquireNotify', 'a{sv}', {})
            await ear.call(control, CHARACTERISTIC, 'WriteValue', 'aya{sv}', b'\x01' + struct.pack('<IH', 500000, 500), {})
            for _ in range(20):
                assert await ear.call(await ear.attribute('2A38'), CHARACTERISTIC, 'ReadValue', 'a{sv}', {}) == b'\1'
            os.close(reply.unix_fds[reply.body[0]])
            await ear.property(stream, 'NotifyAcquired', False)
    desk.go(work(), 120)
