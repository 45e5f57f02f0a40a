import BLEHost
import BLEPackets

extension AttributeHandle: Scalar {}
extension ConnectionInterval: Scalar {}
extension DeviceAddress.Kind: Scalar {}
extension OperationID: Scalar {}
extension PHYSet: Scalar {}
extension SupervisionTimeout: Scalar {}

extension Microseconds: Scalar {
    public static var blank: Self { Self(rawValue: 0) }
    public static var type: ScalarType { .uint64 }
    public var bits: UInt64 { UInt64(clamping: rawValue) }
    public init?(bits: UInt64) { self.init(rawValue: Int64(clamping: bits)) }
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
