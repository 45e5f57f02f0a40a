/// What went wrong on the way from and to a USB device without ending the transport.
public struct USBCounters: Hashable, Sendable {
    /// Octets that were dropped because no packet begins with them.
    public var strayOctetCount: Int
    /// Packets that were dropped because they were not whole.
    public var damagedPacketCount: Int
    /// Transfers that failed: what they carried is lost.
    public var failedTransferCount: Int
}
