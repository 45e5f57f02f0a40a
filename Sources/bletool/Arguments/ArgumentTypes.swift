import ArgumentParser
import BLE
import BLEAssignedNumbers
import BLEScripts
import BLEText

/// Octets in hexadecimal.
struct HexBytes: ExplainedArgument, Equatable, Sendable {
    var bytes: [UInt8]

    init?(argument: String) {
        guard let bytes = Hexadecimal.bytes(argument) else { return nil }
        self.bytes = bytes
    }

    static func mistake(in text: String) -> String { Hexadecimal.mistake(in: text) }
}

/// Octets in hexadecimal, or one octet of a single digit, like the arguments of `hcitool cmd`.
struct ParameterBytes: ExplainedArgument, Equatable, Sendable {
    var bytes: [UInt8]

    init?(argument: String) {
        let isPrefixed = argument.hasPrefix("0x") || argument.hasPrefix("0X")
        let isDigit = argument.utf8.count == (isPrefixed ? 3 : 1)
        let digit = isDigit ? Hexadecimal.integer(argument, defaultBase: 16, as: UInt8.self).map { [$0] } : nil
        guard let bytes = digit ?? Hexadecimal.bytes(argument) else { return nil }
        self.bytes = bytes
    }

    static func mistake(in text: String) -> String { Hexadecimal.mistake(in: text) }
}

extension BluetoothUUID: ExplainedArgument {
    /// A UUID, or the assigned name of a service.
    public init?(argument: String) {
        self.init(service: argument)
    }

    static func mistake(in text: String) -> String {
        let names = (0x1800..<0x2800).compactMap { AssignedNumbers.uuid(UInt16($0))?.description }
        return "not a UUID of 4, 8 or 32 digits, or the assigned name of a service"
            + Suggestion(for: text, among: names).text
    }
}

/// A number in decimal, or in hexadecimal with `0x`.
struct Number16: ExplainedArgument, Equatable, Sendable {
    var value: UInt16

    init(value: UInt16) { self.value = value }

    init?(argument: String) {
        guard let value = Hexadecimal.integer(argument, as: UInt16.self) else { return nil }
        self.value = value
    }

    static func mistake(in text: String) -> String {
        "use a number, 0 to 65535, or in hexadecimal 0x0000 to 0xffff"
    }
}

/// A number in hexadecimal, with or without `0x`, like the arguments of `hcitool cmd`.
struct HexNumber: ExplainedArgument, Equatable, Sendable {
    var value: UInt16

    init?(argument: String) {
        guard let value = Hexadecimal.integer(argument, defaultBase: 16, as: UInt16.self) else { return nil }
        self.value = value
    }

    static func mistake(in text: String) -> String { "use a number in hexadecimal, 0 to ffff" }
}

/// A span of time in seconds, fractions allowed.
struct Seconds: ExplainedArgument, Equatable, Sendable {
    var value: Double

    init?(argument: String) {
        guard let value = Double(argument), value.isFinite, value >= 0, value <= 1e9 else { return nil }
        self.value = value
    }

    static func mistake(in text: String) -> String {
        guard let value = Double(text), !value.isNaN else { return "use a number of seconds, such as 30 or 0.5" }
        return value < 0 ? "a time is not negative" : "the time is too long; leave it out for one without end"
    }

    var duration: Duration { .milliseconds(Int64(value * 1000)) }
}

/// A count of at least one.
struct Count: ExplainedArgument, Equatable, Sendable {
    var value: Int

    init?(argument: String) {
        guard let value = Int(argument), value > 0 else { return nil }
        self.value = value
    }

    static func mistake(in text: String) -> String {
        let isDigits = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isDigits && Int(text) == nil ? "the number is too large" : "use a whole number of at least 1"
    }
}

/// A device as the user names it: `ADDRESS`, `ADDRESS/public`, `ADDRESS/random`, or its name.
///
/// A name may contain colons, but not look like an address: a mistyped address would be searched for until the time is
/// over. `name:TEXT` is a name whatever it looks like.
enum PeerArgument: ExplainedArgument, Equatable, Sendable {
    /// The type was named.
    case address(DeviceAddress)
    /// An address without a type; the device's bond or its advertising has the type. Until then it is public here.
    case untypedAddress(DeviceAddress)
    case name(String)

    private static let namePrefix = "name:"

    init?(argument: String) {
        // Spaces would be the name of every device that has none: they fill the field of a name.
        guard argument.contains(where: { $0 != " " }) else { return nil }
        if argument.hasPrefix(Self.namePrefix) {
            let name = String(argument.dropFirst(Self.namePrefix.count))
            guard name.contains(where: { $0 != " " }) else { return nil }
            self = .name(name)
            return
        }
        guard let address = DeviceAddress(argument) else {
            guard !Self.isMistakenAddress(argument) else { return nil }
            self = .name(argument)
            return
        }
        self = argument.utf8.contains(UInt8(ascii: "/")) ? .address(address) : .untypedAddress(address)
    }

    static func mistake(in text: String) -> String {
        let name = text.hasPrefix(namePrefix) ? text.dropFirst(namePrefix.count) : text[...]
        guard name.contains(where: { $0 != " " }) else { return "name the device, or give its address" }
        return DeviceAddress.mistake(in: text) + "; a name that looks like this is written \(namePrefix)NAME"
    }
}

extension PeerArgument {
    /// The bonded device. An address without a type means the public one if both are bonded.
    func identity(among identities: [DeviceAddress]) -> DeviceAddress? {
        switch self {
        case .address(let address): identities.first { $0 == address }
        case .untypedAddress(let address):
            identities.first { $0 == address } ?? identities.first { $0.value == address.value }
        case .name: nil
        }
    }

    /// The bond with the device.
    /// - Throws: `Failure` when several have the name.
    func bond(among bonds: [Bond]) throws -> Bond? {
        guard case .name(let name) = self else {
            let identity = identity(among: bonds.map(\.identity))
            return bonds.first { $0.identity == identity }
        }
        let named = bonds.named(name)
        guard named.count < 2 else { throw Failure.severalDevices(of: name, named.map(\.identity), bonds) }
        return named.first
    }

    /// Whether a text is meant as an address rather than as a name: six groups of one or two letters or digits between
    /// colons, or at least four groups of which all but one are pairs of hexadecimal digits. What follows a slash does
    /// not count.
    private static func isMistakenAddress(_ text: String) -> Bool {
        let groups = text.prefix { $0 != "/" }.split(separator: ":", omittingEmptySubsequences: false)
        if groups.count == 6, groups.allSatisfy({ (1...2).contains($0.count) && $0.allSatisfy(\.isLetterOrDigit) }) {
            return true
        }
        return groups.count >= 4 && groups.count { $0.count == 2 && $0.allSatisfy(\.isHexDigit) } >= groups.count - 1
    }
}

extension Character {
    fileprivate var isLetterOrDigit: Bool { isLetter || isNumber }
}

/// An address with its type; public by default.
struct AddressArgument: ExplainedArgument, Equatable, Sendable {
    var address: DeviceAddress

    init?(argument: String) {
        guard let address = DeviceAddress(argument) else { return nil }
        self.address = address
    }

    static func mistake(in text: String) -> String { DeviceAddress.mistake(in: text) }

    /// With `--random` of `hcitool`.
    func asRandom(_ isRandom: Bool) -> DeviceAddress {
        isRandom ? DeviceAddress(value: address.value, kind: .random) : address
    }
}

extension AttributeTarget: ExplainedArgument {
    package init?(argument: String) { self.init(argument) }
}
