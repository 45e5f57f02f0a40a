import BLEHost
import BLEPackets

/// The out-of-band data of a tool. They hold for pairings that the tool asks for, so that no tool changes how others
/// pair; and the private keys stay here.
struct ToolOutOfBand {
    /// Peers with data, and values made for peers, each.
    static let limit = 8

    private var made: [LocalOutOfBandData] = []
    private var entries: [(peer: DeviceAddress, data: OutOfBandData)] = []

    /// Keeps values that were made for this tool; the oldest ones go.
    mutating func keep(_ data: LocalOutOfBandData) {
        if made.count >= Self.limit { made.removeFirst() }
        made.append(data)
    }

    /// Sets the data for a peer.
    /// - Parameter data: its own values may lack their keys; `nil` removes the data.
    /// - Returns: why it cannot, or `nil`.
    mutating func set(_ data: OutOfBandData?, for peer: DeviceAddress) -> HostFailure? {
        var data = data
        if let local = data?.local {
            guard let own = made.first(where: { $0.random == local.random && $0.confirm == local.confirm }) else {
                return .invalidRequest(.notPermitted)
            }
            data?.local = own
        }
        let peer = peer.withoutIdentityMark
        let others = entries.filter { $0.peer != peer }
        guard data == nil || others.count < Self.limit else { return .limitReached }
        entries = others + (data.map { [(peer, $0)] } ?? [])
        return nil
    }

    func data(for peer: DeviceAddress) -> OutOfBandData? {
        entries.first { $0.peer == peer.withoutIdentityMark }?.data
    }
}
