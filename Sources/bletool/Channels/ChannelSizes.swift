/// The sizes that a side of a channel accepts: `4096`, or with the longest frame `4096,512`.
struct ChannelSizes: ExplainedArgument, Equatable, Sendable {
    /// The longest message, in octets.
    var mtu: UInt16
    /// The longest frame, in octets; `nil`: as before.
    var mps: UInt16?

    private static let units: ClosedRange<UInt16> = 64...65535
    private static let payloads: ClosedRange<UInt16> = 64...2044

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map { UInt16($0) }
        guard 1...2 ~= parts.count, let mtu = parts[0], Self.units.contains(mtu) else { return nil }
        self.mtu = mtu
        guard parts.count == 2 else { return }
        guard let mps = parts[1], Self.payloads.contains(mps) else { return nil }
        self.mps = mps
    }

    static func mistake(in text: String) -> String {
        "use the longest message, 64 to 65535 octets, and if you like the longest frame, 64 to 2044, such as 4096,512"
    }
}
