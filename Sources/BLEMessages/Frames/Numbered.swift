/// An enumeration whose numbers are the places of its cases; a number of a newer version becomes the first case.
public protocol Numbered: Scalar, CaseIterable, Equatable {}

extension Numbered {
    public static var blank: Self { Self(bits: 0)! }
    public static var type: ScalarType { .uint32 }
    public var bits: UInt64 {
        var bits: UInt64 = 0
        for it in Self.allCases {
            if it == self { break }
            bits += 1
        }
        return bits
    }
    public init?(bits: UInt64) {
        guard let first = Self.allCases.first else { return nil }
        self = Self.allCases.first { $0.bits == bits } ?? first
    }
}
