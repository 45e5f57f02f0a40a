"""Floods at stalled programs, a link without credits, signed writes, and changes without end; flow_cases.py has more."""
import os, struct, time

import pytest
from pytest import mark

from jelling.child import Running
from jelling.programs import EXAMPLES
from attack.test_flow import changing
from attack.test_honest import BEAT, OPEN, PROFILE
from jelling import smp

TRANSFER_VALUE = '08590F7E-DB05-467E-8757-72F6FAEB13D4'
MEGABYTE = 1 << 20


def stalled(bench, command, **variables):
    """A program whose output is not read: it blocks when it prints."""
    return Running(command, env={**os.environ, 'XDG_STATE_HOME': bench.path('state'), 'JELLING_TRANSPORT': bench.endpoint,
                                 'JELLING_STATE': bench.path('app-state'), **variables})


def app(bench, name, *arguments, **variables):
    path = os.path.join(EXAMPLES, name)
    if not os.access(path, os.X_OK):
        pytest.skip(f'{name} is not built: swift build')
    return stalled(bench, [path, *arguments], **variables)


def flood(bench, program, packet, seconds=10):
    """Sends as fast as the connection allows: in the second half the program's memory must no longer grow."""
    start, count, half = time.monotonic(), 0, None
    while time.monotonic() < start + (seconds if count > 2000 else 120) and bench.controller.send(b''.join(packet() for _ in range(100))):
        count += 100
        if half is None and time.monotonic() > start + seconds / 2:
            half = bench.memory(program)
        assert bench.memory(program) < 300 * MEGABYTE, f'300 MB after {count} packets'
    assert count > 2000, f'only {count} packets were sent: no flood'
    grown = (bench.memory(program) - half) / MEGABYTE
    assert grown < 12, f'still grown by {grown:.0f} MB in {seconds / 2} s; {count} packets'
    print(f'{count} packets, {grown:.1f} MB more in the second half')


def attribute_packet(link, pdu):
    """An H4 packet with a PDU of ATT."""
    return struct.pack('<BHHHH', 2, link.handle | 0x2000, len(pdu) + 4, len(pdu), 4) + pdu


@mark.slow
def test_writes_at_a_stalled_app(bench):
    """A flood of writes at a Core Bluetooth app whose delegate stalls leaves its memory bounded"""
    with app(bench, 'transfer-peripheral', '100') as program:
        peer = bench.central().connect()
        peer.exchange_mtu()
        handle = peer.find(TRANSFER_VALUE)
        value = struct.pack('<BH', 0x52, handle) + b'w' * 200
        packet = attribute_packet(peer.link, value)
        flood(bench, program, lambda: packet)


@mark.slow
def test_reports_at_a_stalled_tool(bench):
    """A flood of advertisers does not fill the memory of `lescan`, even if its output is not read"""
    with stalled(bench, bench.command('lescan', '--duplicates')) as program:
        bench.controller.wait(lambda: bench.controller.scanning, 'scan')

        def report():
            return b'\x04\x3e\x2b\x02\x01\x03\x01' + os.urandom(5) + b'\xc0\x1f\x1e\xff' + bytes(29) + b'\xce'
        flood(bench, program, report)


def test_one_stranger_without_credits(bench):
    """A link whose packets the controller never completes does not delay another's notifications"""
    bench.serve(PROFILE)
    slow = bench.central('C0:00:00:00:00:66').connect()
    beat = slow.find(BEAT)
    assert slow.subscribe(beat) == 0
    honest = bench.controller.pass_on
    bench.controller.pass_on = lambda link: None if link is slow.link else honest(link)
    other = bench.central().connect()
    assert other.subscribe(beat) == 0
    time.sleep(1)
    while not other.client.empty():
        other.client.get()
    started = time.monotonic()
    other.values(15)
    assert time.monotonic() - started < 30, f'15 values took {time.monotonic() - started:.1f} s instead of 1.5 s'


def test_signed_writes_delay_nobody(bench):
    """Three hundred signed writes do not delay a read, and a forged or repeated one is refused"""
    profile = {'services': [{'uuid': '180D', 'characteristics': [
        {'uuid': OPEN, 'properties': ['read', 'authenticatedSignedWrites'], 'value': '00'}]}]}
    bench.serve(profile)
    peer = bench.central().connect()
    peer.pair(secure=False)
    peer.disconnect()
    peer.connect()
    peer.exchange_mtu()
    handle = peer.find(OPEN)

    def signed(value, counter, key=None):
        message = struct.pack('<BH', 0xD2, handle) + value
        code = smp.cmac(key or peer.csrk, (message + struct.pack('<I', counter))[::-1])
        return message + struct.pack('<I', counter) + code[:8][::-1]

    peer.send(4, signed(b'\x01', 1))
    assert peer.read(handle) == b'\x01'
    peer.send(4, signed(b'\x02', 1))
    peer.send(4, signed(b'\x03', 2, bytes(16)))
    assert peer.read(handle) == b'\x01'
    for counter in range(10, 310):
        peer.send(4, signed(b'\x04', counter))
    started = time.monotonic()
    assert peer.read(handle) == b'\x04'
    assert time.monotonic() - started < 10, f'the read waited {time.monotonic() - started:.1f} s'


def test_service_changed_flood(bench):
    """Endless Service Changed indications neither keep the tool busy nor let its memory grow"""
    peer, changed, _ = changing(bench)
    tool = bench.start('gatt', 'Lock', 'subscribe', BEAT, '--duration', '4')
    tool.wait_event('subscribed')
    end = time.monotonic() + 3
    while time.monotonic() < end and peer.link.open:
        peer.send(4, struct.pack('<BHHH', 0x1B, changed, 1, 0xFFFF))
        time.sleep(0.005)
    assert bench.memory(tool) < 150 * MEGABYTE, f'{bench.memory(tool) / MEGABYTE:.0f} MB'
    result = bench.finish(tool, 60)
    assert result.status in (0, 1), result.describe()
