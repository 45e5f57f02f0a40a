import BLEPackets

/// The UUID that one app uses for one remote device, central or peripheral, across launches (SPEC REC-3, 5.6).
///
/// Two apps have different identifiers for the same device. Sixteen octets, in textual order.
public struct PeerIdentifier: Hashable, Comparable, Sendable {
    /// The first eight octets, most significant first.
    public let high: UInt64
    /// The last eight octets, most significant first.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates an identifier from its octets.
    /// - Parameter bytes: sixteen octets in textual order; `nil` for any other count.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The sixteen octets in textual order.
    public var bytes: [UInt8] { uuid.bytes }

    private var uuid: BluetoothUUID { BluetoothUUID(high: high, low: low) }

    public static func < (a: Self, b: Self) -> Bool { a.high == b.high ? a.low < b.low : a.high < b.high }
}

extension PeerIdentifier: CustomStringConvertible, LosslessStringConvertible {
    /// Parses the 36 characters of a UUID.
    public init?(_ text: String) {
        guard text.utf8.count == 36, let uuid = BluetoothUUID(text) else { return nil }
        self.init(high: uuid.high, low: uuid.low)
    }

    /// 36 characters, upper case.
    public var description: String { uuid.fullDescription }
}

extension PeerIdentifier: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let identifier = PeerIdentifier(text) else {
            throw Swift.DecodingError.dataCorruptedError(in: container, debugDescription: "no UUID: \(text)")
        }
        self = identifier
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
