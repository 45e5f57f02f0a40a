"""The decoder's tables: names as text, everything else as numbers that point into it, so that nothing is read at start.

The forms of the numbers are those that `PacketTables.swift` takes apart."""
import re

from swift import MARK, WIDTH
from table import KINDS, Wrong, words

# In the order of their numbers.
FIELD_KINDS = ['number', 'hexadecimal', 'signed', 'power', 'time', 'status', 'opcode', 'handle', 'address', 'bytes', 'secret',
               'text', 'advertisingData', 'countedBytes', 'countedData', 'countedFixedData', 'rest', 'secretRest', 'group',
               'bitGroup', 'mask', 'octetMask', 'channels', 'options']
# Notations of one letter and a width.
SIZED = {'u': 'number', 'x': 'hexadecimal', 'i': 'signed', 'h': 'bytes', 'n': 'text', 'A': 'advertisingData',
         'F': 'countedFixedData', 'b': 'mask', 'B': 'octetMask', 's': 'secret'}
# Notations of their own, and octets of the field.
FIXED = {'st': ('status', 1), 'op': ('opcode', 2), 'ch': ('handle', 2), 'a': ('address', 6), 'v': ('countedBytes', 0),
         'V': ('countedData', 0), 'C': ('channels', 0), 'O': ('options', 0), 'S': ('secretRest', 0), '*': ('rest', 0)}
# Names that are in no table of values: `PacketTables.Special`.
SPECIAL = {'company': -2, '@events1': -3, '@events64': -4, '@subevents1': -5, '@numbers': -6}
VARYING = 0x8000


def key_name(name):
    """`BD_ADDR` gives `bdADDR`, `TX Power` gives `txPower`."""
    first, *rest = words(name)
    return first.lower() + ''.join(w[0].upper() + w[1:] for w in rest)


def literals(numbers, digits):
    """A line of numbers, in groups of four digits."""
    return '        ' + ', '.join('0x' + re.sub(r'(?<=.)(?=(.{4})+$)', '_', f'{n:0{digits}X}') for n in numbers) + ','


class Texts:
    """Texts, each once, with one octet between two; a name is a place and a length in them."""

    def __init__(self):
        self.places, self.texts, self.count = {}, [], 0

    def place(self, text):
        if text not in self.places:
            self.places[text] = self.count
            self.texts.append(text)
            self.count += len(text.encode()) + 1
            if self.count > 0xFFFF:
                raise Wrong('the names of the decoder do not fit into 64 KiB any more')
        return self.places[text]

    def swift(self, name, doc):
        lines = []
        for text in self.texts:  # A space or the end of a line is the octet between two.
            if lines and len(lines[-1]) + 1 + len(text) <= WIDTH - 8:
                lines[-1] += ' ' + text
            else:
                lines.append(text)
        return ['extension PacketTexts {', f'    /// {doc}', f'    static let {name}: StaticString = #"""',
                *(f'        {l}' for l in lines), '        """#', '}']


class DecoderTables:
    def __init__(self, tables):
        self.tables, self.values = tables, list(tables.values)
        # By a field's name: how the key of its value's name ends. The first round finds them, the second writes.
        self.named = {}
        for _ in range(2):
            self.packet_names, self.field_names, self.value_names = Texts(), Texts(), Texts()
            self.fields, self.layouts = [], []
            for packet in tables.packets:
                self.add(packet)

    def add(self, packet):
        first, rows = len(self.fields), packet.shown()
        self.add_fields(rows[0])
        answer = len(self.fields)
        self.add_fields(rows[1])
        place = self.packet_names.place(packet.name)
        self.layouts.append((packet, [place, len(packet.name.encode()), first, answer - first, len(self.fields) - answer,
                                      self.octets(rows[0]), self.octets(rows[1])]))

    def add_fields(self, shown):
        for name, notation, *inner in shown:
            kind, width, argument = self.form(notation)
            place = len(self.fields)
            self.fields.append(None)
            if inner:
                self.add_fields(inner[0])
                argument = len(self.fields)
            has_names = kind in ('status', 'opcode') or kind in ('number', 'hexadecimal') and argument >= 0 or (
                kind in ('mask', 'octetMask') and (argument >= 0 or argument < SPECIAL['company']))
            ending = 'Names' if kind in ('mask', 'octetMask') else 'Name'
            endings = self.named.setdefault(name, [])
            if has_names and ending not in endings:
                endings.append(ending)
            key = key_name(name)
            line = f'{name}: "{key}":' + (f'"{key}{ending}":' if has_names else
                                          f'"{key}{endings[0]}":' if endings else '')
            text_count, key_count = len(name.encode()) + 2, len(key) + 3
            self.fields[place] = (FIELD_KINDS.index(kind) << 56 | width << 48 | (argument & 0xFFFF) << 32
                                  | self.field_names.place(line) << 16 | text_count << 8 | key_count)

    def form(self, notation):
        """(kind, octets, argument) of a notation."""
        if notation in ('list', 'bits'):
            return 'group' if notation == 'list' else 'bitGroup', 0, 0
        notation, _, table = notation.partition('=')
        argument = -1
        if table:
            if table not in SPECIAL and table not in self.values:
                raise Wrong(f'values.toml has no table {table}')
            argument = SPECIAL[table] if table in SPECIAL else self.values.index(table)
        if notation in FIXED:
            return *FIXED[notation], 0
        letter, number = notation[0], int(notation[1:])
        if letter in 'mw':
            return 'time', 2 if letter == 'm' else 3, number
        if letter == 'd':
            return 'power', 1, 0
        kind = SIZED[letter]
        return kind, number, argument if kind in ('number', 'hexadecimal', 'mask', 'octetMask') else 0

    def octets(self, shown):
        """The fewest octets that the fields take; marked where they can be more."""
        count, varying = 0, 0
        for _, notation, *_ in shown:
            kind, width, _ = self.form(notation)
            if kind in ('group', 'countedBytes', 'countedData'):
                count, varying = count + 1, VARYING
            elif kind == 'countedFixedData':
                count += 1 + width
            elif kind in ('bitGroup', 'rest', 'secretRest', 'channels', 'options'):
                varying = VARYING
            else:
                count += width
        return count | varying

    # ---- Files

    def swift_fields(self):
        out = ['extension PacketTables.Field {', '    /// How a field is read and written.', '    enum Kind: UInt8 {',
               *(f'        case {", ".join(FIELD_KINDS[i:i + 8])}' for i in range(0, len(FIELD_KINDS), 8)), '    }', '}', '',
               'extension PacketTables {', '    /// Kind, octets, argument (two octets); place of the name (two octets), '
               'length of its text and of its key.', '    static let packedFields: [UInt64] = [']
        out += [literals(self.fields[start:start + 4], 16) for start in range(0, len(self.fields), 4)]
        return [*out, '    ]', '}']

    def swift_layouts(self):
        out = ['extension PacketTables {',
               '    /// Eight numbers a packet: its own, place and length of its name, the first of its fields, fields,',
               '    /// fields of the answer, octets of the fields and of the answer, marked where they can be more.',
               '    static let packedLayouts: [UInt16] = [']
        for packet, row in self.layouts:
            numbers = [f'0x{packet.number:04X}', *map(str, row[:5]),
                       *(f'0x{n:04X}' if n & VARYING else str(n) for n in row[5:])]
            out.append(f'        {", ".join(numbers)},  // {packet.name}')
        out += ['    ]', '']
        start = 0
        for kind in KINDS:
            count = len(self.tables.of(kind))
            out.append(f'    static let {kind}Layouts = {start}..<{start + count}')
            start += count
        return [*out, '}']

    def swift_values(self):
        rows, starts = [], []
        for name in self.values:
            starts.append(len(rows))
            for number, text in self.tables.values[name].items():
                if int(number, 16) > 0xFF:
                    raise Wrong(f'values.toml, {name}: a value has one octet')
                rows.append((int(number, 16), text))
        out = ['extension PacketTables {', '    /// The tables of named values, by their place in `valueTables`.',
               '    enum Values {', *(f'        static let {n} = {i}' for i, n in enumerate(self.values)), '    }', '',
               '    /// Where the values of a table begin; the last number is where the last table ends.',
               '    static let valueTables: [UInt16] = [']
        starts.append(len(rows))
        out += [f'        {", ".join(map(str, starts[i:i + 16]))},' for i in range(0, len(starts), 16)]
        out += ['    ]', '', '    /// Place of the name (two octets), its length, the value.',
                '    static let packedValues: [UInt32] = [']
        for name, start, end in zip(self.values, starts, starts[1:]):
            out.append(f'        // {name}')
            for i in range(start, end, 8):
                out.append(literals([self.value_names.place(t) << 16 | len(t.encode()) << 8 | n
                                     for n, t in rows[i:min(i + 8, end)]], 8))
        return [*out, '    ]', '}']

def files(tables):
    """The decoder's generated files: name and text."""
    decoder = DecoderTables(tables)
    out = {'PacketTables+Fields.swift': decoder.swift_fields(), 'PacketTables+Layouts.swift': decoder.swift_layouts(),
           'PacketTables+Values.swift': decoder.swift_values(),
           'PacketTexts+Packets.swift': decoder.packet_names.swift('packets', 'Packets, in the specification\'s words.'),
           'PacketTexts+Fields.swift': decoder.field_names.swift(
               'fields', 'Fields: as text shows them, their key in JSON, the key of their value\'s name.'),
           'PacketTexts+Values.swift': decoder.value_names.swift('values', 'Values and bits.')}
    return {name: MARK.format('*.toml') + '\n'.join(lines) + '\n' for name, lines in out.items()}
