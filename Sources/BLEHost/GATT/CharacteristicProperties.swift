/// What a characteristic's declaration says may be done with its value (Core 5.4, Vol 3, Part G, 3.3.1.1; SPEC 2.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let broadcast = CharacteristicProperties(rawValue: 0x01)
    public static let read = CharacteristicProperties(rawValue: 0x02)
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    public static let write = CharacteristicProperties(rawValue: 0x08)
    public static let notify = CharacteristicProperties(rawValue: 0x10)
    public static let indicate = CharacteristicProperties(rawValue: 0x20)
    public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
    public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)

    /// How to subscribe: by notifications where both are offered, `nil` where neither is (SPEC CEN-16, 2.3).
    public var subscriptionMode: SubscriptionMode? {
        if contains(.notify) { return .notifications }
        return contains(.indicate) ? .indications : nil
    }
}

#if !hasFeature(Embedded)
extension CharacteristicProperties: Codable {}
#endif
