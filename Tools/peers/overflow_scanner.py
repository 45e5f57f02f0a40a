#!/usr/bin/env python3
"""Bumble as a scanner that looks for services in the overflow area, and computes their bits by itself.

  overflow_scanner.py unix:/tmp/x/hci0 --services UUID,… [--seconds S] [--until UUID,…] [--company ID]

Prints a JSON line `advertiser` for each change of what an advertiser says: its name, the services that everyone can read
(`visible`), those of the UUIDs whose bit is set (`hashed`), how many bits there are (`bits`), and the octets. `--until`: ends with
status 0 soon after one advertiser has exactly these UUIDs in `hashed`, and with 1 after S seconds.
"""
import asyncio, sys

from bumble import hci

from peer_common import arguments, event, open_device

BASE = '00000000-0000-1000-8000-00805F9B34FB'


def bit(uuid):
    """The bit of a service: a CRC of 8 bits over the 16 octets of its UUID, x^8 + x^3 + 1, without its highest bit."""
    digits = uuid.replace('-', '')
    digits = (digits.zfill(8) + BASE.replace('-', '')[8:]) if len(digits) <= 8 else digits
    crc = 0
    for octet in bytes.fromhex(digits):
        crc ^= octet
        for _ in range(8):
            crc = ((crc << 1) ^ 0x09 if crc & 0x80 else crc << 1) & 0xFF
    return crc & 0x7F


def elements(data):
    """(type, value) of each structure."""
    place = 0
    while place < len(data) and data[place]:
        yield data[place + 1], data[place + 2:place + 1 + data[place]]
        place += 1 + data[place]


def described(data, uuids, company):
    name, visible, mask = '', [], 0
    for kind, value in elements(data):
        if kind in (8, 9):
            name = value.decode()
        elif kind in (2, 3):
            visible += [value[i:i + 2][::-1].hex().upper() for i in range(0, len(value), 2)]
        elif kind in (6, 7):
            visible += [value[i:i + 16][::-1].hex().upper() for i in range(0, len(value), 16)]
        elif kind == 0xFF and len(value) == 19 and value[:3] == company.to_bytes(2, 'little') + b'\1':
            mask |= int.from_bytes(value[3:], 'little')
    return {'name': name, 'visible': visible, 'hashed': [u for u in uuids if mask >> bit(u) & 1], 'bits': mask.bit_count(),
            'data': data.hex()}


async def main():
    parser = arguments(__doc__)
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--until')
    parser.add_argument('--company', type=lambda text: int(text, 0), default=0x004C)
    parser.add_argument('--services', default='', metavar='UUID,…')
    args = parser.parse_args()
    uuids = args.services.split(',') if args.services else []
    transport, device, own = await open_device(args, 'BumbleScanner', 'F0:F1:F2:00:00:09')
    await device.power_on()
    parts, said = {}, {}
    found = asyncio.Event()
    wanted = sorted(args.until.split(',')) if args.until else None

    def on_report(report):
        # Advertisement and scan response, as they came last.
        address = str(report.address)
        kind = getattr(report, 'event_type', 0)
        is_response = bool(int(kind) & 8) if isinstance(report, hci.HCI_LE_Extended_Advertising_Report_Event.Report) else int(kind) == 4
        parts.setdefault(address, [b'', b''])[is_response] = bytes(report.data)
        told = described(b''.join(parts[address]), uuids, args.company)
        if said.get(address) != told:
            said[address] = told
            event('advertiser', address=address, **told)
        if wanted is not None and sorted(told['hashed']) == wanted:
            found.set()

    device.host.on('advertising_report', on_report)
    event('scanning')
    await device.start_scanning(own_address_type=own)
    try:
        await asyncio.wait_for(found.wait(), args.seconds)
        # A scan response of before may still count.
        await asyncio.sleep(0.5)
    except asyncio.TimeoutError:
        pass
    await device.stop_scanning()
    await transport.close()
    return 0 if found.is_set() or wanted is None else 1


if __name__ == '__main__':
    sys.exit(asyncio.run(main()))
