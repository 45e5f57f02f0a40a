import BLEAssignedNumbers
import BLEPackets

/// One field of a characteristic: where its octets end, and what they mean.
struct CharacteristicField: Sendable {
    /// How the octets are to be read.
    enum Kind: Equatable, Sendable {
        /// An integer of so many octets; `isList`: as many as there are octets.
        case integer(Int, isSigned: Bool, isList: Bool)
        /// An integer whose bits the next fields tell.
        case word(Int)
        /// Bits of the last word.
        case bits(Int, Int)
        /// IEEE 11073 in 2 or 4 octets, IEEE 754 in 4.
        case medicalFloat(Int)
        case float
        /// UTF-8: to the end, of so many octets, to a zero.
        case text
        case fixedText(Int)
        case endedText
        /// 7 octets of date and time; 3 of days since 1970; one that is the power of 1.1 in seconds.
        case dateTime, days, exponentialTime
        case uuid, appearance, octets
    }

    /// When the field is there.
    struct Condition: Sendable {
        /// Bits of the first word, and the values that they must have.
        var bits: [(first: Int, last: Int, value: UInt64)] = []
        /// Whenever octets are left.
        var isOptional = false

        func holds(flags: UInt64, octetsLeft: Int) -> Bool {
            if isOptional && octetsLeft == 0 { return false }
            return bits.allSatisfy { flags >> UInt64($0.first) & (1 << UInt64($0.last - $0.first + 1) - 1) == $0.value }
        }
    }

    var name: String
    var kind: Kind
    var unit = ""
    var factor: Int64 = 1
    var decimalExponent = 0
    var binaryExponent = 0
    var condition = Condition()
    /// What some integers mean, by the bits that they have.
    var choices: [(key: UInt64, text: Substring)] = []

    /// - Parameter columns: name, type, unit, scale, condition and choices, parted by `~`; empty ones at the end are missing.
    init?(columns: Substring) {
        let columns = columns.split(separator: "~", omittingEmptySubsequences: false)
        guard columns.count >= 2, columns.count <= 6, let kind = Kind(columns[1]) else { return nil }
        name = String(columns[0])
        self.kind = kind
        if columns.count > 2 { unit = String(columns[2]) }
        if columns.count > 3, !columns[3].isEmpty {
            guard let mark = columns[3].firstIndex(where: { $0 == "e" || $0 == "b" }),
                let exponent = Int(columns[3][columns[3].index(after: mark)...])
            else { return nil }
            if columns[3][mark] == "e" { decimalExponent = exponent } else { binaryExponent = exponent }
            if mark > columns[3].startIndex {
                guard let number = Int64(columns[3][..<mark]) else { return nil }
                factor = number
            }
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

    func with(_ value: SensorValue) -> SensorField { SensorField(name, value, unit: unit) }

    /// What an integer means; the octets of a signed one are widened before.
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
        let product = number.multipliedReportingOverflow(by: factor).partialValue
        return binaryExponent == 0
            ? DecimalNumber(product, exponent: decimalExponent) : DecimalNumber(product, binaryExponent: binaryExponent)
    }

    /// Takes the field's octets; not of a word or its bits.
    func read(_ reader: inout PacketReader) throws(DecodingError) -> SensorValue {
        switch kind {
        case .integer(let width, let isSigned, let isList):
            guard isList else {
                let bits = try reader.readInteger(width)
                return value(of: bits, number: isSigned ? bits.signed(octets: width) : nil)
            }
            var numbers: [DecimalNumber] = []
            while reader.remainingCount >= width {
                let bits = try reader.readInteger(width)
                numbers.append(scaled(isSigned ? bits.signed(octets: width) : Int64(clamping: bits)))
            }
            return .numbers(numbers)
        case .medicalFloat(let width): return try .medicalFloat(reader.readInteger(width), octets: width)
        case .float:
            let value = Double(Float(bitPattern: try reader.read(UInt32.self)))
            guard !value.isNaN else { return .unknown }
            return DecimalNumber(rounding: value, places: value.magnitude < 1000 ? 6 : 3).map { .number($0) }
                ?? .invalid
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

    /// Devices like to fill their texts with zeros.
    private static func string(_ octets: [UInt8]) -> String {
        let end = octets.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        return String(decoding: octets[..<end], as: UTF8.self)
    }
}

extension CharacteristicField.Kind {
    init?(_ text: Substring) {
        switch text {
        case "f16": self = .medicalFloat(2)
        case "f32": self = .medicalFloat(4)
        case "r32": self = .float
        case "s": self = .text
        case "z": self = .endedText
        case "date": self = .dateTime
        case "days": self = .days
        case "duration8": self = .exponentialTime
        case "uuid": self = .uuid
        case "appearance": self = .appearance
        case "x": self = .octets
        default:
            let isList = text.hasSuffix("*")
            let rest = text.dropFirst().prefix { $0 != "*" }
            if text.first == "." {
                let ends = rest.split(separator: "-").compactMap { Int($0) }
                guard let first = ends.first, let last = ends.last, first <= last, last < 48 else { return nil }
                self = .bits(first, last)
                return
            }
            guard let number = Int(rest) else { return nil }
            switch text.first {
            case "s": self = .fixedText(number)
            case "u" where number <= 48: self = .integer(number / 8, isSigned: false, isList: isList)
            case "i" where number <= 48: self = .integer(number / 8, isSigned: true, isList: isList)
            case "w" where number <= 48: self = .word(number / 8)
            default: return nil
            }
        }
    }
}

extension CharacteristicField.Condition {
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
