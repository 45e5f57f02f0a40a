import BLEPackets

/// The clients that listen for channels, by SPSM.
struct ChannelListeners {
    struct Listener {
        var spsm: UInt16
        var client: ClientID
        var operation: OperationID
        var settings: ChannelSettings
        /// The required security; `nil` requires none.
        var demand: ChannelSecurity?
    }

    /// The dynamic SPSMs, which a device may assign itself (Core 5.4, Vol 3, Part A, 4.22).
    private static let dynamic: ClosedRange<UInt16> = 0x0080...0x00FF

    private var listeners: [Listener] = []

    /// - Parameter spsm: `nil` for any free dynamic one.
    mutating func add(
        _ spsm: UInt16?, _ settings: ChannelSettings, demand: ChannelSecurity?, operation: OperationID, client: ClientID
    ) throws(ChannelFailure) -> UInt16 {
        let chosen: UInt16
        if let spsm {
            guard (0x0001...0x00FF).contains(spsm), self[spsm] == nil else { throw .invalidSPSM }
            chosen = spsm
        } else {
            guard let free = Self.dynamic.first(where: { self[$0] == nil }) else { throw .noResources }
            chosen = free
        }
        listeners.append(
            Listener(
                spsm: chosen, client: client, operation: operation, settings: settings,
                demand: demand))
        return chosen
    }

    subscript(spsm: UInt16) -> Listener? { listeners.first { $0.spsm == spsm } }

    mutating func remove(_ spsm: UInt16, of client: ClientID) -> Bool {
        guard let index = listeners.firstIndex(where: { $0.spsm == spsm && $0.client == client }) else { return false }
        listeners.remove(at: index)
        return true
    }
}
