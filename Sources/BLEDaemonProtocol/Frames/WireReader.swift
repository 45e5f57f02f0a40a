/// Reads the parts of a message that have the form in which they usually come.
struct WireReader {
    private let octets: ArraySlice<UInt8>
    private var place: Int

    init(octets: ArraySlice<UInt8>) {
        self.octets = octets
        place = octets.startIndex
    }

    var rest: ArraySlice<UInt8> { octets[place...] }

    mutating func skip(_ octet: UInt8) -> Bool {
        guard place < octets.endIndex, octets[place] == octet else { return false }
        place += 1
        return true
    }

    mutating func varint() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            guard place < octets.endIndex else { return nil }
            let octet = octets[place]
            place += 1
            number |= UInt64(octet & 0x7F) << shift
            if octet < 0x80 { return number }
        }
        // SwiftProtobuf knows what numbers of ten octets are.
        return nil
    }

    mutating func fixed64() -> UInt64? {
        guard octets.endIndex - place >= 8 else { return nil }
        var number: UInt64 = 0
        for offset in (0..<8).reversed() { number = number << 8 | UInt64(octets[place + offset]) }
        place += 8
        return number
    }

    /// The next octets, if there are so many.
    mutating func octets(_ count: UInt64) -> ArraySlice<UInt8>? {
        guard count <= UInt64(octets.endIndex - place) else { return nil }
        defer { place += Int(count) }
        return octets[place..<place + Int(count)]
    }

    /// Whether a length follows that takes all the rest.
    mutating func skipLengthOfRest() -> Bool {
        guard let length = varint() else { return false }
        return length == UInt64(octets.endIndex - place)
    }
}
