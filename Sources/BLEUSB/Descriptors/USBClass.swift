/// Class, subclass and protocol of a device or an interface.
struct USBClass: Hashable {
    let code: UInt8
    let subclass: UInt8
    let protocolCode: UInt8

    /// The primary controller of Bluetooth (Core 5.4, Vol 4, Part B, 3.1).
    static let bluetooth = USBClass(code: 0xE0, subclass: 0x01, protocolCode: 0x01)
    /// The same with a class of the vendor's: Broadcom's and Apple's controllers.
    static let vendorBluetooth = USBClass(code: vendorCode, subclass: 0x01, protocolCode: 0x01)
    /// The class of what only its vendor describes.
    static let vendorCode: UInt8 = 0xFF
}
