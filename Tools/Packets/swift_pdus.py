"""PDUs of ATT and SMP and the commands of the signalling channels: types, numbers, and the enumeration of all of them."""
import re

from swift import MARK, WIDTH, call, comment
from swift_types import argument, body, declaration, initializer, reading, said, writing

PARTS = {'att': 'Vol 3, Part F', 'signalling': 'Vol 3, Part A', 'smp': 'Vol 3, Part H'}
# Types of fields that are borrowed from the packet.
BORROWED = ('RawSpan', 'ATTHandleList', 'Unsigned')


def head(packet, protocols, static):
    """The doc comment, the first line, and the number."""
    notes = [packet.entry['notes']] if 'notes' in packet.entry else []
    return [*comment([f'{said(packet)} (Core 5.4, {PARTS[packet.kind]}, {packet.entry["section"]}).', *notes]),
            f'public struct {packet.type}: {protocols} {{',
            *comment(f'0x{packet.number:02X}, {packet.entry["sent"]}.', 4), f'    public static {static}', '']


def signalling_type(packet):
    out = head(packet, 'L2CAPSignallingCommand', f'let code = L2CAPSignallingCode.{packet.constant}')
    return MARK.format(packet.file) + '\n'.join(out + body(packet.fields, 4, 'command') + ['}']) + '\n'


# ---- ATT

def att_type(packet):
    fields = packet.fields
    is_borrowed = any(f.type in BORROWED for f in fields)
    shape = att_shape(packet)
    out = (head(packet, f'{shape}, ~Escapable', f'var opcode: ATTOpcode {{ .{packet.constant} }}') if is_borrowed
           else head(packet, f'{shape}, Equatable, Sendable', f'let opcode = ATTOpcode.{packet.constant}'))
    out += att_list(packet) if 'element' in packet.entry else att_body(packet, is_borrowed)
    return MARK.format(packet.file) + '\n'.join(out + ['}']) + '\n'


def properties(fields, is_borrowed, pad):
    """Properties and initializer."""
    kept = 'let' if any(f.swift == 'RawSpan' for f in fields) else 'var'
    out = [l.replace('public var', f'public {kept}') for f in fields for l in declaration(f, len(pad))]
    borrowed = next((f.property for f in fields if f.type in BORROWED), None)
    lifetime = f' @_lifetime(copy {borrowed})' if is_borrowed else ''
    return [*out, *([''] if out else []), f'{pad}@inlinable{lifetime}', *initializer(fields, len(pad))]


def att_shape(packet):
    """The protocol of a PDU; some have the codec of all PDUs with the same fields."""
    return {(): 'ATTPlainPDU', ('handle', 'value'): 'ATTHandleAndValue'}.get(
        tuple(f.property for f in packet.fields) if 'element' not in packet.entry else None, 'ATTProtocolDataUnit')


def att_body(packet, is_borrowed):
    fields = packet.fields
    if att_shape(packet) != 'ATTProtocolDataUnit':
        return properties(fields, is_borrowed, '    ')[:-1]
    ends = any(f.type in (*BORROWED, 'AttributeType') for f in fields)
    reads = [l for f in fields for l in reading(f, 8)] + ([] if ends else ['        try reader.expectEnd()'])
    return [*properties(fields, is_borrowed, '    '), *comment(f'- Throws: `DecodingError` {failures(packet)}', 4),
            '    @inlinable' + (' @_lifetime(copy pdu)' if is_borrowed else ''),
            '    public init(_ pdu: RawSpan) throws(DecodingError) {',
            '        var reader = try parameters(of: pdu, Self.opcode)', *reads, '    }', '',
            '    public func encode(into packet: inout PacketWriter) {', '        packet.write(Self.opcode.rawValue)',
            *(l for f in fields for l in writing(f, 8)), '    }']


def failures(packet):
    """When a PDU is refused."""
    fields, octets = packet.fields, 1
    for field in packet.fields:
        octets += sum(int(re.search(r'\d+', notation.partition('=')[0])[0]) for _, notation in field.shown() if notation != '*')
    text = 'the opcode is another one' + {
        'RawSpan': f' or the PDU is shorter than {octets} octets.' if octets > 1 else '; the value may be empty.',
        'ATTHandleList': ', and for fewer than two handles or an incomplete one.',
        'AttributeType': f' or the PDU has neither {octets + 2} nor {octets + 16} octets.',
        'Flags': f', the PDU has not exactly {octets} octets, or the flags are undefined.',
        'UInt64': f' or the PDU is shorter than {octets} octets.',
    }.get(fields[-1].type, f' or the PDU has not exactly {octets} octets.')
    check = any(f.type == 'AttributeHandleRange' for f in fields)
    return f'when {text}' + (' Check the range with `AttributeHandleRange.isValid`.' if check else '')


def att_list(packet):
    """A response with elements of one length behind an octet with this length."""
    key, value = packet.fields
    octets, handles = (4, 'AttributeHandleRange(AttributeHandle(at: 0, of: bytes), AttributeHandle(at: 2, of: bytes))') if (
        key.type == 'AttributeHandleRange') else (2, 'AttributeHandle(at: 0, of: bytes)')
    return [*comment(packet.entry['element'], 4), '    public struct Element: ~Escapable {',
            *properties(packet.fields, True, '        ')[:-1], '    }', f"""
    @usableFromInline var list: ATTElementList

    /// - Throws: `DecodingError` for a length below {octets}, an empty list and an incomplete last element (pain 16).
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {{
        var reader = try parameters(of: pdu, Self.opcode)
        let length = try reader.read(UInt8.self)
        guard length >= {octets} else {{ throw .invalidValue(UInt64(length), field: .elementLength) }}
        list = try ATTElementList(reader.readRest(), elementLength: Int(length))
    }}

    /// The length of each value in octets, without the handles.
    @inlinable public var valueLength: Int {{ list.elementLength - {octets} }}
    /// The number of elements that have not been read.
    @inlinable public var count: Int {{ list.count }}

    /// Reads the next element; `nil` after the last.
    @inlinable @_lifetime(copy self)
    public mutating func next() -> Element? {{
        guard let bytes = list.next() else {{ return nil }}
        let {key.property} = {handles}
        return Element({key.property}: {key.property}, value: bytes.extracting(droppingFirst: {octets}))
    }}

    /// Writes the elements that have not been read.
    public func encode(into packet: inout PacketWriter) {{
        Self.encodeHeader(valueLength: valueLength, into: &packet)
        packet.write(bytes: list.bytes)
    }}

    /// Begins a response; its elements follow with `encode(_:into:)`.
    /// - Parameter valueLength: octets of each value, at most {255 - octets}.
    public static func encodeHeader(valueLength: Int, into packet: inout PacketWriter) {{
        packet.write(opcode.rawValue)
        packet.write(UInt8(truncatingIfNeeded: valueLength &+ {octets}))
    }}

    /// Adds an element; its value must be of the length that the header names.
    public static func encode(_ element: Element, into packet: inout PacketWriter) {{""",
            *(l.replace(f.property, f'element.{f.property}', 1) for f in packet.fields for l in writing(f, 8)), '    }']


# ---- All of them

def numbers(packets, type):
    """The constants of the opcodes or codes."""
    out = []
    for p in packets:
        text = (f'{p.name}, {re.match("[^,.;:]*", p.entry["sent"])[0]} ({PARTS[p.kind].split(", ")[1]}, {p.entry["section"]}).'
                if p.has_type else f'{p.name}, on BR/EDR only.')
        out += [*comment(text, 4), f'    public static let {p.constant} = {type}(rawValue: 0x{p.number:02X})']
    return MARK.format(packets[0].file) + '\n'.join([f'extension {type} {{', *out, '}']) + '\n'


def cases(packets):
    return [l for p in packets for l in [*comment(f'{said(p)}.', 4), f'    case {p.constant}({p.type})']]


def each(packets, form):
    """A line for each packet; where it is too long, in two."""
    lines = [form.format(p=p) for p in packets]
    return [part for l in lines for part in ([l] if len(l) <= WIDTH else [l[:l.index(': ') + 1], ' ' * 12 + l[l.index(': ') + 2:]])]


def att_packet(packets):
    return MARK.format('att.toml') + '\n'.join([
        '/// Any PDU of the Attribute Protocol (Core 5.4, Vol 3, Part F, 3.4).', '///',
        '/// Values and lists are borrowed from the packet.', 'public enum ATTPacket: ~Escapable {', *cases(packets),
        """    /// An undefined opcode, and the octets after it.
    case unknown(ATTOpcode, RawSpan)

    /// - Throws: `DecodingError` when there is no opcode, or when the PDU is not of the form that its opcode demands.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        guard let octet = pdu.byte(at: 0) else { throw .truncated(needed: 1, remaining: 0) }
        switch ATTOpcode(rawValue: octet) {""",
        *each(packets, '        case .{p.constant}: self = .{p.constant}(try {p.type}(pdu))'),
        """        default: self = .unknown(ATTOpcode(rawValue: octet), pdu.extracting(droppingFirst: 1))
        }
    }

    /// Writes the whole PDU, opcode first.
    public func encode(into packet: inout PacketWriter) {
        switch self {""", *each(packets, '        case .{p.constant}(let pdu): pdu.encode(into: &packet)'),
        """        case .unknown(let opcode, let rest):
            packet.write(opcode.rawValue)
            packet.write(bytes: rest)
        }
    }
}"""]) + '\n'


def signalling_command(packets):
    return MARK.format('signalling.toml') + '\n'.join([
        *comment(['A command on the signalling channel of an LE link (Core 5.4, Vol 3, Part A, 4).',
                  'Codes that LE links do not use and undefined codes become `other`, with unchanged octets; a host answers '
                  'them with Command Reject unless they are responses.']),
        'public enum LESignallingCommand: Equatable, Sendable {', *cases(packets),
        """    /// A packet that LE links do not use, or that has no meaning.
    case other(code: L2CAPSignallingCode, data: [UInt8])

    /// Decodes the command in a packet, without its identifier.
    /// - Throws: `DecodingError` when the length of the data is wrong, or a field has an undefined value. Answer a
    ///   malformed request with Command Reject and the packet's identifier.
    public init(decoding packet: borrowing L2CAPSignallingPacket) throws(DecodingError) {
        let data = packet.data
        switch packet.code {""",
        *each(packets, '        case .{p.constant}: self = .{p.constant}(try .init(decodingWhole: data))'),
        """        default: self = .other(code: packet.code, data: data.copied())
        }
    }

    /// The code in the header.
    public var code: L2CAPSignallingCode {
        switch self {""", *each(packets, '        case .{p.constant}: .{p.constant}'),
        """        case .other(let code, _): code
        }
    }

    /// Writes header and data, without the basic frame around them.
    ///
    /// - Parameter identifier: 0x01 to 0xFF; a response repeats that of its request.
    public func encodePacket(identifier: UInt8, into packet: inout PacketWriter) {
        switch self {""",
        *each(packets, '        case .{p.constant}(let command): command.encodePacket(identifier: identifier, into: &packet)'),
        """        case .other(let code, let data):
            let length = UInt16(truncatingIfNeeded: data.count)
            L2CAPSignallingPacket.Header(code: code, identifier: identifier, dataLength: length).encode(into: &packet)
            packet.write(bytes: data)
        }
    }

    /// Writes the basic frame of the LE signalling channel with header and data in it.
    ///
    /// - Parameter identifier: 0x01 to 0xFF; a response repeats that of its request.
    public func encodeFrame(identifier: UInt8, into packet: inout PacketWriter) {
        L2CAPBasicFrame.encode(on: .leSignalling, into: &packet) { encodePacket(identifier: identifier, into: &$0) }
    }
}"""]) + '\n'


def smp_packet(packets):
    """All PDUs of SMP: the cases carry the parameters."""
    def payload(p):
        labels = len(p.fields) > 1
        return ', '.join(f'{f.property}: {f.swift}' if labels else f.swift for f in p.fields)

    def decoding(p):
        if len(p.fields) == 1:
            return each([p], f'        case .{p.constant}: self = .{p.constant}({reading(p.fields[0], 0)[0].partition(" = ")[2]})')
        return [f'        case .{p.constant}:',
                *(f'            let {f.property}: {f.swift} = {reading(f, 0)[0].partition(" = ")[2]}' for f in p.fields),
                f'            self = .{p.constant}({", ".join(f"{f.property}: {f.property}" for f in p.fields)})']

    def encoding(p):
        names = ', '.join(f'let {f.property}' for f in p.fields)
        writes = [writing(f, 0)[0] for f in p.fields]
        if len(writes) == 1:
            return [f'        case .{p.constant}({names}): {writes[0]}']
        return [f'        case .{p.constant}({names}):', *(f'            {w}' for w in writes)]

    return MARK.format('smp.toml') + '\n'.join([
        '/// A PDU of the Security Manager Protocol (Core 5.4, Vol 3, Part H, 3.5 and 3.6).', '///',
        '/// Its description names the PDU and shows no key, so that it can be logged.',
        'public enum SMPPacket: Hashable, Sendable {',
        *(l for p in packets for l in [*comment(f'{said(p)}.', 4), f'    case {p.constant}({payload(p)})']),
        """
    /// - Throws: `DecodingError.invalidValue` with the field `opcode` for a reserved code; other errors mean that a
    ///   known PDU has a wrong length or content.
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = PacketReader(pdu)
        let opcode = SMPOpcode(rawValue: try reader.read())
        switch opcode {""", *(l for p in packets for l in decoding(p)),
        """        default: throw .invalidValue(UInt64(opcode.rawValue), field: .opcode)
        }
        try reader.expectEnd()
    }

    public var opcode: SMPOpcode {
        switch self {""", *each(packets, '        case .{p.constant}: .{p.constant}'), """        }
    }

    /// Writes the whole PDU, opcode first.
    public func encode(into packet: inout PacketWriter) {
        packet.write(opcode.rawValue)
        switch self {""", *(l for p in packets for l in encoding(p)), """        }
    }
}

extension SMPOpcode: CustomStringConvertible {
    public var description: String {
        switch self {""", *each(packets, '        case .{p.constant}: "{p.name}"'), """        default: "opcode \\(rawValue)"
        }
    }
}"""]) + '\n'


def files(tables):
    """The generated files: path in BLEPackets, and text."""
    att = tables.of('att')
    codes = tables.of('signalling')
    commands = [p for p in codes if p.has_type]
    smp = tables.of('smp')
    out = {'ATT/ATTOpcode+PDUs.swift': numbers(att, 'ATTOpcode'), 'ATT/ATTPacket.swift': att_packet(att),
           'SMP/SMPOpcode+PDUs.swift': numbers(smp, 'SMPOpcode'), 'SMP/SMPPacket.swift': smp_packet(smp),
           'L2CAP/Signalling/L2CAPSignallingCode+Commands.swift': numbers(codes, 'L2CAPSignallingCode'),
           'L2CAP/Signalling/LESignallingCommand.swift': signalling_command(commands)}
    out |= {f'ATT/{p.type}.swift': att_type(p) for p in att if p.is_generated}
    out |= {f'L2CAP/Signalling/{p.type}.swift': signalling_type(p) for p in commands if p.is_generated}
    return out
