/// A configuration of a device with all settings of its interfaces (USB 2.0, 9.6.3).
struct USBConfiguration: Hashable {
    /// What selects it; never 0 in an honest device.
    let value: UInt8
    var interfaces: [USBInterface] = []
}
