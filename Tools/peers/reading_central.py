#!/usr/bin/env python3
"""Bumble as a central that stays connected and reads when it is told to.

  reading_central.py unix:/tmp/x/hci2 [--name Door] [--characteristic 2A19]

Finds the device by its name once, and later by its address. Prints a JSON object a line: ready, connected, value or refused for each
read, disconnected. SIGUSR1: it reads. SIGUSR2: it ends the link and connects again. Ends with SIGTERM.
"""
import asyncio, contextlib, signal

from bumble.core import UUID
from bumble.device import Peer

from bonded_central import told
from peer_common import *

# Bumble cancels what waits for a link that has ended.
ENDS = Exception, asyncio.CancelledError


async def main():
    parser = arguments(__doc__)
    parser.add_argument('--name', default='Door')
    parser.add_argument('--characteristic', default='2A19')
    args = parser.parse_args()
    transport, device, own = await open_device(args, 'ReadingCentral', 'F0:F1:F2:00:00:03')
    await device.power_on()
    wishes, loop = asyncio.Queue(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, wishes.put_nowait, 'read')
    loop.add_signal_handler(signal.SIGUSR2, wishes.put_nowait, 'again')
    told('ready')
    address = await find(device, own, args.name)
    while True:
        try:
            connection = await device.connect(address, own_address_type=own, timeout=5)
        except Exception:
            await asyncio.sleep(0.05)
            continue
        connection.on('disconnection', lambda reason, link=connection: wishes.put_nowait(link))
        peer = Peer(connection)
        try:
            await peer.discover_services()
            await peer.discover_characteristics([UUID(args.characteristic)])
            characteristic, = peer.get_characteristics_by_uuid(UUID(args.characteristic))
        except ENDS:
            # Bumble waits for ever to end a link that has ended.
            with contextlib.suppress(*ENDS):
                await asyncio.wait_for(connection.disconnect(), 2)
            continue
        told('connected')
        # The ends of earlier links are of no interest.
        while (wish := await wishes.get()) not in ('again', connection):
            if wish == 'read':
                try:
                    told('value', value=bytes(await characteristic.read_value()).hex())
                except ENDS as error:
                    told('refused', reason=getattr(error, 'error_name', '') or repr(error))
        if wish == 'again':
            with contextlib.suppress(*ENDS):
                await asyncio.wait_for(connection.disconnect(), 2)
        told('disconnected')


if __name__ == '__main__':
    asyncio.run(main())
