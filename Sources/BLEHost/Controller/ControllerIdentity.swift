/// How a controller on USB names itself, known before it is opened (Universal Serial Bus 2.0, 9.6.1).
public struct ControllerIdentity: Hashable, Sendable {
    /// `idVendor` of the device descriptor.
    public var usbVendor: UInt16
    /// `idProduct` of the device descriptor.
    public var usbProduct: UInt16
    /// `bcdDevice` of the device descriptor, which tells some clones from what they copy.
    public var usbRelease: UInt16

    public init(usbVendor: UInt16, usbProduct: UInt16, usbRelease: UInt16 = 0) {
        self.usbVendor = usbVendor
        self.usbProduct = usbProduct
        self.usbRelease = usbRelease
    }
}
