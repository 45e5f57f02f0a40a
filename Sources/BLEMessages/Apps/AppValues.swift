import BLEAppLifecycle
import BLEHost
import BLEPackets

extension ManagerID: Scalar {}
extension QueryID: Scalar {}
extension RemoteAttributeID: Scalar {}
extension LocalAttributeID: Scalar {}
extension ATTRequestID: Scalar {}
extension L2CAPChannelID: Scalar {}
extension AlertID: Scalar {}
extension ManagerState: Scalar {}
extension ManagerAuthorization: Scalar {}
extension PeripheralState: Scalar {}
extension ConnectionLatency: Scalar {}

extension AppID: OctetString {
    public static var blank: Self { Self(rawValue: "") }
    public static var isText: Bool { true }
    public var messageOctets: [UInt8] { rawValue.messageOctets }
    public init?(messageOctets octets: ArraySlice<UInt8>) {
        guard let text = String(messageOctets: octets) else { return nil }
        self.init(rawValue: text)
    }
}

extension PeerIdentifier: OctetString {
    public static var blank: Self { Self(high: 0, low: 0) }
    public var messageOctets: [UInt8] { bytes }
    public init?(messageOctets octets: ArraySlice<UInt8>) { self.init(bytes: Array(octets)) }
}

extension OverflowSetting: OctetString {
    public static var blank: Self { .off }
    public static var isText: Bool { true }
    public var messageOctets: [UInt8] { rawValue.messageOctets }
    public init?(messageOctets octets: ArraySlice<UInt8>) {
        guard let text = String(messageOctets: octets) else { return nil }
        self.init(rawValue: text)
    }
}

extension ClientError: Choice {
    public static var blank: Self { .att(code: 0) }
    public static var schemaName: String { "AppError" }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        // A code of a newer daemon that is unknown here becomes `unknown`.
        try c.option(
            1, "core_bluetooth", &it, { .coreBluetooth(CoreBluetoothError(rawValue: $0) ?? .unknown) },
            { if case .coreBluetooth(let error) = $0 { error.rawValue } else { nil } })
        try c.option(2, "att", &it, Self.att) { if case .att(let code) = $0 { code } else { nil } }
    }
}

extension PeripheralDescription: Message {
    public static var blank: Self { Self(identifier: .blank) }
    public static var schemaName: String { "AppPeripheral" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peer", &it.identifier)
        try c.field(2, "name", &it.name)
        try c.field(3, "state", &it.state)
    }
}

extension CentralDescription: Message {
    public static var blank: Self { Self(identifier: .blank, maximumUpdateLength: 0) }
    public static var schemaName: String { "AppCentral" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peer", &it.identifier)
        try c.field(2, "maximum_update_length", &it.maximumUpdateLength)
    }
}

extension WriteLimits: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "AppWriteLimits" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "with_response", &it.withResponse)
        try c.field(2, "without_response", &it.withoutResponse)
    }
}
