import BLEHost
import BLEPackets

extension ATTError: Scalar {}
extension ATTOpcode: Scalar {}
extension AdvertisingInterval: Scalar {}
extension AttributeHandle: Scalar {}
extension AttributePermissions: Scalar {}
extension ChannelMap: Scalar { public static var type: ScalarType { .fixed64 } }
extension CharacteristicExtendedProperties: Scalar {}
extension CharacteristicProperties: Scalar {}
extension ClientID: Scalar {}
extension ConnectionInterval: Scalar {}
extension DeviceAddress.Kind: Scalar {}
extension ExtendedAdvertisingInterval: Scalar {}
extension GATTRequestID: Scalar { public static var type: ScalarType { .fixed64 } }
extension HCIOpcode: Scalar {}
extension HCIStatus: Scalar {}
extension IOCapability: Scalar {}
extension KeyDistribution: Scalar {}
extension L2CAPCreditBasedConnectionResult: Scalar {}
extension L2CAPReconfigureResult: Scalar {}
extension ControllerTraits: Scalar {}
extension LEFeatures: Scalar { public static var type: ScalarType { .fixed64 } }
extension OperationID: Scalar {}
extension PHY: Scalar {}
extension PHYSet: Scalar {}
extension PairingFailedReason: Scalar {}
extension PairingQuestionID: Scalar {}
extension PathLoss.Zone: Scalar {}
extension PeriodicAdvertisingInterval: Scalar {}
extension PowerPHY: Scalar {}
extension SubscriptionModes: Scalar {}
extension SupervisionTimeout: Scalar {}

extension AdvertisingSetRequest.Fault: CaseList {
    public static var cases: [Self] {
        [
            .tooMuchData, .misplacedData, .contradictoryProperties, .needsExtendedPDUs, .primaryPHY, .outOfRange,
            .address, .train, .subevents,
        ]
    }
}
extension AdvertisingTarget.Form: CaseList {
    public static var cases: [Self] { [.lowDutyCycle, .highDutyCycle, .extended] }
}
extension ChannelEnd: CaseList {
    public static var cases: [Self] { [.closedLocally, .closedByPeer, .protocolViolation, .linkLost] }
}

/// Numbers begin at 0.
extension DecodingError.Field: CaseList {
    public static var cases: [Self] {
        [
            .packetType, .opcode, .eventCode, .subevent, .status, .addressType, .role, .reportType, .boundaryFlag,
            .attOpcode, .elementLength, .handle, .handleRange, .uuidFormat, .identifier, .result, .count,
            .length, .phy, .boolean, .ioCapability, .keypress,
        ]
    }
    public var bits: UInt64 { UInt64(Self.cases.firstIndex(of: self) ?? 0) }
    public init?(bits: UInt64) {
        guard bits < UInt64(Self.cases.count) else { return nil }
        self = Self.cases[Int(bits)]
    }
}

/// A flag in the schema: whether this side is the peripheral.
extension LinkRole: Scalar {
    public static var type: ScalarType { .bool }
}

/// A flag in the schema: whether the transport is opened again.
extension RecoveryStep: Scalar {
    public static var blank: Self { .reset }
    public static var type: ScalarType { .bool }
    public var bits: UInt64 { self == .reset ? 0 : 1 }
    public init?(bits: UInt64) { self = bits == 0 ? .reset : .reopenTransport }
}

/// A flag in the schema: whether the values are indications.
extension SubscriptionMode: Scalar {
    public static var blank: Self { .notifications }
    public static var type: ScalarType { .bool }
    public var bits: UInt64 { self == .indications ? 1 : 0 }
    public init?(bits: UInt64) { self = bits == 0 ? .notifications : .indications }
}

/// A count, or a length.
extension Int: Scalar {
    public static var type: ScalarType { .uint32 }
    public var bits: UInt64 { UInt64(clamping: self) }
    public init?(bits: UInt64) { self.init(exactly: bits) }
}

/// A span, which is never negative.
extension Microseconds: Scalar {
    public static var blank: Self { .zero }
    public static var type: ScalarType { .uint64 }
    public var bits: UInt64 { UInt64(clamping: rawValue) }
    public init?(bits: UInt64) { self.init(rawValue: Int64(clamping: bits)) }
}

extension Instant: Scalar {
    public static var blank: Self { .zero }
    public static var type: ScalarType { .int64 }
    public var bits: UInt64 { UInt64(bitPattern: microseconds) }
    public init?(bits: UInt64) { self.init(microseconds: Int64(bitPattern: bits)) }
}

/// The value is opaque to clients.
extension LinkID: Scalar {
    public static var blank: Self { Self(handle: ConnectionHandle(rawValue: 0), generation: 0) }
    @inline(__always) public static var type: ScalarType { .fixed64 }
    public var bits: UInt64 { UInt64(generation) << 16 | UInt64(handle.rawValue) }
    public init?(bits: UInt64) {
        self.init(
            handle: ConnectionHandle(rawValue: UInt16(truncatingIfNeeded: bits)),
            generation: UInt32(truncatingIfNeeded: bits >> 16))
    }
}
