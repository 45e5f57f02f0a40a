/// Counts of events with advertising reports, those of one part of a `DividedSummary`.
public struct ReportCounts: Sendable {
    /// What has been counted, for decisions while more of it is under way.
    public struct Progress: Equatable, Sendable {
        /// Reports, each part's share of an event included.
        public internal(set) var reports = 0
        /// Devices.
        public internal(set) var addresses = 0
        /// Devices with a name.
        public internal(set) var names = 0

        public init() {}

        public static func += (total: inout Self, part: Self) {
            total.reports += part.reports
            total.addresses += part.addresses
            total.names += part.names
        }
    }

    /// Legacy, directed and extended reports.
    static let subevents: [UInt8] = [0x02, 0x0B, 0x0D]
    private let part: Int
    private let partCount: Int
    private var reports = 0
    var events = 0
    /// In the order of `subevents`.
    var eventsBySubevent = [3 of Int](repeating: 0)
    /// Without the events whose length is not what they state.
    var reportEvents = 0
    var malformed = 0
    var addresses = AdvertiserTable()

    public init(part: Int, of partCount: Int) {
        self.part = part
        self.partCount = partCount
    }

    public var progress: Progress {
        var progress = Progress()
        (progress.reports, progress.addresses, progress.names) = (reports, addresses.count, addresses.nameCount)
        return progress
    }

    /// Which part a device belongs to.
    @inline(__always)
    static func part(of address: UInt64, _ partCount: Int) -> Int {
        // Other bits than those that choose a place in the table.
        let mixed = (address &* 0x9E37_79B9_7F4A_7C15) >> 48
        return Int(truncatingIfNeeded: (mixed &* UInt64(truncatingIfNeeded: partCount)) >> 16)
    }

    /// Counts a batch of a `DividedSummary`.
    public mutating func count(_ batch: ReportBatch) {
        let bytes = batch.bytes
        var position = 0
        while position < bytes.byteCount {
            let header = bytes.uint32(position)
            let byteCount = Int(header & ReportBatch.byteCountMask)
            count(bytes.part(position + 4, byteCount), header)
            position += 4 + byteCount
        }
    }

    private mutating func count(_ event: RawSpan, _ header: UInt32) {
        let subevent = event.octet(3)
        let isShortened = header & ReportBatch.isShortened != 0
        let isLong = isShortened || event.byteCount == 3 + Int(event.octet(2))
        reports += Int(event.octet(4))
        guard header & ReportBatch.isCounted != 0 else {
            guard isLong else { return }
            let (part, partCount) = (part, partCount)
            _ = AdvertisingReportFields.forEach(subevent: subevent, in: event.rest(4)) { report in
                if Self.part(of: report.address, partCount) == part { addresses.note(report, subevent: subevent) }
                return true
            }
            return
        }
        events += 1
        eventsBySubevent[subevent == 0x02 ? 0 : subevent == 0x0B ? 1 : 2] += 1
        guard isLong else {
            malformed += 1
            return
        }
        reportEvents += 1
        let isWhole: Bool
        if event.octet(4) <= 1 {
            isWhole = addresses.count(subevent: subevent, event.rest(4))
        } else {
            let (part, partCount) = (part, partCount)
            isWhole = AdvertisingReportFields.forEach(subevent: subevent, in: event.rest(4)) { report in
                if Self.part(of: report.address, partCount) == part { addresses.note(report, subevent: subevent) }
                return report.isWellFormed(subevent: subevent)
            }
        }
        if !isWhole, !isShortened { malformed += 1 }
    }
}
