import BLEPackets

/// One end of a credit-based channel: the credits of both directions, the unit that is being received and the units
/// that are being sent (Core 5.4, Vol 3, Part A, 3.4 and 10.1).
struct CreditBasedChannel {
    enum State: Equatable {
        /// Our request waits for its response; without an operation, the channel is no longer wanted. The channels that
        /// one enhanced request names have the same operation and identifier.
        case opening(operation: OperationID?, identifier: UInt8, deadline: Instant)
        case open
        /// Closed on this side, while units that were sent before wait for the peer's credits or for the controller.
        case draining(operations: [OperationID], deadline: Instant)
        /// Our Disconnection Request waits for its response.
        case closing(operations: [OperationID], identifier: UInt8, deadline: Instant)
    }

    struct OutgoingUnit {
        /// `nil` for a PDU of an attribute bearer, whose sender counts.
        var operation: OperationID?
        var octets: [UInt8]
        var sentOctets = 0
        var hasBegun = false
    }

    let number: UInt32
    let client: ClientID
    let spsm: UInt16
    let local: L2CAPChannelIdentifier
    var remote = L2CAPChannelIdentifier.null
    /// Whether the channel was opened by the enhanced form, so that its sizes can be reconfigured.
    let isEnhanced: Bool
    var settings: ChannelSettings
    var state: State

    // Receiving.
    /// Frames that the peer may still send.
    var grantedCredits: Int
    /// Frames that have been consumed but whose credits the peer has not got back yet.
    var owedCredits = 0
    /// Complete units that the client has not consumed; the credit for the last frame of each is withheld.
    var unconsumedUnits = 0
    var unit: [UInt8] = []
    var unitLength: Int?

    // Sending.
    var sendMTU: UInt16 = 0
    var sendMPS: UInt16 = 0
    var credits = 0
    var units = Queue<OutgoingUnit>()
    /// Frames that have not been handed to the controller yet.
    var unsentFrames = 0
    /// For each unit whose last frame was made but not sent yet: the number of that frame and the unit's operation.
    var endings = Queue<(frame: UInt64, operation: OperationID?)>()
    var madeFrames: UInt64 = 0
    var goneFrames: UInt64 = 0

    init(
        number: UInt32, client: ClientID, spsm: UInt16, local: L2CAPChannelIdentifier, settings: ChannelSettings,
        isEnhanced: Bool = false, state: State
    ) {
        self.number = number
        self.client = client
        self.spsm = spsm
        self.local = local
        self.settings = settings
        self.isEnhanced = isEnhanced
        self.state = state
        grantedCredits = Int(settings.credits)
    }

    /// The peer's end of the channel: where it receives, and what it accepts.
    mutating func open(_ remote: L2CAPChannelIdentifier, sendMTU: UInt16, sendMPS: UInt16, credits: UInt16) {
        state = .open
        self.remote = remote
        self.sendMTU = sendMTU
        self.sendMPS = sendMPS
        self.credits = Int(credits)
    }

    var isOpen: Bool { state == .open }
    var isDraining: Bool { if case .draining = state { true } else { false } }
    var isClosing: Bool { if case .closing = state { true } else { false } }
    /// Whether accepted units are still being sent.
    var sends: Bool { isOpen || isDraining }
    /// Whether all accepted units have been handed to the controller.
    var isDrained: Bool { units.isEmpty && endings.isEmpty }

    func isAwaitingAnswer(_ identifier: UInt8) -> Bool {
        switch state {
        case .opening(_, let pending, _), .closing(_, let pending, _): pending == identifier
        case .open, .draining: false
        }
    }

    /// Whether the channel is one that this operation opens.
    func isOpening(for operation: OperationID?) -> Bool {
        if case .opening(let own?, _, _) = state { own == operation } else { false }
    }

    enum Received: Equatable {
        case incomplete
        case unit([UInt8])
        case violation
    }

    /// Receives a frame of the peer.
    mutating func receive(_ payload: RawSpan) -> Received {
        guard grantedCredits > 0, payload.byteCount <= Int(settings.maximumPayloadSize) else { return .violation }
        grantedCredits -= 1
        if let length = unitLength {
            guard unit.count + payload.byteCount <= length else { return .violation }
            append(payload)
        } else {
            do throws(DecodingError) {
                let start = try L2CAPServiceDataUnitStart(decoding: payload)
                guard start.unitLength <= settings.maximumTransmissionUnit else { return .violation }
                unitLength = Int(start.unitLength)
                append(start.firstOctets)
            } catch { return .violation }
        }
        guard unit.count == unitLength else {
            owedCredits += 1
            return .incomplete
        }
        let whole = unit
        unit = []
        unitLength = nil
        unconsumedUnits += 1
        return .unit(whole)
    }

    /// The client has consumed units.
    mutating func consume(_ count: Int) {
        let consumed = min(max(0, count), unconsumedUnits)
        unconsumedUnits -= consumed
        owedCredits += consumed
    }

    /// Credits to return to the peer now: not one by one, but early enough that the peer never waits needlessly.
    mutating func removeOwedCredits() -> UInt16? {
        guard isOpen, owedCredits > 0, grantedCredits == 0 || owedCredits * 2 >= Int(settings.credits) else {
            return nil
        }
        let credits = owedCredits
        owedCredits = 0
        grantedCredits += credits
        return UInt16(truncatingIfNeeded: credits)
    }

    /// The next frame, if the peer has granted a credit.
    mutating func nextFrame(limit: Int) -> [UInt8]? {
        guard sends, credits > 0, unsentFrames < limit, var unit = units.popFirst() else { return nil }
        // The peer's MPS may be far longer than what is sent.
        let rest = unit.octets.count - unit.sentOctets + L2CAPServiceDataUnitStart.lengthFieldByteCount
        var packet = PacketWriter(reservingCapacity: min(Int(sendMPS), rest))
        var room = Int(sendMPS)
        if !unit.hasBegun {
            L2CAPServiceDataUnitStart.encode(unitLength: UInt16(truncatingIfNeeded: unit.octets.count), into: &packet)
            room -= L2CAPServiceDataUnitStart.lengthFieldByteCount
            unit.hasBegun = true
        }
        let end = min(unit.octets.count, unit.sentOctets + room)
        packet.write(bytes: unit.octets.span.bytes.extracting(unit.sentOctets..<end))
        unit.sentOctets = end
        credits -= 1
        unsentFrames += 1
        madeFrames += 1
        if end == unit.octets.count {
            endings.append((madeFrames, unit.operation))
        } else {
            units.prepend(unit)
        }
        return packet.bytes
    }

    /// A frame has been handed to the controller.
    /// - Returns: the report for its sender if it was the last one of a unit.
    mutating func frameGone() -> CreditBasedChannels.Action? {
        unsentFrames -= 1
        goneFrames += 1
        guard let ending = endings.first, ending.frame <= goneFrames else { return nil }
        _ = endings.popFirst()
        return ending.operation.map { .completed($0, .success(.done)) } ?? .unitSent(number: number)
    }

    /// Takes the operations of all units that were not completely sent.
    mutating func removeUnsentOperations() -> [OperationID] {
        var operations: [OperationID] = []
        while let ending = endings.popFirst() { if let own = ending.operation { operations.append(own) } }
        while let unit = units.popFirst() { if let own = unit.operation { operations.append(own) } }
        return operations
    }

    private mutating func append(_ octets: RawSpan) {
        unsafe octets.withUnsafeBytes { unsafe unit.append(contentsOf: $0) }
    }
}
