import BLEPackets

/// Periodic trains with responses (Core 5.4, Vol 4, Part E, 7.8.61 and 7.8.125 to 7.8.127): a train asks for the data
/// of half its subevents at a time, as soon as those of the event before were sent.
extension SimulatedController {
    /// The octets of responses that one report can carry, and those of the report itself (Core 5.4, Vol 4, Part E,
    /// 7.7.65.37).
    private static let responseReportCapacity = 250
    private static let responseHeader = 6

    // MARK: The advertiser

    func leSetPeriodicAdvertisingParametersV2(
        _ command: LESetPeriodicAdvertisingParametersV2
    ) -> LESetPeriodicAdvertisingParametersV2.ReturnParameters {
        var status = leSetPeriodicAdvertisingParameters(
            LESetPeriodicAdvertisingParameters(
                advertisingHandle: command.advertisingHandle, minimumInterval: command.minimumInterval,
                maximumInterval: command.maximumInterval, properties: command.properties))
        if status.isSuccess, command.subeventCount > 0 {
            let layout = SubeventLayout(
                count: command.subeventCount, interval: command.subeventInterval,
                responseSlotDelay: command.responseSlotDelay, responseSlotSpacing: command.responseSlotSpacing,
                responseSlotCount: command.responseSlotCount)
            if layout.isValid(in: command.minimumInterval) {
                changeAdvertisingSet(command.advertisingHandle) { $0.train.subevents = TrainSubeventPlan(layout) }
            } else {
                status = .invalidCommandParameters
            }
        }
        return .init(status: status, advertisingHandle: command.advertisingHandle)
    }

    func leSetPeriodicAdvertisingSubeventData(
        _ command: LESetPeriodicAdvertisingSubeventData
    ) -> LESetPeriodicAdvertisingSubeventData.ReturnParameters {
        .init(status: setSubeventData(command), advertisingHandle: command.advertisingHandle)
    }

    private func setSubeventData(_ command: LESetPeriodicAdvertisingSubeventData) -> HCIStatus {
        guard let set = advertisingSet(command.advertisingHandle), set.handle != AdvertisingSet.legacyHandle else {
            return .unknownAdvertisingIdentifier
        }
        guard let layout = set.train.subevents?.layout else { return .commandDisallowed }
        let isValid = command.subevents.allSatisfy {
            $0.number < layout.count && $0.data.count <= 251
                && Int($0.firstResponseSlot) + Int($0.responseSlotCount) <= Int(layout.responseSlotCount)
        }
        guard 1...15 ~= command.subevents.count, isValid else { return .invalidCommandParameters }
        changeAdvertisingSet(set.handle) {
            for subevent in command.subevents {
                $0.train.subevents?.set(
                    .init(
                        firstSlot: subevent.firstResponseSlot, slotCount: subevent.responseSlotCount,
                        data: subevent.data), of: subevent.number)
            }
        }
        return .success
    }

    /// The first event of a train; it goes on until the train ends, as the controller cannot know who receives it.
    func beginSubevents(of handle: UInt8) {
        guard let layout = train(of: handle)?.layout else { return }
        requestData(of: handle, from: 0, count: Int(layout.count))
        plan(0, of: handle, in: 0)
    }

    private func requestData(of handle: UInt8, from first: Int, count: Int) {
        guard count > 0 else { return }
        send(
            le: LEPeriodicAdvertisingSubeventDataRequest(
                advertisingHandle: handle, firstSubevent: UInt8(first), subeventCount: UInt8(count)))
    }

    private func plan(_ subevent: UInt8, of handle: UInt8, in event: Int64) {
        guard let set = advertisingSet(handle), let train = train(of: handle), let layout = train.layout,
            subevent < layout.count
        else { return }
        let number = set.train.number
        let beginning = train.beginning(of: event)
        air.after(beginning + layout.offset(of: subevent) - air.nowMicroseconds) { [unowned self] in
            guard advertisingSet(handle)?.train.number == number else { return }
            sendSubevent(subevent, of: handle, in: event)
            let (next, count) = (Int(subevent) + 1, Int(layout.count))
            let half = (count + 1) / 2
            if next == half { requestData(of: handle, from: 0, count: half) }
            if next == count { requestData(of: handle, from: half, count: count - half) }
            let isLast = next == count
            plan(isLast ? 0 : UInt8(next), of: handle, in: isLast ? event + 1 : event)
        }
    }

    private func sendSubevent(_ subevent: UInt8, of handle: UInt8, in event: Int64) {
        guard var train = train(of: handle), let layout = train.layout else { return }
        var content: TrainSubeventPlan.Content?
        changeAdvertisingSet(handle) { content = $0.train.subevents?.removeContent(of: subevent) }
        if let content {
            (train.subevent, train.event, train.data) = (subevent, UInt16(truncatingIfNeeded: event), content.data)
            air.broadcast(train, of: handle, from: self)
        }
        guard layout.responseSlotCount > 0 else { return }
        let slots = content.map { Int($0.firstSlot)..<Int($0.firstSlot) + Int($0.slotCount) } ?? 0..<0
        let beginning = train.beginning(of: event)
        let end = beginning + layout.offset(ofSlot: slots.upperBound, in: subevent)
        let number = advertisingSet(handle)?.train.number
        air.after(end - air.nowMicroseconds) { [unowned self] in
            guard advertisingSet(handle)?.train.number == number else { return }
            reportResponses(in: subevent, of: handle, slots: slots)
        }
    }

    /// Reports what was received in the slots that the host has opened; the controller does not listen in others.
    private func reportResponses(in subevent: UInt8, of handle: UInt8, slots: Range<Int>) {
        var heard: [TrainSubeventPlan.Heard] = []
        changeAdvertisingSet(handle) { heard = $0.train.subevents?.removeResponses(in: subevent) ?? [] }
        var responses: [LEPeriodicAdvertisingResponseReport.Response] = []
        var octets = 0
        func report() {
            guard !responses.isEmpty else { return }
            send(
                le: LEPeriodicAdvertisingResponseReport(
                    advertisingHandle: handle, subeventNumber: subevent, transmitStatus: 0, responses: responses))
            (responses, octets) = ([], 0)
        }
        for response in heard where slots.contains(Int(response.slot)) {
            var rest = (response.data ?? [])[...]
            repeat {
                if octets + Self.responseHeader >= Self.responseReportCapacity { report() }
                let piece = rest.prefix(Self.responseReportCapacity - octets - Self.responseHeader)
                rest = rest.dropFirst(piece.count)
                let status: AdvertisingDataStatus = rest.isEmpty ? .complete : .incompleteMoreToCome
                responses.append(
                    .init(
                        transmitPower: response.transmitPower, rssi: response.signal, slot: response.slot,
                        dataStatus: response.data == nil ? .failedToReceive : status, data: Array(piece)))
                octets += Self.responseHeader + piece.count
            } while !rest.isEmpty
        }
        report()
    }

    /// A device responds in a slot of the train.
    func responseReceived(
        _ data: [UInt8], in subevent: UInt8, slot: UInt8, ofSet handle: UInt8, from station: SimulatedController
    ) {
        guard train(of: handle)?.layout != nil, air.areInRange(self, station), !air.losesPacket() else { return }
        let signal = air.measuredSignal(of: station, at: self)
        changeAdvertisingSet(handle) {
            $0.train.subevents?.receive(.init(slot: slot, data: data, signal: signal, transmitPower: 127), in: subevent)
        }
    }

    // MARK: The receiver

    func leSetPeriodicSyncSubevent(_ command: LESetPeriodicSyncSubevent) -> LESetPeriodicSyncSubevent.ReturnParameters {
        let handle = command.synchronizationHandle
        guard let place = settings.trains.firstIndex(where: { $0.handle == handle }),
            let layout = air.station(settings.trains[place].station)?.train(of: settings.trains[place].set)?.layout
        else { return .init(status: .unknownAdvertisingIdentifier, synchronizationHandle: handle) }
        guard 1...128 ~= command.subevents.count, command.subevents.allSatisfy({ $0 < layout.count }) else {
            return .init(status: .invalidCommandParameters, synchronizationHandle: handle)
        }
        settings.trains[place].subevents = command.subevents
        return .init(synchronizationHandle: handle)
    }

    func leSetPeriodicAdvertisingResponseData(
        _ command: LESetPeriodicAdvertisingResponseData
    ) -> LESetPeriodicAdvertisingResponseData.ReturnParameters {
        .init(status: respond(command), synchronizationHandle: command.synchronizationHandle)
    }

    private func respond(_ command: LESetPeriodicAdvertisingResponseData) -> HCIStatus {
        guard let followed = settings.trains.first(where: { $0.handle == command.synchronizationHandle }),
            let station = air.station(followed.station) as? SimulatedController,
            let train = station.train(of: followed.set), let layout = train.layout
        else { return .unknownAdvertisingIdentifier }
        guard followed.subevents.contains(command.requestSubevent), command.responseSubevent < layout.count,
            layout.responseSlotSpacing > 0, command.data.count <= 251
        else { return .invalidCommandParameters }
        let beginning = train.beginning(of: command.requestEvent, near: air.nowMicroseconds)
        let time = beginning + layout.offset(ofSlot: Int(command.responseSlot), in: command.responseSubevent)
        guard time >= air.nowMicroseconds else { return .tooLate }
        let (set, cycle, handle) = (followed.set, powerCycle, followed.handle)
        air.after(time - air.nowMicroseconds) { [unowned self] in
            guard cycle == powerCycle, settings.trains.contains(where: { $0.handle == handle }) else { return }
            station.responseReceived(
                command.data, in: command.responseSubevent, slot: command.responseSlot, ofSet: set, from: self)
        }
        return .success
    }
}
