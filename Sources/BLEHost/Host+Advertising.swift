import BLEPackets

/// Advertising for all clients: one advertisement, one set.
extension Host {
    /// The one advertising set that extended commands use.
    static let advertisingHandle: UInt8 = 0

    mutating func convergeAdvertising(at now: Instant) {
        guard !privacy.isChanging else { return perform(advertisingMachine.want(nil), at: now) }
        let plan = advertiser.plan(
            timing: configuration.timing, settings: configuration.advertising, ownAddressType: ownAddressType, at: now)
        paceDeadline = advertiser.nextDeadline(timing: configuration.timing, after: now)
        perform(advertisingMachine.want(plan), at: now)
    }

    mutating func perform(_ action: AdvertisingMachine.Action, at now: Instant) {
        switch action {
        case .none: break
        case .setParameters(let parameters): setAdvertisingParameters(parameters)
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
                        sets: [.init(advertisingHandle: Self.advertisingHandle, duration: 0, maximumEvents: 0)]),
                    purpose: .advertise)
            } else {
                commands.append(LESetAdvertisingEnable(isEnabled: isEnabled), purpose: .advertise)
            }
        case .fail(let status):
            let opcode =
                information.usesExtendedCommands
                ? LESetExtendedAdvertisingEnable.opcode : LESetAdvertisingEnable.opcode
            for operation in advertiser.removeAll() { complete(operation, .failure(.controller(status, opcode))) }
        }
    }

    /// Legacy PDUs in either form, so that every central hears them.
    private mutating func setAdvertisingParameters(_ parameters: AdvertisingParameters) {
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

    mutating func advertiseAnswered(_ status: HCIStatus, at now: Instant) {
        if status == .commandDisallowed { counters.desynchronisations &+= 1 }
        let wasAdvertising = advertisingMachine.isAdvertising
        perform(advertisingMachine.completed(status, at: now), at: now)
        if advertisingMachine.isAdvertising != wasAdvertising {
            events.append(.advertisingChanged(isAdvertising: advertisingMachine.isAdvertising))
        }
    }

    /// A central connected: the controller has stopped advertising by itself.
    mutating func advertisingEnded(byConnection: Bool, at now: Instant) {
        let wasAdvertising = advertisingMachine.isAdvertising
        perform(advertisingMachine.ended(), at: now)
        if wasAdvertising { events.append(.advertisingChanged(isAdvertising: false)) }
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
        advertiser.add(request, operation: operation, client: client, at: now)
        needsConvergence = true
    }
}
