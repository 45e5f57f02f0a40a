"""The table of packets: what stands in Tools/Packets/*.toml, checked."""
import glob, os, re, tomllib

FOLDER = os.path.dirname(os.path.abspath(__file__))
KINDS = ['command', 'event', 'leEvent', 'att', 'smp', 'signalling', 'channelOption']
PREFIXES = {'att': 'ATT', 'signalling': 'L2CAP'}
NOTATION = re.compile(r'([uxdimwanAFbBhs]\d+|st|op|ch|[avVCOS*])(=@?\w+)?$')
PACKET_KEYS = {'opcode', 'code', 'subevent', 'name', 'swift', 'written', 'section', 'means', 'summary', 'notes', 'answer',
               'supported', 'simulated', 'family', 'parameters', 'returns', 'sent', 'element'}
FIELD_KEYS = {'name', 'property', 'label', 'type', 'unit', 'range', 'default', 'shown', 'secret', 'doc', 'note', 'element', 'elementDoc',
              'fields'}


class Wrong(Exception):
    pass


def load(file):
    with open(os.path.join(FOLDER, file), 'rb') as f:
        try:
            return tomllib.load(f)
        except tomllib.TOMLDecodeError as error:
            raise Wrong(f'{file}: {error}') from None


def words(name):
    return re.findall(r'[A-Za-z0-9]+', name)


def property_name(name):
    """`Connection Handle` gives `connectionHandle`, `PHY Options` gives `phyOptions`."""
    first, *rest = words(name)
    capitals = re.match(r'[A-Z]+(?=[A-Z][a-z]|$|\d)', first)
    first = first.lower() if capitals and capitals[0] == first else (
        capitals[0].lower() + first[capitals.end():] if capitals else first[0].lower() + first[1:])
    return first + ''.join(w[0].upper() + w[1:] for w in rest)


def type_name(name):
    """`LE Set Data Length` gives `LESetDataLength`; version 2 ends in V2, version 1 has no ending."""
    name = re.sub(r' \[v(\d)\]$', lambda m: '' if m[1] == '1' else f' V{m[1]}', name)
    return ''.join(w[0].upper() + w[1:] for w in words(name))


def case_name(type):
    """`PHYUpdateComplete` gives `phyUpdateComplete`."""
    capitals = re.match(r'[A-Z]+(?=[A-Z][a-z])|[A-Z]', type)[0]
    return capitals.lower() + type[len(capitals):]


class Field:
    """One field of a packet, or a group of them."""

    def __init__(self, entry, types, where):
        self.where = where
        if isinstance(entry, str):
            name, _, type = entry.rpartition(': ')
            entry = {'name': name, 'type': type}
        if set(entry) - FIELD_KEYS:
            raise Wrong(f'{where}: unknown keys {sorted(set(entry) - FIELD_KEYS)}')
        self.entry, self.name, type = entry, entry['name'], entry['type']
        self.property = entry.get('property') or property_name(self.name)
        self.label, self.default = entry.get('label'), entry.get('default')
        if self.default and re.fullmatch(r'0x[\dA-F]+|\d+', self.default) and types.get(type, {}).get('form') != 'number':
            self.default = f'{type}(rawValue: {self.default})'
        self.group = type if type in ('list', 'bits') else None
        self.fields = []
        if self.group:
            self.fields = [Field(f, types, f'{where}, {self.name}') for f in entry['fields']]
            self.element, self.swift = entry.get('element'), f'[{entry.get("element")}]'
            self.is_typed = self.element is not None
            return
        known = types.get(type)
        self.is_typed = known is not None
        self.swift = known and known.get('swift', type)
        self.known, self.type = known, type
        if not known and not NOTATION.match(type):
            raise Wrong(f'{where}: {type} is no type of types.toml and no notation')

    def shown(self):
        """What the decoder shows: (name, notation) for each of its fields, (name, group, fields) for a group."""
        if self.group:
            return [(self.name, self.group, [s for f in self.fields for s in f.shown()])]
        if not self.known:
            shown = self.type
        elif 'shown' in self.entry:
            shown = self.entry['shown']
        else:
            shown = self.of_unit() or self.known['shown']
        is_secret = self.entry.get('secret') or (self.known or {}).get('secret')
        if is_secret and not re.match(r's\d|S', shown):
            shown = 's' + re.match(r'[hux](\d+)$', shown)[1]
        if isinstance(shown, list):
            shown = [tuple(s.replace('{}', self.name).rsplit(': ', 1)) for s in shown]
        else:
            shown = [(self.name, shown)]
        for name, notation in shown:
            if not NOTATION.match(notation):
                raise Wrong(f'{self.where}: the decoder has no notation {notation}')
        return shown

    def of_unit(self):
        unit = self.entry.get('unit', '')
        if self.type == 'Int8' and unit == 'dBm':
            return 'd1'
        time = re.match(r'([\d.]+) (µs|ms)$', unit)
        if self.type == 'UInt16' and time:
            return f'm{round(float(time[1]) * (1000 if time[2] == "ms" else 1))}'
        return None


class Packet:
    def __init__(self, kind, entry, types, file, is_name=False):
        self.kind, self.entry, self.file = kind, entry, file
        self.name = entry['name']
        where = f'{file}: {self.name}'
        if set(entry) - PACKET_KEYS:
            raise Wrong(f'{where}: unknown keys {sorted(set(entry) - PACKET_KEYS)}')
        self.number = entry[{'command': 'opcode', 'leEvent': 'subevent'}.get(kind, 'code')]
        self.type = entry.get('swift') or PREFIXES.get(kind, '') + type_name(self.name)
        self.has_type = 'section' in entry
        self.is_generated = self.has_type and entry.get('written') != 'by hand'
        self.answer = entry.get('answer', 'complete')
        self.fields = [Field(f, types, where) for f in entry.get('parameters', [])]
        self.returns = [Field(f, types, where) for f in entry.get('returns', [])]
        self.where = where
        self.is_name = is_name
        if self.is_generated:
            for f in self.fields + self.returns:
                if not f.is_typed:
                    raise Wrong(f'{where}: {f.name} needs a type of types.toml')
        if self.answer not in ('complete', 'status', 'none') or self.returns and self.answer != 'complete':
            raise Wrong(f'{where}: answer is complete, status or none, and only complete has returns')

    def shown(self):
        """What the decoder shows of the parameters, and of what Command Complete returns."""
        if self.kind == 'att':  # The decoder has its own code for all but these.
            return [s for f in self.fields if 'shown' in f.entry for s in f.shown()], []
        answer = [('Status', 'st')] if self.kind == 'command' and self.answer == 'complete' and not self.is_name else []
        return [s for f in self.fields for s in f.shown()], answer + [s for f in self.returns for s in f.shown()]

    # An event's code and case.

    @property
    def constant(self):
        return case_name(self.type.removeprefix(PREFIXES.get(self.kind, 'LE' if self.kind == 'leEvent' else '')))

    @property
    def case(self):
        return 'le' + self.type.removeprefix('LE') if self.kind == 'leEvent' else self.constant


class Tables:
    """All entries of Tools/Packets."""

    def __init__(self):
        types, self.values, packets = load('types.toml'), load('values.toml'), []
        for path in sorted(glob.glob(os.path.join(FOLDER, '*.toml'))):
            file = os.path.basename(path)
            if file in ('types.toml', 'values.toml', 'constants.toml'):
                continue
            table = load(file)
            names = table.pop('names', {})
            for kind, entries in table.items():
                if kind not in KINDS:
                    raise Wrong(f'{file}: unknown kind {kind}')
                packets += [Packet(kind, entry, types, file) for entry in entries]
            # What is known by name alone; [names] are those of the file's only kind.
            for kind, entries in names.items():
                if isinstance(entries, str):
                    kind, entries = next(iter(table), 'command'), {kind: entries}
                for number, name in entries.items():
                    entry = {'opcode': int(number, 16), 'code': int(number, 16), 'subevent': int(number, 16), 'name': name,
                             'parameters': ['Parameters: *']}
                    packets.append(Packet(kind, entry, types, file, is_name=True))
        self.packets = sorted(packets, key=lambda p: (KINDS.index(p.kind), p.number))
        for a, b in zip(self.packets, self.packets[1:]):
            if (a.kind, a.number) == (b.kind, b.number):
                raise Wrong(f'{a.where} and {b.where} have the same number')

    def of(self, kind):
        return [p for p in self.packets if p.kind == kind]
