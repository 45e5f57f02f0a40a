import BLEPackets

/// The parts of one extended advertisement or scan response, as they are reported (Core 5.4, Vol 4, Part E, 7.7.65.13).
///
///     empty ──more to come──▶ open ──more to come──▶ open ──complete, truncated──▶ whole
///                              │ 100 ms without a part, or more than 1,650 octets
///                              ▼
///                            dropped
///
/// Some controllers lose the end of an advertisement and do not report it as truncated (zephyr#36496). What they
/// reported of it must not begin the next one: a part continues a chain only if address, advertising SID and PHY are the
/// same, and soon. Devices that advertise as often as that begin each time with the same structure, mostly Flags: a part
/// that begins like the chain is a new beginning.
struct AdvertisingChain {
    /// How long the next part may take. A controller reports all parts of an advertisement within a few milliseconds,
    /// and on a slow serial line each takes 20 ms. Most sets advertise less often.
    static let longestGap: Microseconds = .milliseconds(100)

    private var joiner = FragmentJoiner()
    private var addressOnAir: DeviceAddress?
    private var advertisingSet: UInt8 = 0xFF
    private var primaryPHY = PHY.le1M
    private var secondaryPHY: PHY?
    private var isScanResponse = false
    private var latest = Instant.zero

    /// The parts so far; all of them once `add` has returned `true`.
    var octets: [UInt8] { joiner.octets }

    /// Whether no part can continue it any more.
    func isOver(at now: Instant) -> Bool { joiner.isEmpty || latest.advanced(by: Self.longestGap) <= now }

    /// Whether a report begins the same advertisement again, so that the parts will have no end.
    func isBegunAgain(by report: Scanner.Report, data: RawSpan, at now: Instant) -> Bool {
        belongs(report, at: now) && beginsLike(data)
    }

    /// Whether a report belongs to the parts that are there.
    @inline(__always)
    func isContinued(by report: Scanner.Report, data: RawSpan, at now: Instant) -> Bool {
        joiner.isEmpty ? false : belongs(report, at: now) && !beginsLike(data)
    }

    @inline(never)
    private func belongs(_ report: Scanner.Report, at now: Instant) -> Bool {
        report.isExtended && report.advertisingSet == advertisingSet && report.addressOnAir == addressOnAir
            && report.primaryPHY == primaryPHY && report.secondaryPHY == secondaryPHY
            && report.isScanResponse == isScanResponse && now < latest.advanced(by: Self.longestGap)
    }

    /// Whether data begin with the same whole advertising data structure as the parts that are there.
    private func beginsLike(_ data: RawSpan) -> Bool {
        let octets = joiner.octets
        guard let length = octets.first, length > 1, data.byteCount > Int(length), octets.count > Int(length) else {
            return false
        }
        for index in 0...Int(length) where data.byte(at: index) != octets[index] { return false }
        return true
    }

    /// Takes the next part. One that does not continue the chain begins a new one.
    /// - Returns: whether it was the last one, and the whole has a permitted length.
    mutating func add(_ part: RawSpan, of report: Scanner.Report, at now: Instant) -> Bool {
        if !isContinued(by: report, data: part, at: now) {
            self = AdvertisingChain()
            addressOnAir = report.addressOnAir
            advertisingSet = report.advertisingSet
            (primaryPHY, secondaryPHY) = (report.primaryPHY, report.secondaryPHY)
            isScanResponse = report.isScanResponse
        }
        latest = now
        return joiner.add(part, isLast: report.completeness != .moreToCome)
    }

    mutating func removeAll() { self = AdvertisingChain() }
}
