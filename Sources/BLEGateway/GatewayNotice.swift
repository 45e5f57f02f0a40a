/// Something about a device that its owner should know; at most one for each device in ten minutes.
public struct GatewayNotice: Equatable, Sendable {
    /// What the device, or somebody with its address, did.
    public enum Kind: Equatable, Sendable {
        /// It sent a packet whose counter is lower than that of an earlier one. The values are used if the format is
        /// MiBeacon.
        case replayed(counter: UInt32, last: UInt32, isUsed: Bool)
        /// Its counter began again near zero.
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
            \(address) sent a packet with counter \(counter) after \(last): somebody may be sending recorded packets\
            \(isUsed ? "" : "; its values are not used. If its battery was changed, remove its key from the settings, and add it again")
            """
        case .restarted(let counter, let last):
            "\(address) counts its packets from \(counter) again, after \(last): was its battery changed?"
        case .unprotected:
            """
            \(address) sent values in clear though the settings have its key; they are not used. If its encryption was \
            switched off, remove the key
            """
        }
    }
}
