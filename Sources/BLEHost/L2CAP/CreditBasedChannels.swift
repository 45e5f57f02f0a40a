import BLEPackets

/// The credit-based channels of one link (Core 5.4, Vol 3, Part A, 4.22 to 4.24).
///
/// A state machine like the others: events in, actions out. A peer that violates the protocol loses the channel, never
/// the link.
struct CreditBasedChannels {
    enum Action: Equatable {
        case signal(LESignallingCommand, identifier: UInt8)
        case frame(L2CAPChannelIdentifier, [UInt8], number: UInt32)
        case opened(Terms, ClientID)
        case received(number: UInt32, [UInt8])
        /// The controller has all of a unit that no operation sent.
        case unitSent(number: UInt32)
        case closed(number: UInt32, ChannelEnd)
        /// The sizes of an open channel changed.
        case reconfigured(Terms)
        case completed(OperationID, Result<Answer, ChannelFailure>)
    }

    /// What an operation ended with.
    enum Answer: Equatable {
        case done
        case opened(Terms)
        /// The channels of an enhanced request that the peer accepted.
        case openedSeveral([Terms])
    }

    /// The terms that both sides agreed on for a channel.
    struct Terms: Equatable {
        var number: UInt32
        var spsm: UInt16
        var sendMTU: UInt16
        var receiveMTU: UInt16
    }

    /// How long the peer may take to respond (RTX, Core 5.4, Vol 3, Part A, 6.2.1).
    static let responseTimeout: Microseconds = .seconds(30)
    /// How long a closed channel may take to send what it accepted before.
    private static let drainTimeout: Microseconds = .seconds(30)
    /// How many frames of one channel may wait for the controller.
    fileprivate static let unsentFrameLimit = 8
    /// How many units of one channel may wait for credits.
    static let unitLimit = 64
    /// The maximum number of channels of one link.
    private static let channelLimit = 32
    /// The maximum number of those that one ordinary user's clients open.
    static let channelLimitOfUser = 24

    /// In the order in which they were created.
    var channels: [CreditBasedChannel] = []
    var actions = Queue<Action>()
    /// Our Reconfigure Requests that wait for their responses.
    var reconfigurations: [Reconfiguration] = []
    private var lastNumber: UInt32 = 0

    mutating func nextAction() -> Action? { actions.popFirst() }

    @inline(__always)
    var nextDeadline: Instant? { channels.isEmpty && reconfigurations.isEmpty ? nil : firstDeadline }

    @inline(never)
    private var firstDeadline: Instant? {
        var deadline: Instant?
        for channel in channels {
            switch channel.state {
            case .opening(_, _, let limit), .draining(_, let limit), .closing(_, _, let limit):
                deadline = earliest(deadline, limit)
            case .open: break
            }
        }
        for reconfiguration in reconfigurations { deadline = earliest(deadline, reconfiguration.deadline) }
        return deadline
    }

    // MARK: Commands

    mutating func open(
        spsm: UInt16, settings: ChannelSettings, operation: OperationID, client: ClientID,
        identifiers: inout SignallingIdentifiers, at now: Instant
    ) {
        guard let local = freeIdentifier() else {
            return actions.append(.completed(operation, .failure(.noResources)))
        }
        let identifier = identifiers.next()
        channels.append(
            CreditBasedChannel(
                number: nextNumber(), client: client, spsm: spsm, local: local, settings: settings,
                state: .opening(
                    operation: operation, identifier: identifier, deadline: now.advanced(by: Self.responseTimeout))))
        actions.append(
            .signal(
                .leCreditBasedConnectionRequest(
                    .init(
                        spsm: spsm, source: local, maximumTransmissionUnit: settings.maximumTransmissionUnit,
                        maximumPayloadSize: settings.maximumPayloadSize, initialCredits: settings.credits)),
                identifier: identifier))
    }

    /// Sends a service data unit; the operation ends when its last octet has been handed to the controller.
    mutating func send(_ octets: [UInt8], on number: UInt32, operation: OperationID) {
        guard let index = index(of: number), channels[index].isOpen else {
            return actions.append(.completed(operation, .failure(.notOpen)))
        }
        guard octets.count <= Int(channels[index].sendMTU) else {
            return actions.append(.completed(operation, .failure(.unitTooLong)))
        }
        guard channels[index].units.count < Self.unitLimit else {
            return actions.append(.completed(operation, .failure(.noResources)))
        }
        channels[index].units.append(.init(operation: operation, octets: octets))
        channels[index].sendFrames(into: &actions)
    }

    /// Sends a PDU of an attribute bearer; `unitSent` follows when its last octet has been handed to the controller.
    /// - Returns: whether it was accepted.
    mutating func send(_ pdu: [UInt8], onBearer number: UInt32) -> Bool {
        guard let index = index(of: number), channels[index].isOpen, pdu.count <= Int(channels[index].sendMTU),
            channels[index].units.count < Self.unitLimit
        else { return false }
        channels[index].units.append(.init(operation: nil, octets: pdu))
        channels[index].sendFrames(into: &actions)
        return true
    }

    mutating func consume(_ count: Int, on number: UInt32, identifiers: inout SignallingIdentifiers) {
        guard let index = index(of: number) else { return }
        channels[index].consume(count)
        channels[index].returnCredits(&identifiers, into: &actions)
    }

    /// Closes a channel for its client at once; the peer learns of it after it has everything that was sent before.
    mutating func close(
        _ number: UInt32, operation: OperationID?, identifiers: inout SignallingIdentifiers, at now: Instant
    ) {
        guard let index = index(of: number) else {
            if let operation { actions.append(.completed(operation, .failure(.notOpen))) }
            return
        }
        switch channels[index].state {
        case .opening: if let operation { actions.append(.completed(operation, .failure(.notOpen))) }
        case .closing(var operations, let pending, let deadline):
            if let operation { operations.append(operation) }
            channels[index].state = .closing(operations: operations, identifier: pending, deadline: deadline)
        case .draining(var operations, let deadline):
            if let operation { operations.append(operation) }
            channels[index].state = .draining(operations: operations, deadline: deadline)
        case .open where channels[index].isDrained:
            channels[index].disconnect(.closedLocally, operation, &identifiers, at: now, into: &actions)
        case .open:
            channels[index].state = .draining(
                operations: operation.map { [$0] } ?? [], deadline: now.advanced(by: Self.drainTimeout))
            actions.append(.closed(number: number, .closedLocally))
        }
    }

    /// Closes a channel; what was sent on it and the controller does not have yet is dropped.
    mutating func closeAtOnce(_ number: UInt32, identifiers: inout SignallingIdentifiers, at now: Instant) {
        guard let index = index(of: number), channels[index].sends else { return }
        channels[index].disconnect(.closedLocally, nil, &identifiers, at: now, into: &actions)
    }

    /// Closes all channels of a client; what it sent and the controller does not have yet is dropped.
    mutating func closeAll(of client: ClientID, identifiers: inout SignallingIdentifiers, at now: Instant) {
        for index in channels.indices where channels[index].client == client && channels[index].sends {
            channels[index].disconnect(.closedLocally, nil, &identifiers, at: now, into: &actions)
        }
    }

    /// Cancels an attempt to open a channel; if the peer accepts it afterwards, the channel is closed at once. Who
    /// waits for the end of a channel waits no longer; the channel goes on closing.
    mutating func cancel(_ operation: OperationID) -> Bool {
        var isFound = false
        for index in channels.indices {
            switch channels[index].state {
            case .opening(operation, let identifier, let deadline):
                channels[index].state = .opening(operation: nil, identifier: identifier, deadline: deadline)
            case .draining(var operations, let deadline) where operations.contains(operation):
                operations.removeAll { $0 == operation }
                channels[index].state = .draining(operations: operations, deadline: deadline)
            case .closing(var operations, let identifier, let deadline) where operations.contains(operation):
                operations.removeAll { $0 == operation }
                channels[index].state = .closing(operations: operations, identifier: identifier, deadline: deadline)
            case .opening, .draining, .closing, .open: continue
            }
            isFound = true
        }
        if isFound { actions.append(.completed(operation, .failure(.notOpen))) }
        return isFound
    }

    mutating func linkLost() {
        while let channel = channels.first { remove(channel.number, .linkLost) }
        while let reconfiguration = reconfigurations.popLast() { fail(reconfiguration.operation, .notOpen) }
    }

    mutating func advance(to now: Instant, identifiers: inout SignallingIdentifiers) {
        for index in channels.indices {
            guard case .draining(_, let limit) = channels[index].state, limit <= now else { continue }
            channels[index].disconnect(.closedLocally, nil, &identifiers, at: now, into: &actions)
        }
        for channel in channels {
            switch channel.state {
            case .opening(_, _, let limit) where limit <= now, .closing(_, _, let limit) where limit <= now:
                remove(channel.number, .protocolViolation)
            case .opening, .closing, .open, .draining: break
            }
        }
        for reconfiguration in reconfigurations where reconfiguration.deadline <= now {
            reconfigured(.unacceptableParameters, reconfiguration.identifier)
        }
    }

    // MARK: What the peer sends

    /// - Parameters:
    ///   - listener: finds the client that listens on an SPSM, and its settings; a failure refuses the channel.
    mutating func receive(
        _ command: LESignallingCommand, identifier: UInt8,
        listener: (UInt16) -> Result<(client: ClientID, settings: ChannelSettings), ChannelFailure>,
        identifiers: inout SignallingIdentifiers, at now: Instant
    ) {
        switch command {
        case .leCreditBasedConnectionRequest(let request): accept(request, identifier, listener)
        case .leCreditBasedConnectionResponse(let response): opened(response, identifier, &identifiers, now)
        case .flowControlCreditIndication(let indication):
            guard let index = channels.firstIndex(where: { $0.remote == indication.channelIdentifier && $0.sends })
            else { return }
            let sum = channels[index].credits + Int(indication.credits)
            // More than 65535 credits end the channel (Core 5.4, Vol 3, Part A, 4.24); zero is ignored.
            guard sum <= 65535 else {
                return channels[index].disconnect(.protocolViolation, nil, &identifiers, at: now, into: &actions)
            }
            channels[index].credits = sum
            channels[index].sendFrames(into: &actions)
        case .disconnectionRequest(let request):
            guard let channel = channel(request) else {
                // Our end exists, but not with this other end: no answer (Core 5.4, Vol 3, Part A, 4.6).
                if channels.contains(where: { $0.local == request.destinationChannelIdentifier }) { return }
                return actions.append(.signal(.noSuchChannel(request), identifier: identifier))
            }
            actions.append(.signal(.disconnectionResponse(.init(answering: request)), identifier: identifier))
            remove(channel.number, .closedByPeer)
        case .disconnectionResponse(let response):
            guard let channel = closing(response, identifier) else { return }
            remove(channel.number, .closedLocally)
        case .commandReject:
            while let channel = awaiting(identifier) { remove(channel.number, .closedByPeer) }
            reconfigured(.unacceptableParameters, identifier)
        case .creditBasedConnectionRequest(let request): accept(request, identifier, listener)
        case .creditBasedConnectionResponse(let response): opened(response, identifier, &identifiers, now)
        case .creditBasedReconfigureRequest(let request): reconfigure(request, identifier)
        case .creditBasedReconfigureResponse(let response): reconfigured(response.result, identifier)
        // `SignallingChannel` has already handled these: its own commands, and those unknown to this side.
        case .connectionParameterUpdateRequest, .connectionParameterUpdateResponse, .other: break
        }
    }

    /// Receives a frame on a channel identifier of the dynamic range.
    /// - Returns: whether the channel exists.
    mutating func receive(
        _ payload: RawSpan, on local: L2CAPChannelIdentifier, identifiers: inout SignallingIdentifiers,
        at now: Instant
    ) -> Bool {
        guard let index = channels.firstIndex(where: { $0.local == local }) else { return false }
        // What the peer sent before it knew that the channel is closed is dropped.
        guard channels[index].isOpen else { return true }
        switch channels[index].receive(payload) {
        case .incomplete: channels[index].returnCredits(&identifiers, into: &actions)
        case .unit(let octets): actions.append(.received(number: channels[index].number, octets))
        case .violation: channels[index].disconnect(.protocolViolation, nil, &identifiers, at: now, into: &actions)
        }
        return true
    }

    /// A frame has been handed to the controller.
    mutating func frameGone(_ number: UInt32, identifiers: inout SignallingIdentifiers, at now: Instant) {
        guard let index = index(of: number) else { return }
        if let action = channels[index].frameGone() { actions.append(action) }
        channels[index].sendFrames(into: &actions)
        if channels[index].isDraining, channels[index].isDrained {
            channels[index].disconnect(.closedLocally, nil, &identifiers, at: now, into: &actions)
        }
    }

    // MARK: Steps

    private mutating func accept(
        _ request: L2CAPLECreditBasedConnectionRequest, _ identifier: UInt8,
        _ listener: (UInt16) -> Result<(client: ClientID, settings: ChannelSettings), ChannelFailure>
    ) {
        func refusal(_ result: L2CAPCreditBasedConnectionResult) -> Action {
            .signal(.leCreditBasedConnectionResponse(.init(refusing: result)), identifier: identifier)
        }
        let client: ClientID
        let settings: ChannelSettings
        switch listener(request.spsm) {
        case .success(let found): (client, settings) = found
        case .failure(.refused(let result)): return actions.append(refusal(result))
        case .failure: return actions.append(refusal(.spsmNotSupported))
        }
        // Attribute bearers are opened by the enhanced form only (Core 5.4, Vol 3, Part G, 5.3).
        guard client != .attributeBearers else { return actions.append(refusal(.spsmNotSupported)) }
        guard request.maximumTransmissionUnit >= 23, request.maximumPayloadSize >= 23 else {
            return actions.append(refusal(.unacceptableParameters))
        }
        guard request.sourceChannelIdentifier.isDynamic else {
            return actions.append(refusal(.invalidSourceChannelIdentifier))
        }
        guard !isTaken(request.sourceChannelIdentifier) else {
            return actions.append(refusal(.sourceChannelIdentifierAlreadyAllocated))
        }
        guard let local = freeIdentifier() else { return actions.append(refusal(.noResourcesAvailable)) }
        var channel = CreditBasedChannel(
            number: nextNumber(), client: client, spsm: request.spsm, local: local, settings: settings, state: .open)
        channel.open(
            request.sourceChannelIdentifier, sendMTU: request.maximumTransmissionUnit,
            sendMPS: request.maximumPayloadSize, credits: request.initialCredits)
        channels.append(channel)
        actions.append(
            .signal(
                .leCreditBasedConnectionResponse(
                    .init(
                        destination: local, maximumTransmissionUnit: settings.maximumTransmissionUnit,
                        maximumPayloadSize: settings.maximumPayloadSize, initialCredits: settings.credits)),
                identifier: identifier))
        actions.append(.opened(terms(channel), client))
    }

    private mutating func opened(
        _ response: L2CAPLECreditBasedConnectionResponse, _ identifier: UInt8,
        _ identifiers: inout SignallingIdentifiers, _ now: Instant
    ) {
        guard let index = channels.firstIndex(where: { $0.isAwaitingAnswer(identifier) && !$0.isEnhanced }),
            case .opening(let operation, _, _) = channels[index].state
        else { return }
        guard response.result.isSuccess else {
            channels.remove(at: index)
            return fail(operation, .refused(response.result))
        }
        let remote = response.destinationChannelIdentifier
        let isFree = remote.isDynamic && !isTaken(remote)
        guard isFree, response.maximumTransmissionUnit >= 23, response.maximumPayloadSize >= 23 else {
            if isFree {
                // The peer believes that the channel is open.
                channels[index].remote = remote
                channels[index].disconnect(nil, nil, &identifiers, at: now, into: &actions)
            } else {
                channels.remove(at: index)
            }
            return fail(operation, .invalidAnswer)
        }
        channels[index].open(
            remote, sendMTU: response.maximumTransmissionUnit, sendMPS: response.maximumPayloadSize,
            credits: response.initialCredits)
        guard let operation else { return channels[index].disconnect(nil, nil, &identifiers, at: now, into: &actions) }
        actions.append(.completed(operation, .success(.opened(terms(channels[index])))))
    }

    @inline(never)
    mutating func fail(_ operation: OperationID?, _ failure: ChannelFailure) {
        if let operation { actions.append(.completed(operation, .failure(failure))) }
    }

    @inline(never)
    mutating func remove(_ number: UInt32, _ end: ChannelEnd) {
        guard let index = index(of: number) else { return }
        finish(channels.remove(at: index), end)
    }

    /// Ends everything that waits on a channel, once.
    @inline(never)
    private mutating func finish(_ channel: CreditBasedChannel, _ end: ChannelEnd) {
        var channel = channel
        for unsent in channel.removeUnsentOperations() { fail(unsent, .notOpen) }
        switch channel.state {
        case .opening(let operation, _, _):
            // An enhanced request ends with the last of its channels.
            if channels.contains(where: { $0.isOpening(for: operation) }) { return }
            fail(operation, .invalidAnswer)
        case .open: actions.append(.closed(number: channel.number, end))
        case .draining(let operations, _), .closing(let operations, _, _):
            for operation in operations { actions.append(.completed(operation, .success(.done))) }
        }
    }

    // MARK: Lookups

    mutating func nextNumber() -> UInt32 {
        lastNumber += 1
        return lastNumber
    }

    @inline(never)
    func index(of number: UInt32) -> Int? { channels.firstIndex { $0.number == number } }

    private func channel(_ request: L2CAPDisconnectionRequest) -> CreditBasedChannel? {
        channels.first {
            $0.local == request.destinationChannelIdentifier && $0.remote == request.sourceChannelIdentifier
        }
    }

    /// Whether the peer uses one of its channel identifiers already. That of a channel that waits for its Disconnection
    /// Response is free for the peer as soon as it has sent that (Core 5.4, Vol 3, Part A, 4.7).
    @inline(never)
    func isTaken(_ remote: L2CAPChannelIdentifier) -> Bool {
        channels.contains { $0.remote == remote && !$0.isClosing }
    }

    /// The channel that a Disconnection Response ends. Some peers answer with another identifier or in another order:
    /// the two ends of the channel then decide.
    private func closing(_ response: L2CAPDisconnectionResponse, _ identifier: UInt8) -> CreditBasedChannel? {
        if let channel = awaiting(identifier), channel.isClosing { return channel }
        let (first, second) = (response.destinationChannelIdentifier, response.sourceChannelIdentifier)
        return channels.first {
            $0.isClosing
                && ($0.remote == first && $0.local == second || $0.local == first && $0.remote == second)
        }
    }

    /// Whether a request of ours with this identifier waits for its response.
    func awaitsAnswer(_ identifier: UInt8) -> Bool {
        awaiting(identifier) != nil || reconfigurations.contains { $0.identifier == identifier }
    }

    func awaiting(_ identifier: UInt8) -> CreditBasedChannel? {
        channels.first { $0.isAwaitingAnswer(identifier) }
    }

    @inline(never)
    func freeIdentifier() -> L2CAPChannelIdentifier? {
        guard channels.count < Self.channelLimit else { return nil }
        for value in L2CAPChannelIdentifier.leDynamicRange {
            let identifier = L2CAPChannelIdentifier(rawValue: value)
            if !channels.contains(where: { $0.local == identifier }) { return identifier }
        }
        return nil
    }

    @inline(never)
    func terms(_ channel: CreditBasedChannel) -> Terms {
        Terms(
            number: channel.number, spsm: channel.spsm, sendMTU: channel.sendMTU,
            receiveMTU: channel.settings.maximumTransmissionUnit)
    }
}

extension CreditBasedChannel {
    /// Sends what the peer has granted credits for.
    fileprivate mutating func sendFrames(into actions: inout Queue<CreditBasedChannels.Action>) {
        while let frame = nextFrame(limit: CreditBasedChannels.unsentFrameLimit) {
            actions.append(.frame(remote, frame, number: number))
        }
    }

    /// Returns credits to the peer if it is time.
    fileprivate mutating func returnCredits(
        _ identifiers: inout SignallingIdentifiers, into actions: inout Queue<CreditBasedChannels.Action>
    ) {
        guard let credits = removeOwedCredits() else { return }
        actions.append(
            .signal(
                .flowControlCreditIndication(.init(channelIdentifier: local, credits: credits)),
                identifier: identifiers.next()))
    }

    /// Asks the peer to end the channel.
    /// - Parameter end: the event for the client; `nil` if it never knew of the channel. A client that closed it was
    ///   told already.
    mutating func disconnect(
        _ end: ChannelEnd?, _ operation: OperationID?, _ identifiers: inout SignallingIdentifiers, at now: Instant,
        into actions: inout Queue<CreditBasedChannels.Action>
    ) {
        let identifier = identifiers.next()
        let isKnown = !isDraining
        for unsent in removeUnsentOperations() { actions.append(.completed(unsent, .failure(.notOpen))) }
        var operations = operation.map { [$0] } ?? []
        if case .draining(let closing, _) = state { operations = closing + operations }
        state = .closing(
            operations: operations, identifier: identifier,
            deadline: now.advanced(by: CreditBasedChannels.responseTimeout))
        actions.append(
            .signal(.disconnectionRequest(.init(destination: remote, source: local)), identifier: identifier))
        if let end, isKnown { actions.append(.closed(number: number, end)) }
    }
}

extension LESignallingCommand {
    /// The response to a request that names a channel which does not exist.
    static func noSuchChannel(_ request: L2CAPDisconnectionRequest) -> LESignallingCommand {
        .commandReject(
            .init(
                reason: .invalidChannelIdentifier(
                    local: request.destinationChannelIdentifier, remote: request.sourceChannelIdentifier)))
    }
}
