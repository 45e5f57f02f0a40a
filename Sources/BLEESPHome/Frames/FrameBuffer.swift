/// Octets of a client that were received and not used yet.
struct FrameBuffer {
    private var octets: [UInt8] = []
    private var start = 0

    var count: Int { octets.count - start }

    mutating func append(_ more: some Collection<UInt8>) {
        if start > 0 {
            octets.removeFirst(start)
            start = 0
        }
        octets += more
    }

    /// - Parameter index: less than `count`.
    subscript(index: Int) -> UInt8 { octets[start + index] }

    /// Takes the octets behind a header.
    /// - Returns: `nil` as long as not all of them are there.
    mutating func take(_ length: Int, behind header: Int) -> ArraySlice<UInt8>? {
        guard count - header >= length else { return nil }
        let first = start + header
        start = first + length
        return octets[first..<start]
    }
}
