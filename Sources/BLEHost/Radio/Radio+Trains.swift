import BLEPackets

/// Following periodic advertising.
extension Radio {
    // MARK: Wishes

    mutating func follow(
        _ request: PeriodicSyncRequest, operation: OperationID, client: ClientID, into effects: inout Effects
    ) {
        guard Features.trains else { return effects.complete(operation, .failure(.limitReached)) }
        guard configuration.ownership == .exclusive else {
            return effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        guard request.isValid else { return effects.complete(operation, .failure(.invalidRequest(.train))) }
        let followed = trains.train(for: request)
        trains.add(
            .follow(request), operation: operation, client: client,
            owner: (effects.commands.users[client] ?? .common).number)
        if let followed {
            share(followed, with: operation, into: &effects)
            chooseSubevents(of: followed.handle, into: &effects)
        }
    }

    /// Takes the trains that the peer of a link transfers, also for several clients.
    mutating func receivePeriodicSyncs(
        on link: LinkID, _ options: PeriodicSyncSettings, operation: OperationID, client: ClientID,
        into effects: inout Effects
    ) {
        guard Features.trains else { return effects.complete(operation, .failure(.limitReached)) }
        guard options.isValid else { return effects.complete(operation, .failure(.invalidRequest(.train))) }
        if Features.responses, options.subevents != nil, !canReceiveSubevents {
            return effects.complete(operation, .failure(Self.cannotReceiveSubevents))
        }
        trains.add(.transfers(link, options), operation: operation, client: client)
        // Also if nothing changes, so that each request has an answer.
        let joined = trains.transferOptions(on: link) ?? options
        if !trains.hasEventMask { setTrainEventMask(purpose: .unattended, into: &effects) }
        setReceiver(joined, on: link, purpose: .trainReceiver(operation, link), into: &effects)
    }

    private func setReceiver(
        _ options: PeriodicSyncSettings, on link: LinkID, purpose: CommandPurpose, into effects: inout Effects
    ) {
        effects.commands.append(
            LESetPeriodicAdvertisingSyncTransferParameters(
                connectionHandle: link.handle,
                mode: options.reportsOnlyChanges ? .followWithFilteredReports : .followWithReports,
                skip: options.skip, synchronizationTimeout: options.timeout),
            purpose: purpose)
    }

    /// Tells the peer of a link how to follow a train: one that an operation follows or sends.
    func transferPeriodicSync(
        of source: OperationID, to link: LinkID, serviceData: UInt16, operation: OperationID, client: ClientID,
        into effects: inout Effects
    ) {
        if let handle = trains.firstTrain(of: source)?.handle {
            effects.commands.append(
                LEPeriodicAdvertisingSyncTransfer(
                    connectionHandle: link.handle, serviceData: serviceData, synchronizationHandle: handle),
                purpose: .trainTransfer(operation, link), of: client)
        } else if let index = sets.index(of: source), sets.entries[index].request.train != nil {
            effects.commands.append(
                LEPeriodicAdvertisingSetInfoTransfer(
                    connectionHandle: link.handle, serviceData: serviceData,
                    advertisingHandle: sets.entries[index].handle),
                purpose: .trainTransfer(operation, link), of: client)
        } else {
            effects.complete(operation, .failure(.invalidRequest(.train)))
        }
    }

    /// - Returns: whether there was such a request.
    mutating func removeTrain(_ operation: OperationID, into effects: inout Effects) -> Bool {
        guard Features.trains else { return false }
        guard let entry = trains.remove(operation) else { return false }
        end(entry, into: &effects)
        return true
    }

    /// Ends every request, oldest first.
    mutating func removeAllTrains(into effects: inout Effects) -> [OperationID] {
        guard Features.trains else { return [] }
        let operations = trains.entries.map { $0.operation }
        for operation in operations { _ = removeTrain(operation, into: &effects) }
        return operations
    }

    private mutating func end(_ entry: TrainTable.Entry, into effects: inout Effects) {
        for train in entry.trains {
            guard !trains.follows(train.handle) else {
                // The others may want fewer subevents.
                chooseSubevents(of: train.handle, into: &effects)
                continue
            }
            effects.commands.append(
                LEPeriodicAdvertisingTerminateSync(synchronizationHandle: train.handle), purpose: .unattended)
        }
        guard case .transfers(let link, let options) = entry.wish, !entry.isClosed else { return }
        if let left = trains.transferOptions(on: link) {
            guard left != left.joined(with: options) else { return }
            return setReceiver(left, on: link, purpose: .unusedTrainReceiver(link.handle), into: &effects)
        }
        effects.commands.append(
            LESetPeriodicAdvertisingSyncTransferParameters(
                connectionHandle: link.handle, mode: .ignore, synchronizationTimeout: options.timeout),
            purpose: .unusedTrainReceiver(link.handle))
    }

    /// Ends a train that no client wants. A controller that reports more of them than it can answer keeps some.
    func refuse(_ handle: SynchronizationHandle, into effects: inout Effects) {
        guard effects.commands.count(of: .unwantedTrain) < TrainTable.transferLimit else { return }
        effects.commands.append(
            LEPeriodicAdvertisingTerminateSync(synchronizationHandle: handle), purpose: .unwantedTrain)
    }

    // MARK: Convergence

    mutating func convergeTrains(into effects: inout Effects) {
        guard Features.trains else { return }
        guard !trains.isEmpty || !trains.isIdle else { return }
        refuseSubevents(into: &effects)
        perform(trains.converge(isPaused: isPaused, at: effects.now), into: &effects)
    }

    private mutating func perform(_ action: TrainTable.Action, into effects: inout Effects) {
        switch action {
        case .none: break
        case .setEventMask: setTrainEventMask(purpose: .train, into: &effects)
        case .clearList: effects.commands.append(LEClearPeriodicAdvertiserList(), purpose: .train)
        case .addToList(let advertiser):
            effects.commands.append(
                LEAddDeviceToPeriodicAdvertiserList(
                    advertiserAddress: advertiser.address.withoutIdentityMark,
                    advertisingSetIdentifier: advertiser.identifier), purpose: .train)
        case .create(let request):
            guard let first = request.advertisers.first else { return }
            var options: PeriodicSyncOptions = request.advertisers.count > 1 ? .usesAdvertiserList : []
            if request.options.reportsOnlyChanges { options.insert(.filtersDuplicates) }
            effects.commands.append(
                LEPeriodicAdvertisingCreateSync(
                    options: options, advertisingSetIdentifier: first.identifier,
                    advertiserAddress: first.address.withoutIdentityMark, skip: request.options.skip,
                    synchronizationTimeout: request.options.timeout), purpose: .train)
        case .cancel: effects.commands.append(LEPeriodicAdvertisingCreateSyncCancel(), purpose: .train)
        case .fail(let operation, let status, let opcode):
            if removeTrain(operation, into: &effects) {
                effects.complete(operation, .failure(.controller(status, opcode)))
            }
        }
    }

    /// These events are switched on when the first client follows a train, or sends one with responses.
    func setTrainEventMask(followsTrains: Bool = true, purpose: CommandPurpose, into effects: inout Effects) {
        var mask = eventMask
        if followsTrains {
            mask.formUnion([
                .periodicAdvertisingSyncEstablished, .periodicAdvertisingReport, .periodicAdvertisingSyncLost,
                .periodicAdvertisingSyncTransferReceived,
            ])
        }
        if Features.responses, followsTrains, canReceiveSubevents {
            mask.formUnion([
                .periodicAdvertisingSyncEstablishedV2, .periodicAdvertisingReportV2,
                .periodicAdvertisingSyncTransferReceivedV2,
            ])
        }
        if Features.responses, sets.hasResponseEvents {
            mask.formUnion([.periodicAdvertisingSubeventDataRequest, .periodicAdvertisingResponseReport])
        }
        effects.commands.append(LESetEventMask(mask: mask), purpose: purpose)
    }

    /// The controller answered a command about trains.
    mutating func trainAnswered(_ status: HCIStatus, _ opcode: HCIOpcode, into effects: inout Effects) {
        guard Features.trains else { return }
        effects.countRefusal(status)
        perform(trains.completed(status, opcode, at: effects.now), into: &effects)
    }

    /// The controller did not answer: not every controller knows these commands.
    mutating func trainTimedOut(_ opcode: HCIOpcode, into effects: inout Effects) {
        guard Features.trains else { return }
        if case .fail(let operation, _, _) = trains.completed(.connectionTimeout, opcode, at: effects.now),
            removeTrain(operation, into: &effects)
        {
            effects.complete(operation, .failure(.commandTimeout(opcode)))
        }
    }

    /// The controller does not scan, so that it finds no train.
    mutating func endSearches(_ status: HCIStatus, into effects: inout Effects) {
        guard Features.trains else { return }
        for operation in trains.missing where removeTrain(operation, into: &effects) {
            effects.complete(operation, .failure(.controller(status, refusedOpcode)))
        }
    }

    /// The controller answered the setting for trains that a peer transfers.
    mutating func trainReceiverAnswered(
        _ operation: OperationID, _ status: HCIStatus, _ opcode: HCIOpcode, into effects: inout Effects
    ) {
        guard Features.trains else { return }
        // It may follow trains that came before the answer.
        guard !status.isSuccess, removeTrain(operation, into: &effects) else { return }
        effects.complete(operation, .failure(.controller(status, opcode)))
    }

    // MARK: Events

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingSyncEstablished, into effects: inout Effects) {
        guard Features.trains else { return }
        established(
            event.status, event.synchronizationHandle,
            PeriodicSyncInformation(
                advertiser: event.advertiserAddress, identifier: event.advertisingSetIdentifier,
                phy: event.advertiserPHY, interval: event.interval, serviceData: nil), into: &effects)
    }

    mutating func established(
        _ status: HCIStatus, _ handle: SynchronizationHandle, _ information: PeriodicSyncInformation,
        into effects: inout Effects
    ) {
        let attempt = trains.established(status, identifier: information.identifier)
        guard status.isSuccess else {
            if let attempt, !attempt.isToBeRetried, removeTrain(attempt.operation, into: &effects) {
                effects.complete(attempt.operation, .failure(.connectionFailed(status)))
            }
            return
        }
        synchronized(handle, information, for: attempt.map { [$0.operation] } ?? [], into: &effects)
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingSyncTransferReceived, into effects: inout Effects) {
        guard Features.trains else { return }
        guard event.status.isSuccess else { return }
        transferred(
            event.synchronizationHandle, on: event.connectionHandle,
            PeriodicSyncInformation(
                advertiser: event.advertiserAddress, identifier: event.advertisingSetIdentifier,
                phy: event.advertiserPHY, interval: event.interval, serviceData: event.serviceData), into: &effects)
    }

    mutating func transferred(
        _ handle: SynchronizationHandle, on link: ConnectionHandle, _ information: PeriodicSyncInformation,
        into effects: inout Effects
    ) {
        synchronized(handle, information, for: trains.receivers(on: link), into: &effects)
    }

    private mutating func synchronized(
        _ handle: SynchronizationHandle, _ information: PeriodicSyncInformation, for operations: [OperationID],
        into effects: inout Effects
    ) {
        let train = TrainTable.Train(handle: handle, information: information)
        if Features.responses { trains.forgetChoice(of: handle) }
        for operation in operations {
            guard let client = trains.add(train, to: operation) else { continue }
            effects.events.append(.train(operation, client, .synchronized(information)))
        }
        guard trains.follows(handle) else { return refuse(handle, into: &effects) }
        for other in trains.seekers(of: information) { share(train, with: other, into: &effects) }
        chooseSubevents(of: handle, into: &effects)
    }

    /// A train is followed already: another operation gets its reports, too.
    private mutating func share(_ train: TrainTable.Train, with operation: OperationID, into effects: inout Effects) {
        var train = train
        train.information.serviceData = nil
        guard let client = trains.add(train, to: operation) else { return }
        effects.events.append(.train(operation, client, .synchronized(train.information)))
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingReport, into effects: inout Effects) {
        guard Features.trains else { return }
        let part = TrainTable.Part(
            handle: event.synchronizationHandle, status: event.dataStatus, rssi: event.rssi,
            transmitPower: event.transmitPower)
        report(part, event.data, into: &effects)
    }

    mutating func report(_ part: TrainTable.Part, _ octets: [UInt8], into effects: inout Effects) {
        // Only parts are kept. What is whole changes nothing.
        if trains.isWhole(part) {
            trains.deliver(part, octets, at: effects.now, into: &effects.events)
        } else {
            trains.receive(part, octets, at: effects.now, into: &effects.events)
        }
        effects.counters.droppedValues = effects.events.droppedValues
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingSyncLost, into effects: inout Effects) {
        guard Features.trains else { return }
        let losses = trains.lost(event.synchronizationHandle)
        guard !losses.isEmpty else { return }
        for loss in losses { report(loss, ending: .success(.done), into: &effects) }
    }

    /// A link has ended, and with it what its peer could still transfer.
    mutating func trainsEnded(with link: LinkID, _ reason: DisconnectionReason, into effects: inout Effects) {
        guard Features.trains else { return }
        guard !trains.isEmpty else { return }
        for operation in trains.linkEnded(link) { effects.complete(operation, .failure(.linkLost(reason))) }
    }

    mutating func loseTrains(into effects: inout Effects) {
        guard Features.trains else { return }
        for loss in trains.controllerReset() { report(loss, ending: .failure(.controllerLost), into: &effects) }
    }

    func report(_ loss: TrainTable.Loss, ending result: Result<HostResult, HostFailure>, into effects: inout Effects) {
        let train = loss.train
        effects.events.append(
            .train(loss.operation, loss.client, .lost(advertiser: train.advertiser, identifier: train.identifier)))
        if loss.hasEnded { effects.complete(loss.operation, result) }
    }
}
