/// Bluetooth controllers that do not say so by their class. From the tables of Linux (btusb.c) and BTstack.
enum KnownUSBDevices {
    /// Vendors whose interfaces of the vendor's class, subclass 1 and protocol 1, are Bluetooth controllers.
    static let vendorsWithOwnClass: Set<UInt16> = [
        0x0489,  // Foxconn
        0x04CA,  // Lite-On
        0x050D,  // Belkin
        0x05AC,  // Apple
        0x0930,  // Toshiba
        0x0A5C,  // Broadcom
        0x0B05,  // ASUS
        0x105B,  // Foxconn
        0x13D3,  // IMC Networks
        0x413C,  // Dell
    ]

    /// Vendor in the upper half, product in the lower one.
    private static let devices: Set<UInt32> = [
        0x0A5C_21E1, 0x0A5C_21E8, 0x0A5C_22BE, 0x413C_8197, 0x0489_E042, 0x0489_E033, 0x0B05_17CB,  // Broadcom
        0x05AC_8213, 0x05AC_8215, 0x05AC_8218, 0x05AC_821A, 0x05AC_821B, 0x05AC_821F, 0x05AC_8281,  // Apple
        0x057C_3800,  // AVM BlueFRITZ!
        0x04BF_030A,  // IBM Ultraport
        0x044E_3001, 0x044E_3002,  // ALPS
        0x0BDB_1002,  // Ericsson
        0x0C10_0000,  // Canyon, beside interfaces of a keyboard
        0x08FD_0001,  // Digianswer
        0x2FE3_0100, 0x2FE3_000B,  // Zephyr's samples
    ]

    static func contains(vendor: UInt16, product: UInt16) -> Bool {
        devices.contains(UInt32(vendor) << 16 | UInt32(product))
    }

    /// `bmRequestType` of the request that carries a command: class, to the device (Core 5.4, Vol 4, Part B, 2.1.2);
    /// Digianswer's take one of the vendor's.
    static func commandRequestType(vendor: UInt16, product: UInt16) -> UInt8 {
        vendor == 0x08FD && product == 0x0001 ? 0x40 : 0x20
    }
}
