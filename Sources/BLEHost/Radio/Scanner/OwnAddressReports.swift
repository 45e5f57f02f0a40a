import BLEPackets

/// Reports whose advertiser has the controller's own public address. Some copies of CSR's chips report every device so
/// (noble#237).
///
/// A single one proves nothing: whoever wants may advertise with this address, and often. What counts is that hardly
/// another address was ever reported, and that the data are those of several devices. At an empty place somebody can
/// still feign that: it is told, and nothing is done about it.
struct OwnAddressReports {
    private static let fewest: UInt64 = 10
    private static let mostOthers: UInt64 = 3
    /// In a place with one device, a burst of it is not enough.
    private static let shortestSpan: Microseconds = .seconds(5)

    private var count: UInt64 = 0
    private var first = Instant.zero
    private var content: UInt64 = 0
    private var changes = 0
    private var isReported = false

    /// - Parameters:
    ///   - all: how many reports there were, with this one.
    /// - Returns: whether the controller seems to report itself in place of the devices; once.
    mutating func received(_ data: RawSpan, isScanResponse: Bool, of all: UInt64, at now: Instant) -> Bool {
        if count == 0 { first = now }
        count += 1
        if !isScanResponse {
            let hash = data.contentHash()
            if hash != content { changes += 1 }
            content = hash
        }
        let others = all &- count
        guard !isReported, count % Self.fewest == 0, others <= Self.mostOthers, others * 9 <= count,
            first.advanced(by: Self.shortestSpan) <= now, changes > 2
        else { return false }
        isReported = true
        return true
    }
}
