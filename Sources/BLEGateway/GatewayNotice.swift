/// Something about a device that its owner should know; at most one for each device in ten minutes.
public struct GatewayNotice: Equatable, Sendable {
    /// What the device, or somebody with its address, did.
    public enum Kind: Equatable, Sendable {
        /// It sent a packet that was received before, or whose counter does not continue those of its packets. The
        /// values of the latter are used if the format is MiBeacon. `last` is the counter of its last packet; `nil`:
        /// that is not known.
        case replayed(counter: UInt32, last: UInt32?, isUsed: Bool)
        /// Its counter restarted: several packets that were never received before prove it.
        case restarted(counter: UInt32, last: UInt32)
        /// It sent values in clear, which are not used, though the settings have its key.
        case unprotected
    }

    /// The address as in documents.
    public var address: String
    public var kind: Kind

    public init(address: String, kind: Kind) {
        self.address = address
        self.kind = kind
    }
}

extension GatewayNotice: CustomStringConvertible {
    public var description: String {
        switch kind {
        case .replayed(let counter, let last, let isUsed):
            """
            \(address) sent a packet with counter \(counter)\(last.map { " after \($0)" } ?? " again"): somebody may be \
            sending recorded packets\(isUsed ? "" : "; its values are not used until several new packets prove that it counts so")
            """
        case .restarted(let counter, let last):
            """
            \(address) counts its packets from \(counter) on, after \(last), and several new packets prove it: was its \
            battery changed?
            """
        case .unprotected:
            """
            \(address) sent values in clear though the settings have its key; they are not used. If its encryption was \
            switched off, remove the key
            """
        }
    }
}
