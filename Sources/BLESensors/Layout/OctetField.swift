import BLEAssignedNumbers
import BLEPackets

/// One field of a layout: the length and the meaning of its octets.
struct OctetField: Sendable {
    /// The kind of a field.
    enum Kind: Equatable, Sendable {
        /// An integer with its length in octets; with `isList`, as many integers as there are octets.
        case integer(Int, isSigned: Bool, isBigEndian: Bool, isList: Bool)
        /// An integer whose bits are the next fields.
        case word(Int, isBigEndian: Bool)
        /// An octet that is zero or not.
        case boolean(isInverted: Bool)
        /// Bits of the last word.
        case bits(Int, Int)
        /// IEEE 11073 in 2 or 4 octets, IEEE 754 in 4.
        case medicalFloat(Int)
        case float
        /// UTF-8: to the end, of a fixed length, or up to a zero.
        case text
        case fixedText(Int)
        case endedText
        /// 7 octets of date and time; 4 of seconds and 3 of days since 1970; one that is the power of 1.1 in seconds.
        case dateTime, seconds, days, exponentialTime
        case uuid, appearance, octets
    }

    /// When the field is there.
    struct Condition: Sendable {
        /// Bits of the first word, and the values that they must have.
        var bits: [(first: Int, last: Int, value: UInt64)] = []
        /// Present only if octets are left.
        var isOptional = false

        func applies(flags: UInt64, octetsLeft: Int) -> Bool {
            if isOptional && octetsLeft == 0 { return false }
            return bits.allSatisfy { flags >> UInt64($0.first) & (1 << UInt64($0.last - $0.first + 1) - 1) == $0.value }
        }
    }

    var name: String
    var kind: Kind
    var unit = ""
    /// Added to the integer before scaling.
    var offset: Int64 = 0
    var factor: Int64 = 1
    var decimalExponent = 0
    var binaryExponent = 0
    var condition = Condition()
    /// The meanings of integers, by their bits.
    var choices: [(key: UInt64, text: Substring)] = []

    /// - Parameter columns: name, type, unit, scale, condition and choices, separated by `~`; empty ones at the end are
    ///   omitted.
    init?(columns: Substring) {
        let columns = columns.split(separator: "~", omittingEmptySubsequences: false)
        guard columns.count >= 2, columns.count <= 6, let kind = Kind(columns[1]) else { return nil }
        name = String(columns[0])
        self.kind = kind
        if columns.count > 2 { unit = String(columns[2]) }
        if columns.count > 3, !columns[3].isEmpty {
            guard readScale(columns[3]) else { return nil }
        }
        if columns.count > 4, !columns[4].isEmpty {
            guard let condition = Condition(columns[4]) else { return nil }
            self.condition = condition
        }
        guard columns.count > 5 else { return }
        for choice in columns[5].split(separator: ",") {
            let parts = choice.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let key = UInt64(parts[0], radix: 16) else { return nil }
            choices.append((key, parts[1]))
        }
    }

    /// Reads `MeD` or `MbB`, followed by `+N`.
    private mutating func readScale(_ text: Substring) -> Bool {
        let parts = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
            guard let number = Int64(parts[1]) else { return false }
            offset = number
        }
        guard let mark = parts[0].firstIndex(where: { $0 == "e" || $0 == "b" }),
            let exponent = Int(parts[0][parts[0].index(after: mark)...])
        else { return false }
        if parts[0][mark] == "e" { decimalExponent = exponent } else { binaryExponent = exponent }
        if mark > parts[0].startIndex {
            guard let number = Int64(parts[0][..<mark]) else { return false }
            factor = number
        }
        return true
    }

    func with(_ value: SensorValue) -> SensorField { SensorField(name, value, unit: unit) }

    /// The value of an integer; a signed one has been widened before.
    func value(of bits: UInt64, number: Int64? = nil) -> SensorValue {
        for choice in choices where choice.key == bits {
            switch choice.text {
            case "?": return .unknown
            case "!": return .invalid
            default: return .text(String(choice.text))
            }
        }
        return .number(scaled(number ?? Int64(clamping: bits)))
    }

    private func scaled(_ number: Int64) -> DecimalNumber {
        let product = (number &+ offset).multipliedReportingOverflow(by: factor).partialValue
        return binaryExponent == 0
            ? DecimalNumber(product, exponent: decimalExponent) : DecimalNumber(product, binaryExponent: binaryExponent)
    }

    /// Reads the field's octets; not for a word or its bits.
    func read(_ reader: inout PacketReader) throws(DecodingError) -> SensorValue {
        switch kind {
        case .integer(let width, let isSigned, let isBigEndian, let isList):
            guard isList else {
                let bits = try reader.readInteger(width, isBigEndian: isBigEndian)
                return value(of: bits, number: isSigned ? bits.signed(octets: width) : nil)
            }
            var numbers: [DecimalNumber] = []
            while reader.remainingCount >= width {
                let bits = try reader.readInteger(width, isBigEndian: isBigEndian)
                numbers.append(scaled(isSigned ? bits.signed(octets: width) : Int64(clamping: bits)))
            }
            return .numbers(numbers)
        case .boolean(let isInverted): return .boolean((try reader.read(UInt8.self) != 0) != isInverted)
        case .medicalFloat(let width): return try .medicalFloat(reader.readInteger(width), octets: width)
        case .float:
            let value = Double(Float(bitPattern: try reader.read(UInt32.self)))
            guard !value.isNaN else { return .unknown }
            let number = DecimalNumber(rounding: value, places: value.magnitude < 1000 ? 6 : 3)
            return number.map { .number($0) } ?? .invalid
        case .text: return .text(Self.string(reader.readRest().copied()))
        case .fixedText(let count): return .text(Self.string(try reader.readBytes(count).copied()))
        case .endedText:
            var octets: [UInt8] = []
            while true {
                let octet = try reader.read(UInt8.self)
                guard octet != 0 else { return .text(Self.string(octets)) }
                octets.append(octet)
            }
        case .dateTime: return try .dateTime(&reader)
        case .seconds:
            let seconds = Int(try reader.read(UInt32.self))
            let time = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            return .text("\(CivilDate(daysSince1970: seconds / 86_400))T\(time.joined(separator: ":"))Z")
        case .days:
            let days = try reader.readUInt24()
            return days == 0 ? .unknown : .text(CivilDate(daysSince1970: Int(days)).description)
        case .exponentialTime:
            let octet = try reader.read(UInt8.self)
            return choices.contains { $0.key == UInt64(octet) } ? value(of: UInt64(octet)) : .exponentialTime(octet)
        case .uuid:
            let width: BluetoothUUID.Width = reader.remainingCount == 2 ? .bits16 : .bits128
            return .text(try BluetoothUUID(decoding: &reader, width: width).description)
        case .appearance:
            let number = try reader.read(UInt16.self)
            return AssignedNumbers.appearance(number).map { .text($0.description) } ?? .number(DecimalNumber(number))
        case .octets: return .octets(reader.readRest().copied())
        case .word, .bits: return .unknown
        }
    }

    /// Devices often pad their texts with zeros.
    private static func string(_ octets: [UInt8]) -> String {
        let end = octets.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        return String(decoding: octets[..<end], as: UTF8.self)
    }
}

extension OctetField.Kind {
    /// The fixed length in octets, if any.
    var octetCount: Int? {
        switch self {
        case .integer(let width, isSigned: _, isBigEndian: _, isList: false), .word(let width, isBigEndian: _),
            .medicalFloat(let width), .fixedText(let width):
            width
        case .boolean, .exponentialTime: 1
        case .appearance: 2
        case .days: 3
        case .float, .seconds: 4
        case .dateTime: 7
        case .bits: 0
        case .integer, .text, .endedText, .uuid, .octets: nil
        }
    }

    init?(_ text: Substring) {
        switch text {
        case "f16": self = .medicalFloat(2)
        case "f32": self = .medicalFloat(4)
        case "r32": self = .float
        case "s": self = .text
        case "z": self = .endedText
        case "date": self = .dateTime
        case "days": self = .days
        case "time": self = .seconds
        case "duration8": self = .exponentialTime
        case "uuid": self = .uuid
        case "appearance": self = .appearance
        case "x": self = .octets
        case "b8": self = .boolean(isInverted: false)
        case "n8": self = .boolean(isInverted: true)
        default:
            let isList = text.hasSuffix("*")
            let rest = text.dropFirst().prefix { $0 != "*" }
            if text.first == "." {
                let ends = rest.split(separator: "-").compactMap { Int($0) }
                guard let first = ends.first, let last = ends.last, first <= last, last < 48 else { return nil }
                self = .bits(first, last)
                return
            }
            guard let number = Int(rest), number > 0 else { return nil }
            let letter = text.first?.lowercased()
            let isBigEndian = text.first?.isUppercase == true
            if letter == "s" {
                self = .fixedText(number)
                return
            }
            guard number <= 48, number.isMultiple(of: 8) else { return nil }
            switch letter {
            case "u", "i":
                self = .integer(number / 8, isSigned: letter == "i", isBigEndian: isBigEndian, isList: isList)
            case "w": self = .word(number / 8, isBigEndian: isBigEndian)
            default: return nil
            }
        }
    }
}

extension OctetField.Condition {
    init?(_ text: Substring) {
        if text == "*" {
            isOptional = true
            return
        }
        for part in text.split(separator: "&") {
            let sides = part.split(separator: "=")
            let ends = (sides.first ?? "").split(separator: "-").compactMap { Int($0) }
            guard sides.count == 2, let value = UInt64(sides[1]), let first = ends.first, let last = ends.last,
                first <= last, last < 48
            else { return nil }
            bits.append((first, last, value))
        }
    }
}
