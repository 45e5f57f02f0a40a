/// What makes an encrypted packet unique. A device counts its packets; one whose counter is lower than before was
/// recorded and sent again, or the device has started to count again.
public struct SensorSeal: Hashable, Sendable {
    /// BTHome: the counter of 32 bits. MiBeacon 4 and 5: 24 bits that count the overflows of the frame counter, and the
    /// frame counter below them.
    public var counter: UInt32
    /// The authentication code: packets with the same counter and code are the same packet.
    public var code: UInt32

    public init(counter: UInt32, code: UInt32) {
        self.counter = counter
        self.code = code
    }
}

extension SensorSeal {
    /// - Parameters:
    ///   - counter: up to four octets, least significant first.
    ///   - code: the last octets of the packet.
    init(counter: some BidirectionalCollection<UInt8>, code: some Sequence<UInt8>) {
        self.counter = counter.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        self.code = code.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
