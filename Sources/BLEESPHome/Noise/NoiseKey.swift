import BLEGateway

/// The key that clients need: 32 octets, which people write in Base64.
public struct NoiseKey: Equatable, Sendable {
    /// The number of octets.
    public static let count = 32

    let octets: [UInt8]

    /// - Parameter octets: exactly 32.
    public init?(octets: [UInt8]) {
        guard octets.count == Self.count else { return nil }
        self.octets = octets
    }

    /// - Parameter text: 32 octets in Base64 with padding, perhaps with white space around them.
    public init?(base64 text: some Collection<UInt8>) {
        let isSpace = { (octet: UInt8) in octet == 0x20 || (0x09...0x0D).contains(octet) }
        let digits = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard digits.count == 44, let octets = Base64.octets(of: digits) else { return nil }
        self.init(octets: octets)
    }
}

extension NoiseKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "a key" }
    /// Empty, so that code that prints the parts of a value never prints the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
