/// An endpoint of an interface, as its descriptor has it (USB 2.0, 9.6.6).
struct USBEndpoint: Hashable {
    /// How an endpoint transfers data.
    enum Kind: UInt8 { case control, isochronous, bulk, interrupt }

    /// The number of the endpoint; bit 7 is set if it sends to the host.
    let address: UInt8
    let kind: Kind
    /// The greatest number of octets in one packet.
    let packetByteCount: Int

    var isInput: Bool { address & 0x80 != 0 }
}
