"""The type of a packet in Swift: properties, initializer, both directions of the codec."""
from swift import MARK, call, comment

GROUPS = {1: 'linkControl', 2: 'linkPolicy', 3: 'controllerAndBaseband', 4: 'informationalParameters',
          5: 'statusParameters', 6: 'testing', 8: 'leController'}


# ---- A packet

def said(packet):
    return f'{packet.name}: {packet.entry["summary"]}' if 'summary' in packet.entry else packet.name


def head(packet):
    notes = packet.entry.get('notes', [])
    return comment([f'{said(packet)} (Core 5.4, Vol 4, Part E, {packet.entry["section"]}).',
                    *(notes if isinstance(notes, list) else [notes])])


def packet_type(packet):
    out = head(packet)
    if packet.kind == 'command':
        group = GROUPS[packet.number >> 10]
        out += [f'public struct {packet.type}: {command_protocol(packet)} {{',
                f'    public static let opcode = HCIOpcode(group: .{group}, command: 0x{packet.number & 0x3FF:04X})',
                f'    public static let answer = CommandAnswer.{packet.answer if packet.answer != "none" else "complete"}']
    elif packet.kind == 'event':
        out += [f'public struct {packet.type}: HCIEvent {{',
                f'    public static let code = HCIEventCode.{packet.constant}']
    else:
        out += [f'public struct {packet.type}: LEMetaEvent {{',
                f'    public static let subevent = LESubeventCode.{packet.constant}']
    out.append('')
    for f in packet.fields:
        if f.group:
            out += structure(f.element, 'Hashable, Sendable', f.entry['elementDoc'], f.fields, 4, 'element') + ['']
    out += body(packet.fields, 4, 'event' if packet.kind != 'command' else 'command',
                has_codec=packet.kind != 'command' or command_protocol(packet) == 'HCICommand')
    if is_handle(packet.returns):
        out += ['', '    public typealias ReturnParameters = CommandStatusAndHandle']
    elif packet.returns:
        out += ['', *structure('ReturnParameters', 'HCIReturnParameters', 'The return parameters of the answer.', packet.returns,
                               4, 'returns')]
    return MARK.format(packet.file) + '\n'.join(out + ['}']) + '\n'


def is_handle(fields):
    """Whether the only field is the handle of a link."""
    return len(fields) == 1 and fields[0].swift == 'ConnectionHandle' and fields[0].property == 'connectionHandle'


def command_protocol(packet):
    """The protocol of a command; some have the codec of all commands with the same fields."""
    return 'HCIPlainCommand' if not packet.fields else 'HCILinkCommand' if is_handle(packet.fields) else 'HCICommand'


def structure(name, protocols, doc, fields, indent, kind):
    pad = ' ' * indent
    return [*comment(doc, indent), f'{pad}public struct {name}: {protocols} {{', *body(fields, indent + 4, kind), pad + '}']


def body(fields, indent, kind, has_codec=True):
    """Properties, initializer, both directions."""
    pad, inner = ' ' * indent, indent + 4
    out, defaults = [], {}
    if kind == 'returns':
        out.append(pad + 'public var status: HCIStatus')
    for f in fields:
        initial = zero(f) if kind == 'returns' else None
        out += declaration(f, indent, initial)
        if initial:
            defaults[f] = initial
        elif kind == 'event' and f is fields[0] and f.swift == 'HCIStatus' and f.property == 'status':
            defaults[f] = '.success'
    if out:
        out.append('')
    for before, f in zip(fields, fields[1:]):
        if f.group == 'bits':
            out += comment(f'- Parameter {f.property}: As many as `{before.property}` has bits.', indent)
    out += initializer(fields, indent, defaults, kind == 'returns')
    if not has_codec:
        return out[:-1]
    access = '' if kind == 'element' else 'public '
    status = [f'{pad}    status = HCIStatus(rawValue: try reader.read())',
              f'{pad}    if !status.isSuccess, reader.isAtEnd {{ return }}'] if kind == 'returns' else []
    is_behind_status = bool(fields) and fields[0].property == 'status'
    reads = status + [l for before, f in zip([None] + fields, fields) for l in reading(f, inner, is_behind_status, before)]
    writes = [f'{pad}    packet.write(status.rawValue)'] * (kind == 'returns') + [l for f in fields for l in writing(f, inner)]
    out += function(f'{access}init(decoding reader: inout PacketReader) throws(DecodingError)', reads, pad)
    out += ['', *function(f'{access}func encode(into packet: inout PacketWriter)', writes, pad)]
    return out


def initializer(fields, indent, defaults={}, has_status=False):
    """The memberwise initializer, and an empty line."""
    pad = ' ' * indent
    arguments = ['status: HCIStatus = .success'] * has_status + [argument(f, defaults.get(f, f.default)) for f in fields]
    if not arguments:
        return [pad + 'public init() {}', '']
    sets = ['status'] * has_status + [f.label or f.property for f in fields]
    names = ['status'] * has_status + [f.property for f in fields]
    return call('public init(', arguments, ') {', indent) + [f'{pad}    self.{n} = {s}' for n, s in zip(names, sets)] + [
        pad + '}', '']


def function(head, lines, pad):
    return [f'{pad}{head} {{', *lines, pad + '}'] if lines else [f'{pad}{head} {{}}']


# ---- A field

def zero(field):
    """What a property of return parameters is before it is read."""
    return field.default or field.known.get('zero') or (
        '0' if field.known.get('form') == 'number' else f'{field.swift}(rawValue: 0)')


def declaration(field, indent, initial=None):
    out = comment(sentence(field.entry), indent) if sentence(field.entry) else []
    if not initial:
        end = f': {field.swift}'
    elif initial.startswith(field.swift + '('):
        end = f' = {initial}'
    else:
        end = f': {field.swift} = {initial}'
    return [*out, f'{" " * indent}public var {field.property}{end}']


def argument(field, default):
    return f'{field.label or field.property}: {field.swift}' + (f' = {default}' if default else '')


def reading(field, indent, behind_status=False, before=None):
    pad = ' ' * indent
    if field.group:
        count = 'count' if field.group == 'list' else f'{before.property}.rawValue.nonzeroBitCount'
        return ([f'{pad}let count = Int(try reader.read(UInt8.self))'] if field.group == 'list' else []) + [
            f'{pad}{field.property} = []',
            f'{pad}for _ in 0..<{count} {{ {field.property}.append(try {field.element}(decoding: &reader)) }}']
    form, type = field.known.get('form', 'raw'), field.swift
    read = (behind_status and field.known.get('readBehindStatus')) or field.known.get('read') or {
        'number': 'try reader.read()', 'raw': f'{type}(rawValue: try reader.read())',
        'raw24': f'{type}(rawValue: try reader.readUInt24())', 'coded': f'try {type}(decoding: &reader)'}[form]
    return [f'{pad}{field.property} = {read}']


def writing(field, indent):
    pad = ' ' * indent
    if field.group:
        count = [f'{pad}packet.write(UInt8(truncatingIfNeeded: {field.property}.count))'] if field.group == 'list' else []
        return count + [f'{pad}for each in {field.property} {{ each.encode(into: &packet) }}']
    write = field.known.get('write') or {
        'number': 'packet.write({})', 'raw': 'packet.write({}.rawValue)', 'raw24': 'packet.writeUInt24({}.rawValue)',
        'coded': '{}.encode(into: &packet)'}[field.known.get('form', 'raw')]
    return [pad + write.replace('{}', field.property)]


def sentence(field):
    """What is said about a property: `doc` alone, or one sentence of `doc`, unit, range and, behind a semicolon, `note`."""
    doc, unit, range_ = field.get('doc'), field.get('unit'), field.get('range')
    if not unit and not range_:
        return doc
    if unit and unit[0].isdigit():
        unit = f'{"in units" if doc else "Units"} of {unit}'
    said = ', '.join(x for x in (doc, unit, range_) if x) + (f'; {field["note"]}' if 'note' in field else '') + '.'
    return said if said.startswith('dB') else said[0].upper() + said[1:]
