import BLEPackets

extension BluetoothUUID {
    /// The attribute types of declarations and of the configuration (Core 5.4, Vol 3, Part G, 3.4).
    public static let primaryService = BluetoothUUID(UInt16(0x2800))
    public static let secondaryService = BluetoothUUID(UInt16(0x2801))
    public static let include = BluetoothUUID(UInt16(0x2802))
    public static let characteristic = BluetoothUUID(UInt16(0x2803))
    public static let clientCharacteristicConfiguration = BluetoothUUID(UInt16(0x2902))
}

/// The longest value that an attribute may have, in octets (Core 5.4, Vol 3, Part F, 3.2.9).
let maximumAttributeLength = 512
