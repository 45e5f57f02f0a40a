import BLEPackets

/// One link: its holders, what it sends and what it receives.
///
/// `LinkTable` owns it and lends it; it is a class so that it stays in one place and is never copied.
///
/// Its methods take what they need of other parts as parameters. These are `inout` even if they are only read: a large
/// value that is passed in another way may be copied.
final class Link {
    /// A frame on its way to the controller.
    struct OutgoingFrame {
        var channel: L2CAPChannelIdentifier
        var payload: [UInt8]
        /// Identifies the sender, which gets a report when the frame has been sent.
        var tag: ATTSendTag
    }

    enum State: Equatable {
        /// ATT_MTU is being exchanged; clients do not know about the link yet.
        case settingUp(deadline: Instant)
        case open
        /// Disconnect was sent; if the controller does not confirm it in time, the link is treated as gone.
        case closing(deadline: Instant)
    }

    let id: LinkID
    /// Its place in the table; `nil` if it is no longer there.
    var place: Int?
    /// The peer's address; its identity address once that is known.
    var peer: DeviceAddress
    let role: LinkRole
    /// What the local controller supports.
    let localFeatures: LEFeatures
    var state: State
    /// How often the controller has refused to end the link.
    var refusedEnds = 0
    /// Whether the link must end because of what arrived on it: `Host.settle` ends it at the end of the input.
    var isToEnd = false
    /// When the controller reported it.
    let began: Instant
    var parameters: ConnectionParameters
    /// How the peer's requests for other parameters are answered while no client asks for anything else.
    var usualParameterPolicy = ParameterPolicy.accept
    /// What clients ask for, the latest at the end.
    var parameterPolicies: [(client: ClientID, policy: ParameterPolicy)] = []
    var dataLength = DataLength(
        maxTransmitOctets: 27, maxTransmitMicroseconds: 328, maxReceiveOctets: 27, maxReceiveMicroseconds: 328)
    var remoteFeatures: LEFeatures?
    var remoteVersion: RemoteVersion?

    /// Clients that use the link, in the order in which they joined.
    var holders: [ClientID] = []
    /// Connect operations that end when the link is set up.
    var waiting: [Connector.Pending] = []
    /// Disconnect operations that end with the link.
    var closers: [OperationID] = []

    @exclusivity(unchecked) private var storedSecurity: LinkSecurityMachine
    @exclusivity(unchecked) private var storedGatt: GATTClient
    /// The engine's own exchange of ATT_MTU, which no client asked for.
    var mtuExchange: OperationID?
    @exclusivity(unchecked) private var storedSignalling: SignallingChannel = SignallingChannel()
    @exclusivity(unchecked) private var storedBearers: EnhancedBearers = EnhancedBearers()
    /// `nil`: the parameters change only on request.
    var pace: PaceMachine?
    @exclusivity(unchecked) private var storedOperations: LinkOperations = LinkOperations()
    @exclusivity(unchecked) private var storedReassembler: Reassembler = Reassembler()

    // Transmission: the frame that is being sent, how much of it has been sent, and the frames that wait behind it.
    @exclusivity(unchecked) private var storedCurrent: OutgoingFrame?
    var sentOctets = 0
    @exclusivity(unchecked) private var storedQueue: Queue<OutgoingFrame> = Queue<OutgoingFrame>()
    var isInTransmitRing = false
    /// Frames whose sender waits for no report, and that the controller does not have completely yet.
    var unsentAnswers = 0
    /// Packets that the controller has not confirmed yet.
    var packetsInFlight = 0
    /// When the controller last confirmed a packet; if it has confirmed none since, when the first packet was handed
    /// over.
    var lastConfirmation = Instant.zero
    /// When the controller last delivered something of the peer.
    var lastReception = Instant.zero
    /// When to check whether confirmations are missing; it is not moved with each packet, so the check may find nothing
    /// wrong.
    var confirmationCheck: Instant?
    /// Tags of completely sent frames whose senders are due a report.
    @exclusivity(unchecked) private var storedPassedTags: Queue<ATTSendTag> = Queue<ATTSendTag>()

    init(
        id: LinkID, peer: DeviceAddress, role: LinkRole, state: State, began: Instant = .zero,
        parameters: ConnectionParameters, localFeatures: LEFeatures, localAddress: DeviceAddress,
        peerAddress: DeviceAddress, gatt: GATTClientSettings
    ) {
        self.id = id
        self.peer = peer
        self.role = role
        self.localFeatures = localFeatures
        self.state = state
        self.began = began
        self.parameters = parameters
        unsafe storedSecurity = LinkSecurityMachine(
            id: id, role: role, peer: peer, localAddress: localAddress, peerAddress: peerAddress)
        unsafe storedGatt = GATTClient(settings: gatt)
    }

    /// Whether packets wait here or in the controller.
    var hasUnconfirmedPackets: Bool { packetsInFlight > 0 || current != nil || !queue.isEmpty }

    /// Whether packets have been in the controller for longer than allowed without any being sent.
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

    /// When `Host.advanceLinks` next has something to do for this link.
    var nextDeadline: Instant? {
        var earliest = EarliestInstant(gatt.nextDeadline)
        earliest.include(operations.nextDeadline)
        earliest.include(signalling.nextDeadline)
        earliest.include(security.nextDeadline)
        earliest.include(bearers.nextDeadline)
        earliest.include(confirmationCheck)
        if Features.pace { earliest.include(pace?.nextDeadline) }
        switch state {
        case .settingUp(let limit), .closing(let limit): earliest.include(limit)
        case .open: break
        }
        return earliest.moment
    }

    var information: LinkInformation {
        LinkInformation(id: id, peer: peer, role: role, parameters: parameters, attMTU: Int(gatt.mtu))
    }

    /// - Parameter address: not marked as an identity.
    func isWith(_ address: DeviceAddress) -> Bool {
        peer.withoutIdentityMark == address || security.peerAddress.withoutIdentityMark == address
    }
}

/// The parts of a link that are used with each packet.
///
/// A class checks each access to a property while the program runs, which took a third of the time of a packet. It need
/// not: only the engine has links, an input has the engine for itself, and none of these parts knows the link that it
/// belongs to, so that nothing that runs during an access can reach the link again.
extension Link {
    var security: LinkSecurityMachine {
        @inline(__always) _read { yield unsafe storedSecurity }
        @inline(__always) _modify { yield unsafe &storedSecurity }
    }

    var gatt: GATTClient {
        @inline(__always) _read { yield unsafe storedGatt }
        @inline(__always) _modify { yield unsafe &storedGatt }
    }

    var signalling: SignallingChannel {
        @inline(__always) _read { yield unsafe storedSignalling }
        @inline(__always) _modify { yield unsafe &storedSignalling }
    }

    var bearers: EnhancedBearers {
        @inline(__always) _read { yield unsafe storedBearers }
        @inline(__always) _modify { yield unsafe &storedBearers }
    }

    var operations: LinkOperations {
        @inline(__always) _read { yield unsafe storedOperations }
        @inline(__always) _modify { yield unsafe &storedOperations }
    }

    var reassembler: Reassembler {
        @inline(__always) _read { yield unsafe storedReassembler }
        @inline(__always) _modify { yield unsafe &storedReassembler }
    }

    var current: OutgoingFrame? {
        @inline(__always) _read { yield unsafe storedCurrent }
        @inline(__always) _modify { yield unsafe &storedCurrent }
    }

    var queue: Queue<OutgoingFrame> {
        @inline(__always) _read { yield unsafe storedQueue }
        @inline(__always) _modify { yield unsafe &storedQueue }
    }

    var passedTags: Queue<ATTSendTag> {
        @inline(__always) _read { yield unsafe storedPassedTags }
        @inline(__always) _modify { yield unsafe &storedPassedTags }
    }
}
