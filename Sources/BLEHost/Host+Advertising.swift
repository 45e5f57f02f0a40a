import BLEPackets

/// Advertising for all clients: one advertisement, one set.
extension Host {
    /// The one advertising set that extended commands use.
    static let advertisingHandle: UInt8 = 0

    mutating func convergeAdvertising(at now: Instant) {
        guard !isRadioPaused else { return perform(advertisingMachine.want(nil), at: now) }
        advertiser.hold(advertiser.targets.filter { isConnected(to: $0) })
        while let target = advertiser.target, target.form == .extended, !information.usesExtendedCommands {
            endCall(
                target,
                .failure(
                    .controller(.unsupportedFeatureOrParameterValue, LESetExtendedAdvertisingParameters.opcode)))
        }
        var plan = advertiser.plan(
            timing: configuration.timing, settings: configuration.advertising, ownAddressType: hostAddressType, at: now)
        if let target = plan?.parameters.target {
            plan?.parameters.ownAddressType = ownAddressType(towards: target.peer)
        }
        paceDeadline = advertiser.nextDeadline(timing: configuration.timing, after: now)
        perform(advertisingMachine.want(plan), at: now)
    }

    mutating func perform(_ action: AdvertisingMachine.Action, at now: Instant) {
        switch action {
        case .none: break
        case .setParameters(let parameters): setAdvertisingParameters(parameters)
        case .removeSet:
            commands.append(LERemoveAdvertisingSet(advertisingHandle: Self.advertisingHandle), purpose: .advertise)
        case .setRandomAddress:
            guard let address = information.ownAddress else { return }
            commands.append(
                LESetAdvertisingSetRandomAddress(advertisingHandle: Self.advertisingHandle, address: address),
                purpose: .advertise)
        case .setAdvertisement(let data):
            if information.usesExtendedCommands {
                commands.append(
                    LESetExtendedAdvertisingData(advertisingHandle: Self.advertisingHandle, data: data),
                    purpose: .advertise)
            } else {
                commands.append(LESetAdvertisingData(data: data), purpose: .advertise)
            }
        case .setScanResponse(let data):
            if information.usesExtendedCommands {
                commands.append(
                    LESetExtendedScanResponseData(advertisingHandle: Self.advertisingHandle, data: data),
                    purpose: .advertise)
            } else {
                commands.append(LESetScanResponseData(data: data), purpose: .advertise)
            }
        case .setEnabled(let isEnabled):
            if information.usesExtendedCommands {
                commands.append(
                    LESetExtendedAdvertisingEnable(
                        isEnabled: isEnabled,
                        sets: [
                            .init(
                                advertisingHandle: Self.advertisingHandle,
                                duration: isEnabled && callInForce?.form == .highDutyCycle ? Self.highDutyDuration : 0,
                                maximumEvents: 0)
                        ]),
                    purpose: .advertise)
            } else {
                commands.append(LESetAdvertisingEnable(isEnabled: isEnabled), purpose: .advertise)
            }
        case .fail(let status):
            let opcode =
                information.usesExtendedCommands
                ? LESetExtendedAdvertisingEnable.opcode : LESetAdvertisingEnable.opcode
            if let target = advertiser.target {
                return endCall(target, .failure(.controller(status, opcode)))
            }
            for operation in advertiser.removeAll() { complete(operation, .failure(.controller(status, opcode))) }
        }
    }

    /// Legacy PDUs in either form, so that every central hears them.
    private mutating func setAdvertisingParameters(_ parameters: AdvertisingParameters) {
        if let target = parameters.target { return setDirectedParameters(parameters, target) }
        guard information.usesExtendedCommands else {
            let type: AdvertisingType =
                parameters.isConnectable
                ? .connectableUndirected : parameters.isScannable ? .scannableUndirected : .nonConnectableUndirected
            commands.append(
                LESetAdvertisingParameters(
                    minimumInterval: parameters.interval, maximumInterval: parameters.interval, type: type,
                    ownAddressType: parameters.ownAddressType),
                purpose: .advertise)
            return
        }
        let properties: ExtendedAdvertisingProperties =
            parameters.isConnectable
            ? .legacyConnectableUndirected
            : parameters.isScannable ? .legacyScannableUndirected : .legacyNonConnectableUndirected
        let interval = ExtendedAdvertisingInterval(rawValue: UInt32(parameters.interval.rawValue))
        commands.append(
            LESetExtendedAdvertisingParameters(
                advertisingHandle: Self.advertisingHandle, properties: properties, minimumInterval: interval,
                maximumInterval: interval, ownAddressType: parameters.ownAddressType),
            purpose: .advertise)
    }

    private mutating func setDirectedParameters(_ parameters: AdvertisingParameters, _ target: AdvertisingTarget) {
        let peer = target.peer.withoutIdentityMark
        guard information.usesExtendedCommands else {
            commands.append(
                LESetAdvertisingParameters(
                    minimumInterval: parameters.interval, maximumInterval: parameters.interval,
                    type: target.form == .highDutyCycle
                        ? .connectableDirectedHighDutyCycle : .connectableDirectedLowDutyCycle,
                    ownAddressType: parameters.ownAddressType, peerAddress: peer),
                purpose: .advertise)
            return
        }
        var properties: ExtendedAdvertisingProperties = [.connectable, .directed]
        switch target.form {
        case .highDutyCycle: properties.formUnion([.legacy, .highDutyCycleDirected])
        case .lowDutyCycle: properties.insert(.legacy)
        case .extended: break
        }
        let interval = ExtendedAdvertisingInterval(rawValue: UInt32(parameters.interval.rawValue))
        commands.append(
            LESetExtendedAdvertisingParameters(
                advertisingHandle: Self.advertisingHandle, properties: properties, minimumInterval: interval,
                maximumInterval: interval, ownAddressType: parameters.ownAddressType, peerAddress: peer),
            purpose: .advertise)
    }

    mutating func advertiseAnswered(_ status: HCIStatus, at now: Instant) {
        if status == .commandDisallowed { counters.desynchronisations &+= 1 }
        let wasAdvertising = advertisingMachine.isAdvertising
        perform(advertisingMachine.completed(status, at: now), at: now)
        if advertisingMachine.isAdvertising != wasAdvertising {
            events.append(.advertisingChanged(isAdvertising: advertisingMachine.isAdvertising))
        }
        callDeadline =
            advertisingMachine.isAdvertising && callInForce?.form == .highDutyCycle
            ? callDeadline ?? now.advanced(by: Self.callPatience) : nil
    }

    /// A central connected: the controller has stopped advertising by itself.
    mutating func advertisingEnded(byConnection: Bool, at now: Instant) {
        let wasAdvertising = advertisingMachine.isAdvertising
        let call = callInForce
        callDeadline = nil
        perform(advertisingMachine.ended(), at: now)
        if wasAdvertising { events.append(.advertisingChanged(isAdvertising: false)) }
        if let call {
            if byConnection {
                for operation in advertiser.callEnded(call, hasCome: true) { complete(operation, .success(.done)) }
            } else if call.form == .highDutyCycle {
                endCall(call, .failure(.connectionFailed(.advertisingTimeout)))
            }
        }
        if byConnection {
            for operation in advertiser.centralConnected(at: now) { complete(operation, .success(.done)) }
        }
        needsConvergence = true
    }
}

extension Host {
    mutating func advertise(_ request: AdvertiseRequest, operation: OperationID, client: ClientID, at now: Instant) {
        guard configuration.ownership == .exclusive else {
            return complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        if case .raw(let advertisement, let scanResponse) = request.content,
            advertisement.count > 31 || scanResponse.count > 31
        {
            return complete(operation, .failure(.invalidRequest(.advertisementTooLong)))
        }
        if let target = request.target, isConnected(to: target.peer),
            target.form == .highDutyCycle || !request.resumesAfterConnection
        {
            return complete(operation, .success(.done))
        }
        advertiser.add(request, operation: operation, client: client, at: now)
        needsConvergence = true
    }
}

/// Calls of one device, by directed advertising.
extension Host {
    /// How long the controller takes at most to end what lasts 1.28 s: some never do.
    static let callPatience = Microseconds.microseconds(AdvertisingTarget.highDutyCycleSpan.rawValue + 220_000)
    /// In units of 10 ms.
    fileprivate static let highDutyDuration: UInt16 = 128

    var callInForce: AdvertisingTarget? { advertisingMachine.planInForce?.parameters.target }

    private func isConnected(to peer: DeviceAddress) -> Bool {
        let peer = peer.withoutIdentityMark
        return links.slotRange.contains { slot in
            links.isOccupied(slot) && (identity(of: slot) == peer || links[slot].peer.withoutIdentityMark == peer)
        }
    }

    mutating func endCall(_ target: AdvertisingTarget, _ result: Result<HostResult, HostFailure>) {
        for operation in advertiser.callEnded(target) { complete(operation, result) }
        needsConvergence = true
    }

    /// The controller calls on although its time is over.
    mutating func advanceCall(to now: Instant) {
        guard let deadline = callDeadline, deadline <= now else { return }
        callDeadline = nil
        if let call = callInForce { endCall(call, .failure(.connectionFailed(.advertisingTimeout))) }
    }
}
