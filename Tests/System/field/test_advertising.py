"""Advertisements of real devices: padded names, structures of every kind, and adapters that lose parts of long ones."""
import struct

from pytest import mark, param

from jelling.devices import VALUE, meter
from jelling.link import Device, octets
from jelling.screen import Program


EXTENDED = dict(features=1 << 12 | 1)
# Every type of Assigned Numbers 2.3, with as many octets as it has.
STRUCTURES = {0x01: '06', 0x03: '0f18', 0x09: '4d65746572', 0x0A: 'f4', 0x0D: '000102', 0x10: '00', 0x11: '01', 0x12: '06002000',
              0x14: '0d18', 0x16: '0f185e', 0x17: '010203040506', 0x19: '4003', 0x1A: '2003', 0x1B: '01020304050600', 0x1C: '01',
              0x22: '00112233445566778899aabbccddeeff', 0x24: '166a65', 0x25: '01', 0x27: '0100000000000000', 0x2B: '0102',
              0x30: '0101', 0x3D: '0102', 0xFF: 'ffff01', 0xC0: '0102', 0xF0: '01'}


def packed(types):
    return b''.join(bytes([len(STRUCTURES[t]) // 2 + 1, t]) + bytes.fromhex(STRUCTURES[t]) for t in types)


def test_every_structure_is_shown(bench):
    """`ad decode` shows each structure of an advertisement in its order, also those whose type is unknown"""
    line = bench.run('ad', 'decode', packed(STRUCTURES).hex()).events('advertisingData')[0]
    assert [(s['type'], s['data']) for s in line['structures']] == list(STRUCTURES.items())
    assert all(s['name'] for s in line['structures'] if s['type'] not in (0xC0, 0xF0)), f'without a name: {line["structures"]}'
    assert line['errors'] == []


def test_every_structure_is_shown_as_text(bench):
    """So does its text"""
    result = bench.run('ad', 'decode', packed(STRUCTURES).hex(), json=False)
    shown = '\n'.join(result.strays).lower()
    missing = [f'0x{kind:02x}' for kind, data in STRUCTURES.items()
               if kind not in (0x01, 0x03, 0x09, 0x0A, 0x14, 0x16, 0x19, 0xFF) and data not in shown and f'0x{kind:02x}' not in shown]
    assert missing == []


def test_every_structure_is_scanned(bench):
    """`lescan` has the octets of each structure that a device sends"""
    kinds = [0x01, 0x0D, 0x11, 0x12, 0x1A, 0xC0]
    bench.controller.add(Device('C0:00:00:00:00:09', data=packed(kinds)))
    line = bench.run('lescan', '--duration', '1').events('discovered')[0]
    assert line['advertisement'] == packed(kinds).hex()
    decoded = bench.run('ad', 'decode', line['advertisement']).events('advertisingData')[0]
    assert [s['type'] for s in decoded['structures']] == kinds


LE_CREATE_CONNECTION = 0x200D


def sees_every_structure(program, kinds):
    for kind in kinds:
        assert program.shows(f'0x{kind:02x}\\b.*{STRUCTURES[kind]}'), f'0x{kind:02x} is not shown: {program.screen.text}'


@mark.parametrize('connectable', [True, False], ids=['connectable', 'beacon'])
def test_every_structure_is_in_the_live_scan(bench, connectable):
    """The page of a device in the live scan has a line for each structure that it sends; a beacon is not connected to"""
    kinds = [0x01, 0x0D, 0x11, 0x12, 0x1A, 0xF0]
    device = Device('C0:00:00:00:00:09', data=packed(kinds))
    device.event_type = 0 if connectable else 3
    bench.controller.add(device)
    with Program(bench.command('--state', bench.path('state'), 'lescan', json=False)) as program:
        assert program.shows('C0:00:00:00:00:09'), f'the device is not shown: {program.screen.text}'
        program.press('\x1b[B\r')
        sees_every_structure(program, kinds)
        if connectable:
            # It answers nothing, and what it advertises stays.
            assert program.shows('looking for services'), program.screen.text
            sees_every_structure(program, kinds)
        else:
            assert program.shows('not connectable') and program.shows('accepts no connections'), program.screen.text
            program.press('\r')
        program.press('\x1bq')
        assert program.end() == 0
    assert (LE_CREATE_CONNECTION in [opcode for opcode, _ in bench.controller.commands]) == connectable


def test_every_structure_is_below_the_table(bench):
    """`d` in the live scan shows each structure that a device sends below the table"""
    kinds = [0x01, 0x0D, 0x11, 0x12, 0x1A, 0xC0]
    bench.controller.add(Device('C0:00:00:00:00:09', data=packed(kinds)))
    with Program(bench.command('--state', bench.path('state'), 'lescan', json=False)) as program:
        assert program.shows('C0:00:00:00:00:09'), f'the device is not shown: {program.screen.text}'
        program.press('\x1b[Bd')
        assert program.shows('flags +0x06'), program.screen.text
        sees_every_structure(program, kinds[1:])
        program.press('q')
        assert program.end() == 0


def test_broken_structure(bench):
    """A device whose last structure is cut short is found by the name that comes before it"""
    peer = meter(bench)
    peer.data, peer.scan_response = b'\x02\x01\x06' + b'\x06\x09Meter' + b'\x09\xff\x4c', b''
    assert bench.value(VALUE, peer='Meter') == b'12.5'


@mark.parametrize('padding', [param(b'      ', id='spaces'), param(bytes(8), id='zeros'), param(b'\0', id='one_zero')])
@mark.through_bled
def test_name_padded_with(bench, padding):
    """A device that fills its name with spaces, zeros, or the zero that ends a string in C is found by the name without them"""
    peer = meter(bench)
    encoded = b'Meter' + padding
    peer.scan_response = bytes([len(encoded) + 1, 9]) + encoded
    assert bench.value(VALUE, peer='Meter') == b'12.5'


def test_name_in_the_scan_response_only(bench):
    """A device whose advertisement is empty and whose scan response has the name is found by it"""
    peer = meter(bench)
    peer.data = b''
    assert bench.value(VALUE, peer='Meter') == b'12.5'


# Extended advertisements

COMPLETE, MORE, TRUNCATED = 0, 1, 2
LONG = b'\x02\x01\x06' + b'\x0a\x09Long Name'


class Reports:
    """An adapter that reports extended advertisements as the case says, each time a scan begins."""

    def __init__(self, bench, *reports):
        self.controller, self.reports = bench.controller, reports
        answers = self.controller.answers
        for opcode in (0x2041, 0x2036, 0x2035, 0x203F):
            answers[opcode] = lambda parameters: b'\0'
        answers[0x203A] = lambda parameters: b'\0' + struct.pack('<H', 1650)
        answers[0x203B] = lambda parameters: b'\0\x04'
        answers[0x2042] = self.enable

    def enable(self, parameters):
        if parameters[0]:
            self.controller.after.append(lambda: [self.send(*report) for report in self.reports])
        return b'\0'

    def send(self, data, status, address='C0:00:00:00:00:09', sid=1, primary=1, secondary=1, legacy=False):
        kind = (0x10 if legacy else 0) | status << 5
        kinds = kind if not legacy else 0x10
        self.controller.meta(0x0D, struct.pack('<BHB', 1, kinds, 1) + octets(address) + struct.pack(
            '<BBBbbHB', primary, 0 if legacy else secondary, 0xFF if legacy else sid, 127, -50, 0, 0) + bytes(6)
            + bytes([len(data)]) + data)


def scanned(bench):
    return scanned_for(bench, '1')


def scanned_for(bench, seconds):
    """The advertisements of the device by their octets, with the names."""
    lines = bench.run('lescan', '--duration', seconds).events('discovered')
    return [(line['advertisement'], line.get('name')) for line in lines]


OTHER = b'\x06\x09Other'
HALVES = {
    'whole': [(LONG[5:], COMPLETE)], 'other_address': [(OTHER, COMPLETE, 'C0:00:00:00:00:0A')],
    'other_set': [(OTHER, COMPLETE, 'C0:00:00:00:00:09', 2)], 'other_phy': [(OTHER, COMPLETE, 'C0:00:00:00:00:09', 1, 1, 2)],
    'legacy': [(OTHER, COMPLETE, 'C0:00:00:00:00:09', 1, 1, 1, True)], 'truncated': [(b'', TRUNCATED), (OTHER, COMPLETE)]}


@mark.parametrize('later', HALVES.values(), ids=HALVES)
@mark.controller(**EXTENDED)
def test_half_an_advertisement(bench, later):
    """An adapter that loses the end of an extended advertisement: its beginning is joined to the other part of its own only"""
    Reports(bench, (LONG[:5], MORE), *later)
    found = scanned(bench)
    data, named = (LONG, 'Long Name') if later == HALVES['whole'] else (OTHER, 'Other')
    assert (data.hex(), named) in found, f'{(data.hex(), named)} is not among {found}'
    assert [f for f in found if len(f[0]) > 2 * len(data)] == []


@mark.controller(**EXTENDED)
def test_half_an_advertisement_late(bench):
    """An adapter that loses the end of an extended advertisement: its beginning is not glued to the next one of the set, 1.5 s later"""
    reports = Reports(bench, (LONG[:5], MORE))
    enable = reports.enable

    def later(parameters):
        if parameters[0]:
            bench.controller.soon(1.5, lambda: reports.send(OTHER, COMPLETE))
        return enable(parameters)
    bench.controller.answers[0x2042] = later
    found = scanned_for(bench, '4')
    assert (OTHER.hex(), 'Other') in found, f'not found: {found}'
    assert [f for f in found if len(f[0]) > 2 * len(OTHER)] == []


@mark.controller(**EXTENDED)
def test_half_an_advertisement_too_long(bench):
    """An adapter that reports more parts than an advertisement has octets for: they are dropped, and the next one is shown by itself"""
    Reports(bench, *[(bytes([228, 0xFF]) + bytes(227), MORE)] * 9, (b'', COMPLETE), (OTHER, COMPLETE))
    found = scanned(bench)
    assert (OTHER.hex(), 'Other') in found, f'not found: {found}'
    assert [f for f in found if len(f[0]) > 3300] == []
