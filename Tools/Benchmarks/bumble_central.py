"""Bumble as the central that `Central` takes turns with: the same lines in, the same lines out.

  bumble_central.py unix:PATH ADDRESS    (`discover`: connect, MTU, services, characteristics, descriptors, disconnect;
                                          `stream OCTETS LENGTH [PART]`: connect, MTU, subscribe, ask for so many octets;
                                          `read COUNT`: connect, MTU, read a value so many times;
                                          `channel OCTETS LENGTH`: connect, open a channel, send so many octets, take them back)"""
import asyncio, json, os, struct, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'peers'))
from bumble.core import UUID
from bumble.device import Peer
from bumble.l2cap import LeCreditBasedChannelSpec
from peer_common import BASE, CONTROL, STREAM, arguments as options, open_device


# Octets asked for at once: btvirt drops what its receiver's socket cannot hold.
PART = 16384


def answer(**values):
    print(json.dumps(values), flush=True)


async def discover(device, own, address):
    start = time.perf_counter()
    connection = await device.connect(address, own_address_type=own, timeout=10)
    peer = Peer(connection)
    await peer.request_mtu(517)
    connected = time.perf_counter()
    await peer.discover_services()
    await peer.discover_characteristics()
    characteristics = [c for s in peer.services for c in s.characteristics]
    for characteristic in characteristics:
        await peer.discover_descriptors(characteristic)
    end = time.perf_counter()
    await connection.disconnect()
    answer(event='discovered', ms=(end - start) * 1e3, connect=(connected - start) * 1e3,
           services=len(peer.services), characteristics=len(characteristics),
           descriptors=sum(len(c.descriptors) for c in characteristics))


async def stream(device, own, address, octets, length, at_once=PART):
    connection = await device.connect(address, own_address_type=own, timeout=10)
    peer = Peer(connection)
    mtu = await peer.request_mtu(517)
    await peer.discover_services()
    await peer.discover_characteristics()
    control, values = (peer.get_characteristics_by_uuid(UUID(u))[0] for u in (CONTROL, STREAM))
    got, numbers, done = 0, [], asyncio.Event()
    wanted = 0

    def notified(value):
        nonlocal got
        got += len(value)
        numbers.append(value[:4])
        if got >= wanted:
            done.set()

    await values.subscribe(notified)
    count, in_order = 0, True
    start = time.perf_counter()
    while wanted < octets:
        part = min(at_once, octets - wanted)
        wanted += part
        done.clear()
        await control.write_value(struct.pack('<BIH', 1, part, length), with_response=True)
        await asyncio.wait_for(done.wait(), 20)
        in_order = in_order and [int.from_bytes(n, 'little') for n in numbers] == list(range(len(numbers)))
        count += len(numbers)
        numbers.clear()
    end = time.perf_counter()
    await connection.disconnect()
    answer(event='streamed', ms=(end - start) * 1e3, octets=got, notifications=count, inOrder=in_order, mtu=mtu)


async def read(device, own, address, count):
    connection = await device.connect(address, own_address_type=own, timeout=10)
    peer = Peer(connection)
    await peer.request_mtu(517)
    await peer.discover_services()
    await peer.discover_characteristics()
    value = peer.get_characteristics_by_uuid(UUID(BASE % 11))[0]
    start = time.perf_counter()
    for _ in range(count):
        await value.read_value()
    end = time.perf_counter()
    await connection.disconnect()
    answer(event='reads', ms=(end - start) * 1e3, reads=count)


async def channel(device, own, address, octets, length):
    connection = await device.connect(address, own_address_type=own, timeout=10)
    opened = await connection.create_l2cap_channel(spec=LeCreditBasedChannelSpec(psm=0x80, mtu=2048, mps=247, max_credits=16))
    message = bytes(i % 256 for i in range(length))
    got, in_order, wanted, done = 0, True, 0, asyncio.Event()

    def received(data):
        nonlocal got, in_order
        in_order = in_order and data[0] == message[got % length]
        got += len(data)
        if got >= wanted:
            done.set()

    opened.sink = received
    start = time.perf_counter()
    while wanted < octets:
        count = max(1, PART // length)
        wanted += count * length
        done.clear()
        for _ in range(count):
            opened.write(message)
        await asyncio.wait_for(done.wait(), 20)
    end = time.perf_counter()
    await opened.disconnect()
    await connection.disconnect()
    answer(event='echoed', ms=(end - start) * 1e3, octets=got, inOrder=in_order, mtu=opened.peer_mtu)


async def main():
    parser = options(__doc__)
    parser.add_argument('peer')
    arguments = parser.parse_args()
    transport, device, own = await open_device(arguments, 'BumbleCentral', 'F0:F1:F2:00:00:01')
    await device.power_on()
    answer(event='ready')
    while line := await asyncio.to_thread(sys.stdin.readline):
        if line.strip() == 'discover':
            await discover(device, own, arguments.peer)
        elif line.startswith('stream '):
            await stream(device, own, arguments.peer, *map(int, line.split()[1:]))
        elif line.startswith('read '):
            await read(device, own, arguments.peer, int(line.split()[1]))
        elif line.startswith('channel '):
            await channel(device, own, arguments.peer, *map(int, line.split()[1:]))
    await transport.close()


asyncio.run(main())
