/// What a USB device says of itself in its descriptor.
public struct SimulatedUSBIdentity: Hashable, Sendable {
    /// idVendor.
    public var vendor: UInt16
    /// idProduct.
    public var product: UInt16
    /// bcdDevice: the release of the device, in binary-coded decimal.
    public var release: UInt16

    public init(vendor: UInt16, product: UInt16, release: UInt16) {
        self.vendor = vendor
        self.product = product
        self.release = release
    }
}
