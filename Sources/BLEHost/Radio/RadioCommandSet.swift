import BLEPackets

/// The commands with which a controller scans, initiates and advertises.
///
/// There are two such sets, and until its reset a correct controller accepts commands of only one of them (Core 5.4, Vol
/// 4, Part E, 3.1.1): `legacy` and `extended` are the two values of this type. Each function appends one command.
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
        /// The legacy commands know LE 1M only.
        var phys: PHYSet
    }

    struct AdvertisingSwitch {
        var isEnabled: Bool
        /// In units of 10 ms; 0: until it is switched off. The legacy commands have no duration.
        var duration: UInt16
    }

    var setScanParameters: Append<Scan>
    var setScanEnabled: Append<Bool>
    var createConnection: Append<Connection>
    var setAdvertisingParameters: Append<AdvertisingParameters>
    var setAdvertisement: Append<[UInt8]>
    var setScanResponse: Append<[UInt8]>
    var setAdvertisingEnabled: Append<AdvertisingSwitch>

    /// Whether these are the extended commands: each advertising set then has its own random address, which must be set,
    /// and directed advertising can use an extended advertisement.
    var isExtended: Bool
}
