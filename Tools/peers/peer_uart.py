#!/usr/bin/env python3
"""Bumble as a device with a UART service, that sends back what is written to it.

  peer_uart.py unix:/tmp/x/hci1 [--name BumbleUART] [--uart nordic|hm10]

One JSON object a line: `{"ev": "ready"}` once it advertises, `{"ev": "connected"}` for each link.
Stops on SIGTERM/SIGINT.
"""
import asyncio, signal

from bumble.att import Attribute
from bumble.core import AdvertisingData
from bumble.gatt import Characteristic, CharacteristicValue, Service

from peer_common import *

P = Characteristic.Properties
NORDIC = '6E40%04x-B5A3-F393-E0A9-E50E24DCCA9E'


async def main():
    ap = arguments(__doc__)
    ap.add_argument('--name', default='BumbleUART')
    ap.add_argument('--uart', choices=['nordic', 'hm10'], default='nordic')
    args = ap.parse_args()
    _, device, own = await open_device(args, args.name, 'F2:F1:F0:00:00:03')
    stop = asyncio.Event()
    for s in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(s, stop.set)
    waiting = asyncio.Queue()

    def write(connection, value):
        waiting.put_nowait((connection, bytes(value)))

    async def send():
        count = 0
        while True:
            connection, value = await waiting.get()
            await device.notify_subscriber(connection, sent, value)
            count += 1
            # Notifications have no response: wait for the ACL queue, not for the peer.
            if count % 16 == 0:
                await connection.drain()

    writes = P.WRITE | P.WRITE_WITHOUT_RESPONSE
    if args.uart == 'nordic':
        written = Characteristic(NORDIC % 2, writes, Attribute.WRITEABLE, CharacteristicValue(write=write))
        sent = Characteristic(NORDIC % 3, P.NOTIFY, 0, CharacteristicValue(read=lambda c: b''))
        device.add_service(Service(NORDIC % 1, [written, sent]))
    else:
        sent = Characteristic('FFE1', P.WRITE_WITHOUT_RESPONSE | P.NOTIFY, Attribute.WRITEABLE, CharacteristicValue(write=write))
        device.add_service(Service('FFE0', [sent]))
    device.on('connection', lambda c: event('connected'))
    await device.power_on()
    data = AdvertisingData([(AdvertisingData.FLAGS, bytes([6])), (AdvertisingData.COMPLETE_LOCAL_NAME, args.name.encode())])
    await device.start_advertising(advertising_data=bytes(data), own_address_type=own, auto_restart=True)
    task = asyncio.ensure_future(send())
    event('ready')
    await stop.wait()
    task.cancel()


asyncio.run(main())
