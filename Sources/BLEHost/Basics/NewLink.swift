import BLEPackets

/// What LE (Enhanced) Connection Complete says of a link that is there now.
struct NewLink {
    var handle: ConnectionHandle
    /// As the controller names it; by its identity once that is known.
    var peer: DeviceAddress
    /// The private addresses of both sides on the air, where the controller tells them.
    var privateAddresses: (local: DeviceAddress?, peer: DeviceAddress?)
    var role: LinkRole
    var parameters: ConnectionParameters

    init(_ event: LEConnectionComplete) {
        handle = event.connectionHandle
        peer = event.peerAddress
        privateAddresses = (nil, nil)
        role = event.role == .central ? .central : .peripheral
        parameters = ConnectionParameters(
            interval: event.interval, peripheralLatency: event.latency, supervisionTimeout: event.supervisionTimeout)
    }

    init(_ event: LEEnhancedConnectionComplete) {
        handle = event.connectionHandle
        peer = event.peerAddress
        privateAddresses = (event.localResolvableAddress, event.peerResolvableAddress)
        role = event.role == .central ? .central : .peripheral
        parameters = ConnectionParameters(
            interval: event.interval, peripheralLatency: event.latency, supervisionTimeout: event.supervisionTimeout)
    }

    /// The link, now that it is known whose private address `address` is.
    func with(_ identity: DeviceAddress, behind address: DeviceAddress) -> Self {
        var link = self
        link.peer = identity.asIdentity
        link.privateAddresses.peer = address
        return link
    }
}
