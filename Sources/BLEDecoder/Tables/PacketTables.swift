/// What the fields of packets are called and how they are read, made once from lines of text.
///
/// A line is `number name|fields|fields of the answer`. Fields stand between semicolons, each `Name:type`:
///
///     u1 u2 u3 u4    an unsigned number of so many octets; `=table` names its values
///     x1 … x4        the same, shown in hexadecimal
///     i1 i2          a signed number        d1      decibel-milliwatts
///     m625 w625      a time of two (m) or three (w) octets in units of so many microseconds
///     st op ch       error code, opcode, connection handle
///     a              device address         h16     octets        s16    octets that are secret
///     n248           text, ended by zero    A240    advertising data in so many octets
///     v V            octets, advertising data, behind an octet with their count
///     F31            the same, in so many octets whatever the count
///     b1 b2          bits: shown in hexadecimal, and each bit that is set by its name in `=table`
///     B8             bits in so many octets: shown by their count and names
///     C              the rest as channel identifiers
///     O              the rest as options of an L2CAP channel: type, length, and fields by the type
///     * S            the rest; the secret rest
///     [Name~…]       a count of one octet, then so many groups of fields
///     {Name~…}       a group for each bit that is set in the number before
struct PacketTables {
    struct Field {
        enum Kind: UInt8 {
            case number, hexadecimal, signed, power, time, status, opcode, handle, address, bytes, secret, text
            case advertisingData, countedBytes, countedData, countedFixedData, rest, secretRest, group, bitGroup
            case mask, octetMask, channels, options
        }

        var kind: Kind
        /// Octets of the field.
        var width: Int
        /// A table of names, microseconds of a unit, or the place behind the group.
        var argument: Int
        /// `Name: `
        var text: Name
        /// `"name":`
        var key: Name
        /// `"nameName":`, for masks `"nameNames":`
        var nameKey: Name
    }

    struct Layout {
        var name: Name
        var fields: Range<Int>
        var answer: Range<Int>
        /// The fewest octets that the fields take; negative when they can be fewer or more than it.
        var byteCount: Int
        var isFixed: Bool
        var answerByteCount: Int
        var answerIsFixed: Bool
    }

    struct Value {
        var number: UInt64
        var name: Name
    }

    private(set) var fields: [Field] = []
    private(set) var layouts: [Layout] = []
    private(set) var enumerations: [[Value]] = []
    /// Places in `layouts` by number; -1 where there is none.
    private(set) var commands = [Int16](repeating: -1, count: 1 << 16)
    private(set) var events = [Int16](repeating: -1, count: 256)
    private(set) var subevents = [Int16](repeating: -1, count: 256)
    private(set) var attOpcodes = [Int16](repeating: -1, count: 256)
    private(set) var smpCodes = [Int16](repeating: -1, count: 256)
    private(set) var signallingCodes = [Int16](repeating: -1, count: 256)
    /// By the type of an option of a channel, without its top bit.
    private(set) var channelOptions = [Int16](repeating: -1, count: 256)
    private(set) var status = 0
    private(set) var attError = 0
    private(set) var psm = 0
    private(set) var extendedFeatures = 0
    private(set) var fixedChannels = 0
    private var enumerationNames: [[UInt8]] = []
    private var arena = NameArena()

    init() {
        for text in [EnumerationLines.text, MaskLines.text, ErrorCodeLines.text] {
            for line in Self.lines(of: text) { readEnumeration(line) }
        }
        status = enumeration(Array("status".utf8)) ?? 0
        attError = enumeration(Array("atterror".utf8)) ?? 0
        psm = enumeration(Array("psm".utf8)) ?? 0
        extendedFeatures = enumeration(Array("l2features".utf8)) ?? 0
        fixedChannels = enumeration(Array("l2channels".utf8)) ?? 0
        fields.reserveCapacity(2500)
        layouts.reserveCapacity(600)
        for line in Self.lines(of: HCICommandLines.text) { readLayout(line, digits: 4, into: \.commands) }
        for line in Self.lines(of: HCIEventLines.text) { readLayout(line, digits: 2, into: \.events) }
        for line in Self.lines(of: LEMetaEventLines.text) { readLayout(line, digits: 2, into: \.subevents) }
        for line in Self.lines(of: ProtocolLines.att) { readLayout(line, digits: 2, into: \.attOpcodes) }
        for line in Self.lines(of: ProtocolLines.smp) { readLayout(line, digits: 2, into: \.smpCodes) }
        for line in Self.lines(of: ProtocolLines.signalling) { readLayout(line, digits: 2, into: \.signallingCodes) }
        for line in Self.lines(of: ProtocolLines.channelOptions) { readLayout(line, digits: 2, into: \.channelOptions) }
    }

    /// The name of a value; `nil` where the table has none.
    @inline(__always)
    func name(of number: UInt64, in table: Int) -> Name? {
        for index in enumerations[table].indices where enumerations[table][index].number == number {
            return enumerations[table][index].name
        }
        return nil
    }

    /// Names that are not in a table of values: companies, and bits that stand for something with a number.
    enum Special {
        static let company = -2
        /// Bit 0 stands for event 0x01; for event 0x40; for subevent 0x01 of LE Meta.
        static let events1 = -3
        static let events64 = -4
        static let subevents1 = -5
        /// Bits are their numbers.
        static let numbers = -6
    }

    /// The name of a bit in a mask; `nil` where it has none.
    func name(ofBit bit: Int, in table: Int) -> Name? {
        let place: Int16
        switch table {
        case Special.events1: place = bit < 255 ? events[bit + 1] : -1
        case Special.events64: place = bit < 192 ? events[bit + 64] : -1
        case Special.subevents1: place = bit < 255 ? subevents[bit + 1] : -1
        case 0...: return name(of: UInt64(bit), in: table)
        default: return nil
        }
        return place >= 0 ? layouts[Int(place)].name : nil
    }

    // MARK: Reading the lines

    private static func special(_ name: ArraySlice<UInt8>) -> Int? {
        for (text, value) in [
            ("company", Special.company), ("@events1", Special.events1), ("@events64", Special.events64),
            ("@subevents1", Special.subevents1), ("@numbers", Special.numbers),
        ] where name.elementsEqual(text.utf8) {
            return value
        }
        return nil
    }

    private static func lines(of text: StaticString) -> [ArraySlice<UInt8>] {
        let bytes = unsafe Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        return bytes.split(separator: 0x0A)
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> Int {
        digits.reduce(0) { $0 << 4 | Int($1 < 0x3A ? $1 & 15 : ($1 & 15) + 9) }
    }

    private static func decimal(_ digits: ArraySlice<UInt8>) -> Int { digits.reduce(0) { $0 * 10 + Int($1 & 15) } }

    private mutating func readEnumeration(_ line: ArraySlice<UInt8>) {
        let parts = line.split(separator: UInt8(ascii: "|"))
        enumerationNames.append(Array(parts[0]))
        enumerations.append(
            parts.dropFirst().map { part in
                let space = part.firstIndex(of: 0x20) ?? part.endIndex
                return Value(
                    number: UInt64(Self.hexadecimal(part[..<space])),
                    name: arena.name(Array(part[space...].dropFirst())))
            })
    }

    private func enumeration(_ name: [UInt8]) -> Int? { enumerationNames.firstIndex(of: name) }

    private mutating func readLayout(
        _ line: ArraySlice<UInt8>, digits: Int, into table: WritableKeyPath<Self, [Int16]>
    ) {
        let number = Self.hexadecimal(line.prefix(digits))
        let parts = line.dropFirst(digits).split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        let name = arena.name(Array(parts[0]))
        let own = readFields(parts.count > 1 ? parts[1] : [UInt8(ascii: "*")][...])
        let answer = readFields(parts.count > 2 ? parts[2] : [][...])
        self[keyPath: table][number] = Int16(layouts.count)
        let (count, isFixed) = byteCount(of: own)
        let (answerCount, answerIsFixed) = byteCount(of: answer)
        layouts.append(
            Layout(
                name: name, fields: own, answer: answer, byteCount: count, isFixed: isFixed,
                answerByteCount: answerCount, answerIsFixed: answerIsFixed))
    }

    private mutating func readFields(_ text: ArraySlice<UInt8>) -> Range<Int> {
        let start = fields.count
        var rest = text
        var open: [Int] = []
        while let first = rest.first {
            switch first {
            case UInt8(ascii: ";"): rest = rest.dropFirst()
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                rest = rest.dropFirst()
                if let group = open.popLast() { fields[group].argument = fields.count }
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                let end = rest.firstIndex(of: UInt8(ascii: "~")) ?? rest.endIndex
                open.append(fields.count)
                appendField(
                    first == UInt8(ascii: "[") ? .group : .bitGroup, name: Array(rest[..<end].dropFirst()), width: 0,
                    argument: 0)
                rest = rest[end...].dropFirst()
            case UInt8(ascii: "*"):
                rest = rest.dropFirst()
                appendField(.rest, name: Array("Parameters".utf8), width: 0, argument: 0)
            default:
                let end = rest.firstIndex { [0x3B, 0x5D, 0x7D].contains($0) } ?? rest.endIndex  // ; ] }
                let colon = rest[..<end].lastIndex(of: UInt8(ascii: ":")) ?? rest.startIndex
                readField(name: Array(rest[..<colon]), type: rest[colon..<end].dropFirst())
                rest = rest[end...]
            }
        }
        return start..<fields.count
    }

    private mutating func readField(name: [UInt8], type: ArraySlice<UInt8>) {
        let equals = type.firstIndex(of: UInt8(ascii: "="))
        let digits = type[..<(equals ?? type.endIndex)].dropFirst()
        let number = Self.decimal(digits)
        let table = equals.flatMap { enumeration(Array(type[$0...].dropFirst())) } ?? -1
        let argument = equals.flatMap { Self.special(type[$0...].dropFirst()) } ?? table
        switch type.first {
        case UInt8(ascii: "u"): appendField(.number, name: name, width: number, argument: argument)
        case UInt8(ascii: "x"): appendField(.hexadecimal, name: name, width: number, argument: argument)
        case UInt8(ascii: "i"): appendField(.signed, name: name, width: number, argument: 0)
        case UInt8(ascii: "d"): appendField(.power, name: name, width: 1, argument: 0)
        case UInt8(ascii: "m"): appendField(.time, name: name, width: 2, argument: number)
        case UInt8(ascii: "w"): appendField(.time, name: name, width: 3, argument: number)
        case UInt8(ascii: "a"): appendField(.address, name: name, width: 6, argument: 0)
        case UInt8(ascii: "h"): appendField(.bytes, name: name, width: number, argument: 0)
        case UInt8(ascii: "n"): appendField(.text, name: name, width: number, argument: 0)
        case UInt8(ascii: "A"): appendField(.advertisingData, name: name, width: number, argument: 0)
        case UInt8(ascii: "v"): appendField(.countedBytes, name: name, width: 0, argument: 0)
        case UInt8(ascii: "V"): appendField(.countedData, name: name, width: 0, argument: 0)
        case UInt8(ascii: "F"): appendField(.countedFixedData, name: name, width: number, argument: 0)
        case UInt8(ascii: "b"): appendField(.mask, name: name, width: number, argument: argument)
        case UInt8(ascii: "B"): appendField(.octetMask, name: name, width: number, argument: argument)
        case UInt8(ascii: "C"): appendField(.channels, name: name, width: 0, argument: 0)
        case UInt8(ascii: "O"): appendField(.options, name: name, width: 0, argument: 0)
        case UInt8(ascii: "S"): appendField(.secretRest, name: name, width: 0, argument: 0)
        case UInt8(ascii: "s"):
            let isStatus = digits.first == UInt8(ascii: "t")
            appendField(isStatus ? .status : .secret, name: name, width: isStatus ? 1 : number, argument: 0)
        case UInt8(ascii: "o"): appendField(.opcode, name: name, width: 2, argument: 0)
        case UInt8(ascii: "c"): appendField(.handle, name: name, width: 2, argument: 0)
        default: appendField(.rest, name: name, width: 0, argument: 0)
        }
    }

    private mutating func appendField(_ kind: Field.Kind, name: [UInt8], width: Int, argument: Int) {
        let key = Self.camelCase(name)
        fields.append(
            Field(
                kind: kind, width: width, argument: argument, text: arena.name(name + Array(": ".utf8)),
                key: arena.name(Array("\"".utf8) + key + Array("\":".utf8)),
                nameKey: arena.name(
                    Array("\"".utf8) + key + Array((kind == .mask || kind == .octetMask ? "Names\":" : "Name\":").utf8))
            ))
    }

    /// `BD_ADDR` gives `bdADDR`, `TX Power` gives `txPower`, `Advertising SID` gives `advertisingSID`.
    private static func camelCase(_ name: [UInt8]) -> [UInt8] {
        let words = name.split { !isLetterOrDigit($0) }
        guard let first = words.first else { return [] }
        return first.map(lowered) + words.dropFirst().flatMap { [raised($0.first ?? 0)] + $0.dropFirst() }
    }

    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet) || (0x61...0x7A).contains(octet)
    }

    private static func lowered(_ octet: UInt8) -> UInt8 { (0x41...0x5A).contains(octet) ? octet | 0x20 : octet }
    private static func raised(_ octet: UInt8) -> UInt8 { (0x61...0x7A).contains(octet) ? octet & 0xDF : octet }

    private func byteCount(of range: Range<Int>) -> (Int, isFixed: Bool) {
        var count = 0
        var isFixed = true
        var index = range.lowerBound
        while index < range.upperBound {
            let field = fields[index]
            switch field.kind {
            case .group, .countedBytes, .countedData:
                count += 1
                isFixed = false
            case .countedFixedData: count += 1 + field.width
            case .bitGroup, .rest, .secretRest, .channels, .options: isFixed = false
            default: count += field.width
            }
            index = field.kind == .group || field.kind == .bitGroup ? field.argument : index + 1
        }
        return (count, isFixed)
    }
}

// The names lie in memory that nobody writes after the tables were read.
extension PacketTables: @unchecked Sendable {}

extension PacketTables {
    static let shared = PacketTables()
}
