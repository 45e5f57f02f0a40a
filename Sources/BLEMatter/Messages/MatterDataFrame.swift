/// A frame of octets: what it is, the link that it belongs to, and a value.
struct MatterDataFrame: Equatable {
    /// What the octets are. Servers send `write`, and get the others.
    enum Kind: UInt8 {
        case write = 1
        case notification = 2
        case readResponse = 3
    }

    var kind: UInt8
    var handle: UInt16
    var value: [UInt8]

    init(_ kind: Kind, _ handle: UInt16, _ value: [UInt8]) {
        self.kind = kind.rawValue
        self.handle = handle
        self.value = value
    }

    /// - Returns: `nil` if the octets have no whole head.
    init?(_ octets: [UInt8]) {
        guard octets.count >= 3 else { return nil }
        kind = octets[0]
        handle = UInt16(octets[1]) << 8 | UInt16(octets[2])
        value = Array(octets[3...])
    }

    var octets: [UInt8] { [kind, UInt8(handle >> 8), UInt8(handle & 0xFF)] + value }
}
