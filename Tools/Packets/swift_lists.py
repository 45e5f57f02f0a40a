"""What is written of all packets together: codes of events, `HCIEventPacket`, the simulated controller's commands, the bits of
Read Local Supported Commands."""
from swift import MARK, WIDTH, call, comment
from table import case_name


def event_codes(events, subevents):
    def constants(packets, type):
        out = []
        for p in packets:
            if 'means' in p.entry:
                out += [*comment(p.entry['means'], 4),
                        f'    public static let {p.constant} = {type}(rawValue: 0x{p.number:02X})']
        return out

    def codes(type, doc, packets):
        return [doc, f'public struct {type}: RawRepresentable, Hashable, Sendable {{', '    public let rawValue: UInt8',
                '    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }', '', *constants(packets, type), '}']

    return MARK.format('events.toml and le-events.toml') + '\n'.join([
        *codes('HCIEventCode', '/// The code of an event (Core 5.4, Vol 4, Part E, 7.7).', events), '',
        *codes('LESubeventCode', '/// The subevent of an LE Meta event (Core 5.4, Vol 4, Part E, 7.7.65).', subevents)]) + '\n'


def event_packet(events, subevents):
    """The enumeration of all events that have a type."""
    events, subevents = [[p for p in packets if p.has_type] for packets in (events, subevents)]
    both = events + subevents

    def decoding(p):
        short = f'        case .{p.constant}: self = .{p.case}(try {p.type}(decoding: &reader))'
        if len(short) <= WIDTH:
            return [short]
        head, value = f'        case .{p.constant}:', f'try {p.type}(decoding: &reader))'
        line = f'            self = .{p.case}('
        return [head, line + value] if len(line + value) <= WIDTH else [head, line, ' ' * 16 + value]

    out = comment(['An event with its decoded parameters (Core 5.4, '
                   'Vol 4, Part E, 7.7).',
                   'Events that an LE host has no use for, those of BR/EDR, of isochronous channels and of the makers, are '
                   'kept as bytes, so that nothing is lost. Where speed counts, `HCIEventPacketView` reads an event in '
                   'place.'])
    out.append('public enum HCIEventPacket: Equatable, Sendable {')
    for p in both:
        out += [*comment(p.entry['means'], 4), f'    case {p.case}({p.type})']
    out += ["""    /// Any other event: its code and its parameters.
    case other(HCIEventCode, [UInt8])
    /// Any other event of the LE Meta family: its subevent code and what follows.
    case otherLEMeta(LESubeventCode, [UInt8])

    /// Decodes the parameters of an event; octets after the last known one remain in the reader.
    /// - Throws: `DecodingError` when a known event is incomplete or has an undefined value.
    public init(code: HCIEventCode, decoding reader: inout PacketReader) throws(DecodingError) {
        switch code {""", *(l for p in events for l in decoding(p)),
            """        case .leMeta:
            let subevent = LESubeventCode(rawValue: try reader.read())
            try self.init(subevent: subevent, decoding: &reader)
        default: self = .other(code, reader.readRest().copied())
        }
    }

    private init(subevent: LESubeventCode, decoding reader: inout PacketReader) throws(DecodingError) {
        switch subevent {""", *(l for p in subevents for l in decoding(p)),
            """        default: self = .otherLEMeta(subevent, reader.readRest().copied())
        }
    }

    public var code: HCIEventCode {
        switch self {""", *(f'        case .{p.case}: .{p.constant}' for p in events),
            """        case .other(let code, _): code
        default: .leMeta
        }
    }

    /// `nil` for events outside the LE Meta family.
    public var subevent: LESubeventCode? {
        switch self {""", *(f'        case .{p.case}: .{p.constant}' for p in subevents),
            """        case .otherLEMeta(let subevent, _): subevent
        default: nil
        }
    }

    func encodeParameters(into packet: inout PacketWriter) {
        switch self {""", *(f'        case .{p.case}(let event): event.encode(into: &packet)' for p in both),
            """        case .other(_, let bytes), .otherLEMeta(_, let bytes): packet.write(bytes: bytes)
        }
    }
}"""]
    return MARK.format('events.toml and le-events.toml') + '\n'.join(out) + '\n'


def served_commands(commands):
    """The one list of what a simulated controller carries out."""
    def entry(p):
        kind = 'unanswered' if p.answer == 'none' else 'returns' if p.returns else 'status'
        arguments = [f'{kind}: Controller.{case_name(p.type)}']
        if p.entry['simulated'] != 'always':
            features = ['.' + f for f in p.entry['simulated'].split(' or ')]
            arguments.append(f'with: {features[0] if len(features) == 1 else "[" + ", ".join(features) + "]"}')
        if 'family' in p.entry:
            arguments.append(f'family: .{p.entry["family"]}')
        lines = call('ServedCommand(', arguments, '),', 8)
        return lines if len(lines) == 1 else [*lines[:-2], lines[-2] + '),']

    return MARK.format('*.toml') + '\n'.join([
        'import BLEPackets', '', 'extension ServedCommand {',
        '    private typealias Controller = SimulatedController', '',
        '    /// Every command that a simulated controller may carry out, by opcode.',
        '    static let list: [ServedCommand] = [', *(l for p in commands for l in entry(p)), '    ]', '}']) + '\n'


def supported_positions(commands):
    """Where Read Local Supported Commands has the bits of commands outside the LE group."""
    def case(p):
        octet, bit = p.entry['supported'].split('.')
        return f'        case {p.type}.opcode: {octet} * 8 + {bit}'

    return MARK.format('*.toml') + '\n'.join([
        'extension SupportedCommands {',
        '    /// The position of the bit of a command outside the LE group, counted from the first bit of the first octet.',
        '    static func positionOutsideLE(of opcode: HCIOpcode) -> Int? {', '        switch opcode {',
        *map(case, commands), '        default: nil', '        }', '    }', '}']) + '\n'


def command_types(commands):
    """The tests' list of all commands."""
    return MARK.format('*.toml') + '\n'.join([
        '@testable import BLEPackets', '', '/// Every command type, to find the one for an opcode.',
        'let commandTypes: [any HCICommand.Type] = [', *sorted(f'    {p.type}.self,' for p in commands), ']']) + '\n'
