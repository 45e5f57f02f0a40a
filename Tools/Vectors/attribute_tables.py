#!/usr/bin/env python3
"""attribute_tables.py FOLDER [SEED [TABLES]]: random attribute tables and conversations, in the form of gatt_server.json.

The answers come from a model of an attribute server that shares nothing with this stack (Core 5.4, Vol 3, Part F and G). The tests
play them where JELLING_VECTORS names FOLDER."""
import json, pathlib
import os
import random
import struct
import sys
import uuid

BASE = bytes.fromhex('fb349b5f8000008000100000')
DECLARATIONS = ('2800', '2801', '2802', '2803')


def le(number):
    return struct.pack('<H', number)


def number(octets, offset=0):
    return octets[offset] | octets[offset + 1] << 8


def octets_of(text):
    """A UUID as it stands in a PDU: 2 or 16 octets."""
    digits = text.replace('-', '')
    if len(digits) == 8:
        digits += '00001000800000805f9b34fb'
    return bytes.fromhex(digits)[::-1]


def expanded(octets):
    return octets if len(octets) == 16 else BASE + octets + bytes(2)


GROUPS = [octets_of('2800'), octets_of('2801')]
INCLUDE, CHARACTERISTIC, CONFIGURATION = octets_of('2802'), octets_of('2803'), octets_of('2902')


class Server:
    """One client, no security."""

    def __init__(self, rows, receive_mtu):
        self.receive_mtu, self.mtu = receive_mtu, 23
        self.queue, self.indications, self.is_unconfirmed = [], [], False
        self.types, self.permissions, self.values = {}, {}, {}
        for row in rows:
            handle = row['handle']
            self.types[handle] = octets_of(row['type'])
            self.permissions[handle] = {'READ'} if row['type'] in DECLARATIONS else set(row['permissions'])
            self.values[handle] = bytes.fromhex(row['value'])
        self.handles = sorted(self.types)
        self.ends, self.configurations = {}, {}
        service = characteristic = None
        for handle in self.handles:
            kind = self.types[handle]
            if kind in GROUPS:
                service, characteristic = handle, None
            elif kind == CHARACTERISTIC:
                characteristic = handle
            elif kind == INCLUDE:
                characteristic = None
            elif kind == CONFIGURATION and characteristic is not None:
                self.configure(characteristic, handle)
            self.ends[handle] = handle
            for group in (service, characteristic):
                if group is not None:
                    self.ends[group] = handle

    def configure(self, declaration, handle):
        between = [h for h in self.handles if declaration < h < handle]
        value = self.values[declaration]
        named = number(value, 1) if len(value) >= 3 else 0
        target = named if named in between else between[0] if between else None
        if target is not None:
            self.configurations.setdefault(target, (handle, value[0]))

    # Access

    def refusal(self, handle, access):
        names = {access, access + '_ENCRYPT', access + '_AUTHEN'}
        granted = self.permissions[handle] & names
        if not granted:
            return 2 if access == 'READ' else 3
        return None if granted == {access} else 5

    @staticmethod
    def error(opcode, handle, code):
        return [bytes([1, opcode]) + le(handle) + bytes([code])]

    # PDUs

    def receive(self, pdu):
        """What is sent in turn."""
        opcode = pdu[0]
        if opcode == 0x02:
            if len(pdu) != 3:
                return self.error(opcode, 0, 4)
            self.mtu = max(self.mtu, 23, min(number(pdu, 1), self.receive_mtu))
            return [b'\x03' + le(self.receive_mtu)]
        if opcode == 0x1E:
            self.is_unconfirmed = bool(self.indications)
            return [self.indications.pop(0)[:self.mtu]] if self.indications else []
        if opcode in (0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x1B, 0x1D, 0x21, 0x23):
            return []
        if opcode & 0x40:
            if opcode == 0x52 and 3 <= len(pdu) <= self.mtu:
                handle = number(pdu, 1)
                if handle in self.values and self.refusal(handle, 'WRITE') is None and len(pdu) <= 515:
                    self.values[handle] = pdu[3:]
            return []
        request = {0x04: self.find_information, 0x06: self.find_by_type_value, 0x08: self.read_by_type,
                   0x0A: self.read, 0x0C: self.read, 0x0E: self.read_multiple, 0x10: self.read_by_type,
                   0x12: self.write, 0x16: self.prepare, 0x18: self.execute, 0x20: self.read_multiple}.get(opcode)
        if request is None:
            return self.error(opcode, 0, 6)
        lengths = {0x04: (5,), 0x08: (7, 21), 0x0A: (3,), 0x0C: (5,), 0x10: (7, 21), 0x18: (2,),
                   0x0E: range(5, 1000, 2), 0x20: range(5, 1000, 2), 0x06: range(7, 1000), 0x12: range(3, 1000),
                   0x16: range(5, 1000)}[opcode]
        if len(pdu) > self.mtu or len(pdu) not in lengths:
            return self.error(opcode, 0, 4)
        if opcode in (0x04, 0x06, 0x08, 0x10) and not 0 < number(pdu, 1) <= number(pdu, 3):
            return self.error(opcode, number(pdu, 1), 1)
        return request(pdu)

    def within(self, pdu):
        return [h for h in self.handles if number(pdu, 1) <= h <= number(pdu, 3)]

    def find_information(self, pdu):
        handles = self.within(pdu)
        if not handles:
            return self.error(4, number(pdu, 1), 10)
        width = len(self.types[handles[0]])
        answer = bytes([5, 1 if width == 2 else 2])
        for handle in handles:
            if len(self.types[handle]) != width or len(answer) + 2 + width > self.mtu:
                break
            answer += le(handle) + self.types[handle]
        return [answer]

    def find_by_type_value(self, pdu):
        found = [h for h in self.within(pdu)
                 if self.types[h] == pdu[5:7] and self.values[h] == pdu[7:] and self.refusal(h, 'READ') is None]
        if not found:
            return self.error(6, number(pdu, 1), 10)
        return [b'\x07' + b''.join(le(h) + le(self.ends[h]) for h in found[:(self.mtu - 1) // 4])]

    def read_by_type(self, pdu):
        opcode, kind, is_group = pdu[0], expanded(pdu[5:]), pdu[0] == 0x10
        if is_group and kind not in map(expanded, GROUPS):
            return self.error(opcode, number(pdu, 1), 0x10)
        found = [h for h in self.within(pdu) if expanded(self.types[h]) == kind]
        if not found:
            return self.error(opcode, number(pdu, 1), 10)
        refused = self.refusal(found[0], 'READ')
        if refused is not None:
            return self.error(opcode, found[0], refused)
        length = len(self.values[found[0]])
        most = min(self.mtu - 6, 251) if is_group else min(self.mtu - 4, 253)
        answer = bytes([opcode + 1, min(length, most) + (4 if is_group else 2)])
        for handle in found:
            value = self.values[handle]
            element = le(handle) + (le(self.ends[handle]) if is_group else b'') + value[:most]
            is_first = len(answer) == 2
            if len(value) != length or self.refusal(handle, 'READ') is not None:
                break
            if not is_first and (length > most or len(answer) + len(element) > self.mtu):
                break
            answer += element
        return [answer]

    def read(self, pdu):
        handle, offset = number(pdu, 1), number(pdu, 3) if pdu[0] == 0x0C else 0
        if handle not in self.values:
            return self.error(pdu[0], handle, 1)
        refused = self.refusal(handle, 'READ')
        if refused is None and offset > len(self.values[handle]):
            refused = 7
        if refused is not None:
            return self.error(pdu[0], handle, refused)
        return [bytes([pdu[0] + 1]) + self.values[handle][offset:offset + self.mtu - 1]]

    def read_multiple(self, pdu):
        handles = [number(pdu, place) for place in range(1, len(pdu), 2)]
        for handle in handles:
            refused = self.refusal(handle, 'READ') if handle in self.values else 1
            if refused is not None:
                return self.error(pdu[0], handle, refused)
        answer = bytes([pdu[0] + 1])
        for handle in handles:
            if pdu[0] == 0x20:
                if len(answer) + 2 > self.mtu:
                    break
                answer += le(len(self.values[handle]))
            answer += self.values[handle]
        return [answer[:self.mtu]]

    def write(self, pdu):
        handle = number(pdu, 1)
        refused = self.refusal(handle, 'WRITE') if handle in self.values else 1
        if refused is None and len(pdu) > 515:
            refused = 13
        if refused is not None:
            return self.error(pdu[0], handle, refused)
        self.values[handle] = pdu[3:]
        return [b'\x13']

    def prepare(self, pdu):
        handle = number(pdu, 1)
        refused = self.refusal(handle, 'WRITE') if handle in self.values else 1
        if refused is not None:
            return self.error(pdu[0], handle, refused)
        self.queue.append((handle, number(pdu, 3), pdu[5:]))
        return [b'\x17' + pdu[1:]]

    def execute(self, pdu):
        if pdu[1] > 1:
            return self.error(pdu[0], 0, 4)
        queue, self.queue = self.queue, []
        values, wholes = {}, {}
        for handle, offset, part in queue if pdu[1] else []:
            present, end = values.get(handle, self.values[handle]), offset + len(part)
            if offset > len(present) or end > 512:
                return self.error(pdu[0], handle, 7 if offset > len(present) else 13)
            # What was written from its beginning without a gap is the whole value then.
            before = wholes.get(handle, 0)
            wholes[handle] = max(before, end) if before is not None and offset <= before else None
            values[handle] = present[:offset] + part + present[end:]
        for handle, value in values.items():
            self.values[handle] = value if wholes[handle] is None else value[:wholes[handle]]
        return [b'\x19']

    def drop_unwanted(self):
        """Indications that wait for those before them end with the wish for them."""
        def is_wanted(pdu):
            return number(self.values[self.configurations[number(pdu, 1)][0]] + bytes(2)) & 2
        self.indications = [pdu for pdu in self.indications if is_wanted(pdu)]

    def update(self, is_indication, handle, value):
        configuration, properties = self.configurations[handle]
        bit, offered = (2, 0x20) if is_indication else (1, 0x10)
        wanted = number(self.values[configuration] + bytes(2))
        if not wanted & bit or not properties & offered or self.refusal(handle, 'READ') == 5 \
                or self.refusal(configuration, 'WRITE') is not None:
            return []
        pdu = bytes([0x1D if is_indication else 0x1B]) + le(handle) + value
        if is_indication and self.is_unconfirmed:
            self.indications.append(pdu)
            return []
        self.is_unconfirmed = self.is_unconfirmed or is_indication
        return [pdu[:self.mtu]]


class Table:
    """Random rows: gaps between handles, long and short UUIDs, values of every length, all sorts of permissions."""

    def __init__(self, rng):
        self.rng, self.rows, self.handle = rng, [], rng.choice([1, 1, 1, 2, 16, 0xF000, 0xFF80])
        for _ in range(rng.randrange(1, 6)):
            self.service()

    def add(self, kind, permissions, value):
        if self.handle > 0xFFFF:
            return None
        self.rows.append({'handle': self.handle, 'type': kind, 'permissions': permissions, 'value': value})
        self.handle += 1 if self.rng.random() < 0.85 else self.rng.choice([2, 3, 16, 256])
        return self.rows[-1]

    def kind(self, known):
        chance = self.rng.random()
        if chance < 0.5:
            return self.rng.choice(known)
        if chance < 0.8:
            return f'{self.rng.randrange(0x2A00, 0x2B00):04x}'
        if chance < 0.83:
            return f'{self.rng.getrandbits(32):08x}'
        return str(uuid.UUID(bytes=self.rng.randbytes(16), version=4))

    def value(self):
        lengths = [0, 1, 2, 5, 17, 18, 19, 20, 21, 22, 23, 24, 44, 253, 254, 512, self.rng.randrange(513)]
        return self.rng.randbytes(self.rng.choice(lengths)).hex()

    def permissions(self):
        chance = self.rng.random()
        if chance < 0.8:
            return self.rng.choice([['READ', 'WRITE'], ['READ', 'WRITE'], ['READ'], ['WRITE'], []])
        names = ['READ', 'WRITE', 'READ_ENCRYPT', 'WRITE_ENCRYPT', 'READ_AUTHEN', 'WRITE_AUTHEN']
        return self.rng.sample(names, self.rng.randrange(1, 5))

    def service(self):
        rng = self.rng
        starts = [row['handle'] for row in self.rows if row['type'] in ('2800', '2801')]
        kind = octets_of(self.kind(['1800', '1801', '180a', '180f']))
        self.add(rng.choice(['2800', '2800', '2800', '2801']), ['READ'], kind.hex())
        for start in rng.sample(starts, min(len(starts), rng.randrange(3))):
            self.add('2802', ['READ'], (le(start) * 2 + rng.choice([b'', b'\x0f\x18'])).hex())
        for _ in range(rng.randrange(5)):
            kind = self.kind(['2a00', '2a01', '2a19', '2a29', '0000b009-0000-0000-0123-456789abcdef'])
            declaration = self.add('2803', ['READ'], '')
            value = self.add(kind, self.permissions(), self.value())
            if declaration:
                properties = rng.choice([0x02, 0x0A, 0x12, 0x22, 0x32, rng.randrange(256)])
                handle = value['handle'] if value else 0xFFFF
                declaration['value'] = (bytes([properties]) + le(handle) + octets_of(kind)).hex()
            for _ in range(rng.randrange(4)):
                if rng.random() < 0.4:
                    self.add('2902', ['READ', 'WRITE'], rng.choice(['0000', '0000', '0100', '0200', '0300']))
                else:
                    self.add(self.kind(['2900', '2901', '2904', '2905']), self.permissions(), self.value())


class Conversation:
    def __init__(self, rng, rows, receive_mtu, mtu):
        self.rng, self.rows, self.server, self.steps = rng, rows, Server(rows, receive_mtu), []
        if rng.random() < 0.8:
            self.say(b'\x02' + le(mtu))
        for _ in range(rng.randrange(3, 40)):
            rng.choice([self.ask_range, self.ask_range, self.ask_value, self.ask_value, self.write, self.write, self.prepare,
                        self.prepare, self.prepare, self.execute, self.subscribe, self.update, self.update, self.confirm,
                        self.nonsense])()

    def say(self, pdu):
        self.steps.append({'from': 'tester', 'pdu': pdu.hex()})
        self.steps += [{'from': 'dut', 'pdu': answer.hex()} for answer in self.server.receive(pdu)]
        self.server.drop_unwanted()

    def handle(self):
        some = self.rng.choice(self.rows)['handle']
        if self.rng.random() < 0.9:
            return some
        return self.rng.choice([0, 0xFFFF, self.rng.randrange(0x10000), min(0xFFFF, some + 1)])

    def span(self):
        if self.rng.random() < 0.4:
            return le(1) + le(0xFFFF)
        ends = [self.handle(), self.handle()]
        return b''.join(map(le, sorted(ends) if self.rng.random() < 0.9 else ends))

    def ask_range(self):
        row = self.rng.choice(self.rows)
        kind = octets_of(row['type'] if self.rng.random() < 0.6 else self.rng.choice(DECLARATIONS))
        if self.rng.random() < 0.1:
            kind = expanded(kind)
        opcode = self.rng.choice([0x04, 0x06, 0x08, 0x08, 0x10])
        if opcode == 0x10 and self.rng.random() < 0.7:
            kind = self.rng.choice(GROUPS)
        if opcode == 0x06:
            kind = octets_of(row['type'])
            kind = (kind if len(kind) == 2 else GROUPS[0]) + self.server.values[row['handle']][:max(0, self.server.mtu - 7)]
        self.say(bytes([opcode]) + self.span() + (b'' if opcode == 0x04 else kind))

    def ask_value(self):
        handle = self.handle()
        length = len(self.server.values.get(handle, b''))
        opcode = self.rng.choice([0x0A, 0x0C, 0x0E, 0x20])
        pdu = bytes([opcode]) + le(handle)
        if opcode == 0x0C:
            pdu += le(self.rng.choice([0, length, length + 1, max(0, length - 1), self.server.mtu - 1, 0xFFFF]))
        if opcode in (0x0E, 0x20):
            pdu += b''.join(le(self.handle()) for _ in range(self.rng.randrange(1, 5)))
        self.say(pdu)

    def octets(self, room):
        return self.rng.randbytes(max(0, min(room, self.rng.choice([0, 1, 2, 18, 20, self.rng.randrange(512)]))))

    def write(self):
        self.say(bytes([self.rng.choice([0x12, 0x12, 0x52])]) + le(self.handle()) + self.octets(self.server.mtu - 3))

    def prepare(self):
        queue = self.server.queue
        if len(queue) > 50 or sum(len(part) for _, _, part in queue) > 3000:
            return
        handle = queue[-1][0] if queue and self.rng.random() < 0.5 else self.handle()
        ends = [offset + len(part) for h, offset, part in queue if h == handle]
        offset = ends[-1] if ends and self.rng.random() < 0.7 else self.rng.choice([0, 0, 1, 5, self.rng.randrange(600)])
        self.say(b'\x16' + le(handle) + le(offset) + self.octets(self.server.mtu - 5))

    def execute(self):
        self.say(b'\x18' + bytes([self.rng.choice([0, 1, 1, 1, 1, 2])]))

    def subscribe(self):
        handles = [row['handle'] for row in self.rows if row['type'] == '2902']
        if handles:
            values = [b'\0\0', b'\1\0', b'\2\0', b'\3\0', b'\1', b'\1\0\0']
            self.say(b'\x12' + le(self.rng.choice(handles)) + self.rng.choice(values))

    def update(self):
        if not self.server.configurations or len(self.server.indications) >= 8:
            return
        handle, is_indication = self.rng.choice(list(self.server.configurations)), self.rng.random() < 0.5
        value = self.rng.randbytes(self.rng.choice([0, 1, 20, 21, 22, self.rng.randrange(100)]))
        self.steps.append({'trigger': f'server_send_{"indication" if is_indication else "notification"}',
                           'handle': handle, 'value': value.hex()})
        self.steps += [{'from': 'dut', 'pdu': pdu.hex()} for pdu in self.server.update(is_indication, handle, value)]

    def confirm(self):
        self.say(b'\x1e')

    def nonsense(self):
        cut = bytes([self.rng.choice([0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20])])
        other = bytes([self.rng.choice([0x00, 0x01, 0x0B, 0x13, 0x1B, 0x1D, 0x22, 0x23, 0x24, 0x3F, 0x7F, 0x80, 0xD2, 0xFF])])
        self.say(self.rng.choice([cut, other]) + self.rng.randbytes(self.rng.choice([0, 1, 2, 3, 4, 6])))


def main(arguments):
    if not 1 <= len(arguments) <= 3 or arguments[0].startswith('-'):
        sys.exit(__doc__)
    rng = random.Random(int(arguments[1]) if len(arguments) > 1 else 1)
    databases, tests = {}, []
    for index in range(int(arguments[2]) if len(arguments) > 2 else 40):
        databases[f'table {index}'] = rows = Table(rng).rows
        for _ in range(8):
            receive_mtu, mtu = rng.choice([23, 64, 247, 512, 517, rng.randrange(23, 700)]), rng.choice([20, 23, 64, 185, 512, 517])
            tests.append({'name': f'{len(tests)}: {receive_mtu} and {mtu}', 'database': f'table {index}', 'dut_mtu': receive_mtu,
                          'steps': Conversation(rng, rows, receive_mtu, mtu).steps})
    os.makedirs(arguments[0], exist_ok=True)
    path = os.path.join(arguments[0], 'gatt_server.json')
    pathlib.Path(path).write_text(json.dumps({'databases': databases, 'tests': tests}))
    print(f'{path}: {len(tests)} conversations, {sum(len(t["steps"]) for t in tests)} steps')


if __name__ == '__main__':
    main(sys.argv[1:])
