"""Bumble as the central that `Central` takes turns with: the same lines in, the same lines out.

  bumble_central.py unix:PATH ADDRESS    (`discover`: connect, MTU, services, characteristics, descriptors, disconnect)"""
import argparse, asyncio, json, os, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'peers'))
from bumble.device import Peer
from peer_common import add_args, open_device


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


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_args(parser)
    parser.add_argument('peer')
    arguments = parser.parse_args()
    transport, device, own = await open_device(arguments, 'BumbleCentral', 'F0:F1:F2:00:00:01')
    await device.power_on()
    answer(event='ready')
    while line := await asyncio.to_thread(sys.stdin.readline):
        if line.strip() == 'discover':
            await discover(device, own, arguments.peer)
    await transport.close()


asyncio.run(main())
