/// What the declaration of a characteristic allows with its value (Core 5.4, Vol 3, Part G, 3.3.1.1; SPEC 2.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value may be sent in advertisements.
    public static let broadcast = CharacteristicProperties(rawValue: 0x01)
    /// The value can be read.
    public static let read = CharacteristicProperties(rawValue: 0x02)
    /// The value can be written without a response.
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    /// The value can be written, and the server responds.
    public static let write = CharacteristicProperties(rawValue: 0x08)
    /// The server can send the value unasked, without confirmation.
    public static let notify = CharacteristicProperties(rawValue: 0x10)
    /// The server can send the value unasked, and waits for a confirmation.
    public static let indicate = CharacteristicProperties(rawValue: 0x20)
    /// The value can be written with a signature on a link that is not encrypted.
    public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
    /// An Extended Properties descriptor has more bits (`CharacteristicExtendedProperties`).
    public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)

    /// How to subscribe: by notifications if both are offered, `nil` if neither is (SPEC CEN-16, 2.3).
    public var subscriptionMode: SubscriptionMode? {
        if contains(.notify) { return .notifications }
        return contains(.indicate) ? .indications : nil
    }
}
