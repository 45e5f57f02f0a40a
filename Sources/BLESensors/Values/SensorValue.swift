/// The value of a field.
public enum SensorValue: Hashable, Sendable {
    /// A measured or counted quantity; its unit is in `SensorField`.
    case number(DecimalNumber)
    /// Several quantities of one kind, oldest first.
    case numbers([DecimalNumber])
    /// A name, a time, or the meaning of a number. It may come from the device: show it as foreign text.
    case text(String)
    /// A yes or no.
    case boolean(Bool)
    /// Octets without a known meaning.
    case octets([UInt8])
    /// The device reports that the value is unknown.
    case unknown
    /// The device reports that the value is out of range, or its sensor is defective.
    case invalid
}

extension SensorValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .number(let number): number.description
        case .numbers(let numbers): numbers.map(\.description).joined(separator: ", ")
        case .text(let text): text
        case .boolean(let isSo): isSo ? "yes" : "no"
        case .octets(let octets): octets.isEmpty ? "none" : Self.hexadecimal(octets)
        case .unknown: "not known"
        case .invalid: "not valid"
        }
    }

    /// Lower-case digits, two an octet.
    static func hexadecimal(_ octets: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for octet in octets {
            for digit in [octet >> 4, octet & 15] {
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
