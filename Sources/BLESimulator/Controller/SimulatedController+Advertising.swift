import BLEPackets

/// Advertising, legacy and extended (Core 5.4, Vol 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to 7.8.60).
extension SimulatedController {
    var allAdvertisingSets: [AdvertisingSet] { [settings.legacyAdvertising] + settings.advertisingSets }

    func advertisingSet(_ handle: UInt8) -> AdvertisingSet? {
        handle == AdvertisingSet.legacyHandle
            ? settings.legacyAdvertising : settings.advertisingSets.first { $0.handle == handle }
    }

    func changeAdvertisingSet(_ handle: UInt8, _ change: (inout AdvertisingSet) -> Void) {
        if handle == AdvertisingSet.legacyHandle {
            change(&settings.legacyAdvertising)
        } else if let position = settings.advertisingSets.firstIndex(where: { $0.handle == handle }) {
            change(&settings.advertisingSets[position])
        }
    }

    func leReadAdvertisingChannelTxPower(
        _ command: LEReadAdvertisingChannelTxPower
    ) -> LEReadAdvertisingChannelTxPower.ReturnParameters {
        .init(transmitPower: 0)
    }

    func leSetAdvertisingData(_ command: LESetAdvertisingData) -> HCIStatus {
        settings.legacyAdvertising.data = command.data
        return .success
    }

    func leSetScanResponseData(_ command: LESetScanResponseData) -> HCIStatus {
        settings.legacyAdvertising.scanResponse = command.data
        return .success
    }

    func leSetAdvertisingEnable(_ command: LESetAdvertisingEnable) -> HCIStatus {
        guard command.isEnabled else {
            let runs = settings.legacyAdvertising.isEnabled
            guard runs || !configuration.refusesNeedlessDisable else { return .commandDisallowed }
            stopAdvertising(AdvertisingSet.legacyHandle)
            return .success
        }
        return startAdvertising(AdvertisingSet.legacyHandle, duration: 0, maximumEvents: 0)
    }

    func leSetExtendedAdvertisingParameters(
        _ command: LESetExtendedAdvertisingParameters
    ) -> LESetExtendedAdvertisingParameters.ReturnParameters {
        let status = setExtendedAdvertisingParameters(command)
        return .init(status: status, selectedTransmitPower: 0)
    }

    func leSetAdvertisingSetRandomAddress(_ command: LESetAdvertisingSetRandomAddress) -> HCIStatus {
        guard let set = advertisingSet(command.advertisingHandle), set.handle != AdvertisingSet.legacyHandle
        else { return .unknownAdvertisingIdentifier }
        if set.isEnabled, set.properties.contains(.connectable) { return .commandDisallowed }
        changeAdvertisingSet(set.handle) { $0.randomAddress = command.address }
        return .success
    }

    func leSetExtendedAdvertisingData(_ command: LESetExtendedAdvertisingData) -> HCIStatus {
        setData(command.data, command.operation, of: command.advertisingHandle, \.data, unfinished: \.unfinishedData)
    }

    func leSetExtendedScanResponseData(_ command: LESetExtendedScanResponseData) -> HCIStatus {
        setData(
            command.data, command.operation, of: command.advertisingHandle, \.scanResponse,
            unfinished: \.unfinishedScanResponse)
    }

    func leReadMaximumAdvertisingDataLength(
        _ command: LEReadMaximumAdvertisingDataLength
    ) -> LEReadMaximumAdvertisingDataLength.ReturnParameters {
        .init(length: 1650)
    }

    func leReadNumberOfSupportedAdvertisingSets(
        _ command: LEReadNumberOfSupportedAdvertisingSets
    ) -> LEReadNumberOfSupportedAdvertisingSets.ReturnParameters {
        .init(count: configuration.advertisingSets)
    }

    func leRemoveAdvertisingSet(_ command: LERemoveAdvertisingSet) -> HCIStatus {
        guard
            let position = settings.advertisingSets.firstIndex(where: {
                $0.handle == command.advertisingHandle
            })
        else { return .unknownAdvertisingIdentifier }
        guard !settings.advertisingSets[position].isEnabled, !settings.advertisingSets[position].train.isEnabled
        else { return .commandDisallowed }
        settings.advertisingSets.remove(at: position)
        return .success
    }

    func leClearAdvertisingSets(_ command: LEClearAdvertisingSets) -> HCIStatus {
        guard !settings.advertisingSets.contains(where: \.isEnabled) else { return .commandDisallowed }
        settings.advertisingSets = []
        return .success
    }

    // MARK: Parameters and data

    func leSetAdvertisingParameters(_ command: LESetAdvertisingParameters) -> HCIStatus {
        guard !settings.legacyAdvertising.isEnabled else { return .commandDisallowed }
        let isHighDutyCycle = command.type == .connectableDirectedHighDutyCycle
        guard command.type.rawValue <= 4, command.filterPolicy.rawValue <= 3,
            1...7 ~= command.channels.rawValue
        else { return .invalidCommandParameters }
        if !isHighDutyCycle {
            guard 0x0020...0x4000 ~= command.minimumInterval.rawValue,
                command.minimumInterval.rawValue...0x4000 ~= command.maximumInterval.rawValue
            else { return .invalidCommandParameters }
        }
        let properties: ExtendedAdvertisingProperties =
            switch command.type {
            case .connectableUndirected: .legacyConnectableUndirected
            case .connectableDirectedHighDutyCycle: [.legacy, .connectable, .directed, .highDutyCycleDirected]
            case .scannableUndirected: .legacyScannableUndirected
            case .connectableDirectedLowDutyCycle: [.legacy, .connectable, .directed]
            default: .legacyNonConnectableUndirected
            }
        let randomAddress = settings.randomAddress
        changeAdvertisingSet(AdvertisingSet.legacyHandle) {
            $0.properties = properties
            $0.interval = isHighDutyCycle ? 3_750 : Int64(command.minimumInterval.microseconds)
            $0.ownAddressType = command.ownAddressType
            $0.peer = command.peerAddress.withoutIdentityMark
            $0.filterPolicy = command.filterPolicy
            $0.latchedAddress = randomAddress
        }
        return .success
    }

    private func setExtendedAdvertisingParameters(_ command: LESetExtendedAdvertisingParameters) -> HCIStatus {
        let properties = command.properties
        guard command.advertisingHandle <= 0xEF, 1...7 ~= command.channels.rawValue,
            command.filterPolicy.rawValue <= 3, command.advertisingSetIdentifier <= 0x0F,
            command.primaryPHY == .le1M || command.primaryPHY == .leCoded, 1...3 ~= command.secondaryPHY.rawValue
        else { return .invalidCommandParameters }
        if properties.contains(.legacy) {
            // Only the legacy PDUs that exist (Core 5.4, Vol 4, Part E, 7.8.53, table 7.2).
            guard [0x13, 0x15, 0x1D, 0x12, 0x10].contains(properties.rawValue), command.primaryPHY == .le1M else {
                return .invalidCommandParameters
            }
        } else if properties.contains([.connectable, .scannable]) || properties.contains(.highDutyCycleDirected)
            || properties.contains([.anonymous, .connectable]) || properties.contains([.anonymous, .scannable])
        {
            return .invalidCommandParameters
        }
        if !properties.contains(.highDutyCycleDirected) {
            guard command.minimumInterval.rawValue >= 0x20,
                command.minimumInterval.rawValue <= command.maximumInterval.rawValue
            else { return .invalidCommandParameters }
        }
        if let set = advertisingSet(command.advertisingHandle) {
            guard !set.isEnabled else { return .commandDisallowed }
            if properties.contains([.legacy, .directed]), !set.data.isEmpty || !set.scanResponse.isEmpty {
                return .invalidCommandParameters
            }
            if properties.contains([.directed, .connectable]), !set.scanResponse.isEmpty {
                return .invalidCommandParameters
            }
            if properties.contains(.legacy), set.data.count > 31 || set.scanResponse.count > 31 {
                return .invalidCommandParameters
            }
        } else {
            guard settings.advertisingSets.count < Int(configuration.advertisingSets) else {
                return .memoryCapacityExceeded
            }
            settings.advertisingSets.append(AdvertisingSet(handle: command.advertisingHandle))
        }
        changeAdvertisingSet(command.advertisingHandle) {
            $0.properties = properties
            $0.interval =
                properties.contains(.highDutyCycleDirected)
                ? 3_750 : max(20_000, Int64(command.minimumInterval.microseconds))
            $0.ownAddressType = command.ownAddressType
            $0.peer = command.peerAddress.withoutIdentityMark
            $0.filterPolicy = command.filterPolicy
            $0.primaryPHY = command.primaryPHY
            $0.secondaryPHY = command.secondaryPHY
            $0.identifier = command.advertisingSetIdentifier
            $0.notifiesOfScanRequests = command.notifiesOfScanRequests
            $0.latchedAddress = $0.randomAddress
        }
        return .success
    }

    private func setData(
        _ data: [UInt8], _ operation: DataFragmentOperation, of handle: UInt8,
        _ field: WritableKeyPath<AdvertisingSet, [UInt8]>, unfinished: WritableKeyPath<AdvertisingSet, [UInt8]>
    ) -> HCIStatus {
        guard let set = advertisingSet(handle), handle != AdvertisingSet.legacyHandle else {
            return .unknownAdvertisingIdentifier
        }
        if set.isEnabled, operation != .complete, operation != .unchanged { return .commandDisallowed }
        let isLegacy = set.properties.contains(.legacy)
        guard operation.rawValue <= 4, !isLegacy || operation == .complete && data.count <= 31,
            operation == .complete || operation == .unchanged || !data.isEmpty
        else { return .invalidCommandParameters }
        let whole: [UInt8]
        switch operation {
        case .unchanged: whole = set[keyPath: field]
        case .complete, .first: whole = data
        default: whole = set[keyPath: unfinished] + data
        }
        guard whole.count <= 1650 else { return .memoryCapacityExceeded }
        changeAdvertisingSet(handle) {
            if operation == .first || operation == .intermediate {
                $0[keyPath: unfinished] = whole
            } else {
                $0[keyPath: unfinished] = []
                $0[keyPath: field] = whole
                $0.dataIdentifier = ($0.dataIdentifier + 1) & 0x0FFF
            }
        }
        return .success
    }

    func leSetExtendedAdvertisingEnable(_ command: LESetExtendedAdvertisingEnable) -> HCIStatus {
        guard command.isEnabled else {
            let handles =
                command.sets.isEmpty
                ? settings.advertisingSets.map(\.handle) : command.sets.map(\.advertisingHandle)
            for handle in handles where advertisingSet(handle) == nil { return .unknownAdvertisingIdentifier }
            for handle in handles { stopAdvertising(handle) }
            return .success
        }
        guard !command.sets.isEmpty else { return .invalidCommandParameters }
        for (position, entry) in command.sets.enumerated() {
            guard let set = advertisingSet(entry.advertisingHandle), set.handle != AdvertisingSet.legacyHandle else {
                return .unknownAdvertisingIdentifier
            }
            guard !command.sets[..<position].contains(where: { $0.advertisingHandle == set.handle }) else {
                return .invalidCommandParameters
            }
            if set.isHighDutyCycle, entry.duration == 0 || entry.duration > 128 { return .invalidCommandParameters }
            guard set.isReady else { return .commandDisallowed }
        }
        for entry in command.sets {
            let status = startAdvertising(
                entry.advertisingHandle, duration: Int64(entry.duration) * 10_000,
                maximumEvents: Int(entry.maximumEvents))
            guard status.isSuccess else { return status }
        }
        return .success
    }

    // MARK: On the air

    func address(of set: AdvertisingSet) -> DeviceAddress? {
        if let address = privateAddress(set.ownAddressType, towards: set.peer) { return address }
        if set.ownAddressType == .random || set.ownAddressType == .resolvableOrRandom {
            if faults.latchesAdvertisingAddress, let latched = set.latchedAddress { return latched }
            if set.handle != AdvertisingSet.legacyHandle { return set.randomAddress }
        }
        return ownAddress(set.ownAddressType, towards: nil)
    }

    private func startAdvertising(_ handle: UInt8, duration: Int64, maximumEvents: Int) -> HCIStatus {
        guard let set = advertisingSet(handle) else { return .unknownAdvertisingIdentifier }
        guard address(of: set) != nil else { return .invalidCommandParameters }
        guard mayUseRadio, !faults.refusesAdvertisingWhileScanning || !settings.scan.isEnabled else {
            return .commandDisallowed
        }
        if !set.isEnabled {
            guard canBegin(set.activity) else { return .commandDisallowed }
            if set.properties.contains(.connectable), ends.count >= configuration.maximumLinks {
                return .connectionLimitExceeded
            }
        }
        advertisingNumber &+= 1
        changeAdvertisingSet(handle) {
            $0.isEnabled = true
            $0.isResting = false
            $0.number = advertisingNumber
            $0.eventsLeft = maximumEvents > 0 ? maximumEvents : nil
            $0.completedEvents = 0
        }
        planAdvertising(handle, in: generator.next(below: 10_000))
        startTrain(handle)
        let number = advertisingSet(handle)?.number
        let end = set.isHighDutyCycle && duration == 0 ? 1_280_000 : duration
        if end > 0 {
            air.after(end) { [unowned self] in
                guard let set = advertisingSet(handle), set.isEnabled, set.number == number else { return }
                stopAdvertising(handle)
                advertisingTimedOut(set)
            }
        }
        return .success
    }

    private func advertisingTimedOut(_ set: AdvertisingSet) {
        guard set.handle == AdvertisingSet.legacyHandle else {
            send(
                le: LEAdvertisingSetTerminated(
                    status: .advertisingTimeout, advertisingHandle: set.handle,
                    connectionHandle: ConnectionHandle(rawValue: 0),
                    completedExtendedAdvertisingEvents: UInt8(clamping: set.completedEvents)))
            return
        }
        sendConnectionComplete(failure: .advertisingTimeout, side: .peripheral, peer: set.peer)
    }

    func stopAdvertising(_ handle: UInt8) {
        advertisingNumber &+= 1
        changeAdvertisingSet(handle) {
            $0.isEnabled = false
            $0.isResting = false
            $0.number = advertisingNumber
        }
    }

    func stopAdvertising() {
        for set in allAdvertisingSets where set.isEnabled { stopAdvertising(set.handle) }
    }

    private func planAdvertising(_ handle: UInt8, in delay: Int64) {
        guard let number = advertisingSet(handle)?.number else { return }
        air.after(delay) { [unowned self] in
            guard let set = advertisingSet(handle), set.isEnabled, set.number == number else { return }
            advertise(set)
        }
    }

    private func advertise(_ set: AdvertisingSet) {
        guard air.isAnyoneListening || set.eventsLeft != nil else {
            changeAdvertisingSet(set.handle) { $0.isResting = true }
            return
        }
        let (advertisement, began) = (advertisement(of: set), air.nowMicroseconds)
        air.send(advertisement, from: self) { [unowned self] in hasSent(advertisement, of: set, since: began) }
    }

    private func hasSent(_ advertisement: AirAdvertisement, of set: AdvertisingSet, since began: Int64) {
        guard advertisingSet(set.handle)?.number == set.number else { return }
        let isConnected = air.broadcast(advertisement, from: self)
        guard !isConnected, let current = advertisingSet(set.handle), current.number == set.number else { return }
        changeAdvertisingSet(set.handle) { $0.completedEvents += 1 }
        if let left = set.eventsLeft {
            guard left > 1 else {
                stopAdvertising(set.handle)
                send(
                    le: LEAdvertisingSetTerminated(
                        status: .limitReached, advertisingHandle: set.handle,
                        connectionHandle: ConnectionHandle(rawValue: 0),
                        completedExtendedAdvertisingEvents: UInt8(clamping: set.completedEvents + 1)))
                return
            }
            changeAdvertisingSet(set.handle) { $0.eventsLeft = left - 1 }
        }
        // The advertising delay (Core 5.4, Vol 6, Part B, 4.4.2.2.1); high duty cycle has none.
        let delay = set.isHighDutyCycle ? 0 : generator.next(below: 10_001)
        let next = began + air.clock(of: index).airTime(of: set.interval) + delay
        planAdvertising(set.handle, in: next - air.nowMicroseconds)
    }

    private func advertisement(of set: AdvertisingSet) -> AirAdvertisement {
        let isLegacy = set.properties.contains(.legacy)
        let isDirected = set.properties.contains(.directed)
        return AirAdvertisement(
            set: set.handle, address: set.properties.contains(.anonymous) ? nil : address(of: set),
            target: isDirected ? shownTarget(of: set) : nil, isConnectable: set.properties.contains(.connectable),
            isScannable: set.properties.contains(.scannable), isLegacy: isLegacy, primaryPHY: set.primaryPHY,
            secondaryPHY: isLegacy ? nil : set.secondaryPHY,
            advertisingSetIdentifier: isLegacy ? 0xFF : set.identifier,
            dataIdentifier: isLegacy ? 0 : set.dataIdentifier,
            periodicInterval: train(of: set.handle)?.interval ?? PeriodicAdvertisingInterval(rawValue: 0),
            transmitPower: !isLegacy && set.properties.contains(.includesTransmitPower) ? set.transmitPower : 127,
            // A directed legacy PDU has no room for data; a scannable extended one has its data in the scan response.
            data: isLegacy && isDirected || !isLegacy && set.properties.contains(.scannable) ? [] : set.data,
            scanResponse: set.scanResponse)
    }

    /// The target address of directed advertising: a peer on the resolving list is addressed by a private address (Core
    /// 5.4, Vol 6, Part B, 6.2.2).
    private func shownTarget(of set: AdvertisingSet) -> DeviceAddress {
        guard set.ownAddressType == .resolvableOrPublic || set.ownAddressType == .resolvableOrRandom,
            let entry = settings.resolvingList.first(where: { $0.identity == set.peer }), entry.peerKey != .zero
        else { return set.peer }
        return .resolvable(key: entry.peerKey, random: generator.next())
    }

    func wakeAdvertising() {
        for set in allAdvertisingSets where set.isEnabled && set.isResting {
            changeAdvertisingSet(set.handle) { $0.isResting = false }
            planAdvertising(set.handle, in: generator.next(below: set.interval))
        }
    }

    func accepts(_ request: RadioRequest, from address: DeviceAddress, set handle: UInt8) -> Bool {
        guard let set = advertisingSet(handle), set.isEnabled, let known = recognize(address).reported else {
            return false
        }
        switch request {
        case .scan:
            let isFiltered =
                set.filterPolicy == .scanRequestsFromAcceptList || set.filterPolicy == .acceptListOnly
            guard set.properties.contains(.scannable), !isFiltered || isAccepted(known) else { return false }
            if set.notifiesOfScanRequests {
                send(le: LEScanRequestReceived(advertisingHandle: set.handle, scannerAddress: known))
            }
            return true
        case .connect:
            if set.properties.contains(.directed) {
                return set.peer == known.withoutIdentityMark && ends.count < configuration.maximumLinks
            }
            let isFiltered =
                set.filterPolicy == .connectionsFromAcceptList || set.filterPolicy == .acceptListOnly
            return set.properties.contains(.connectable) && ends.count < configuration.maximumLinks
                && (!isFiltered || isAccepted(known))
        }
    }
}
