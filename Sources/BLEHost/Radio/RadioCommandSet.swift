import BLEPackets

/// The commands by which a controller scans, initiates and advertises.
///
/// There are two such sets, and a controller takes commands of one alone until it is reset (Core 5.4, Vol 4, Part E,
/// 3.1.1): `legacy` and `extended` are the two values of this type. Each function appends one command.
struct RadioCommandSet: Sendable {
    typealias Append<Value> = @Sendable (Value, inout CommandQueue) -> Void

    struct Scan {
        var parameters: ScanParameters
        var ownAddressType: OwnAddressType
    }

    struct Connection {
        var peer: DeviceAddress
        var filterPolicy: InitiatorFilterPolicy
        var ownAddressType: OwnAddressType
        var duty: ScanDuty
        var parameters: ConnectionParameterRequest
    }

    struct AdvertisingSwitch {
        var isEnabled: Bool
        /// In units of 10 ms; 0: until it is switched off. The legacy commands know no duration.
        var duration: UInt16
    }

    var setScanParameters: Append<Scan>
    var setScanEnabled: Append<Bool>
    var createConnection: Append<Connection>
    var setAdvertisingParameters: Append<AdvertisingParameters>
    var setAdvertisement: Append<[UInt8]>
    var setScanResponse: Append<[UInt8]>
    var setAdvertisingEnabled: Append<AdvertisingSwitch>

    /// Whether each advertising set is told its random address.
    var setsAddressOfAdvertisingSet: Bool
    /// Whether a device can be called with an extended advertisement.
    var takesExtendedCalls: Bool

    // Which command is named where scanning, connecting or advertising is refused.
    var scanOpcode: HCIOpcode
    var connectionOpcode: HCIOpcode
    var advertisingOpcode: HCIOpcode
}

extension RadioCommandSet {
    /// The set for a controller with these features.
    init(for information: ControllerInformation) {
        self = information.usesExtendedCommands ? .extended : .legacy
    }
}
