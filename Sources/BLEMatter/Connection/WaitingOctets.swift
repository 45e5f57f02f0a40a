import BLEHost

/// What waits to be written to the server.
struct WaitingOctets {
    private var octets: [UInt8] = []
    private var writtenCount = 0
    /// When some were written, or waiting began.
    private(set) var lastProgress = Instant.zero

    private static let kept = 65_536

    var pending: ArraySlice<UInt8> { octets[writtenCount...] }
    var count: Int { octets.count - writtenCount }

    mutating func append(_ more: [UInt8], at now: Instant) {
        if count == 0 { lastProgress = now }
        octets += more
    }

    mutating func wrote(_ count: Int, at now: Instant) {
        if count > 0 { lastProgress = now }
        writtenCount = min(octets.count, writtenCount + count)
        if writtenCount == octets.count {
            octets.removeAll(keepingCapacity: octets.count <= Self.kept)
            writtenCount = 0
        } else if writtenCount > Self.kept {
            octets.removeFirst(writtenCount)
            writtenCount = 0
        }
    }
}
