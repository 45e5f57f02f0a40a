/// Judges by the reports whether a controller that scans still receives, and what helps if it does not.
///
///     reports ──10 s without──▶ scan restarted ──20 s──▶ recovery ──20 s──▶ recovery ──20 s──▶ recovery
///        ▲                                                                                        │ 20 s
///        └──────────────── 60 s of reports ──────────── restarts, less and less often ◀── fault remains
///
/// Many controllers stop reporting after hours, and every command succeeds (home-assistant/core#99053, zephyr#23319).
/// Some report for a few seconds after each restart: only a minute of reports makes the next silence a new one.
///
/// Silence may also mean that no device is there. A scan that has never reported anything, or that reported little, is
/// recovered in steps that take twice as long each time, once: after that, it is only restarted. So is the scan for
/// certain devices. Recovery ends all links; while there are any, only a long silence after many reports leads to it.
///
/// Reports without data, after there have been others, count as silence (home-assistant/core#77043).
struct ReceptionWatch {
    /// What is at stake.
    struct Terms: Equatable {
        /// Whether more may be done than to restart the scan.
        var mayRecover = false
        /// Whether the scan is for certain devices, so that its silence means little.
        var isNarrow = false
        var hasLinks = false
        /// How many times longer than without pause the scan needs to receive the same: 1 or more.
        var slowness: Int64 = 1
    }

    enum Step: Equatable {
        case restart, recover
        /// Nothing has helped. The scan is to be restarted, too.
        case faultRemains
    }

    /// How long no report may come before scanning is switched off and on again (pain 5); doubled each time, because
    /// there may be no devices nearby.
    static let firstSilence: Microseconds = .seconds(10)
    static let longestSilence: Microseconds = .seconds(320)
    /// How long each step has to bring reports.
    static let stepSilence: Microseconds = .seconds(20)
    /// How long reports must come before earlier silences are forgotten.
    static let stablePeriod: Microseconds = .seconds(60)
    /// How long reports are missing before links are given up for them.
    static let silenceWithLinks: Microseconds = .seconds(300)
    /// The longest pause between reports that is considered usual at a place.
    private static let longestGap: Microseconds = .seconds(600)
    private static let recoveries = 3
    /// With fewer reports in a minute, silence may be chance.
    private static let fewReports = 10
    /// With so many, it means more than a link.
    private static let manyReports = 100
    private static let fewestForEmptiness = 50
    private static let windowsForEmptiness = 0..<3
    /// More than 300 reports in a second.
    private static let flood: UInt32 = 3000

    private var terms = Terms()
    /// When the last report came that counts.
    private(set) var lastReport = Instant.zero
    private var tally = ReportTally()
    /// When a report needs more than to be counted.
    private var attention = Instant.zero

    /// A silence was noticed, and no report has come since.
    private var isSilent = true
    private var silenceBegan = Instant.zero
    /// When the reports began that come now, or came last.
    private var flowBegan = Instant.zero
    private var hasReported = false
    /// How far the present silence, with its interruptions, has led: 0 nothing, 1 restarted, 2 to 4 recovered, 5 over.
    private var steps = 0
    private var lastRecovery = Instant.zero
    /// Before the present silence there were few reports.
    private var isQuietPlace = false
    private var isPlaceJudged = false
    private var reportsBefore = 0
    private var usualGap = Microseconds.zero
    /// Reports have had data.
    private var hadData = false
    /// Reports come, but have no data any more.
    private(set) var isEmptied = false
    /// So many reports came in the last window that some controllers fail.
    private(set) var isFlooded = false

    /// How long the next restart waits, unless a report comes.
    private var restartSilence = Self.firstSilence
    /// How long to wait after a report, and after the scan began without one since.
    private var patience = (afterReport: Self.firstSilence, afterBegin: Self.firstSilence)

    // MARK: Reports

    /// A report came.
    /// - Parameters:
    ///   - isAdvertisement: whether it is one of a device that can have data.
    ///   - isEmpty: whether it has none.
    @inline(__always)
    mutating func received(isAdvertisement: Bool, isEmpty: Bool, at now: Instant) {
        if attention <= now { attend(at: now) }
        tally.reports.present &+= 1
        if isAdvertisement {
            if isEmpty { tally.empty.present &+= 1 } else { tally.full.present &+= 1 }
        }
        if !isEmptied { lastReport = now }
    }

    @inline(never)
    private mutating func attend(at now: Instant) {
        if tally.close(at: now) {
            isFlooded = tally.reports.past[0] >= Self.flood
            judgeEmptiness()
        }
        if isSilent, !isEmptied { beginFlow(at: now) }
        if steps > 0, !isSilent, flowBegan.advanced(by: Self.stablePeriod) <= now { forgetSilence() }
        attention = isSilent ? .zero : tally.end
    }

    private mutating func beginFlow(at now: Instant) {
        if isQuietPlace, hasReported { usualGap = max(usualGap, min(silenceBegan.distance(to: now), Self.longestGap)) }
        isSilent = false
        hasReported = true
        flowBegan = now
        updatePatience()
    }

    private mutating func judgeEmptiness() {
        if isEmptied {
            if tally.isFull(0..<1) { isEmptied = false }
            return
        }
        let windows = Self.windowsForEmptiness
        if tally.isFull(windows.upperBound..<windows.upperBound + 1) { hadData = true }
        let count = tally.empty.sum(windows) + tally.full.sum(windows)
        isEmptied = hadData && count >= Self.fewestForEmptiness && tally.isEmpty(windows)
    }

    /// What has been done about silence is forgotten.
    mutating func forgetSilence() {
        steps = 0
        isPlaceJudged = false
        restartSilence = Self.firstSilence
        updatePatience()
    }

    // MARK: Silence

    /// What is at stake from now on.
    mutating func follow(_ terms: Terms) {
        guard terms != self.terms else { return }
        self.terms = terms
        updatePatience()
    }

    /// The controller begins anew.
    mutating func controllerReset() {
        restartSilence = Self.firstSilence
        updatePatience()
    }

    /// When the silence has lasted too long.
    /// - Parameter begin: since when the scan is on, or the last step was taken.
    func deadline(since begin: Instant) -> Instant {
        begin <= lastReport
            ? lastReport.advanced(by: patience.afterReport) : begin.advanced(by: patience.afterBegin)
    }

    /// Whether restarting the scan has not helped.
    var isPastRestart: Bool { terms.mayRecover && !terms.isNarrow && 1...Self.recoveries ~= steps }

    /// The silence has lasted too long.
    mutating func silenceLasted(since begin: Instant, at now: Instant) -> Step {
        defer { updatePatience() }
        noteSilence(since: begin, at: now)
        let restartSilence = begin <= lastReport ? Self.firstSilence : restartSilence
        self.restartSilence = min(.microseconds(restartSilence.rawValue &* 2), Self.longestSilence)
        guard terms.mayRecover, !terms.isNarrow else { return .restart }
        switch steps {
        case 0:
            steps = 1
            return .restart
        case 1...Self.recoveries:
            if terms.hasLinks, !outweighsLinks(at: now) { return .restart }
            steps += 1
            lastRecovery = now
            return .recover
        case Self.recoveries + 1:
            self.restartSilence = min(.microseconds(stepPatience.rawValue &* 2), Self.longestSilence)
            steps += 1
            return hasReported ? .faultRemains : .restart
        default:
            return .restart
        }
    }

    private mutating func noteSilence(since begin: Instant, at now: Instant) {
        if isEmptied { tally = ReportTally(at: now) }
        guard !isSilent else { return }
        isSilent = true
        attention = .zero
        silenceBegan = max(lastReport, begin)
        // Reports of another time prove nothing about the place now.
        reportsBefore = begin <= lastReport.advanced(by: Self.stablePeriod) ? tally.reportsInMinute : 0
        if steps > 0, flowBegan.advanced(by: Self.stablePeriod) <= lastReport { forgetSilence() }
        if !isPlaceJudged {
            isPlaceJudged = true
            isQuietPlace = reportsBefore < Self.fewReports
        }
    }

    private func outweighsLinks(at now: Instant) -> Bool {
        reportsBefore >= Self.manyReports
            && max(lastReport, lastRecovery).advanced(by: Self.silenceWithLinks) <= now
    }

    /// How long the last step has to bring reports.
    private var stepPatience: Microseconds {
        guard !hasReported || isQuietPlace else { return Self.stepSilence }
        let doubled = Microseconds(rawValue: Self.stepSilence.rawValue << Int64(max(0, steps - 1)))
        return max(doubled, Microseconds(rawValue: usualGap.rawValue &* 2))
    }

    private mutating func updatePatience() {
        var (afterReport, afterBegin) = (Self.firstSilence, restartSilence)
        if terms.mayRecover, !terms.isNarrow {
            switch steps {
            case 1...Self.recoveries where !terms.hasLinks: (afterReport, afterBegin) = (stepPatience, stepPatience)
            case Self.recoveries + 1: afterBegin = stepPatience
            default: break
            }
        }
        patience = (
            .microseconds(afterReport.rawValue &* terms.slowness), .microseconds(afterBegin.rawValue &* terms.slowness)
        )
    }
}
