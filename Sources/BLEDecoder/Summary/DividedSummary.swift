public import BLECapture

/// Who counts the advertising reports of a `DividedSummary`: each part in its order, all parts at the same time.
public protocol ReportCounters: AnyObject {
    /// How many parts there are, at least one.
    var partCount: Int { get }
    /// The sum of all parts. What has been passed to `count` may not be in it yet.
    var progress: ReportCounts.Progress { get }
    /// Counts a batch, now or later.
    func count(_ batch: ReportBatch, part: Int)
    /// Waits until all batches are counted; none follows.
    func end() -> [ReportCounts]
}

/// A summary whose advertising reports are counted by others at the same time, with the same result as a
/// `CaptureSummary`.
///
/// Connections, and whatever else depends on what came before, are counted here. Reports only add to what is known of
/// their device, so that each part gets all reports of its devices. This ends where it could differ: at packets of
/// sniffers, which report the same devices, and when there are nearly as many devices as are counted separately.
public struct DividedSummary: ~Copyable {
    /// What decides when a batch is passed on, and when everything is counted here.
    struct Limits {
        var batchByteCount = 32 << 10
        var addresses = AdvertiserTable.maximumCount
        var names = AdvertiserTable.maximumNameCount
    }

    private var summary: CaptureSummary
    /// `nil` when everything is counted here.
    private var counters: (any ReportCounters)?
    private let partCount: Int
    private var batches: [ReportBatch]
    /// Reports in batches, each part's share of an event included.
    private var reports = 0
    private let limits: Limits
    /// More reports than are added to batches before the next one is full.
    private let margin: Int

    /// - Parameter keys: of the connections that a sniffer captured.
    public init(keys: LinkLayerKeys? = nil, counters: any ReportCounters) {
        self.init(keys: keys, counters: counters, limits: Limits())
    }

    init(keys: LinkLayerKeys? = nil, counters: any ReportCounters, limits: Limits) {
        summary = CaptureSummary(keys: keys)
        self.counters = counters
        self.limits = limits
        partCount = counters.partCount
        // Every report has more than eight octets; an event that is as long as a batch has fewer than 256 reports.
        margin = partCount * limits.batchByteCount / 8 + 256
        summary.addresses.limit = limits.addresses
        summary.addresses.nameLimit = limits.names
        batches = (0..<partCount).map { _ in ReportBatch(byteCount: limits.batchByteCount) }
        joinNearLimit(ReportCounts.Progress())
    }

    /// Counts a record.
    public mutating func count(_ record: borrowing CaptureRecord) {
        if counters != nil {
            switch record.content {
            case .packet:
                if add(record.bytes, isShortened: record.isShortened) { return }
            case .note: break
            case .linkLayer: join()
            }
        }
        summary.count(record)
    }

    /// - Returns: the summary when all reports are counted.
    public consuming func end() -> CaptureSummary {
        join()
        return summary
    }

    /// Puts an event with reports into a batch.
    /// - Returns: `false` if it is another packet.
    @inline(__always)
    private mutating func add(_ bytes: RawSpan, isShortened: Bool) -> Bool {
        guard bytes.byteCount >= 4, bytes.uint16(0) == 0x3E04 else { return false }
        let subevent = bytes.octet(3)
        guard subevent == 0x02 || subevent == 0x0D || subevent == 0x0B else { return false }
        let address = bytes.integer(subevent == 0x0D ? 8 : 7, width: 6)
        let part = ReportCounts.part(of: address, partCount)
        let shortened = isShortened ? ReportBatch.isShortened : 0
        batches[part].append(bytes, shortened | ReportBatch.isCounted)
        reports += Int(bytes.octet(4))
        guard bytes.octet(4) > 1 else {
            if batches[part].isFull { send() }
            return true
        }
        // Its reports can be those of several parts.
        for other in 0..<partCount where other != part {
            batches[other].append(bytes, shortened)
            reports += Int(bytes.octet(4))
        }
        if batches.contains(where: \.isFull) { send() }
        return true
    }

    /// Passes full batches on.
    @inline(never)
    private mutating func send() {
        guard let counters else { return }
        for part in batches.indices where batches[part].isFull {
            counters.count(batches[part], part: part)
            batches[part] = ReportBatch(byteCount: limits.batchByteCount)
        }
        joinNearLimit(counters.progress)
    }

    private mutating func joinNearLimit(_ progress: ReportCounts.Progress) {
        // Every report that is not counted yet, or comes before the next look, could be that of a new device.
        let waiting = reports - progress.reports + margin
        if progress.addresses + waiting >= limits.addresses || progress.names + waiting >= limits.names { join() }
    }

    /// Adds what the others have counted; everything else is counted here.
    private mutating func join() {
        guard let counters = counters.take() else { return }
        for (part, batch) in batches.enumerated() { counters.count(batch, part: part) }
        batches = []
        for part in counters.end() { summary.add(part) }
    }
}
