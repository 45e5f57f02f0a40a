import BLEPackets

/// Periodic advertising, as the receiver (Core 5.4, Vol 4, Part E, 7.8.67 to 7.8.73 and 7.8.88 to 7.8.92).
extension SimulatedController {
    /// Octets of data that one report can carry (Core 5.4, Vol 4, Part E, 7.7.65.15).
    private var reportCapacity: Int { settings.leEventMask.contains(.periodicAdvertisingReportV2) ? 244 : 247 }
    private static let listSize = 8

    func lePeriodicAdvertisingCreateSync(_ command: LEPeriodicAdvertisingCreateSync) -> HCIStatus {
        guard settings.trainSearch == nil else { return .commandDisallowed }
        let usesList = command.options.contains(.usesAdvertiserList)
        guard command.skip <= 499, 0x000A...0x4000 ~= command.synchronizationTimeout.rawValue,
            usesList || command.advertisingSetIdentifier <= 0x0F
        else { return .invalidCommandParameters }
        let isFollowed = settings.trains.contains {
            $0.address == command.advertiserAddress && $0.advertisingSetIdentifier == command.advertisingSetIdentifier
        }
        if !usesList, isFollowed { return .connectionAlreadyExists }
        settings.trainSearch = TrainSearch(
            options: command.options, address: command.advertiserAddress,
            advertisingSetIdentifier: command.advertisingSetIdentifier, skip: command.skip,
            timeout: Int64(command.synchronizationTimeout.rawValue) * 10_000)
        return .success
    }

    func lePeriodicAdvertisingCreateSyncCancel(_ command: LEPeriodicAdvertisingCreateSyncCancel) -> HCIStatus {
        guard settings.trainSearch != nil else { return .commandDisallowed }
        settings.trainSearch = nil
        let (none, nobody) = (SynchronizationHandle(rawValue: 0), DeviceAddress(value: 0, kind: .public))
        send(
            le: LEPeriodicAdvertisingSyncEstablishedV2(
                status: .operationCancelledByHost, synchronizationHandle: none, advertisingSetIdentifier: 0,
                advertiserAddress: nobody, advertiserPHY: .le1M, interval: PeriodicAdvertisingInterval(rawValue: 0),
                advertiserClockAccuracy: ClockAccuracy(rawValue: 0), subeventCount: 0, subeventInterval: 0,
                responseSlotDelay: 0, responseSlotSpacing: 0),
            or: LEPeriodicAdvertisingSyncEstablished(
                status: .operationCancelledByHost, synchronizationHandle: none, advertisingSetIdentifier: 0,
                advertiserAddress: nobody, advertiserPHY: .le1M, interval: PeriodicAdvertisingInterval(rawValue: 0),
                advertiserClockAccuracy: ClockAccuracy(rawValue: 0)))
        return .success
    }

    func lePeriodicAdvertisingTerminateSync(_ command: LEPeriodicAdvertisingTerminateSync) -> HCIStatus {
        guard let place = settings.trains.firstIndex(where: { $0.handle == command.synchronizationHandle }) else {
            return .unknownAdvertisingIdentifier
        }
        settings.trains.remove(at: place)
        return .success
    }

    func leAddDeviceToPeriodicAdvertiserList(_ command: LEAddDeviceToPeriodicAdvertiserList) -> HCIStatus {
        guard settings.trainSearch == nil else { return .commandDisallowed }
        let entry = ListedAdvertiser(
            address: command.advertiserAddress, advertisingSetIdentifier: command.advertisingSetIdentifier)
        guard entry.advertisingSetIdentifier <= 0x0F, !settings.trainList.contains(entry) else {
            return .invalidCommandParameters
        }
        guard settings.trainList.count < Self.listSize else { return .memoryCapacityExceeded }
        settings.trainList.append(entry)
        return .success
    }

    func leRemoveDeviceFromPeriodicAdvertiserList(_ command: LERemoveDeviceFromPeriodicAdvertiserList) -> HCIStatus {
        guard settings.trainSearch == nil else { return .commandDisallowed }
        let entry = ListedAdvertiser(
            address: command.advertiserAddress, advertisingSetIdentifier: command.advertisingSetIdentifier)
        guard let place = settings.trainList.firstIndex(of: entry) else { return .unknownAdvertisingIdentifier }
        settings.trainList.remove(at: place)
        return .success
    }

    func leClearPeriodicAdvertiserList(_ command: LEClearPeriodicAdvertiserList) -> HCIStatus {
        guard settings.trainSearch == nil else { return .commandDisallowed }
        settings.trainList = []
        return .success
    }

    func leReadPeriodicAdvertiserListSize(
        _ command: LEReadPeriodicAdvertiserListSize
    ) -> LEReadPeriodicAdvertiserListSize.ReturnParameters {
        .init(size: UInt8(Self.listSize))
    }

    func leSetPeriodicAdvertisingReceiveEnable(_ command: LESetPeriodicAdvertisingReceiveEnable) -> HCIStatus {
        guard let place = settings.trains.firstIndex(where: { $0.handle == command.synchronizationHandle }) else {
            return .unknownAdvertisingIdentifier
        }
        settings.trains[place].isReported = command.enable.contains(.reports)
        settings.trains[place].filtersDuplicates = command.enable.contains(.filtersDuplicates)
        return .success
    }

    // MARK: Finding a train

    /// An advertisement that leads to a train was received by a scan.
    func leadReceived(to advertisement: AirAdvertisement, from station: any AirStation) {
        guard let search = settings.trainSearch, advertisement.periodicInterval.rawValue > 0,
            let address = advertisement.address, let train = station.train(of: advertisement.set), canFollow(train)
        else { return }
        let found = ListedAdvertiser(
            address: address.withoutIdentityMark, advertisingSetIdentifier: advertisement.advertisingSetIdentifier)
        let isWanted =
            search.options.contains(.usesAdvertiserList)
            ? settings.trainList.contains(found)
            : found
                == ListedAdvertiser(
                    address: search.address.withoutIdentityMark,
                    advertisingSetIdentifier: search.advertisingSetIdentifier)
        let isFollowed = settings.trains.contains { $0.station == station.index && $0.set == advertisement.set }
        guard isWanted, !isFollowed else { return }
        settings.trainSearch = nil
        let handle = follow(
            station, set: advertisement.set, train, at: address, skip: search.skip, timeout: search.timeout,
            isReported: !search.options.contains(.reportsDisabled),
            filtersDuplicates: search.options.contains(.filtersDuplicates))
        let layout = train.layout
        send(
            le: LEPeriodicAdvertisingSyncEstablishedV2(
                synchronizationHandle: handle, advertisingSetIdentifier: train.advertisingSetIdentifier,
                advertiserAddress: address, advertiserPHY: train.phy, interval: train.interval,
                advertiserClockAccuracy: ClockAccuracy(rawValue: 0), subeventCount: layout?.count ?? 0,
                subeventInterval: layout?.interval ?? 0, responseSlotDelay: layout?.responseSlotDelay ?? 0,
                responseSlotSpacing: layout?.responseSlotSpacing ?? 0),
            or: LEPeriodicAdvertisingSyncEstablished(
                synchronizationHandle: handle, advertisingSetIdentifier: train.advertisingSetIdentifier,
                advertiserAddress: address, advertiserPHY: train.phy, interval: train.interval,
                advertiserClockAccuracy: ClockAccuracy(rawValue: 0)))
    }

    /// Whether the controller can receive a train: one with responses needs a feature.
    private func canFollow(_ train: AirTrain) -> Bool {
        train.layout == nil || configuration.features.contains(.periodicAdvertisingWithResponsesScanner)
    }

    /// Sends the second version of an event if the host wants it, and otherwise the first.
    private func send(le second: some LEMetaEvent, or first: some LEMetaEvent) {
        if wants(second) { send(le: second) } else { send(le: first) }
    }

    private func wants<Event: LEMetaEvent>(_ event: Event) -> Bool {
        settings.leEventMask.contains(LEEventMask(rawValue: 1 << (UInt64(Event.subevent.rawValue) - 1)))
    }

    private func follow(
        _ station: any AirStation, set: UInt8, _ train: AirTrain, at address: DeviceAddress, skip: UInt16,
        timeout: Int64, isReported: Bool, filtersDuplicates: Bool
    ) -> SynchronizationHandle {
        let free = (0...UInt16(0x0EFF)).first { number in !settings.trains.contains { $0.handle.rawValue == number } }
        let handle = SynchronizationHandle(rawValue: free ?? 0)
        settings.trains.append(
            FollowedTrain(
                handle: handle, station: station.index, set: set, address: address,
                advertisingSetIdentifier: train.advertisingSetIdentifier, skip: skip, timeout: timeout,
                isReported: isReported, filtersDuplicates: filtersDuplicates, lastHeard: air.nowMicroseconds))
        superviseTrain(handle, in: timeout)
        station.followed(set: set)
        return handle
    }

    private func superviseTrain(_ handle: SynchronizationHandle, in delay: Int64) {
        let cycle = powerCycle
        air.after(delay) { [unowned self] in
            guard cycle == powerCycle, let place = settings.trains.firstIndex(where: { $0.handle == handle }) else {
                return
            }
            let train = settings.trains[place]
            let silence = air.nowMicroseconds - train.lastHeard
            guard silence >= train.timeout else { return superviseTrain(handle, in: train.timeout - silence) }
            settings.trains.remove(at: place)
            send(le: LEPeriodicAdvertisingSyncLost(synchronizationHandle: handle))
        }
    }

    /// A packet of a train that this controller follows.
    func receives(_ train: AirTrain, of set: UInt8, from station: any AirStation) {
        guard
            let place = settings.trains.firstIndex(where: { $0.station == station.index && $0.set == set })
        else { return }
        if let subevent = train.subevent, !settings.trains[place].subevents.contains(subevent) { return }
        if let received = settings.trains[place].receivedEvent {
            // Whole events are skipped, with all their subevents (Core 5.4, Vol 4, Part E, 7.8.67).
            let distance = train.event &- received
            if distance > 0, distance <= settings.trains[place].skip { return }
        }
        settings.trains[place].receivedEvent = train.event
        settings.trains[place].lastHeard = air.nowMicroseconds
        let followed = settings.trains[place]
        let isKnown = train.dataIdentifier != nil && train.dataIdentifier == followed.lastDataIdentifier
        settings.trains[place].lastDataIdentifier = train.dataIdentifier
        guard followed.isReported, !(followed.filtersDuplicates && isKnown) else { return }
        let signal = air.measuredSignal(of: station, at: self)
        var rest = train.data[...]
        repeat {
            let piece = Array(rest.prefix(reportCapacity))
            rest = rest.dropFirst(reportCapacity)
            let status = rest.isEmpty ? AdvertisingDataStatus.complete : .incompleteMoreToCome
            send(
                le: LEPeriodicAdvertisingReportV2(
                    synchronizationHandle: followed.handle, transmitPower: train.transmitPower, rssi: signal,
                    eventCounter: train.event, subeventNumber: train.subevent ?? 0xFF, dataStatus: status, data: piece),
                or: LEPeriodicAdvertisingReport(
                    synchronizationHandle: followed.handle, transmitPower: train.transmitPower, rssi: signal,
                    dataStatus: status, data: piece))
        } while !rest.isEmpty
    }

    // MARK: Transfer over a link

    func lePeriodicAdvertisingSyncTransfer(
        _ command: LEPeriodicAdvertisingSyncTransfer
    ) -> LEPeriodicAdvertisingSyncTransfer.ReturnParameters {
        let handle = command.connectionHandle
        guard let end = position(of: handle).map({ ends[$0] }) else {
            return .init(status: .unknownConnectionIdentifier, connectionHandle: handle)
        }
        guard let train = settings.trains.first(where: { $0.handle == command.synchronizationHandle }),
            let station = air.station(train.station)
        else { return .init(status: .unknownAdvertisingIdentifier, connectionHandle: handle) }
        transfer(station, set: train.set, at: train.address, over: end, serviceData: command.serviceData)
        return .init(connectionHandle: handle)
    }

    func lePeriodicAdvertisingSetInfoTransfer(
        _ command: LEPeriodicAdvertisingSetInfoTransfer
    ) -> LEPeriodicAdvertisingSetInfoTransfer.ReturnParameters {
        let handle = command.connectionHandle
        guard let end = position(of: handle).map({ ends[$0] }) else {
            return .init(status: .unknownConnectionIdentifier, connectionHandle: handle)
        }
        guard let set = advertisingSet(command.advertisingHandle) else {
            return .init(status: .unknownAdvertisingIdentifier, connectionHandle: handle)
        }
        guard let train = train(of: set.handle) else {
            return .init(status: .commandDisallowed, connectionHandle: handle)
        }
        transfer(self, set: set.handle, at: train.address, over: end, serviceData: command.serviceData)
        return .init(connectionHandle: handle)
    }

    private func transfer(
        _ station: any AirStation, set: UInt8, at address: DeviceAddress, over end: LinkEnd, serviceData: UInt16
    ) {
        // The procedure of the link layer takes a connection event or two.
        air.after(2 * end.link.interval) { [unowned self] in
            guard end.link.isOpen,
                let peer = air.station(end.link.station(end.side.other)) as? SimulatedController
            else { return }
            peer.receiveTrain(of: station, set: set, at: address, over: end.link, serviceData: serviceData)
        }
    }

    private func receiveTrain(
        of station: any AirStation, set: UInt8, at address: DeviceAddress, over link: AirLink, serviceData: UInt16
    ) {
        guard configuration.features.contains(.periodicAdvertisingSyncTransferRecipient),
            let end = position(of: link).map({ ends[$0] })
        else { return }
        let reception = end.trainReception ?? settings.trainReception
        guard reception.mode != .ignore, let train = station.train(of: set), canFollow(train),
            !settings.trains.contains(where: { $0.station == station.index && $0.set == set })
        else { return }
        let isFound = air.areInRange(self, station)
        var handle = SynchronizationHandle(rawValue: 0)
        if isFound {
            handle = follow(
                station, set: set, train, at: address, skip: reception.skip, timeout: reception.timeout,
                isReported: reception.mode != .followWithoutReports,
                filtersDuplicates: reception.mode == .followWithFilteredReports)
        }
        let status: HCIStatus = isFound ? .success : .connectionFailedToBeEstablished
        let layout = train.layout
        send(
            le: LEPeriodicAdvertisingSyncTransferReceivedV2(
                status: status, connectionHandle: end.handle, serviceData: serviceData,
                synchronizationHandle: handle, advertisingSetIdentifier: train.advertisingSetIdentifier,
                advertiserAddress: address, advertiserPHY: train.phy, interval: train.interval,
                advertiserClockAccuracy: ClockAccuracy(rawValue: 0), subeventCount: layout?.count ?? 0,
                subeventInterval: layout?.interval ?? 0, responseSlotDelay: layout?.responseSlotDelay ?? 0,
                responseSlotSpacing: layout?.responseSlotSpacing ?? 0),
            or: LEPeriodicAdvertisingSyncTransferReceived(
                status: status, connectionHandle: end.handle, serviceData: serviceData,
                synchronizationHandle: handle, advertisingSetIdentifier: train.advertisingSetIdentifier,
                advertiserAddress: address, advertiserPHY: train.phy, interval: train.interval,
                advertiserClockAccuracy: ClockAccuracy(rawValue: 0)))
    }

    func leSetPeriodicAdvertisingSyncTransferParameters(
        _ command: LESetPeriodicAdvertisingSyncTransferParameters
    ) -> LESetPeriodicAdvertisingSyncTransferParameters.ReturnParameters {
        let handle = command.connectionHandle
        guard let place = position(of: handle) else {
            return .init(status: .unknownConnectionIdentifier, connectionHandle: handle)
        }
        guard
            let reception = TrainReception(
                mode: command.mode, skip: command.skip, timeout: command.synchronizationTimeout)
        else { return .init(status: .invalidCommandParameters, connectionHandle: handle) }
        ends[place].trainReception = reception
        return .init(connectionHandle: handle)
    }

    func leSetDefaultPeriodicAdvertisingSyncTransferParameters(
        _ command: LESetDefaultPeriodicAdvertisingSyncTransferParameters
    ) -> HCIStatus {
        guard
            let reception = TrainReception(
                mode: command.mode, skip: command.skip, timeout: command.synchronizationTimeout)
        else { return .invalidCommandParameters }
        settings.trainReception = reception
        return .success
    }
}
