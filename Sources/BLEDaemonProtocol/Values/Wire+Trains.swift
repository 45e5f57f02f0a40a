import BLEHost
import BLEPackets
import FoundationEssentials

extension WireFollowTrain {
    public init(_ request: TrainRequest) {
        self.init()
        advertisers = request.advertisers.map { WireTrainAdvertiser($0.address, $0.identifier) }
        options = WireTrainOptions(request.options)
        scansCodedPhy = request.scansCodedPHY
        endsAfterLoss = !request.resumesAfterLoss
    }
}

extension TrainRequest {
    /// The engine checks what contradicts the specification.
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WireFollowTrain) throws(WireError) {
        var advertisers: [Advertiser] = []
        for advertiser in wire.advertisers { advertisers.append(try Advertiser(advertiser)) }
        self.init(advertisers)
        options = TrainOptions(wire.options)
        scansCodedPHY = wire.scansCodedPhy
        resumesAfterLoss = !wire.endsAfterLoss
    }
}

extension WireTrainAdvertiser {
    init(_ address: DeviceAddress, _ identifier: UInt8) {
        self.init()
        self.address = WireAddress(address)
        sid = UInt32(identifier)
    }
}

extension TrainRequest.Advertiser {
    init(_ wire: WireTrainAdvertiser) throws(WireError) {
        self.init(address: try DeviceAddress(wire.address), identifier: UInt8(clamping: wire.sid))
    }
}

extension WireTrainOptions {
    init(_ options: TrainOptions) {
        self.init()
        skip = UInt32(options.skip)
        timeout = UInt32(options.timeout.rawValue)
        reportsOnlyChanges = options.reportsOnlyChanges
        subevents = (options.subevents ?? []).map { UInt32($0) }
    }
}

extension TrainOptions {
    init(_ wire: WireTrainOptions) {
        self.init()
        skip = UInt16(clamping: wire.skip)
        if wire.timeout != 0 { timeout = SupervisionTimeout(rawValue: UInt16(clamping: wire.timeout)) }
        reportsOnlyChanges = wire.reportsOnlyChanges
        subevents = wire.subevents.isEmpty ? nil : wire.subevents.map { UInt8(clamping: $0) }
    }
}

extension WireTrainEvent {
    /// - Parameters:
    ///   - operation: the client's number.
    ///   - dropped: the number of reports before this one that were dropped.
    public init(_ event: TrainEvent, operation: OperationID, dropped: UInt32) {
        self.init()
        self.operation = operation.rawValue
        self.dropped = dropped
        switch event {
        case .synchronized(let information):
            synchronized.advertiser = WireTrainAdvertiser(information.advertiser, information.identifier)
            synchronized.phy = UInt32(information.phy.rawValue)
            synchronized.interval = UInt32(information.interval.rawValue)
            if let serviceData = information.serviceData { synchronized.serviceData = UInt32(serviceData) }
            if let subevents = information.subevents { synchronized.subevents = WireTrainSubevents(subevents) }
        case .report(let report):
            self.report.advertiser = WireTrainAdvertiser(report.advertiser, report.identifier)
            self.report.data = Data(report.data)
            self.report.isTruncated = report.isTruncated
            self.report.rssi = Int32(report.rssi)
            if let power = report.txPower { self.report.txPower = Int32(power) }
            self.report.time = report.time.microseconds
            if let event = report.event { self.report.event = UInt32(event) }
            if let subevent = report.subevent { self.report.subevent = UInt32(subevent) }
        case .lost(let advertiser, let identifier): lost = WireTrainAdvertiser(advertiser, identifier)
        }
    }
}

extension TrainEvent {
    init(_ wire: WireTrainEvent) throws(WireError) {
        switch wire.event {
        case .synchronized(let found):
            let advertiser = try TrainRequest.Advertiser(found.advertiser)
            self = .synchronized(
                TrainInformation(
                    advertiser: advertiser.address, identifier: advertiser.identifier,
                    phy: PHY(rawValue: UInt8(clamping: found.phy)),
                    interval: PeriodicAdvertisingInterval(rawValue: UInt16(clamping: found.interval)),
                    serviceData: found.hasServiceData ? UInt16(clamping: found.serviceData) : nil,
                    subevents: found.hasSubevents ? TrainSubevents(found.subevents) : nil))
        case .report(let report):
            let advertiser = try TrainRequest.Advertiser(report.advertiser)
            self = .report(
                TrainReport(
                    advertiser: advertiser.address, identifier: advertiser.identifier, data: Array(report.data),
                    isTruncated: report.isTruncated, rssi: Int8(clamping: report.rssi),
                    txPower: report.hasTxPower ? Int8(clamping: report.txPower) : nil,
                    event: report.hasEvent ? UInt16(clamping: report.event) : nil,
                    subevent: report.hasSubevent ? UInt8(clamping: report.subevent) : nil,
                    time: Instant(microseconds: report.time)))
        case .lost(let train):
            let advertiser = try TrainRequest.Advertiser(train)
            self = .lost(advertiser: advertiser.address, identifier: advertiser.identifier)
        case nil: throw .invalidField
        }
    }
}
