import BLE

/// The progress line at the bottom of a terminal: reports, their rate, and the remaining time.
enum ScanProgress {
    /// - Returns: the task to cancel at the end; `nil` if no progress is shown.
    static func start(_ adapter: Adapter, console: Console, duration: Duration?) -> Task<Void, Never>? {
        guard console.showsProgress else { return nil }
        return Task {
            let clock = ContinuousClock()
            let start = clock.now
            var last: UInt64 = 0
            while !Task.isCancelled {
                try? await clock.sleep(for: .seconds(1))
                guard !Task.isCancelled else { break }
                let reports = await adapter.counters.advertisingReports
                var text = "\(reports) reports, \(reports &- last)/s"
                last = reports
                if let duration {
                    let left = max(.zero, duration - (clock.now - start))
                    // Rounded up: a part of a second is left, too.
                    let seconds = left.components.seconds + (left.components.attoseconds > 0 ? 1 : 0)
                    text += ", \(seconds) s left"
                }
                console.showProgress(text)
            }
            console.showProgress("")
        }
    }
}
