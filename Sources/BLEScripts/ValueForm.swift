import BLESensors

/// The form in which a value is read or written; integers are little-endian, as in the specifications.
package enum ValueForm: String, CaseIterable, Sendable {
    case text, uint8, uint16, uint32, int8, int16, int32

    private var width: Int {
        switch self {
        case .text: 0
        case .uint8, .int8: 1
        case .uint16, .int16: 2
        case .uint32, .int32: 4
        }
    }

    private var isSigned: Bool { [.int8, .int16, .int32].contains(self) }

    /// The values of octets in this form; `nil` if their number does not fit.
    package func fields(of octets: [UInt8]) -> [SensorField]? {
        guard self != .text else { return [SensorField(rawValue, .text(String(decoding: octets, as: UTF8.self)))] }
        guard !octets.isEmpty, octets.count.isMultiple(of: width) else { return nil }
        let numbers = stride(from: 0, to: octets.count, by: width).map { start in
            var bits: Int64 = 0
            for octet in octets[start..<start + width].reversed() { bits = bits << 8 | Int64(octet) }
            let isNegative = isSigned && bits >> Int64(8 * width - 1) == 1
            return DecimalNumber(isNegative ? bits - (1 << Int64(8 * width)) : bits)
        }
        return [SensorField(rawValue, numbers.count == 1 ? .number(numbers[0]) : .numbers(numbers))]
    }

    /// The octets of a text, or of numbers separated by commas or spaces, decimal or with `0x`.
    /// - Returns: `nil` for an invalid number, or one that is too large for the form.
    package func octets(of text: String) -> [UInt8]? {
        guard self != .text else { return Array(text.utf8) }
        var octets: [UInt8] = []
        let words = text.split { $0 == "," || $0 == " " }
        guard !words.isEmpty else { return nil }
        for word in words {
            let isNegative = word.hasPrefix("-")
            guard let magnitude = Hexadecimal.integer(String(isNegative ? word.dropFirst() : word), as: UInt32.self)
            else {
                return nil
            }
            let number = isNegative ? -Int64(magnitude) : Int64(magnitude)
            let limit: Int64 = 1 << Int64(isSigned ? 8 * width - 1 : 8 * width)
            guard number < limit, number >= (isSigned ? -limit : 0) else { return nil }
            for index in 0..<width { octets.append(UInt8(truncatingIfNeeded: number >> Int64(8 * index))) }
        }
        return octets
    }
}
