import BLEPackets

extension BluetoothUUID {
    /// The attribute types of declarations and of the configuration (Core 5.4, Vol 3, Part G, 3.4).
    public static let primaryService = BluetoothUUID(UInt16(0x2800))
    /// Declares a service that means something only within others.
    public static let secondaryService = BluetoothUUID(UInt16(0x2801))
    /// Declares that a service refers to another.
    public static let include = BluetoothUUID(UInt16(0x2802))
    /// Declares a characteristic.
    public static let characteristic = BluetoothUUID(UInt16(0x2803))
    /// Holds what a client wants to be sent (`SubscriptionModes`).
    public static let clientCharacteristicConfiguration = BluetoothUUID(UInt16(0x2902))
}

/// The longest value that an attribute may have, in octets (Core 5.4, Vol 3, Part F, 3.2.9).
let maximumAttributeLength = 512
