import BLEPackets

@testable import BLEHost

extension HostRig {
    /// Moves time in steps, with reports of several devices while the controller scans.
    /// - Parameters:
    ///   - span: how long.
    ///   - pause: between two reports.
    ///   - report: the report with a number, as a packet; `nil`: none comes.
    func run(
        for span: Microseconds, every pause: Microseconds = .milliseconds(200),
        report: (Int) -> LEAdvertisingReport? = { HostRig.report(HostRig.peer($0 % 7), data: [2, 1, UInt8($0 % 7)]) }
    ) {
        let end = now.advanced(by: span)
        var number = 0
        while now < end {
            advance(by: min(pause, now.distance(to: end)))
            number += 1
            if isScanOn, let report = report(number) { receive(report) }
        }
    }

    /// The same without reports.
    func runSilently(for span: Microseconds) { run(for: span, every: .seconds(1)) { _ in nil } }

    var recoveries: [HostEvent] { events.filter { if case .recovering = $0 { true } else { false } } }
}
