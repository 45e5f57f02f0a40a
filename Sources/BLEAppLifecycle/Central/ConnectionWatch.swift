import BLEPackets

/// The connection events for which a manager has registered, as they are looked for at each connection.
struct ConnectionWatch: Equatable {
    /// In the order of the registration.
    let services: [BluetoothUUID]
    /// Only for lookup, never iterated.
    let peripherals: Set<PeerIdentifier>

    init(_ filter: ConnectionEventFilter) {
        services = filter.services
        peripherals = Set(filter.peripherals)
    }
}
