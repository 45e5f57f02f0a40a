/// An enumeration without raw values: its numbers are those of the list, from 1 on.
public protocol CaseList: Scalar, Equatable {
    static var cases: [Self] { get }
}

extension CaseList {
    public static var blank: Self { cases[0] }
    public static var type: ScalarType { .uint32 }
    public var bits: UInt64 { UInt64((Self.cases.firstIndex(of: self) ?? -1) + 1) }
    public init?(bits: UInt64) {
        guard 1...UInt64(Self.cases.count) ~= bits else { return nil }
        self = Self.cases[Int(bits) - 1]
    }
}
