/// What a field of a sensor holds.
public enum SensorValue: Hashable, Sendable {
    /// A measured or counted quantity; its unit stands beside it.
    case number(DecimalNumber)
    /// Several quantities of one kind, oldest first.
    case numbers([DecimalNumber])
    /// A name, a moment, or the word for what a number means. It may come from the device: show it as foreign text.
    case text(String)
    /// Whether something is so.
    case boolean(Bool)
    /// Octets that have no meaning of their own, as they stood.
    case octets([UInt8])
    /// The device says that it does not know.
    case unknown
    /// The device says that what it measures is outside its range, or broken.
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
