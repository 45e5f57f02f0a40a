#!/usr/bin/env python3
"""A Bumble device with several advertising sets, or one that listens for those of others.

  peer_sets.py TRANSPORT --sets 3 [--train HEX] [--transfer]      advertise; --transfer: give each central the train
  peer_sets.py TRANSPORT --listen SECONDS [--follow ADDRESS/SID]  report what is heard, and the data of a train
  peer_sets.py TRANSPORT --receive                                advertise as F2:F1:F0:00:00:03, and follow what is transferred
  peer_sets.py TRANSPORT --receive-from ADDRESS                   connect, and follow the train that the device transfers

Prints one JSON object per line."""
import asyncio

from bumble import hci
from bumble.device import (AdvertisingEventProperties, AdvertisingParameters, PeriodicAdvertisingParameters)
from peer_common import arguments, event, open_device


def manufacturer(number, length=8):
    """Structures of manufacturer's data that fill `length` octets with a number."""
    data = b''
    while len(data) < length:
        size = min(255, length - len(data) - 1)
        data += bytes([size, 0xFF]) + bytes([number]) * (size - 1)
    return data


async def advertise(device, args):
    trains = []
    for number in range(1, args.sets + 1):
        address = hci.Address('F2:F1:F0:00:01:%02X' % number)
        with_train = args.train and number == 1
        connectable = number == args.sets and not with_train
        advertising_set = await device.create_advertising_set(
            advertising_parameters=AdvertisingParameters(
                advertising_event_properties=AdvertisingEventProperties(is_connectable=connectable),
                primary_advertising_interval_min=50, primary_advertising_interval_max=50,
                advertising_sid=number, secondary_advertising_phy=hci.Phy(args.phy),
                primary_advertising_phy=hci.Phy.LE_CODED if args.phy == 3 else hci.Phy.LE_1M),
            random_address=address, advertising_data=manufacturer(number),
            periodic_advertising_parameters=PeriodicAdvertisingParameters(
                periodic_advertising_interval_min=100, periodic_advertising_interval_max=100) if with_train else None,
            periodic_advertising_data=bytes.fromhex(args.train) if with_train else b'', auto_start=not with_train)
        if with_train:
            await advertising_set.start_periodic()
            await advertising_set.start()
            trains.append(advertising_set)

    def connected(connection):
        event('connected', peer=str(connection.peer_address), own=str(connection.self_address))
        if args.transfer:
            asyncio.get_running_loop().create_task(transfer(connection))

    async def transfer(connection):
        await asyncio.sleep(1)
        for train in trains:
            await train.transfer_periodic_info(connection, 0x1234)
        event('transferred')

    device.on('connection', connected)
    event('ready', sets=args.sets)
    await asyncio.Event().wait()


def report(sync):
    sync.on('establishment', lambda: event('synchronized', sid=sync.sid))
    sync.on('loss', lambda: event('lost', sid=sync.sid))
    sync.on('periodic_advertisement', lambda a: event(
        'train', address=str(a.address), sid=a.sid, data=bytes(a.data_bytes).hex(), truncated=a.is_truncated))


async def listen(device, args):
    def heard(advertisement):
        event('heard', address=str(advertisement.address), sid=advertisement.sid,
              data=bytes(advertisement.data_bytes).hex(), legacy=advertisement.is_legacy,
              connectable=advertisement.is_connectable, anonymous=advertisement.is_anonymous,
              scannable=advertisement.is_scannable, response=advertisement.is_scan_response,
              primary=int(advertisement.primary_phy), secondary=int(advertisement.secondary_phy))

    device.on('advertisement', heard)
    phys = [hci.HCI_LE_1M_PHY] + ([hci.HCI_LE_CODED_PHY] if args.phy == 3 else [])
    await device.start_scanning(active=args.active, legacy=False, filter_duplicates=False, scanning_phys=phys)
    event('ready')
    if args.follow:
        address, sid = args.follow.rsplit('/', 1)
        report(await device.create_periodic_advertising_sync(hci.Address(address), int(sid), sync_timeout=30))
    await asyncio.sleep(args.listen)
    event('end')


async def receive(device, args):
    device.on('periodic_advertising_sync_transfer', lambda sync, _: (
        event('transferred', sid=sync.sid, address=str(sync.advertiser_address)), report(sync)))
    # Of all links, so that a train can be transferred as soon as there is one.
    await device.send_sync_command(hci.HCI_LE_Set_Default_Periodic_Advertising_Sync_Transfer_Parameters_Command(
        mode=2, skip=0, sync_timeout=1000, cte_type=0))
    if args.receive_from:
        await device.start_scanning(legacy=False)
        await device.connect(hci.Address(args.receive_from))
    else:
        await device.start_advertising(auto_restart=True)
    event('ready')
    await asyncio.sleep(args.listen)
    event('end')


async def main():
    parser = arguments(__doc__)
    parser.add_argument('--sets', type=int, default=0)
    parser.add_argument('--train', metavar='HEX')
    parser.add_argument('--transfer', action='store_true')
    parser.add_argument('--listen', type=float, default=60)
    parser.add_argument('--active', action='store_true', help='ask for scan responses')
    parser.add_argument('--follow', metavar='ADDRESS/SID')
    parser.add_argument('--receive', action='store_true')
    parser.add_argument('--receive-from', metavar='ADDRESS')
    parser.add_argument('--phy', type=int, choices=[1, 2, 3], default=1)
    args = parser.parse_args()
    _, device, _ = await open_device(args, 'BumbleSets', 'F2:F1:F0:00:00:03')
    await device.power_on()
    await (advertise if args.sets else receive if args.receive or args.receive_from else listen)(device, args)

asyncio.run(main())
