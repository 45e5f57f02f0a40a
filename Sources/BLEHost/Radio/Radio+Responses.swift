import BLEPackets

/// Periodic trains with responses, as the advertiser and as the receiver.
extension Radio {
    // MARK: The advertiser

    /// Why the controller cannot send a train with responses.
    static let cannotSendSubevents = HostFailure.controller(
        .unsupportedFeatureOrParameterValue, LESetPeriodicAdvertisingParametersV2.opcode)
    /// Why the controller cannot receive subevents.
    static let cannotReceiveSubevents = HostFailure.controller(
        .unsupportedFeatureOrParameterValue, LESetPeriodicSyncSubevent.opcode)

    /// Has the controller report what concerns subevents, from the first set with any on.
    mutating func askForResponses(into effects: inout Effects) {
        guard Features.responses, canSendSubevents, !sets.hasResponseEvents,
            sets.entries.contains(where: { $0.request.train?.subevents != nil })
        else { return }
        sets.hasResponseEvents = true
        // A command in flight may be about to switch on those of trains, also if no client wants its train any more.
        let followsTrains = trains.hasEventMask || !trains.isEmpty || !trains.isIdle
        setTrainEventMask(followsTrains: followsTrains, purpose: .unattended, into: &effects)
    }

    /// Gives the controller the data of subevents.
    mutating func sendSubevents(
        _ subevents: [SubeventData], of set: OperationID, _ operation: OperationID, client: ClientID,
        into effects: inout Effects
    ) {
        guard Features.responses else { return effects.complete(operation, .failure(.limitReached)) }
        guard let index = sets.index(of: set), let train = sets.entries[index].machine.planInForce?.request.train,
            let layout = train.subevents, !subevents.isEmpty, subevents.count <= SubeventData.room.subevents,
            subevents.reduce(0, { $0 + $1.length }) <= SubeventData.room.octets,
            subevents.allSatisfy({ $0.isValid(in: layout) })
        else { return effects.complete(operation, .failure(.invalidRequest(.subevents))) }
        effects.commands.append(
            LESetPeriodicAdvertisingSubeventData(
                advertisingHandle: sets.entries[index].handle,
                subevents: subevents.map {
                    .init(
                        number: $0.subevent, firstResponseSlot: $0.firstResponseSlot,
                        responseSlotCount: $0.responseSlotCount, data: $0.data)
                }), purpose: .plain(operation), of: client)
    }

    /// The set with this handle and its subevents, if a client still wants it.
    private func train(ofSet handle: UInt8) -> (index: Int, subevents: PeriodicSubevents)? {
        guard let index = sets.index(ofHandle: handle), !sets.entries[index].isLeaving,
            let subevents = sets.entries[index].machine.planInForce?.request.train?.subevents
        else { return nil }
        return (index, subevents)
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingSubeventDataRequest, into effects: inout Effects) {
        guard let (index, subevents) = train(ofSet: event.advertisingHandle), event.firstSubevent < subevents.count,
            1...subevents.count ~= event.subeventCount
        else {
            effects.counters.unexpectedEvents &+= 1
            return
        }
        let entry = sets.entries[index].owner
        effects.events.append(
            .advertisingSet(
                entry.operation, entry.client,
                .dataRequested(firstSubevent: event.firstSubevent, count: event.subeventCount)))
        effects.counters.droppedValues = effects.events.droppedValues
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingResponseReport, into effects: inout Effects) {
        guard let (index, subevents) = train(ofSet: event.advertisingHandle), event.subeventNumber < subevents.count
        else {
            effects.counters.unexpectedEvents &+= 1
            return
        }
        let entry = sets.entries[index].owner
        for part in event.responses {
            guard part.slot < subevents.responseSlotCount else {
                effects.counters.unexpectedEvents &+= 1
                continue
            }
            guard
                let (data, isTruncated) = sets.entries[index].responses.whole(part)
                    ?? sets.entries[index].responses.join(part, inSubevent: event.subeventNumber)
            else { continue }
            let response = SlotResponse(
                subevent: event.subeventNumber, slot: part.slot, data: data, isTruncated: isTruncated,
                followsData: event.transmitStatus == 0, rssi: part.rssi,
                txPower: part.transmitPower == 127 ? nil : part.transmitPower)
            effects.events.append(.advertisingSet(entry.operation, entry.client, .response(response)))
        }
        effects.counters.droppedValues = effects.events.droppedValues
    }

    // MARK: The receiver

    /// Sends this device's response in the train with responses that an operation follows.
    mutating func respond(
        _ response: PeriodicResponse, in source: OperationID, _ operation: OperationID, client: ClientID,
        into effects: inout Effects
    ) {
        guard Features.responses else { return effects.complete(operation, .failure(.limitReached)) }
        let followed = trains.trainsWithResponses(of: source)
        // A response does not say in which of several trains it is sent.
        guard followed.count <= 1 else { return effects.complete(operation, .failure(.invalidRequest(.train))) }
        guard let train = followed.first, let subevents = train.information.subevents, response.isValid(in: subevents)
        else { return effects.complete(operation, .failure(.invalidRequest(.subevents))) }
        effects.commands.append(
            LESetPeriodicAdvertisingResponseData(
                synchronizationHandle: train.handle, requestEvent: response.event, requestSubevent: response.subevent,
                responseSubevent: response.responseSubevent, responseSlot: response.slot, data: response.data),
            purpose: .plain(operation), of: client)
    }

    /// Ends requests for certain subevents if the controller cannot receive any.
    mutating func refuseSubevents(into effects: inout Effects) {
        guard Features.responses, !canReceiveSubevents else { return }
        for operation in trains.seekersOfSubevents where removeTrain(operation, into: &effects) {
            effects.complete(operation, .failure(Self.cannotReceiveSubevents))
        }
    }

    /// Synchronizes to the subevents that the followers of a train want, all together. An operation that wants none of
    /// those that the train has does without it.
    @inline(never)
    mutating func chooseSubevents(of handle: SynchronizationHandle, into effects: inout Effects) {
        guard Features.responses else { return }
        let (chosen, disappointed) = trains.subevents(of: handle)
        for operation in disappointed { giveUp(handle, of: operation, .invalidRequest(.subevents), into: &effects) }
        guard !chosen.isEmpty, trains.beginChoice(chosen, of: handle) else { return }
        effects.commands.append(
            LESetPeriodicSyncSubevent(synchronizationHandle: handle, subevents: chosen),
            purpose: .trainSubevents(handle))
    }

    /// The controller has answered a choice of subevents. A refusal is for the newest operation that wants more than
    /// was accepted before: the others keep what they have.
    mutating func subeventsAnswered(
        _ handle: SynchronizationHandle, _ status: HCIStatus, _ failure: HostFailure, into effects: inout Effects
    ) {
        guard Features.responses else { return }
        if trains.choiceAnswered(handle, isAccepted: status.isSuccess) {
            return chooseSubevents(of: handle, into: &effects)
        }
        // A train that was just lost has none.
        guard !status.isSuccess, status != .unknownAdvertisingIdentifier else { return }
        let refused = trains.refused(handle)
        guard !refused.isEmpty else { return }
        for operation in refused { giveUp(handle, of: operation, failure, into: &effects) }
        // The end of an operation may have led to a new choice.
        if !trains.isChoosing(handle) { chooseSubevents(of: handle, into: &effects) }
    }

    /// An operation cannot have this train. If it receives what a peer transfers, it goes on with the others: the peer
    /// decides what it transfers. Apart from its callers, whose frames stay small.
    @inline(never)
    private mutating func giveUp(
        _ handle: SynchronizationHandle, of operation: OperationID, _ failure: HostFailure, into effects: inout Effects
    ) {
        if let loss = trains.drop(handle, of: operation) {
            report(loss, ending: .failure(failure), into: &effects)
            if !trains.follows(handle) { refuse(handle, into: &effects) }
        } else if removeTrain(operation, into: &effects) {
            effects.complete(operation, .failure(failure))
        }
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingSyncEstablishedV2, into effects: inout Effects) {
        established(
            event.status, event.synchronizationHandle,
            PeriodicSyncInformation(
                advertiser: event.advertiserAddress, identifier: event.advertisingSetIdentifier,
                phy: event.advertiserPHY, interval: event.interval, serviceData: nil,
                subevents: PeriodicSubevents(
                    event.subeventCount, event.subeventInterval, event.responseSlotDelay, event.responseSlotSpacing)),
            into: &effects)
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingSyncTransferReceivedV2, into effects: inout Effects) {
        guard event.status.isSuccess else { return }
        transferred(
            event.synchronizationHandle, on: event.connectionHandle,
            PeriodicSyncInformation(
                advertiser: event.advertiserAddress, identifier: event.advertisingSetIdentifier,
                phy: event.advertiserPHY, interval: event.interval, serviceData: event.serviceData,
                subevents: PeriodicSubevents(
                    event.subeventCount, event.subeventInterval, event.responseSlotDelay, event.responseSlotSpacing)),
            into: &effects)
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingReportV2, into effects: inout Effects) {
        let part = TrainTable.Part(
            handle: event.synchronizationHandle, status: event.dataStatus, rssi: event.rssi,
            transmitPower: event.transmitPower, event: event.eventCounter,
            subevent: event.subeventNumber == 0xFF ? nil : event.subeventNumber)
        report(part, event.data, into: &effects)
    }
}

extension PeriodicSubevents {
    /// As a controller reports them; `nil` for a train without responses.
    fileprivate init?(_ count: UInt8, _ interval: UInt8, _ responseSlotDelay: UInt8, _ responseSlotSpacing: UInt8) {
        guard 1...128 ~= count else { return nil }
        self.init(
            count: count, interval: interval, responseSlotDelay: responseSlotDelay,
            responseSlotSpacing: responseSlotSpacing)
    }
}

/// Joins the parts in which a controller reports long responses: those of one slot follow each other.
struct ResponseJoiner {
    private var fragments = FragmentJoiner()
    private var place: (subevent: UInt8, slot: UInt8) = (0, 0)

    /// - Returns: what was received in a slot; `nil` if it is a part of a response.
    func whole(_ part: LEPeriodicAdvertisingResponseReport.Response) -> (data: [UInt8]?, isTruncated: Bool)? {
        guard fragments.isEmpty, part.dataStatus != .incompleteMoreToCome else { return nil }
        guard part.dataStatus != .failedToReceive else { return (nil, false) }
        return (part.data, part.dataStatus == .incompleteTruncated)
    }

    /// - Returns: what was received in a slot; `nil` while parts are missing.
    mutating func join(
        _ part: LEPeriodicAdvertisingResponseReport.Response, inSubevent subevent: UInt8
    ) -> (data: [UInt8]?, isTruncated: Bool)? {
        // The rest of another response is lost.
        if place != (subevent, part.slot) { fragments.removeAll() }
        place = (subevent, part.slot)
        guard part.dataStatus != .failedToReceive else {
            fragments.removeAll()
            return (nil, false)
        }
        let isLast = part.dataStatus != .incompleteMoreToCome
        let isTruncated = part.dataStatus == .incompleteTruncated
        if isLast, fragments.isEmpty { return (part.data, isTruncated) }
        guard fragments.add(part.data.span.bytes, isLast: isLast) else { return nil }
        defer { fragments.removeAll() }
        return (fragments.octets, isTruncated)
    }
}
