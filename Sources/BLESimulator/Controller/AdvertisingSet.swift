import BLEPackets

/// An advertising set of a controller; legacy advertising is a special set.
struct AdvertisingSet {
    /// A handle that no command can use.
    static let legacyHandle: UInt8 = 0xFF

    let handle: UInt8
    var properties: ExtendedAdvertisingProperties = .legacyConnectableUndirected
    /// Microseconds from one advertising event to the next, without the advertising delay.
    var interval: Int64 = 1_280_000
    var ownAddressType = OwnAddressType.public
    var peer = DeviceAddress(value: 0, kind: .public)
    var filterPolicy = AdvertisingFilterPolicy.all
    var primaryPHY = PHY.le1M
    var secondaryPHY = PHY.le1M
    var identifier: UInt8 = 0
    var transmitPower: Int8 = 0
    var notifiesOfScanRequests = false
    var randomAddress: DeviceAddress?
    /// The random address when the parameters were set.
    var latchedAddress: DeviceAddress?
    var data: [UInt8] = []
    var scanResponse: [UInt8] = []
    var dataIdentifier: UInt16 = 0
    /// Data whose last part is still missing.
    var unfinishedData: [UInt8] = []
    var unfinishedScanResponse: [UInt8] = []

    var isEnabled = false
    /// Whether advertising is paused because no station listens.
    var isResting = false
    /// The remaining advertising events; `nil` without a limit.
    var eventsLeft: Int?
    var completedEvents = 0
    /// Changes with each start and stop, also those of sets before this one.
    var number: UInt32 = 0
    var train = Train()

    /// The periodic train of a set.
    struct Train {
        /// `nil` before its parameters are set.
        var interval: PeriodicAdvertisingInterval?
        var properties: PeriodicAdvertisingProperties = []
        var data: [UInt8] = []
        /// Data whose last part is still missing.
        var unfinishedData: [UInt8] = []
        var dataIdentifier: UInt16 = 0
        /// Of a train with responses.
        var subevents: TrainSubeventPlan?
        var isEnabled = false
        var includesDataInformation = false
        /// When its first packet is sent; `nil` before its set advertises.
        var anchor: Int64?
        /// Whether the next packet is simulated.
        var isPlanned = false
        /// Changes with each start and stop, also those of trains before this one.
        var number: UInt32 = 0

        mutating func stop(number: UInt32) {
            isEnabled = false
            anchor = nil
            isPlanned = false
            subevents?.forgetData()
            self.number = number
        }
    }

    init(handle: UInt8) { self.handle = handle }

    /// Whether its data are complete, and those that a scannable set with extended PDUs needs are there (Core 5.4, Vol
    /// 4, Part E, 7.8.56).
    var isReady: Bool {
        let needsScanResponse = properties.contains(.scannable) && !properties.contains(.legacy)
        return unfinishedData.isEmpty && unfinishedScanResponse.isEmpty
            && !(needsScanResponse && scanResponse.isEmpty)
    }

    var isHighDutyCycle: Bool { properties.contains(.highDutyCycleDirected) }

    var activity: LinkLayerActivity {
        if properties.contains(.highDutyCycleDirected) { return .highDutyCycleDirectedAdvertising }
        if properties.contains([.directed, .connectable]) { return .lowDutyCycleDirectedAdvertising }
        if properties.contains(.connectable) { return .connectableAdvertising }
        return properties.contains(.scannable) ? .scannableAdvertising : .nonConnectableAdvertising
    }
}
