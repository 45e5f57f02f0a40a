/// The octets of one input, read from the front; behind the last there are zeros.
struct FuzzInput {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func byte() -> UInt8 {
        guard position < bytes.count else { return 0 }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func word() -> UInt16 { UInt16(byte()) | UInt16(byte()) << 8 }

    /// So many octets, or those that there are.
    mutating func read(_ count: Int) -> [UInt8] {
        let end = min(bytes.count, position + max(0, count))
        defer { position = end }
        return Array(bytes[position..<end])
    }

    /// Octets behind their count.
    mutating func counted() -> [UInt8] { read(Int(byte())) }

    mutating func rest() -> [UInt8] { read(bytes.count) }
}
