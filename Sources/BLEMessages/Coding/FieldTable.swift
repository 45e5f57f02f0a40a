/// Where the last value of each field of a message is. A peer chooses the order of the fields and how many there are, so
/// each is found in one step.
struct FieldTable {
    /// By number; those of unknown fields may be greater, and are not looked for.
    private static let numbers = 128

    /// The place times 8 and the wire type; 0 where there is no such field, because a key precedes each value.
    private var values = [Int](repeating: 0, count: Self.numbers)

    mutating func append(_ number: Int, at place: Int, _ wireType: UInt8) {
        if number < Self.numbers { values[number] = place << 3 | Int(wireType) }
    }

    subscript(number: Int) -> (at: Int, wireType: UInt8)? {
        guard number < Self.numbers, values[number] != 0 else { return nil }
        return (values[number] >> 3, UInt8(truncatingIfNeeded: values[number] & 7))
    }
}
