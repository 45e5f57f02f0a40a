import BLEPackets

/// One link: who holds it, what goes out and what comes in.
///
/// `LinkTable` owns it and lends it; it is an object so that it lies in one place and is never copied.
///
/// What it needs of other rooms is a parameter of its methods. They come `inout` also where they are only read: a large
/// value that is lent in another way may be copied.
final class Link {
    /// A frame on its way to the controller.
    struct OutgoingFrame {
        var channel: L2CAPChannelIdentifier
        var payload: [UInt8]
        /// Who hears when the frame has gone.
        var tag: ATTSendTag
    }

    enum State: Equatable {
        /// ATT_MTU is being exchanged; the clients do not know of the link yet.
        case settingUp(deadline: Instant)
        case open
        /// Disconnect was sent; when the controller does not confirm, the link is taken as gone.
        case closing(deadline: Instant)
    }

    let id: LinkID
    /// Where it is in its table; `nil` when it is not there any more.
    var place: Int?
    /// By its identity, once that is known.
    var peer: DeviceAddress
    let role: LinkRole
    /// What this side's controller can do.
    let localFeatures: LEFeatures
    var state: State
    /// Whether the link is to end for what came on it: `Host.settle` sees to it at the end of the input.
    var isToEnd = false
    var parameters: ConnectionParameters
    var dataLength = DataLength(
        maxTransmitOctets: 27, maxTransmitMicroseconds: 328, maxReceiveOctets: 27, maxReceiveMicroseconds: 328)
    var remoteFeatures: LEFeatures?
    var remoteVersion: RemoteVersion?

    /// Clients that use the link, in the order in which they came.
    var holders: [ClientID] = []
    /// Connect operations that end when the link is set up.
    var waiting: [Connector.Pending] = []
    /// Disconnect operations that end with the link.
    var closers: [OperationID] = []

    var security: LinkSecurityMachine
    var gatt: GATTClient
    /// The engine's own exchange of ATT_MTU, which no client asked for.
    var mtuExchange: OperationID?
    var signalling = SignallingChannel()
    var operations = LinkOperations()
    var reassembler = Reassembler()

    // Transmission: the frame that is being sent, how much of it has gone, and what waits behind it.
    var current: OutgoingFrame?
    var sentOctets = 0
    var queue = Queue<OutgoingFrame>()
    var isInTransmitRing = false
    /// Frames without a sender that waits to hear of them, not yet handed over whole.
    var unsentAnswers = 0
    /// Packets that the controller has not confirmed.
    var packetsInFlight = 0
    /// When the controller last confirmed one; when the first was handed over, if none was confirmed since.
    var lastConfirmation = Instant.zero
    /// When to look whether confirmations stay away; it is not moved with each packet, and may find nothing amiss.
    var confirmationCheck: Instant?
    /// What has gone to the controller, for its senders to hear.
    var passedTags: [ATTSendTag] = []

    init(
        id: LinkID, peer: DeviceAddress, role: LinkRole, state: State, parameters: ConnectionParameters,
        localFeatures: LEFeatures, localAddress: DeviceAddress, peerAddress: DeviceAddress, gatt: GATTClientSettings
    ) {
        self.id = id
        self.peer = peer
        self.role = role
        self.localFeatures = localFeatures
        self.state = state
        self.parameters = parameters
        security = LinkSecurityMachine(
            id: id, role: role, peer: peer, localAddress: localAddress, peerAddress: peerAddress)
        self.gatt = GATTClient(settings: gatt)
    }

    /// Whether something waits here, or with the controller.
    var hasUnconfirmedPackets: Bool { packetsInFlight > 0 || current != nil || !queue.isEmpty }

    /// Whether the controller has held packets for longer than it may without sending one.
    func isStalled(at now: Instant) -> Bool {
        guard let check = confirmationCheck, check <= now else { return false }
        confirmationCheck = nil
        guard packetsInFlight > 0 else { return false }
        let limit = lastConfirmation.advanced(by: ACLScheduler.timeout)
        if limit > now { confirmationCheck = limit }
        return limit <= now
    }

    var isClosing: Bool {
        if case .closing = state { true } else { isToEnd }
    }

    /// When `Host.advanceLinks` has something to do here.
    var nextDeadline: Instant? {
        var deadline = earliest(gatt.nextDeadline, operations.nextDeadline)
        deadline = earliest(deadline, signalling.nextDeadline)
        deadline = earliest(deadline, security.nextDeadline)
        deadline = earliest(deadline, confirmationCheck)
        switch state {
        case .settingUp(let limit), .closing(let limit): return earliest(deadline, limit)
        case .open: return deadline
        }
    }

    var information: LinkInformation {
        LinkInformation(id: id, peer: peer, role: role, parameters: parameters, attMTU: Int(gatt.mtu))
    }

    /// - Parameter address: not marked as an identity.
    func isWith(_ address: DeviceAddress) -> Bool {
        peer.withoutIdentityMark == address || security.peerAddress.withoutIdentityMark == address
    }
}
