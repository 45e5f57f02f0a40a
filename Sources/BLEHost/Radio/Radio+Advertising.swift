import BLEPackets

/// Advertising: one advertisement for all clients, or directed advertising to one device.
extension Radio {
    mutating func perform(_ action: AdvertisingMachine.Action, into effects: inout Effects) {
        switch action {
        case .none: break
        case .setParameters(let parameters): advertisingCommands.setAdvertisingParameters(parameters, &effects.commands)
        case .removeSet:
            effects.commands.append(
                LERemoveAdvertisingSet(advertisingHandle: RadioCommandSet.advertisingHandle), purpose: .advertise)
        case .setRandomAddress:
            guard let ownAddress else { return }
            effects.commands.append(
                LESetAdvertisingSetRandomAddress(
                    advertisingHandle: RadioCommandSet.advertisingHandle, address: ownAddress),
                purpose: .advertise)
        case .setAdvertisement(let data): advertisingCommands.setAdvertisement(data, &effects.commands)
        case .setScanResponse(let data): advertisingCommands.setScanResponse(data, &effects.commands)
        case .setEnabled(let isEnabled):
            let isHighDuty = isEnabled && directedTarget?.form == .highDutyCycle
            advertisingCommands.setAdvertisingEnabled(
                .init(isEnabled: isEnabled, duration: isHighDuty ? Self.highDutyDuration : 0), &effects.commands)
        case .fail(let status):
            let failure = HostFailure.controller(status, refusedOpcode)
            if let target = advertiser.target { return endDirected(target, .failure(failure), into: &effects) }
            for operation in advertiser.removeShared() { effects.complete(operation, .failure(failure)) }
        }
    }

    /// The controller answered a command about advertising.
    mutating func advertiseAnswered(_ status: HCIStatus, _ opcode: HCIOpcode, into effects: inout Effects) {
        guard Features.server else { return }
        effects.countRefusal(status)
        let wasAdvertising = isAdvertising
        // The machine is a new one then, and follows the wishes from the beginning.
        if changesFamily(status, opcode, into: &effects) {
            return reportAdvertising(before: wasAdvertising, into: &effects)
        }
        perform(
            advertisingMachine.completed(
                status, hasLinks: hasLinks || !configuration.adaptsToController, at: effects.now), into: &effects)
        advertisingAnswered(
            status, isRefused: advertisingMachine.isWaiting, isOn: advertisingMachine.isAdvertising, into: &effects)
        reportAdvertising(before: wasAdvertising, into: &effects)
        directedDeadline =
            advertisingMachine.isAdvertising && directedTarget?.form == .highDutyCycle
            ? directedDeadline ?? effects.now.advanced(by: Self.directedTimeout) : nil
    }

    /// The controller has stopped advertising by itself.
    /// - Parameter byConnection: whether a central connected; otherwise the time of directed advertising is over.
    mutating func advertisingEnded(byConnection: Bool, into effects: inout Effects) {
        guard Features.server else { return }
        let wasAdvertising = isAdvertising
        let call = directedTarget
        directedDeadline = nil
        perform(advertisingMachine.ended(), into: &effects)
        reportAdvertising(before: wasAdvertising, into: &effects)
        if let call {
            if byConnection {
                for operation in advertiser.directedEnded(call, hasCome: true) {
                    effects.complete(operation, .success(.done))
                }
            } else if call.form == .highDutyCycle {
                endDirected(call, .failure(.connectionFailed(.advertisingTimeout)), into: &effects)
            }
        }
        if byConnection {
            for operation in advertiser.centralConnected(at: effects.now) {
                effects.complete(operation, .success(.done))
            }
        }
    }

    /// A central's link has ended: it may be possible to advertise again.
    mutating func centralLeft(into effects: inout Effects) {
        perform(advertisingMachine.proceed(), into: &effects)
        proceedWithGuests(into: &effects)
    }

    // MARK: Wishes

    /// - Parameter isPresent: whether the request's target is connected.
    mutating func advertise(
        _ request: AdvertiseRequest, operation: OperationID, client: ClientID, isPresent: Bool,
        into effects: inout Effects
    ) {
        guard Features.server else { return }
        guard configuration.ownership == .exclusive else {
            return effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        if case .raw(let advertisement, let scanResponse) = request.content,
            advertisement.count > 31 || scanResponse.count > 31
        {
            return effects.complete(operation, .failure(.invalidRequest(.advertisementTooLong)))
        }
        if let target = request.target, isPresent, target.form == .highDutyCycle || !request.resumesAfterConnection {
            return effects.complete(operation, .success(.done))
        }
        // Sets of clients may have taken all that the controller has; a set that it has already stays.
        guard advertiser.isWanted || advertisingMachine.usesController || sets.hasRoom else {
            return effects.complete(operation, .failure(.limitReached))
        }
        advertiser.add(request, operation: operation, client: client, at: effects.now)
    }

    // MARK: Calls of one device, by directed advertising

    /// The time limit for the controller to end directed advertising, which lasts 1.28 s: some controllers never end
    /// it.
    static let directedTimeout = Microseconds.microseconds(AdvertisingTarget.highDutyCycleSpan.rawValue + 220_000)
    /// In units of 10 ms.
    static let highDutyDuration: UInt16 = 128

    private var directedTarget: AdvertisingTarget? { advertisingMachine.planInForce?.parameters.target }

    mutating func endDirected(
        _ target: AdvertisingTarget, _ result: Result<HostResult, HostFailure>, into effects: inout Effects
    ) {
        for operation in advertiser.directedEnded(target) { effects.complete(operation, result) }
    }

    /// Ends directed advertising that the controller has not ended in time.
    mutating func advanceDirected(into effects: inout Effects) {
        guard let deadline = directedDeadline, deadline <= effects.now else { return }
        directedDeadline = nil
        if let call = directedTarget {
            endDirected(call, .failure(.connectionFailed(.advertisingTimeout)), into: &effects)
        }
    }
}
