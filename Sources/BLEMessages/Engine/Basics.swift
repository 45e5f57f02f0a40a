import BLEHost
import BLEPackets

extension DeviceAddress: Message {
    public static var blank: Self { Self(value: 0, kind: .public) }
    public static var schemaName: String { "Address" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        var (value, kind) = (it.value, it.kind)
        try c.field(fixed: 1, "value", &value)
        try c.field(2, "kind", &kind)
        guard value >> 48 == 0 else { throw .invalidField }
        if C.reads { it = Self(value: value, kind: kind) }
    }
}

/// 2 octets if the UUID has a 16-bit form, else 16; the most significant first.
extension BluetoothUUID: OctetString {
    public static var blank: Self { Self(0 as UInt16) }
    public var isZero: Bool { false }
    /// Of a request: everything that is found is compared with all of them, for every program.
    public static var listLimit: Int { 512 }
    public var messageOctets: [UInt8] {
        guard let short = shortValue else { return bytes }
        return [UInt8(short >> 8), UInt8(truncatingIfNeeded: short)]
    }
    public init?(messageOctets octets: ArraySlice<UInt8>) {
        var (high, low): (UInt64, UInt64) = (0, 0)
        for octet in octets { (high, low) = (high << 8 | low >> 56, low << 8 | UInt64(octet)) }
        switch octets.count {
        case 2: self.init(UInt16(truncatingIfNeeded: low))
        case 4: self.init(UInt32(truncatingIfNeeded: low))
        case 16: self.init(high: high, low: low)
        default: return nil
        }
    }
}

extension AttributeHandleRange: Message {
    public static var blank: Self { Self(.none, .none) }
    public static var schemaName: String { "Range" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        var (first, last) = (it.first, it.last)
        try c.field(1, "first", &first)
        try c.field(2, "last", &last)
        if C.reads { it = Self(first, last) }
    }
}

/// Most significant first.
extension Key128: OctetString {
    public static var blank: Self { .zero }
    public var isZero: Bool { false }
    public var messageOctets: [UInt8] { octets.reversed() }
    public init?(messageOctets octets: ArraySlice<UInt8>) { self.init(mostSignificantFirst: Array(octets)) }
}

/// X, then Y, most significant first.
extension P256PublicKey: OctetString {
    public static var blank: Self { .zero }
    public var isZero: Bool { false }
    public var messageOctets: [UInt8] { x + y }
    public init?(messageOctets octets: ArraySlice<UInt8>) {
        self.init(x: Array(octets.prefix(32)), y: Array(octets.dropFirst(32)))
    }
}
