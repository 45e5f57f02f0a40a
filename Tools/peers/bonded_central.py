#!/usr/bin/env python3
"""Bumble as a central that pairs and subscribes once, and comes back again and again.

  bonded_central.py unix:/tmp/x/hci2 --keystore FILE [--name Relay] [--service UUID] [--characteristic UUID]

The first connection pairs and writes the descriptor of the subscription. Each later one only encrypts with the stored key, so that
values come only if the server still knows the subscription. Prints a JSON object a line: connected, paired, subscribed, encrypted,
refused (the key is no longer known), value, disconnected. Ends with SIGTERM. SIGUSR1: the link is dead, which a real controller
notices by itself and Bumble's does not.
"""
import asyncio, contextlib, json, signal, sys

from bumble import hci
from bumble.core import UUID
from bumble.device import Peer

from peer_common import *


def told(name, **fields):
    print(json.dumps({'event': name, **fields}), flush=True)


async def begin(connection, peer, args):
    """Pairs and subscribes."""
    done = asyncio.get_running_loop().create_future()
    connection.on('pairing', lambda keys: done.done() or done.set_result(keys))
    await connection.pair()
    await asyncio.wait_for(done, 30)
    told('paired')
    await peer.discover_service(UUID(args.service))
    service, = peer.get_services_by_uuid(UUID(args.service))
    await peer.discover_characteristics(service=service)
    characteristic, = service.get_characteristics_by_uuid(UUID(args.characteristic))
    await peer.subscribe(characteristic)
    told('subscribed')


async def main():
    parser = arguments(__doc__)
    parser.add_argument('--name', default='Relay')
    parser.add_argument('--service', default='7C7D0001-5B0E-4C63-9C0B-5C2D0D3C9A11')
    parser.add_argument('--characteristic', default='7C7D0002-5B0E-4C63-9C0B-5C2D0D3C9A11')
    args = parser.parse_args()
    transport, device, own = await open_device(args, 'BondedCentral', 'F0:F1:F2:00:00:02')
    await device.power_on()
    told('ready')
    address, is_bonded = None, False
    while True:
        if address is None:
            address = await find(device, own, args.name)
        try:
            connection = await device.connect(address, own_address_type=own, timeout=5)
        except Exception:
            await asyncio.sleep(0.05)
            continue
        gone = asyncio.Event()
        connection.on('disconnection', lambda reason: gone.set())
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, gone.set)
        told('connected')
        peer = Peer(connection)
        heard = peer.gatt_client.on_att_handle_value_notification

        def value(notification, heard=heard):
            told('value', handle=notification.attribute_handle, value=notification.attribute_value.hex())
            heard(notification)
        peer.gatt_client.on_att_handle_value_notification = value
        ended = asyncio.create_task(gone.wait())
        work = asyncio.create_task(connection.encrypt() if is_bonded else begin(connection, peer, args))
        await asyncio.wait({ended, work}, return_when=asyncio.FIRST_COMPLETED)
        if work.done() and not work.cancelled():
            if work.exception() is None:
                told('encrypted')
                is_bonded = True
            elif not gone.is_set():
                if isinstance(error := work.exception(), hci.HCI_Error) and error.error_code == hci.HCI_UNKNOWN_CONNECTION_IDENTIFIER_ERROR:
                    # The controller has no such link any more.
                    gone.set()
                else:
                    # The link stands, and the other side refused.
                    told('refused', reason=f'{error!r} {error}')
                    gone.set()
        else:
            work.cancel()
        await ended
        # Also of a link whose end the controller has not told.
        with contextlib.suppress(Exception):
            await asyncio.wait_for(connection.disconnect(), 5)
        told('disconnected')


if __name__ == '__main__':
    try:
        asyncio.run(main())
    except asyncio.CancelledError:
        sys.exit(0)
