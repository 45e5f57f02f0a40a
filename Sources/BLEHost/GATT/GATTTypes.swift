import BLEPackets

extension BluetoothUUID {
    /// Declares a primary service (the types here: Core 5.4, Vol 3, Part G, 3.4).
    public static let primaryService = BluetoothUUID(UInt16(0x2800))
    /// Declares a service that is only useful as part of other services.
    public static let secondaryService = BluetoothUUID(UInt16(0x2801))
    /// Declares that a service includes another.
    public static let include = BluetoothUUID(UInt16(0x2802))
    /// Declares a characteristic.
    public static let characteristic = BluetoothUUID(UInt16(0x2803))
    /// Holds the modes in which a client wants to be sent values (`SubscriptionModes`).
    public static let clientCharacteristicConfiguration = BluetoothUUID(UInt16(0x2902))
}

/// The longest value that an attribute may have, in octets (Core 5.4, Vol 3, Part F, 3.2.9).
let maximumAttributeLength = 512
