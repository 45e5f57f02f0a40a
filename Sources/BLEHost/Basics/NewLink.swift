import BLEPackets

/// The content of LE (Enhanced) Connection Complete for a new link.
struct NewLink {
    var handle: ConnectionHandle
    /// The address that the controller reported; the identity address once it is known.
    var peer: DeviceAddress
    /// The private addresses of both sides on the air, if the controller reports them.
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

    /// The link, after the private address `address` was resolved to an identity.
    func with(_ identity: DeviceAddress, behind address: DeviceAddress) -> Self {
        var link = self
        link.peer = identity.asIdentity
        link.privateAddresses.peer = address
        return link
    }
}
