import BLEPackets

/// Separate advertising sets, beside the one advertisement that all clients share.
extension Radio {
    // MARK: Wishes

    mutating func advertiseSet(
        _ request: AdvertisingSetRequest, operation: OperationID, client: ClientID, into effects: inout Effects
    ) {
        guard Features.sets else { return effects.complete(operation, .failure(.limitReached)) }
        guard configuration.ownership == .exclusive else {
            return effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        if let fault = request.fault {
            return effects.complete(operation, .failure(.invalidRequest(.advertisingSet(fault))))
        }
        guard let handle = sets.freeHandle else { return effects.complete(operation, .failure(.limitReached)) }
        sets.entries.append(
            AdvertisingSets.Entry(
                operation: operation, client: client, request: request, handle: handle,
                identifier: sets.freeIdentifier(for: handle)))
    }

    mutating func changeSet(
        _ set: OperationID, to request: AdvertisingSetRequest, _ operation: OperationID, into effects: inout Effects
    ) {
        guard Features.sets else { return effects.complete(operation, .failure(.limitReached)) }
        if let fault = request.fault {
            return effects.complete(operation, .failure(.invalidRequest(.advertisingSet(fault))))
        }
        if let index = sets.index(of: set) {
            if request.train?.subevents != nil, sets.capacity != nil, !canSendSubevents {
                return effects.complete(operation, .failure(Self.cannotSendSubevents))
            }
            if let capacity = sets.capacity, request.longestPart > capacity.dataLength {
                return effects.complete(operation, .failure(.invalidRequest(.advertisingSet(.tooMuchData))))
            }
            sets.entries[index].request = request
        } else {
            // It may be advertised by legacy commands.
            guard request.fitsLegacyPDUs, advertiser.change(set, to: AdvertiseRequest(legacy: request), at: effects.now)
            else {
                return effects.complete(operation, .failure(.cancelled))
            }
        }
        effects.complete(operation, .success(.done))
    }

    /// - Returns: whether there was such a set.
    mutating func removeSet(_ operation: OperationID) -> Bool {
        guard Features.sets else { return false }
        guard let index = sets.index(of: operation) else { return false }
        leave(index)
        return true
    }

    /// Ends every set, oldest first.
    mutating func removeAllSets() -> [OperationID] {
        guard Features.sets else { return [] }
        let ended = sets.entries.filter { !$0.isLeaving }.map { $0.operation }
        for index in sets.entries.indices { sets.entries[index].isLeaving = true }
        sets.entries.removeAll { $0.machine.isIdle }
        return ended
    }

    private mutating func leave(_ index: Int) {
        sets.entries[index].isLeaving = true
        if sets.entries[index].machine.isIdle { sets.entries.remove(at: index) }
    }

    // MARK: Convergence

    mutating func convergeSets(into effects: inout Effects) {
        guard Features.sets else { return }
        guard !sets.isEmpty else { return }
        guard advertisingCommands.isExtended else { return fallBack(into: &effects) }
        askSetCapacity(into: &effects)
        guard let capacity = sets.capacity else { return }
        let places = places(within: capacity)
        for (operation, failure) in places.refused where removeSet(operation) {
            effects.complete(operation, .failure(failure))
        }
        askForResponses(into: &effects)
        for handle in places.admitted { convergeSet(handle, into: &effects) }
    }

    /// Asks how many sets the controller has, once.
    mutating func askSetCapacity(into effects: inout Effects) {
        guard sets.askCapacity() else { return }
        effects.commands.append(LEReadNumberOfSupportedAdvertisingSets(), purpose: .advertisingSetCapacity)
        effects.commands.append(LEReadMaximumAdvertisingDataLength(), purpose: .advertisingSetCapacity)
    }

    /// Apart from its caller, as the following, so that no frame has many plans.
    @inline(never)
    private mutating func convergeSet(_ handle: UInt8, into effects: inout Effects) {
        guard let index = sets.index(ofHandle: handle) else { return }
        let wasRunning = sets.entries[index].machine.isRunning
        let action = wantSet(index)
        reportChange(of: index, wasRunning: wasRunning, into: &effects)
        perform(action, onSet: handle, into: &effects)
    }

    @inline(never)
    private mutating func wantSet(_ index: Int) -> AdvertisingSetMachine.Action {
        let isPaused = isPaused || advertisingRests
        guard !sets.entries[index].isLeaving else { return sets.entries[index].machine.want(nil, isPaused: isPaused) }
        let request = sets.entries[index].request
        let randomAddress = request.address ?? (hostAddressType == .random ? ownAddress : nil)
        let plan = AdvertisingSetMachine.Plan(
            request: request, randomAddress: randomAddress, ownAddressType: randomAddress == nil ? .public : .random)
        return sets.entries[index].machine.want(plan, isPaused: isPaused)
    }

    /// The handles of the sets that have a place, and the requests that end: those for which the controller has no set
    /// left, the latest first, and those with too much data. While a set is being removed, a request may wait for its
    /// place.
    private func places(
        within capacity: AdvertisingSets.Capacity
    ) -> (admitted: [UInt8], refused: [(OperationID, HostFailure)]) {
        let isOneLeaving = sets.entries.contains { $0.isLeaving }
        var admitted: [UInt8] = []
        let isShared = advertiser.isWanted || advertisingMachine.usesController
        let isKept = configuration.keepsSharedAdvertisement && capacity.sets > 1
        var room = capacity.sets - (isShared || isKept ? 1 : 0) - sets.guestHandles.count
        var refused: [(OperationID, HostFailure)] = []
        for entry in sets.entries {
            if entry.isLeaving {
                room -= 1
                admitted.append(entry.handle)
            } else if entry.request.longestPart > capacity.dataLength {
                refused.append((entry.operation, .invalidRequest(.advertisingSet(.tooMuchData))))
            } else if Features.responses, entry.request.train?.subevents != nil, !canSendSubevents {
                refused.append((entry.operation, Self.cannotSendSubevents))
            } else if room > 0 || !entry.machine.isIdle {
                room -= 1
                admitted.append(entry.handle)
            } else if !isOneLeaving {
                refused.append((entry.operation, .limitReached))
            }
        }
        return (admitted, refused)
    }

    /// A controller of the legacy commands has one advertisement: the first set that it can express, if no client uses
    /// the shared one.
    @inline(never)
    private mutating func fallBack(into effects: inout Effects) {
        let entries = sets.entries
        sets.entries.removeAll()
        for entry in entries where !entry.isLeaving {
            guard entry.request.fitsLegacyPDUs else {
                let opcode = LESetExtendedAdvertisingParameters.opcode
                effects.complete(entry.operation, .failure(.controller(.unsupportedFeatureOrParameterValue, opcode)))
                continue
            }
            guard !advertiser.isWanted else {
                effects.complete(entry.operation, .failure(.limitReached))
                continue
            }
            advertiser.add(
                AdvertiseRequest(legacy: entry.request), operation: entry.operation, client: entry.client,
                at: effects.now)
        }
    }

    // MARK: Commands

    @inline(never)
    private mutating func perform(
        _ action: AdvertisingSetMachine.Action, onSet handle: UInt8, into effects: inout Effects
    ) {
        guard let index = sets.index(ofHandle: handle) else { return }
        let purpose = CommandPurpose.advertisingSet(handle)
        switch action {
        case .none: break
        case .setParameters(let plan):
            effects.commands.append(
                LESetExtendedAdvertisingParameters(
                    plan, handle: handle, identifier: sets.entries[index].identifier), purpose: purpose)
        case .setRandomAddress(let address):
            effects.commands.append(
                LESetAdvertisingSetRandomAddress(advertisingHandle: handle, address: address), purpose: purpose)
        case .setData(let data, let operation):
            effects.commands.append(
                LESetExtendedAdvertisingData(advertisingHandle: handle, operation: operation, data: data),
                purpose: purpose)
        case .setScanResponse(let data, let operation):
            effects.commands.append(
                LESetExtendedScanResponseData(advertisingHandle: handle, operation: operation, data: data),
                purpose: purpose)
        case .setTrainParameters(let train):
            if Features.responses, let subevents = train.subevents {
                effects.commands.append(
                    LESetPeriodicAdvertisingParametersV2(
                        advertisingHandle: handle, minimumInterval: train.interval, maximumInterval: train.interval,
                        properties: train.includesTransmitPower ? .includesTransmitPower : [],
                        subeventCount: subevents.count, subeventInterval: subevents.interval,
                        responseSlotDelay: subevents.responseSlotDelay,
                        responseSlotSpacing: subevents.responseSlotSpacing,
                        responseSlotCount: subevents.responseSlotCount), purpose: purpose)
                return
            }
            effects.commands.append(
                LESetPeriodicAdvertisingParameters(
                    advertisingHandle: handle, minimumInterval: train.interval, maximumInterval: train.interval,
                    properties: train.includesTransmitPower ? .includesTransmitPower : []), purpose: purpose)
        case .setTrainData(let data, let operation):
            effects.commands.append(
                LESetPeriodicAdvertisingData(advertisingHandle: handle, operation: operation, data: data),
                purpose: purpose)
        case .setTrainEnabled(let train):
            effects.commands.append(
                LESetPeriodicAdvertisingEnable(
                    enable: train.includesDataInformation ? [.enabled, .includesAdvertisingDataInformation] : .enabled,
                    advertisingHandle: handle), purpose: purpose)
        case .setTrainDisabled:
            effects.commands.append(
                LESetPeriodicAdvertisingEnable(enable: [], advertisingHandle: handle), purpose: purpose)
        case .setEnabled(let request):
            effects.commands.append(
                LESetExtendedAdvertisingEnable(
                    isEnabled: true,
                    sets: [
                        .init(
                            advertisingHandle: handle,
                            duration: UInt16(clamping: (request.duration?.rawValue ?? 0) / 10_000),
                            maximumEvents: request.maximumEvents)
                    ]), purpose: purpose)
        case .setDisabled:
            effects.commands.append(
                LESetExtendedAdvertisingEnable(isEnabled: false, sets: [.init(advertisingHandle: handle)]),
                purpose: purpose)
        case .remove:
            effects.commands.append(LERemoveAdvertisingSet(advertisingHandle: handle), purpose: purpose)
        case .fail(let status, let opcode):
            let entry = sets.entries.remove(at: index)
            guard !entry.isLeaving else { return }
            let isFull = status == .memoryCapacityExceeded && opcode == LESetExtendedAdvertisingParameters.opcode
            effects.complete(entry.operation, .failure(isFull ? .limitReached : .controller(status, opcode)))
        }
    }

    /// The controller answered a command about a set.
    @inline(never)
    mutating func setAnswered(
        _ handle: UInt8, _ status: HCIStatus, _ opcode: HCIOpcode, _ parameters: RawSpan, into effects: inout Effects
    ) {
        guard Features.sets else { return }
        if guestAnswered(handle, status, into: &effects) { return }
        guard let index = sets.index(ofHandle: handle) else { return }
        if status.isSuccess, opcode == LESetExtendedAdvertisingParameters.opcode {
            var reader = PacketReader(parameters)
            let answer = try? LESetExtendedAdvertisingParameters.ReturnParameters(decoding: &reader)
            sets.entries[index].transmitPower = answer?.selectedTransmitPower ?? 127
        }
        let wasRunning = sets.entries[index].machine.isRunning
        let action = sets.entries[index].machine.completed(status, opcode, at: effects.now)
        reportChange(of: index, wasRunning: wasRunning, into: &effects)
        if opcode == LESetExtendedAdvertisingEnable.opcode {
            advertisingAnswered(
                status, isRefused: sets.entries[index].machine.isOff, isOn: sets.entries[index].machine.isRunning,
                into: &effects)
        }
        perform(action, onSet: handle, into: &effects)
        guard let index = sets.index(ofHandle: handle), sets.entries[index].machine.isIdle else { return }
        if sets.entries[index].isLeaving { sets.entries.remove(at: index) }
    }

    /// The controller did not answer a command about a set: not every controller knows them all.
    mutating func setTimedOut(_ handle: UInt8, _ opcode: HCIOpcode, into effects: inout Effects) {
        guard Features.sets else { return }
        if guestAnswered(handle, .connectionTimeout, into: &effects) { return }
        guard let index = sets.index(ofHandle: handle) else { return }
        let entry = sets.entries[index].owner
        sets.entries[index].isLeaving = true
        if !entry.isLeaving { effects.complete(entry.operation, .failure(.commandTimeout(opcode))) }
        let none: [UInt8] = []
        setAnswered(handle, .connectionTimeout, opcode, none.span.bytes, into: &effects)
    }

    private func reportChange(of index: Int, wasRunning: Bool, into effects: inout Effects) {
        let entry = sets.entries[index].owner
        guard sets.entries[index].machine.isRunning != wasRunning, !entry.isLeaving else { return }
        let power = sets.entries[index].transmitPower
        let event: AdvertisingSetEvent = wasRunning ? .stopped : .started(transmitPower: power)
        effects.events.append(.advertisingSet(entry.operation, entry.client, event))
    }

    /// Whether LE Advertising Set Terminated says which advertisement a central's link ended.
    var knowsEndedSet: Bool { !sets.isEmpty || !sets.guestHandles.isEmpty }

    /// The controller ended a set: a central connected, or its time is over.
    /// - Parameter link: the central's link, if it stands.
    /// - Returns: the address of the set, by which the central connected.
    @discardableResult
    @inline(never)
    mutating func setEnded(
        _ handle: UInt8, byConnection: Bool, link: LinkID?, into effects: inout Effects
    ) -> DeviceAddress? {
        guard Features.sets else { return nil }
        if guestEnded(handle, byConnection: byConnection, into: &effects) { return nil }
        guard let index = sets.index(ofHandle: handle) else { return nil }
        let address = sets.entries[index].machine.planInForce?.randomAddress
        let wasRunning = sets.entries[index].machine.isRunning
        sets.entries[index].machine.ended()
        reportChange(of: index, wasRunning: wasRunning, into: &effects)
        let entry = sets.entries[index].owner
        let isOnce = !sets.entries[index].request.resumesAfterConnection
        if let link, !entry.isLeaving {
            effects.events.append(.advertisingSet(entry.operation, entry.client, .connected(link)))
        }
        if !entry.isLeaving, !byConnection || isOnce {
            leave(index)
            effects.complete(entry.operation, .success(.done))
        }
        return address
    }

    /// A link has ended: sets that had no room beside it may go on.
    mutating func proceedWithSets(into effects: inout Effects) {
        guard Features.sets else { return }
        let handles = sets.entries.map { $0.handle }
        for handle in handles {
            guard let index = sets.index(ofHandle: handle) else { continue }
            perform(sets.entries[index].machine.proceed(), onSet: handle, into: &effects)
        }
    }

    mutating func advanceSets(into effects: inout Effects) {
        guard Features.sets else { return }
        guard let deadline = sets.nextDeadline, deadline <= effects.now else { return }
        let handles = sets.entries.map { $0.handle }
        for handle in handles {
            guard let index = sets.index(ofHandle: handle) else { continue }
            perform(sets.entries[index].machine.advance(to: effects.now), onSet: handle, into: &effects)
        }
    }
}

extension AdvertisingSetRequest {
    /// The length of the longest of its data.
    fileprivate var longestPart: Int { max(data.count, scanResponse.count, train?.data.count ?? 0) }
}

extension AdvertiseRequest {
    /// The same by legacy commands. Extended PDUs that are connectable have no scan response; as legacy PDUs they
    /// become scannable.
    fileprivate init(legacy set: AdvertisingSetRequest) {
        let interval = AdvertisingInterval(rawValue: UInt16(clamping: min(set.interval.rawValue, 0x4000)))
        self.init(
            .raw(advertisement: set.data, scanResponse: set.scanResponse), isConnectable: set.isConnectable,
            interval: interval, resumesAfterConnection: set.resumesAfterConnection)
    }
}

extension LESetExtendedAdvertisingParameters {
    fileprivate init(_ plan: AdvertisingSetMachine.Plan, handle: UInt8, identifier: UInt8) {
        let request = plan.request
        var properties: ExtendedAdvertisingProperties = []
        if request.isConnectable { properties.insert(.connectable) }
        if request.isScannable || request.usesLegacyPDUs && (request.isConnectable || !request.scanResponse.isEmpty) {
            properties.insert(.scannable)
        }
        if request.usesLegacyPDUs { properties.insert(.legacy) }
        if request.isAnonymous { properties.insert(.anonymous) }
        if request.includesTransmitPower { properties.insert(.includesTransmitPower) }
        self.init(
            advertisingHandle: handle, properties: properties, minimumInterval: request.interval,
            maximumInterval: request.interval, ownAddressType: plan.ownAddressType,
            transmitPower: request.transmitPower ?? 127, primaryPHY: request.primaryPHY,
            secondaryPHY: request.secondaryPHY, advertisingSetIdentifier: request.identifier ?? identifier)
    }
}
