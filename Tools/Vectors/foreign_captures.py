#!/usr/bin/env python3
"""foreign_captures.py [--check] [FOLDER]: small captures in every form that other programs write, for Fixtures/foreign.

All of them have the same session: an adapter is reset, a device with an invented address advertises, connects and reads a value. What
a form cannot carry is missing. `expected.json` beside them says what a reader finds in each: format and numbers of packets and notes,
or the words of its refusal. Forms of sniffers and buses have the same session as those would record it. --check only compares: exit status 1 when the
folder has anything else. The last line counts."""
import base64, gzip, pathlib, zlib
import io
import json
import os
import struct
import sys
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 1_700_000_000
DEVICE = bytes.fromhex('0100 0000 dec0')            # C0:DE:00:00:00:01, least significant octet first
SENT, RECEIVED = 0, 1

# H4 packets with their direction.
SESSION = [(way, bytes.fromhex(octets)) for way, octets in [
    (SENT, '01 030c00'),
    (RECEIVED, '04 0e04 01030c00'),
    (RECEIVED, '04 3e0f 02 01 00 01' + DEVICE.hex() + '03 020106 c4'),
    (RECEIVED, '04 3e13 01 00 4000 00 01' + DEVICE.hex() + '1800 0000 4800 00'),
    (SENT, '02 4000 0700 0300 0400 0a0300'),
    (RECEIVED, '02 4020 0600 0200 0400 0b2a'),
    (RECEIVED, '04 0504 00 4000 13'),
]]
ISO = (RECEIVED, bytes.fromhex('05 6020 0600 0100 0200 aabb'))
# Of vendors: Qualcomm's log, Broadcom's diagnostics, Intel's telemetry.
VENDOR = [(RECEIVED, bytes.fromhex('02 dc2e 0400 deadbeef')), (RECEIVED, b'\x07' + bytes(63)),
          (RECEIVED, bytes.fromhex('04 ff07 878003 01020304'))]
OPCODES = {(1, SENT): 2, (4, RECEIVED): 3, (2, SENT): 4, (2, RECEIVED): 5, (3, SENT): 6, (3, RECEIVED): 7, (5, SENT): 18,
           (5, RECEIVED): 19}


def moments(packets):
    """Each packet with its microseconds after the first."""
    return [(number * 1000, way, octets) for number, (way, octets) in enumerate(packets)]


def btsnoop(datalink, records):
    """records: microseconds, flags, octets."""
    out = b'btsnoop\0' + struct.pack('>II', 1, datalink)
    for micro, flags, octets in records:
        time = 0x00DCDDB30F2F8000 + SECONDS * 1_000_000 + micro
        out += struct.pack('>IIIIQ', len(octets), len(octets), flags, 0, time) + octets
    return out


def flags_of(way, octets):
    return way | (2 if octets[0] in (1, 4) else 0)


def btsnoop_h4(packets):
    return btsnoop(1002, [(micro, flags_of(way, octets), octets) for micro, way, octets in moments(packets)])


def btsnoop_plain(packets):
    return btsnoop(1001, [(micro, flags_of(way, octets), octets[1:]) for micro, way, octets in moments(packets)])


def new_index():
    return bytes([0, 1]) + bytes.fromhex('010203040506') + b'hci0\0\0\0\0'


def btsnoop_monitor(packets):
    """With the notes that BlueZ's btmon writes beside the packets: kernel, adapter, its maker, a log line, diagnostics."""
    notes = [(12, 0xFFFF, b'Linux version 6.12\0'), (0, 0, new_index()), (8, 0, b''),
             (10, 0, bytes.fromhex('010203040506 0200')), (13, 0xFFFF, bytes([6, 4]) + b'btd\0begins\0'), (11, 0, bytes(20))]
    records = [(0, index << 16 | opcode, octets) for opcode, index, octets in notes]
    records += [(micro, OPCODES[octets[0], way], octets[1:]) for micro, way, octets in moments(packets)]
    return btsnoop(2001, records), len(notes)


def pcap(link, frames, order='<', magic=0xA1B2C3D4):
    """frames: microseconds and octets."""
    scale = 1000 if magic == 0xA1B23C4D else 1
    out = struct.pack(order + 'IHHiIII', magic, 2, 4, 0, 0, 65535, link)
    for micro, octets in frames:
        out += struct.pack(order + 'IIII', SECONDS, micro * scale, len(octets), len(octets)) + octets
    return out


def h4(packets):
    return [(micro, octets) for micro, way, octets in moments(packets)]


def h4_with_direction(packets):
    return [(micro, struct.pack('>I', way) + octets) for micro, way, octets in moments(packets)]


def monitor(packets):
    return [(micro, struct.pack('>HH', 0, OPCODES[octets[0], way]) + octets[1:]) for micro, way, octets in moments(packets)]


def pcapng(links, frames, order='<', options=b''):
    """frames: interface, microseconds, octets."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack(order + 'II', kind, len(body) + 12) + body + struct.pack(order + 'I', len(body) + 12)

    out = block(0x0A0D0D0A, struct.pack(order + 'IHHq', 0x1A2B3C4D, 1, 0, -1))
    for link in links:
        out += block(1, struct.pack(order + 'HHI', link, 0, 65535) + options)
    for interface, micro, octets in frames:
        time = SECONDS * 1_000_000 + micro
        out += block(6, struct.pack(order + 'IIIII', interface, time >> 32, time & 0xFFFFFFFF, len(octets), len(octets)) + octets)
    return out


def packet_logger(packets, order):
    types = {(1, SENT): 0, (4, RECEIVED): 1, (2, SENT): 2, (2, RECEIVED): 3, (3, SENT): 8, (3, RECEIVED): 9}
    records = [(0, 0xFE, b'Controller\0'), (0, 0xFC, b'begins\0'), (0, 0xFD, bytes(8))]
    records += [(micro, types[octets[0], way], octets[1:]) for micro, way, octets in moments(packets)]
    out = b''
    for micro, kind, octets in records:
        out += struct.pack(order + 'III', 9 + len(octets), SECONDS, micro) + bytes([kind]) + octets
    return out


def hcidump(packets):
    return b''.join(struct.pack('<HBBII', len(octets), way, 0, SECONDS, micro) + octets
                    for micro, way, octets in moments(packets))


def link_layer():
    """ADV_IND of the device, as on channel 37, with a CRC of zeros."""
    return bytes.fromhex('d6be898e 4009') + DEVICE + bytes.fromhex('020106 000000')


def link_layer_with_radio():
    """Link type 256: channel, signal and noise in dBm, access address offenses, reference address, flags."""
    return bytes([0, 0xC4, 0xA0, 0]) + bytes.fromhex('d6be898e') + struct.pack('<H', 0x0C13) + link_layer()


def nordic():
    """Link type 272: board, lengths, version, counter, kind, then the event with its header."""
    packet = bytes([10, 1, 37, 60, 0, 0]) + bytes(4) + link_layer()
    return bytes([1]) + struct.pack('<BHBHB', 6, len(packet), 3, 1, 6) + packet


def usb_linux(header, order='<'):
    """HCI over USB as Linux records it, of device 5: a transfer is submitted and completed, one of its interrupt endpoint takes 16
    octets. A keyboard is device 7. The header has 48 or 64 octets."""
    frames = []

    def frame(way, kind, endpoint, device, is_submission, payload=b'', length=None, setup=None):
        head = struct.pack(order + 'QcBBBHBBqiiII8s', len(frames), b'S' if is_submission else b'C', kind, endpoint, device, 1,
                           0x2D if setup is None else 0, 0 if payload else 0x3E, SECONDS, len(frames) * 1000, 0,
                           len(payload) if length is None else length, len(payload), setup or bytes(8))
        frames.append((len(frames) * 1000, head + bytes(header - 48) + payload))

    for way, octets in SESSION:
        payload = octets[1:]
        if octets[0] == 1:
            frame(way, 2, 0x00, 5, True, payload, setup=bytes([0x20, 0, 0, 0, 0, 0]) + struct.pack('<H', len(payload)))
            frame(way, 2, 0x00, 5, False)
        elif octets[0] == 4:
            for start in range(0, len(payload), 16):
                frame(way, 1, 0x81, 5, True, length=16)
                frame(way, 1, 0x81, 5, False, payload[start:start + 16])
        elif way == SENT:
            frame(way, 3, 0x02, 5, True, payload)
            frame(way, 3, 0x02, 5, False)
        else:
            frame(way, 3, 0x82, 5, True, length=1028)
            frame(way, 3, 0x82, 5, False, payload)
        frame(RECEIVED, 1, 0x81, 7, False, bytes(8))
    return frames


def usb_windows():
    """HCI over USB as USBPcap records it."""
    frames = []
    for number, (way, octets) in enumerate(SESSION):
        kind, endpoint = {1: (2, 0x00), 4: (1, 0x81), 2: (3, 0x82 if way else 0x02)}[octets[0]]
        payload = octets[1:]
        setup = b'\0' + bytes([0x20, 0, 0, 0, 0, 0]) + struct.pack('<H', len(payload)) if kind == 2 else b''
        count = len(setup[1:]) + len(payload)
        head = struct.pack('<HQIHBHHBBI', 27 + min(len(setup), 1), number, 0, 8, way, 1, 5, endpoint, kind, count)
        frames.append((number * 1000, head + setup + payload))
    return frames


def slip(octets):
    return b'\xC0' + octets.replace(b'\xDB', b'\xDB\xDD').replace(b'\xC0', b'\xDB\xDC') + b'\xC0'


def three_wire(packets):
    """Packets of the three-wire UART: four octets of header, the packet without its type; each in SLIP."""
    frames = []
    for micro, way, octets in moments(packets):
        first, second = 0x80, octets[0] | (len(octets) - 1 & 0xF) << 4
        third = len(octets) - 1 >> 4
        head = bytes([first, second, third])
        frames.append((micro, way, slip(head + bytes([0xFF - sum(head) & 0xFF]) + octets[1:])))
    return frames


def btsnooz(packets, version):
    """Records with lengths and the time since the one before, in zlib; stored, as what a library packs differs from one to the other."""
    kinds = {(1, SENT): 0x20, (4, RECEIVED): 0x10, (2, SENT): 0x21, (2, RECEIVED): 0x11, (5, RECEIVED): 0x17}
    records, last = b'', 0
    for micro, way, octets in moments(packets):
        lengths = struct.pack('<H', len(octets)) if version == 1 else struct.pack('<HH', len(octets), len(octets))
        records += lengths + struct.pack('<IB', micro - last, kinds[octets[0], way]) + octets[1:]
        last = micro
    return struct.pack('<BQ', version, SECONDS * 1_000_000 + last) + zlib.compress(records, 0)


def report(log):
    """The head of a bug report of Android, with the log of Bluetooth as it stands in it."""
    lines = base64.b64encode(log)
    lines = b''.join(lines[place:place + 78] + b'\n' for place in range(0, len(lines), 78))
    return (b'=' * 56 + b'\n== dumpstate: 2023-11-14 22:13:20\n' + b'=' * 56 + b'\n\n'
            b'--- BEGIN:BTSNOOP_LOG_SUMMARY (%d bytes in) ---\n' % len(log) + lines + b'--- END:BTSNOOP_LOG_SUMMARY ---\n')


REMEDY = (': record HCI on the host, with btmon, Android\'s snoop log or PacketLogger, or the air with a sniffer; Wireshark may read '
          'this file')


def files():
    """Name, octets and what a reader finds."""
    def read(format, packets, notes=0, omitted=0, errors=0):
        return {'format': format, 'packets': packets, 'notes': notes, 'omitted': omitted, 'errors': errors}

    def refused(words):
        return {'refused': words}

    def not_hci(link, name):
        return refused(f'link type {link} ({name}) carries no HCI packets{REMEDY}')

    def perhaps(link, name):
        return refused(f'link type {link} ({name}) may carry HCI packets, but is not read{REMEDY}')

    all_packets, count = SESSION + [ISO], len(SESSION)
    monitored, notes = btsnoop_monitor(all_packets)
    yield 'android.btsnoop', btsnoop_h4(all_packets), read('btsnoop', count + 1)
    yield 'plain.btsnoop', btsnoop_plain(SESSION), read('btsnoopUnencapsulated', count)
    yield 'btmon.btsnoop', monitored, read('btsnoopMonitor', count + 1, notes)
    yield 'vendor.btsnoop', btsnoop_h4(VENDOR + SESSION), read('btsnoop', count + len(VENDOR))
    yield 'bcsp.btsnoop', btsnoop(1003, [(0, 0, b'\xC0\x40\x41\0\x7E\xC0')]), perhaps(1003, 'BCSP, a protocol of serial lines')
    yield 'three-wire.btsnoop', btsnoop(1004, three_wire(SESSION)), perhaps(
        1004, 'three-wire UART, a protocol of serial lines')
    yield 'direction.pcap', pcap(201, h4_with_direction(all_packets)), read('pcap', count + 1)
    yield 'direction-big-nano.pcap', pcap(201, h4_with_direction(all_packets), '>', 0xA1B23C4D), read('pcap', count + 1)
    yield 'h4.pcap', pcap(187, h4(all_packets)), read('pcap', count + 1)
    yield 'monitor.pcap', pcap(254, monitor(all_packets)), read('pcap', count + 1)
    yield 'sniffer.pcap', pcap(251, [(0, link_layer())]), read('pcap', 1)
    yield 'sniffer-radio.pcap', pcap(256, [(0, link_layer_with_radio())]), read('pcap', 1)
    yield 'sniffer-nordic.pcap', pcap(272, [(0, nordic())]), read('pcap', 1)
    yield 'baseband.pcap', pcap(255, [(0, bytes(22))]), not_hci(255, 'the baseband of Bluetooth BR/EDR, as sniffers record it')
    yield 'ethernet.pcap', pcap(1, [(0, bytes(12) + b'\x88\xB5' + bytes(46))]), not_hci(1, 'Ethernet')
    yield 'usb-48.pcap', pcap(189, usb_linux(48)), read('pcap', count, omitted=count)
    yield 'usb-64.pcap', pcap(220, usb_linux(64)), read('pcap', count, omitted=count)
    yield 'usb-big.pcap', pcap(220, usb_linux(64, '>'), '>'), read('pcap', count, omitted=count)
    yield 'usb.pcapng', pcapng([220], [(0, micro, octets) for micro, octets in usb_linux(64)]), read(
        'pcapng', count, omitted=count)
    yield 'usb-windows.pcap', pcap(249, usb_windows()), read('pcap', count)
    frames = [(0, micro, octets) for micro, octets in h4_with_direction(all_packets)]
    yield 'direction.pcapng', pcapng([201], frames), read('pcapng', count + 1)
    yield 'direction-big.pcapng', pcapng([201], frames, '>'), read('pcapng', count + 1)
    yield 'h4.pcapng', pcapng([187], [(0, micro, octets) for micro, octets in h4(all_packets)]), read('pcapng', count + 1)
    yield 'monitor.pcapng', pcapng([254], [(0, micro, octets) for micro, octets in monitor(all_packets)]), read(
        'pcapng', count + 1)
    mixed = [(0, 0, link_layer()), (2, 0, bytes(60))] + [(1, micro, octets) for _, micro, octets in frames]
    yield 'mixed.pcapng', pcapng([251, 201, 1], mixed), read('pcapng', count + 2, omitted=1)
    yield 'sniffer.pcapng', pcapng([272, 251], [(1, 0, link_layer())]), read('pcapng', 1)
    yield 'packetlogger-big.pklg', packet_logger(SESSION, '>'), read('packetLogger', count, 3)
    yield 'packetlogger-little.pklg', packet_logger(SESSION, '<'), read('packetLogger', count, 3)
    yield 'hcidump.dump', hcidump(all_packets), read('hcidump', count + 1)
    packed = io.BytesIO()
    # Stored: what a library packs differs from one to the other.
    with gzip.GzipFile('', 'wb', 0, packed, 0) as out:
        out.write(btsnoop_h4(SESSION))
    yield 'packed.gz', packed.getvalue(), read('btsnoop', count)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, 'w') as archive:
        archive.writestr(zipfile.ZipInfo('FS/data/misc/bluetooth/logs/btsnoop_hci.log'), btsnoop_h4(SESSION))
    yield 'packed.zip', packed.getvalue(), read('btsnoop', count)
    yield 'bugreport-1.txt', report(btsnooz(all_packets, 1)), read('btsnoop', count + 1)
    yield 'bugreport-2.txt', report(btsnooz(all_packets, 2)), read('btsnoop', count + 1)
    yield 'bugreport.txt', report(b'\1'), refused(
        'a text without BTSNOOP_LOG_SUMMARY: not a capture, nor a bug report of Android with one; switch ‘Bluetooth HCI snoop log’ on in '
        'the developer options before you take another')
    whole = {'btsnoop': btsnoop_h4(SESSION), 'pcap': pcap(201, h4_with_direction(SESSION)),
             'pcapng': pcapng([201], [(0, micro, octets) for micro, octets in h4_with_direction(SESSION)]),
             'pklg': packet_logger(SESSION, '>'), 'dump': hcidump(SESSION)}
    names = {'pklg': 'packetLogger', 'dump': 'hcidump'}
    for ending, octets in whole.items():
        yield f'empty.{ending}', b'', refused('the file is empty')
        yield f'cut.{ending}', octets[:-3], read(
            names.get(ending, ending), count - 1, 3 if ending == 'pklg' else 0, errors=1)


def main():
    words = [word for word in sys.argv[1:] if word != '--check']
    folder = words[0] if words else os.path.join(ROOT, 'Fixtures', 'foreign')
    made, expected = {}, {}
    for name, octets, found in files():
        made[name], expected[name] = octets, found
    made['expected.json'] = (json.dumps(expected, indent=1, sort_keys=True) + '\n').encode()
    if '--check' not in sys.argv:
        os.makedirs(folder, exist_ok=True)
        for name, octets in made.items():
            pathlib.Path(os.path.join(folder, name)).write_bytes(octets)
        return 0
    there = {name: open(os.path.join(folder, name), 'rb').read() for name in os.listdir(folder)}
    wrong = sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))
    for name in wrong:
        print(f'failed {os.path.join(folder, name)}: Tools/Vectors/foreign_captures.py makes it otherwise')
    print(f'{len(made) - len([name for name in wrong if name in made])} passed, {len(wrong)} failed')
    return 1 if wrong else 0


sys.exit(main())
