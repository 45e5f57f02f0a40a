import BLEHost
import BLEPackets
import FoundationEssentials

extension WireAdvertisingSet {
    public init(_ request: AdvertisingSetRequest) {
        self.init()
        data = Data(request.data)
        scanResponse = Data(request.scanResponse)
        usesLegacyPdus = request.usesLegacyPDUs
        isConnectable = request.isConnectable
        isScannable = request.isScannable
        isAnonymous = request.isAnonymous
        includesTransmitPower = request.includesTransmitPower
        interval = request.interval.rawValue
        primaryPhy = UInt32(request.primaryPHY.rawValue)
        secondaryPhy = UInt32(request.secondaryPHY.rawValue)
        if let address = request.address { self.address = WireAddress(address) }
        if let identifier = request.identifier { sid = UInt32(identifier) }
        if let power = request.transmitPower { transmitPower = Int32(power) }
        durationMicroseconds = UInt64(clamping: request.duration?.rawValue ?? 0)
        maximumEvents = UInt32(request.maximumEvents)
        endsAfterConnection = !request.resumesAfterConnection
        if let train = request.train { self.train = WirePeriodicTrain(train) }
    }
}

extension AdvertisingSetRequest {
    /// The engine checks what contradicts the specification.
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WireAdvertisingSet) throws(WireError) {
        self.init(
            data: Array(wire.data), scanResponse: Array(wire.scanResponse), usesLegacyPDUs: wire.usesLegacyPdus,
            isConnectable: wire.isConnectable, isScannable: wire.isScannable)
        isAnonymous = wire.isAnonymous
        includesTransmitPower = wire.includesTransmitPower
        if wire.interval != 0 { interval = ExtendedAdvertisingInterval(rawValue: wire.interval) }
        primaryPHY = PHY(wire: wire.primaryPhy) ?? .le1M
        secondaryPHY = PHY(wire: wire.secondaryPhy) ?? .le1M
        address = wire.hasAddress ? try DeviceAddress(wire.address) : nil
        identifier = wire.hasSid ? UInt8(clamping: wire.sid) : nil
        transmitPower = wire.hasTransmitPower ? Int8(clamping: wire.transmitPower) : nil
        if wire.durationMicroseconds != 0 {
            duration = Microseconds(rawValue: Int64(clamping: wire.durationMicroseconds))
        }
        maximumEvents = UInt8(clamping: wire.maximumEvents)
        resumesAfterConnection = !wire.endsAfterConnection
        train = wire.hasTrain ? PeriodicTrain(wire.train) : nil
    }
}

extension WirePeriodicTrain {
    init(_ train: PeriodicTrain) {
        self.init()
        data = Data(train.data)
        interval = UInt32(train.interval.rawValue)
        includesDataInformation = train.includesDataInformation
        includesTransmitPower = train.includesTransmitPower
        if let subevents = train.subevents { self.subevents = WireTrainSubevents(subevents) }
    }
}

extension PeriodicTrain {
    init(_ wire: WirePeriodicTrain) {
        self.init(data: Array(wire.data))
        if wire.interval != 0 { interval = PeriodicAdvertisingInterval(rawValue: UInt16(clamping: wire.interval)) }
        includesDataInformation = wire.includesDataInformation
        includesTransmitPower = wire.includesTransmitPower
        subevents = wire.hasSubevents ? TrainSubevents(wire.subevents) : nil
    }
}

extension PHY {
    /// `nil` for 0, which a message has where none is meant.
    init?(wire: UInt32) {
        guard wire != 0 else { return nil }
        self.init(rawValue: UInt8(clamping: wire))
    }
}

extension WireSetEvent {
    /// - Parameters:
    ///   - operation: the client's number.
    ///   - dropped: the number of responses and requests for data before this event that were dropped.
    public init(_ event: AdvertisingSetEvent, operation: OperationID, dropped: UInt32 = 0) {
        self.init()
        self.operation = operation.rawValue
        self.dropped = dropped
        switch event {
        case .started(let power): started = Int32(power)
        case .stopped: stopped = WireNothing()
        case .connected(let link): connected = link.wire
        case .dataRequested(let first, let count):
            dataRequested.first = UInt32(first)
            dataRequested.count = UInt32(count)
        case .response(let response): self.response = WireSlotResponse(response)
        }
    }
}

extension AdvertisingSetEvent {
    init(_ wire: WireSetEvent) throws(WireError) {
        switch wire.event {
        case .started(let power): self = .started(transmitPower: Int8(clamping: power))
        case .stopped: self = .stopped
        case .connected(let link): self = .connected(LinkID(wire: link))
        case .dataRequested(let asked):
            self = .dataRequested(firstSubevent: UInt8(clamping: asked.first), count: UInt8(clamping: asked.count))
        case .response(let response): self = .response(SlotResponse(response))
        case nil: throw .invalidField
        }
    }
}

// MARK: Failures

extension AdvertisingSetRequest.Fault {
    /// The number of a fault on the wire is its place here, from 1 on, so new ones are appended.
    private static let ofWire: [Self] = [
        .tooMuchData, .misplacedData, .contradictoryProperties, .needsExtendedPDUs, .primaryPHY, .outOfRange, .address,
        .train, .subevents,
    ]

    var wire: UInt32 { UInt32((Self.ofWire.firstIndex(of: self) ?? -1) + 1) }

    init(wire: UInt32) throws(WireError) {
        guard wire > 0, wire <= Self.ofWire.count else { throw .invalidField }
        self = Self.ofWire[Int(wire) - 1]
    }
}
