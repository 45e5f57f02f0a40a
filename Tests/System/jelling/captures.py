"""Readers of capture files, apart from our own and from tshark: (direction, H4 packet) in order."""
import os, pathlib, re, shutil, struct, subprocess

from jelling.programs import ROOT
from jelling.relay import TO_CONTROLLER, TO_HOST


def records(path, link=1002):
    """(flags, microseconds, octets) of each record of a btsnoop file."""
    data = pathlib.Path(path).read_bytes()
    magic, version, found = struct.unpack('>8sII', data[:16])
    assert magic == b'btsnoop\0' and version == 1, f'{path}: not btsnoop'
    assert found == link, f'{path}: data link {found}, want {link}'
    at = 16
    while at < len(data):
        original, included, flags, _, moment = struct.unpack('>IIIIq', data[at:at + 24])
        at += 24
        assert original == included, f'{path}: a packet was cut'
        yield flags, moment, data[at:at + included]
        at += included


def btsnoop(path):
    return [(TO_HOST if flags & 1 else TO_CONTROLLER, octets) for flags, _, octets in records(path)]


def made(packets, cut=0):
    """The octets of a btsnoop file of (0 to the controller or 1 from it, H4 packet); each is shortened by `cut`, as with a snap length."""
    out = b'btsnoop\0' + struct.pack('>II', 1, 1002)
    for number, (direction, packet) in enumerate(packets):
        kept = packet[:max(1, len(packet) - cut)]
        flags = direction | (2 if packet[0] in (1, 4) else 0)
        out += struct.pack('>IIIIQ', len(packet), len(kept), flags, 0, 0x00E03AB44A676000 + number * 1000) + kept
    return out


def pcap(path):
    data = open(path, 'rb').read()
    order = {b'\xd4\xc3\xb2\xa1': '<', b'\xa1\xb2\xc3\xd4': '>',
             b'\x4d\x3c\xb2\xa1': '<', b'\xa1\xb2\x3c\x4d': '>'}.get(data[:4])
    assert order, f'{path}: not pcap'
    link = struct.unpack(order + 'I', data[20:24])[0] & 0xFFFF
    assert link == 201, f'{path}: link type {link}, want 201 (Bluetooth HCI H4 with direction)'
    at, packets = 24, []
    while at < len(data):
        _, _, included, original = struct.unpack(order + 'IIII', data[at:at + 16])
        at += 16
        assert original == included, f'{path}: a packet was cut'
        direction = struct.unpack('>I', data[at:at + 4])[0]
        packets.append((TO_HOST if direction & 1 else TO_CONTROLLER, data[at + 4:at + included]))
        at += included
    return packets


def tshark(path, *arguments):
    """Lines that tshark prints for a capture. It must be able to read the whole file."""
    assert shutil.which('tshark'), 'tshark is missing: Tools/install captures'
    run = subprocess.run(['tshark', '-n', '-r', path, *arguments], capture_output=True, text=True, timeout=600)
    complaints = [line for line in run.stderr.splitlines() if line and not line.startswith('Running as user')]
    assert run.returncode == 0 and not complaints, f'tshark on {path}: {run.returncode} {" ".join(complaints)[-300:]}'
    return run.stdout.splitlines()


def check_with_tshark(path, at_least=1):
    """tshark reads every frame and finds none malformed."""
    checker = os.path.join(ROOT, 'Tools', 'Checks', 'tshark')
    run = subprocess.run([checker, path], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, f'{run.stdout}{run.stderr}'
    frames = int(re.search(r': (\d+) frames', run.stdout)[1])
    assert frames >= at_least, f'{path}: {frames} frames, want {at_least}'
    return frames


def l2cap(path):
    """(direction, channel, payload) of each L2CAP PDU of a btsnoop capture with one link, put together from its fragments."""
    started, found = {}, []
    for direction, packet in btsnoop(path):
        if packet[0] != 2:
            continue
        continues = packet[2] >> 4 & 0b11 == 0b01
        data = (started.get(direction, b'') if continues else b'') + packet[5:]
        length, channel = struct.unpack_from('<HH', data) if len(data) >= 4 else (None, None)
        if length is not None and len(data) >= 4 + length:
            found.append((direction, channel, data[4:4 + length]))
            data = b''
        started[direction] = data
    return found
