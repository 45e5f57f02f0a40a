import BLEPackets

/// Enhanced credit-based channels: up to five are opened by one request, and their sizes can be changed later
/// (Core 5.4, Vol 3, Part A, 4.25 to 4.28).
extension CreditBasedChannels {
    /// Our request for other sizes of open channels.
    struct Reconfiguration: Equatable {
        var operation: OperationID
        var identifier: UInt8
        var deadline: Instant
        /// The channels, with the sizes that apply again if the peer refuses.
        var previous: [Previous]

        struct Previous: Equatable {
            var number: UInt32
            var settings: ChannelSettings
        }
    }

    /// The smallest MTU and MPS of an enhanced channel (Core 5.4, Vol 3, Part A, 4.25).
    private static let minimumSize: UInt16 = 64
    /// How many Reconfigure Requests of ours may wait for their responses.
    private static let reconfigurationLimit = 8

    // MARK: Commands

    /// - Parameter count: how many channels to open; raised to 1 and reduced to 5, which one request can name.
    mutating func openEnhanced(
        _ count: Int, spsm: UInt16, settings: ChannelSettings, operation: OperationID, client: ClientID,
        identifiers: inout SignallingIdentifiers, at now: Instant
    ) {
        let count = min(max(1, count), L2CAPCreditBasedConnectionRequest.maximumChannelCount)
        let settings = settings.raised(to: Self.minimumSize)
        let identifier = identifiers.next()
        let state = CreditBasedChannel.State.opening(
            operation: operation, identifier: identifier, deadline: now.advanced(by: Self.responseTimeout))
        var sources: [L2CAPChannelIdentifier] = []
        for _ in 0..<count {
            guard let local = freeIdentifier() else { break }
            sources.append(local)
            channels.append(
                CreditBasedChannel(
                    number: nextNumber(), client: client, spsm: spsm, local: local, settings: settings,
                    isEnhanced: true, state: state))
        }
        guard sources.count == count else {
            channels.removeAll { $0.isOpening(for: operation) }
            return fail(operation, .noResources)
        }
        actions.append(
            .signal(
                .creditBasedConnectionRequest(
                    .init(
                        spsm: spsm, maximumTransmissionUnit: settings.maximumTransmissionUnit,
                        maximumPayloadSize: settings.maximumPayloadSize, initialCredits: settings.credits,
                        sources: sources)),
                identifier: identifier))
    }

    /// Asks the peer to send with other sizes. They must not be smaller than those in force, except for the MPS of a
    /// single channel (Core 5.4, Vol 3, Part A, 4.27).
    mutating func reconfigure(
        _ numbers: [UInt32], maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16, operation: OperationID,
        identifiers: inout SignallingIdentifiers, at now: Instant
    ) {
        let found = channels.indices.filter { numbers.contains(channels[$0].number) && channels[$0].isOpen }
        guard !found.isEmpty, found.count == numbers.count,
            found.count <= L2CAPCreditBasedConnectionRequest.maximumChannelCount
        else { return fail(operation, .notOpen) }
        var wanted = ChannelSettings(
            maximumTransmissionUnit: maximumTransmissionUnit, maximumPayloadSize: maximumPayloadSize)
        let isAllowed = found.allSatisfy { index in
            let settings = channels[index].settings
            return channels[index].isEnhanced && wanted.maximumTransmissionUnit >= settings.maximumTransmissionUnit
                && (found.count == 1 || wanted.maximumPayloadSize >= settings.maximumPayloadSize)
        }
        guard isAllowed, maximumPayloadSize >= Self.minimumSize else {
            return fail(operation, .notReconfigurable(.unacceptableParameters))
        }
        guard reconfigurations.count < Self.reconfigurationLimit,
            !reconfigurations.contains(where: { $0.previous.contains { numbers.contains($0.number) } })
        else { return fail(operation, .noResources) }
        let identifier = identifiers.next()
        var reconfiguration = Reconfiguration(
            operation: operation, identifier: identifier, deadline: now.advanced(by: Self.responseTimeout),
            previous: [])
        for index in found {
            let settings = channels[index].settings
            reconfiguration.previous.append(.init(number: channels[index].number, settings: settings))
            // Until the response, the peer may send with the old sizes or the new ones.
            wanted.credits = settings.credits
            channels[index].settings = wanted
            channels[index].settings.maximumPayloadSize = max(wanted.maximumPayloadSize, settings.maximumPayloadSize)
        }
        actions.append(
            .signal(
                .creditBasedReconfigureRequest(
                    .init(
                        maximumTransmissionUnit: wanted.maximumTransmissionUnit,
                        maximumPayloadSize: wanted.maximumPayloadSize,
                        destinations: found.map { channels[$0].local })),
                identifier: identifier))
        reconfigurations.append(reconfiguration)
    }

    // MARK: What the peer sends

    mutating func accept(
        _ request: L2CAPCreditBasedConnectionRequest, _ identifier: UInt8,
        _ listener: (UInt16) -> Result<(client: ClientID, settings: ChannelSettings), ChannelFailure>
    ) {
        func refusal(_ result: L2CAPCreditBasedConnectionResult) -> Action {
            .signal(.creditBasedConnectionResponse(.init(refusing: request, result: result)), identifier: identifier)
        }
        let client: ClientID
        var settings: ChannelSettings
        switch listener(request.spsm) {
        case .success(let found): (client, settings) = found
        case .failure(.refused(let result)): return actions.append(refusal(result))
        case .failure: return actions.append(refusal(.spsmNotSupported))
        }
        guard request.maximumTransmissionUnit >= Self.minimumSize, request.maximumPayloadSize >= Self.minimumSize,
            request.initialCredits > 0
        else { return actions.append(refusal(.invalidParameters)) }
        settings = settings.raised(to: Self.minimumSize)
        var result = L2CAPCreditBasedConnectionResult.success
        var destinations: [L2CAPChannelIdentifier] = []
        var opened: [Terms] = []
        for source in request.sourceChannelIdentifiers {
            guard !isFull(for: client), let local = freeIdentifier(), source.isDynamic, !isTaken(source) else {
                result =
                    if !source.isDynamic {
                        .invalidSourceChannelIdentifier
                    } else if isTaken(source) {
                        .sourceChannelIdentifierAlreadyAllocated
                    } else {
                        .noResourcesAvailable
                    }
                destinations.append(.null)
                continue
            }
            var channel = CreditBasedChannel(
                number: nextNumber(), client: client, spsm: request.spsm, local: local, settings: settings,
                isEnhanced: true, state: .open)
            channel.open(
                source, sendMTU: request.maximumTransmissionUnit, sendMPS: request.maximumPayloadSize,
                credits: request.initialCredits)
            channels.append(channel)
            destinations.append(local)
            opened.append(terms(channel))
        }
        actions.append(
            .signal(
                .creditBasedConnectionResponse(
                    .init(
                        maximumTransmissionUnit: settings.maximumTransmissionUnit,
                        maximumPayloadSize: settings.maximumPayloadSize, initialCredits: settings.credits,
                        result: result, destinations: destinations)),
                identifier: identifier))
        for terms in opened { actions.append(.opened(terms, client)) }
    }

    mutating func opened(
        _ response: L2CAPCreditBasedConnectionResponse, _ identifier: UInt8,
        _ identifiers: inout SignallingIdentifiers, _ now: Instant
    ) {
        var waiting: [UInt32] = []
        var opening: OperationID?
        for index in channels.indices where channels[index].isEnhanced && channels[index].isAwaitingAnswer(identifier) {
            guard case .opening(let operation, _, _) = channels[index].state else { return }
            waiting.append(channels[index].number)
            opening = operation
        }
        guard !waiting.isEmpty else { return }
        // The final response follows within the time that our request has anyway.
        if response.result.isPending { return }
        let isValid =
            response.maximumTransmissionUnit >= Self.minimumSize && response.maximumPayloadSize >= Self.minimumSize
            && response.destinationChannelIdentifiers.count <= waiting.count
        let destinations = response.destinationChannelIdentifiers
        var opened: [Terms] = []
        var violates = false
        // The peer may use the identifiers of channels that it has ended again.
        let ended = channels.filter { $0.isClosing }.map { $0.number }
        for (place, number) in waiting.enumerated() {
            let remote = place < destinations.count ? destinations[place] : .null
            guard let index = index(of: number) else { continue }
            guard remote.isDynamic else {
                channels.remove(at: index)
                if remote != .null { violates = true }
                continue
            }
            // A channel identifier that is given twice belongs to no channel (Core 5.4, Vol 3, Part A, 4.26).
            let other = channels.firstIndex { $0.remote == remote && !ended.contains($0.number) }
            if let other, channels[other].sends {
                let isNew = opened.contains { $0.number == channels[other].number }
                opened.removeAll { $0.number == channels[other].number }
                channels[other].disconnect(isNew ? nil : .protocolViolation, nil, &identifiers, at: now, into: &actions)
            }
            guard isValid, other == nil else {
                // The peer believes that the channel is open.
                channels[index].remote = remote
                channels[index].disconnect(nil, nil, &identifiers, at: now, into: &actions)
                violates = true
                continue
            }
            channels[index].open(
                remote, sendMTU: response.maximumTransmissionUnit, sendMPS: response.maximumPayloadSize,
                credits: response.initialCredits)
            opened.append(terms(channels[index]))
        }
        guard let operation = opening else {
            for terms in opened {
                guard let index = index(of: terms.number) else { continue }
                channels[index].disconnect(nil, nil, &identifiers, at: now, into: &actions)
            }
            return
        }
        guard opened.isEmpty else {
            return actions.append(.completed(operation, .success(.openedSeveral(opened))))
        }
        fail(operation, violates || response.result.isSuccess ? .invalidAnswer : .refused(response.result))
    }

    mutating func reconfigure(_ request: L2CAPCreditBasedReconfigureRequest, _ identifier: UInt8) {
        let result = changeSizes(request)
        actions.append(.signal(.creditBasedReconfigureResponse(.init(result: result)), identifier: identifier))
        guard result.isSuccess else { return }
        for index in channels.indices
        where channels[index].isOpen && request.destinationChannelIdentifiers.contains(channels[index].remote) {
            actions.append(.reconfigured(terms(channels[index])))
        }
    }

    /// Changes all channels of a request of the peer, or none.
    private mutating func changeSizes(_ request: L2CAPCreditBasedReconfigureRequest) -> L2CAPReconfigureResult {
        let remotes = request.destinationChannelIdentifiers
        let found = channels.indices.filter {
            channels[$0].isEnhanced && channels[$0].sends && remotes.contains(channels[$0].remote)
        }
        guard found.count == remotes.count else { return .invalidDestinationChannelIdentifier }
        let (mtu, mps) = (request.maximumTransmissionUnit, request.maximumPayloadSize)
        guard mtu >= Self.minimumSize, mps >= Self.minimumSize else { return .unacceptableParameters }
        guard found.allSatisfy({ mtu >= channels[$0].sendMTU }) else { return .mtuReductionNotAllowed }
        guard found.count == 1 || found.allSatisfy({ mps >= channels[$0].sendMPS }) else {
            return .mpsReductionNotAllowed
        }
        for index in found {
            channels[index].sendMTU = mtu
            channels[index].sendMPS = mps
        }
        return .success
    }

    /// The response to our Reconfigure Request, or what stands for one.
    mutating func reconfigured(_ result: L2CAPReconfigureResult, _ identifier: UInt8) {
        guard let place = reconfigurations.firstIndex(where: { $0.identifier == identifier }) else { return }
        let reconfiguration = reconfigurations.remove(at: place)
        guard result.isSuccess else {
            for previous in reconfiguration.previous {
                guard let index = index(of: previous.number) else { continue }
                channels[index].settings = previous.settings
            }
            return fail(reconfiguration.operation, .notReconfigurable(result))
        }
        actions.append(.completed(reconfiguration.operation, .success(.done)))
    }

    /// Whether a link has as many attribute bearers, open or requested, as one request can name.
    private func isFull(for client: ClientID) -> Bool {
        client == .attributeBearers
            && channels.count { $0.client == client } >= L2CAPCreditBasedConnectionRequest.maximumChannelCount
    }
}

extension ChannelSettings {
    fileprivate func raised(to minimum: UInt16) -> ChannelSettings {
        var settings = self
        settings.maximumTransmissionUnit = max(minimum, maximumTransmissionUnit)
        settings.maximumPayloadSize = max(minimum, maximumPayloadSize)
        return settings
    }
}

extension L2CAPCreditBasedConnectionResult {
    /// Whether the final response follows.
    fileprivate var isPending: Bool {
        self == .pending || self == .authenticationPending || self == .authorizationPending
    }
}
