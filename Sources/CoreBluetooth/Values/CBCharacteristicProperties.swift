/// The properties of a characteristic: what can be done with its value (SPEC PER-4, 2.1).
///
/// The low octet is the one on the air (Core 5.4, Vol 3, Part G, 3.3.1.1); the other bits exist only in this API.
public struct CBCharacteristicProperties: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value can be broadcast. Not for characteristics that an app publishes.
    public static let broadcast = CBCharacteristicProperties(rawValue: 0x01)
    /// The value can be read with `CBPeripheral.readValue(for:)` (SPEC CEN-14).
    public static let read = CBCharacteristicProperties(rawValue: 0x02)
    /// The value can be written with `.withoutResponse` (SPEC CEN-20, CEN-21).
    public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x04)
    /// The value can be written with `.withResponse` (SPEC CEN-19, CEN-21).
    public static let write = CBCharacteristicProperties(rawValue: 0x08)
    /// Centrals can subscribe; changes are sent without confirmation. Preferred to `indicate` if a characteristic has
    /// both (SPEC CEN-16, 2.3).
    public static let notify = CBCharacteristicProperties(rawValue: 0x10)
    /// Centrals can subscribe; a central confirms each change before the next is sent (SPEC CEN-16).
    public static let indicate = CBCharacteristicProperties(rawValue: 0x20)
    /// Centrals can write the value without a response if they sign it or the connection is encrypted.
    public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)
    /// The characteristic has the descriptor Characteristic Extended Properties. Not for characteristics that an app
    /// publishes.
    public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)
    /// Only trusted centrals can subscribe to notifications.
    public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)
    /// Only trusted centrals can subscribe to indications.
    public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}

/// The permissions of a published characteristic's value (SPEC PER-5, 2.1).
public struct CBAttributePermissions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Every central can read the value if the properties have `read` as well (SPEC PER-2).
    public static let readable = CBAttributePermissions(rawValue: 0x01)
    /// Every central can write the value, in the ways that the properties allow (SPEC PER-2).
    public static let writeable = CBAttributePermissions(rawValue: 0x02)
    /// Only trusted centrals can read the value.
    public static let readEncryptionRequired = CBAttributePermissions(rawValue: 0x04)
    /// Only trusted centrals can write the value.
    public static let writeEncryptionRequired = CBAttributePermissions(rawValue: 0x08)
}
