import BLEPackets

/// Periodic advertising, as the advertiser (Core 5.4, Vol 4, Part E, 7.8.61 to 7.8.63).
extension SimulatedController {
    func leSetPeriodicAdvertisingParameters(_ command: LESetPeriodicAdvertisingParameters) -> HCIStatus {
        guard let set = advertisingSet(command.advertisingHandle), set.handle != AdvertisingSet.legacyHandle else {
            return .unknownAdvertisingIdentifier
        }
        guard !set.properties.contains(.legacy),
            set.properties.isDisjoint(with: [.connectable, .scannable, .anonymous]),
            command.minimumInterval.rawValue >= 6,
            command.minimumInterval <= command.maximumInterval
        else { return .invalidCommandParameters }
        guard !set.train.isEnabled else { return .commandDisallowed }
        changeAdvertisingSet(set.handle) {
            $0.train.interval = command.minimumInterval
            $0.train.properties = command.properties
            $0.train.subevents = nil
        }
        return .success
    }

    func leSetPeriodicAdvertisingData(_ command: LESetPeriodicAdvertisingData) -> HCIStatus {
        guard let set = advertisingSet(command.advertisingHandle), set.handle != AdvertisingSet.legacyHandle else {
            return .unknownAdvertisingIdentifier
        }
        let operation = command.operation
        guard set.train.interval != nil, set.train.subevents == nil else { return .commandDisallowed }
        if set.train.isEnabled, operation != .complete, operation != .unchanged { return .commandDisallowed }
        guard operation.rawValue <= 4, operation == .complete || operation == .unchanged || !command.data.isEmpty else {
            return .invalidCommandParameters
        }
        let isNew = operation == .complete || operation == .first
        let whole = operation == .unchanged ? set.train.data : (isNew ? [] : set.train.unfinishedData) + command.data
        guard whole.count <= 1650 else { return .memoryCapacityExceeded }
        changeAdvertisingSet(set.handle) {
            if operation == .first || operation == .intermediate {
                $0.train.unfinishedData = whole
            } else {
                $0.train.unfinishedData = []
                $0.train.data = whole
                $0.train.dataIdentifier = ($0.train.dataIdentifier + 1) & 0x0FFF
            }
        }
        return .success
    }

    func leSetPeriodicAdvertisingEnable(_ command: LESetPeriodicAdvertisingEnable) -> HCIStatus {
        guard let set = advertisingSet(command.advertisingHandle), set.handle != AdvertisingSet.legacyHandle else {
            return .unknownAdvertisingIdentifier
        }
        guard command.enable.contains(.enabled) else {
            trainNumber &+= 1
            changeAdvertisingSet(set.handle) { $0.train.stop(number: trainNumber) }
            return .success
        }
        guard set.train.interval != nil, set.train.unfinishedData.isEmpty, !set.properties.contains(.anonymous) else {
            return .commandDisallowed
        }
        changeAdvertisingSet(set.handle) {
            $0.train.isEnabled = true
            $0.train.includesDataInformation = command.enable.contains(.includesAdvertisingDataInformation)
        }
        if set.isEnabled { startTrain(set.handle) }
        return .success
    }

    /// A train begins when its set advertises, and does not end with that.
    func startTrain(_ handle: UInt8) {
        guard let set = advertisingSet(handle), set.train.isEnabled, set.train.anchor == nil else { return }
        trainNumber &+= 1
        changeAdvertisingSet(handle) {
            // At most one interval later.
            $0.train.anchor = air.nowMicroseconds + 2500
            $0.train.number = trainNumber
        }
        if set.train.subevents == nil { followed(set: handle) } else { beginSubevents(of: handle) }
    }

    // MARK: The train on the air

    func train(of handle: UInt8) -> AirTrain? {
        guard isOpen, let set = advertisingSet(handle), let interval = set.train.interval, set.train.isEnabled,
            let anchor = set.train.anchor, let address = address(of: set)
        else { return nil }
        return AirTrain(
            address: address, advertisingSetIdentifier: set.identifier, phy: set.secondaryPHY, interval: interval,
            data: set.train.data, dataIdentifier: set.train.includesDataInformation ? set.train.dataIdentifier : nil,
            transmitPower: set.train.properties.contains(.includesTransmitPower) ? set.transmitPower : 127,
            anchor: anchor, layout: set.train.subevents?.layout, clock: air.clock(of: index))
    }

    func followed(set handle: UInt8) {
        guard let train = train(of: handle), train.layout == nil, let set = advertisingSet(handle),
            !set.train.isPlanned, air.isFollowed(self, set: handle)
        else { return }
        changeAdvertisingSet(handle) { $0.train.isPlanned = true }
        let number = set.train.number
        air.after(train.packet(after: air.nowMicroseconds) - air.nowMicroseconds) { [unowned self] in
            guard advertisingSet(handle)?.train.number == number else { return }
            changeAdvertisingSet(handle) { $0.train.isPlanned = false }
            guard var train = self.train(of: handle) else { return }
            train.event = train.event(at: air.nowMicroseconds)
            air.broadcast(train, of: handle, from: self)
            followed(set: handle)
        }
    }
}
