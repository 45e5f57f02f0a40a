import BLEPackets

@testable import BLEHost

/// Two ends of one link's credit-based channels, with nothing between them but a queue each way.
final class ChannelPair {
    /// One end, and what its client has seen.
    struct End {
        var channels = CreditBasedChannels()
        var identifiers = SignallingIdentifiers()
        var opened: [CreditBasedChannels.Terms] = []
        var received: [[UInt8]] = []
        var closed: [ChannelEnd] = []
        var reconfigured: [CreditBasedChannels.Terms] = []
        var results: [OperationID: Result<CreditBasedChannels.Answer, ChannelFailure>] = [:]
        /// How often an operation ended that had ended before.
        var doubleEnds = 0
        var sentFrames: [[UInt8]] = []
        /// Frames that were made and that the controller has not taken.
        var postponedFrames: [UInt32] = []
        /// Whether the controller takes frames at once.
        var takesFrames = true
        var listener: Result<(client: ClientID, settings: ChannelSettings), ChannelFailure> =
            .failure(.refused(.spsmNotSupported))

        mutating func open(_ spsm: UInt16, _ settings: ChannelSettings, _ operation: OperationID, at now: Instant) {
            channels.open(
                spsm: spsm, settings: settings, operation: operation, client: .local, identifiers: &identifiers,
                at: now)
        }

        mutating func openEnhanced(
            _ count: Int, _ settings: ChannelSettings, _ operation: OperationID, at now: Instant
        ) {
            channels.openEnhanced(
                count, spsm: 0x80, settings: settings, operation: operation, client: .local,
                identifiers: &identifiers, at: now)
        }

        mutating func reconfigure(
            _ numbers: [UInt32], mtu: UInt16, mps: UInt16, _ operation: OperationID, at now: Instant
        ) {
            channels.reconfigure(
                numbers, maximumTransmissionUnit: mtu, maximumPayloadSize: mps, operation: operation,
                identifiers: &identifiers, at: now)
        }

        mutating func consume(_ units: Int) { channels.consume(units, on: 1, identifiers: &identifiers) }

        mutating func close(_ operation: OperationID, at now: Instant) {
            channels.close(1, operation: operation, identifiers: &identifiers, at: now)
        }

        mutating func frameGone(_ number: UInt32, at now: Instant) {
            channels.frameGone(number, identifiers: &identifiers, at: now)
        }

        mutating func leave(at now: Instant) {
            channels.closeAll(of: .local, identifiers: &identifiers, at: now)
        }

        mutating func advance(to now: Instant) { channels.advance(to: now, identifiers: &identifiers) }

        mutating func receive(_ command: LESignallingCommand, identifier: UInt8, at now: Instant) {
            let listener = listener
            channels.receive(
                command, identifier: identifier, listener: { _ in listener }, identifiers: &identifiers, at: now)
        }

        mutating func receive(_ payload: [UInt8], on channel: L2CAPChannelIdentifier, at now: Instant) {
            _ = channels.receive(payload.span.bytes, on: channel, identifiers: &identifiers, at: now)
        }
    }

    var initiator = End()
    var acceptor = End()
    private(set) var now = Instant.zero
    /// Changes or swallows what one end signals to the other.
    var signalMutator: (LESignallingCommand) -> LESignallingCommand? = { $0 }
    private var lastOperation: UInt64 = 0

    func listen(_ settings: ChannelSettings = ChannelSettings()) {
        acceptor.listener = .success((ClientID(rawValue: 7), settings))
    }

    @discardableResult
    func open(_ spsm: UInt16 = 0x80, _ settings: ChannelSettings = ChannelSettings()) -> OperationID {
        let operation = nextOperation()
        initiator.open(spsm, settings, operation, at: now)
        settle()
        return operation
    }

    @discardableResult
    func openEnhanced(_ count: Int, _ settings: ChannelSettings = ChannelSettings()) -> OperationID {
        let operation = nextOperation()
        initiator.openEnhanced(count, settings, operation, at: now)
        settle()
        return operation
    }

    @discardableResult
    func reconfigure(_ numbers: [UInt32], mtu: UInt16, mps: UInt16) -> OperationID {
        let operation = nextOperation()
        initiator.reconfigure(numbers, mtu: mtu, mps: mps, operation, at: now)
        settle()
        return operation
    }

    @discardableResult
    func send(_ octets: [UInt8], number: UInt32 = 1) -> OperationID {
        let operation = nextOperation()
        initiator.channels.send(octets, on: number, operation: operation)
        settle()
        return operation
    }

    func consume(_ units: Int) {
        acceptor.consume(units)
        settle()
    }

    func close() -> OperationID {
        let operation = nextOperation()
        initiator.close(operation, at: now)
        settle()
        return operation
    }

    func closeAcceptor() {
        acceptor.close(nextOperation(), at: now)
        settle()
    }

    /// The acceptor gives more credits than there may be.
    func breakRules() {
        let acceptor = L2CAPChannelIdentifier(rawValue: 0x40)
        initiator.receive(
            .flowControlCreditIndication(.init(channelIdentifier: acceptor, credits: 65535)), identifier: 0x77, at: now)
        initiator.receive(
            .flowControlCreditIndication(.init(channelIdentifier: acceptor, credits: 65535)), identifier: 0x78, at: now)
        settle()
    }

    func leave() {
        initiator.leave(at: now)
        settle()
    }

    func cancel(_ operation: OperationID) {
        _ = initiator.channels.cancel(operation)
        settle()
    }

    /// The acceptor's frames come straight from a peer that keeps no rules.
    func injectFrame(_ payload: [UInt8]) {
        acceptor.receive(payload, on: L2CAPChannelIdentifier(rawValue: 0x40), at: now)
        settle()
    }

    func inject(_ command: LESignallingCommand, identifier: UInt8 = 0x77) {
        acceptor.receive(command, identifier: identifier, at: now)
        settle()
    }

    func removePostponedFrames() {
        let held = initiator.postponedFrames
        initiator.postponedFrames = []
        for number in held { initiator.frameGone(number, at: now) }
        settle()
    }

    func advance(by span: Microseconds) {
        now = now.advanced(by: span)
        initiator.advance(to: now)
        acceptor.advance(to: now)
        settle()
    }

    func linkLost() {
        initiator.channels.linkLost()
        acceptor.channels.linkLost()
        settle()
    }

    private func nextOperation() -> OperationID {
        lastOperation += 1
        return OperationID(rawValue: lastOperation)
    }

    private func settle() {
        while Self.move(from: &initiator, to: &acceptor, signalMutator, now)
            || Self.move(from: &acceptor, to: &initiator, signalMutator, now)
        {}
    }

    private static func move(
        from one: inout End, to other: inout End, _ mutator: (LESignallingCommand) -> LESignallingCommand?,
        _ now: Instant
    ) -> Bool {
        guard let action = one.channels.nextAction() else { return false }
        switch action {
        case .signal(let command, let identifier):
            guard let command = mutator(command) else { break }
            other.receive(command, identifier: identifier, at: now)
        case .frame(let channel, let payload, let number):
            one.sentFrames.append(payload)
            if one.takesFrames { one.frameGone(number, at: now) } else { one.postponedFrames.append(number) }
            other.receive(payload, on: channel, at: now)
        case .opened(let terms, _): one.opened.append(terms)
        case .reconfigured(let terms): one.reconfigured.append(terms)
        case .unitSent: break
        case .received(_, let octets): one.received.append(octets)
        case .closed(_, let end): one.closed.append(end)
        case .completed(let operation, let result):
            if one.results.updateValue(result, forKey: operation) != nil { one.doubleEnds += 1 }
        }
        return true
    }
}
