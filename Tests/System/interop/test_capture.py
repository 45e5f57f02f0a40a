"""Captures and recordings of whole sessions, read by others."""
import os, pathlib, shutil, stat

import pytest
from pytest import mark

from jelling import captures
from jelling.programs import BLETOOL
from interop.test_gatt import CONTROL, INDICATE, LONG_READ, LONG_WRITE, WRITE_COMMANDS

READERS = {'btsnoop': captures.btsnoop, 'pcap': captures.pcap}


def session(lab):
    """A script that uses every verb."""
    return lab.script(
        'read 2A38', f'read {LONG_READ}', f'write {LONG_WRITE} {bytes(range(256)).hex()}', f'read {LONG_WRITE}',
        'subscribe 2A37', 'wait --count 2 --duration 10', f'subscribe {INDICATE}', f'write {CONTROL} 0201',
        'wait --count 1 --duration 10', f'write {WRITE_COMMANDS} 00 --command', 'read 2A19')


def capture_is_right(lab, ending):
    path = lab.path(f'out.{ending}')
    relay = lab.relay()
    lab.gatt('script', session(lab), via=relay.endpoint, options=('-w', path))
    want = relay.packets()
    if ending in READERS:
        got = READERS[ending](path)
        # The two directions may interleave otherwise at the relay; each of them is in order.
        for direction in sorted({d for d, _ in got}):
            assert [p for d, p in got if d == direction] == relay.packets(direction), f'packets {direction}'
        assert len(got) == len(want)
    head = open(path, 'rb').read(8)
    assert (head == b'btsnoop\0') == (ending == 'btsnoop') and (head[:4] == b'\x0a\x0d\x0d\x0a') == (ending == 'pcapng'), (
        f'the ending says {ending}, the file begins with {head.hex()}')
    if not shutil.which('tshark'):
        pytest.skip('tshark is missing: Tools/install captures')
    assert captures.check_with_tshark(path) == len(want)
    assert captures.tshark(path, '-Y', 'btatt'), 'tshark finds no ATT'


def test_btsnoop_capture(lab):
    """`-w out.btsnoop` holds every packet that crossed HCI, and tshark finds none malformed"""
    capture_is_right(lab, 'btsnoop')


def test_pcap_capture(lab):
    """`-w out.pcap` holds every packet that crossed HCI, and tshark finds none malformed"""
    capture_is_right(lab, 'pcap')


@mark.lab(('bumble', 'btvirt'))
def test_pcapng_capture(lab):
    """`-w out.pcapng` opens in tshark, and none is malformed"""
    capture_is_right(lab, 'pcapng')


@mark.lab(('bumble', 'btvirt'))
def test_packet_logger_capture(lab):
    """`-w out.pklg` opens in tshark, and none is malformed"""
    capture_is_right(lab, 'pklg')


@mark.lab(('bumble', 'bumble-legacy', 'btvirt', 'simulator', 'simulator-legacy'))
def test_a_scan_is_captured(lab):
    """a capture of a scan that ^C or its duration ends is whole"""
    path = lab.path('scan.btsnoop')
    relay = lab.relay()
    lab.run('lescan', '--duration', '1', via=relay.endpoint, options=('-w', path))
    assert len(captures.btsnoop(path)) == len(relay.packets())
    if not shutil.which('tshark'):
        pytest.skip('tshark is missing: Tools/install captures')
    captures.check_with_tshark(path)


def test_a_recording_replays(lab):
    """`--record` writes a recording that only its owner can read, and `replay` finds the same bytes and reports changed ones"""
    name = lab.path('recording')
    lab.gatt('script', session(lab), options=('--record', name))
    for path in (f'{name}.btsnoop', f'{name}.inputs.jsonl'):
        assert os.path.exists(path), f'{os.path.basename(path)} was not written'
        assert oct(stat.S_IMODE(os.stat(path).st_mode)) == '0o600', f'mode of {os.path.basename(path)}'
    result = replay(lab, name)
    assert result.status == 0
    replayed = result.events('replayed')
    assert len(replayed) == 1
    assert replayed[0]['mismatches'] == 0
    assert replayed[0]['packets'] > 20, f'packets {replayed[0]["packets"]}'

    # The last byte of the last sent packet: replay must report that the engine sends something else.
    data = bytearray(open(f'{name}.btsnoop', 'rb').read())
    at, last = 16, None
    while at < len(data):
        size, flags = int.from_bytes(data[at + 4:at + 8], 'big'), int.from_bytes(data[at + 8:at + 12], 'big')
        at += 24 + size
        if not flags & 1:
            last = at - 1
    data[last] ^= 0x01
    pathlib.Path(f'{name}.btsnoop').write_bytes(data)
    changed = replay(lab, name)
    assert changed.status == 1
    replayed = changed.events('replayed')
    assert replayed and replayed[0]['mismatches'] > 0, 'a changed byte was not seen: ' + changed.describe()


def replay(lab, name):
    return lab.finish(lab.launch([BLETOOL, '--json', 'replay', name]))
