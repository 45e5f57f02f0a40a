/// How many reports came lately, in windows of ten seconds.
struct ReportTally {
    static let window: Microseconds = .seconds(10)
    /// How many windows make a minute.
    private static let windowsOfMinute = 6

    /// A count of the present window, and those of the windows before it, the latest first.
    struct Count {
        var present: UInt32 = 0
        private(set) var past = SIMD8<UInt32>.zero

        fileprivate mutating func close() {
            for lane in stride(from: SIMD8<UInt32>.scalarCount - 1, to: 0, by: -1) { past[lane] = past[lane - 1] }
            past[0] = present
            present = 0
        }

        /// The sum of the windows before the present one, the latest first.
        func sum(_ windows: Range<Int>) -> Int { windows.reduce(0) { $0 + Int(past[$1]) } }
    }

    /// Reports of every kind.
    var reports = Count()
    /// Advertisements without data.
    var empty = Count()
    /// Advertisements with data.
    var full = Count()
    /// When the present window ends.
    private(set) var end: Instant

    init(at now: Instant = .zero) { end = now.advanced(by: Self.window) }

    /// Begins a new window if the present one is over.
    /// - Returns: whether it is over.
    mutating func close(at now: Instant) -> Bool {
        guard end <= now else { return false }
        let late = end.distance(to: now).rawValue / Self.window.rawValue
        for _ in 0...min(late, Int64(SIMD8<UInt32>.scalarCount)) {
            reports.close()
            empty.close()
            full.close()
        }
        end = now.advanced(by: Self.window)
        return true
    }

    /// The reports of the minute before the latest one, or of ten seconds less.
    var reportsInMinute: Int { Int(reports.present) + reports.sum(0..<Self.windowsOfMinute - 1) }

    /// Whether nearly all advertisements of some windows had no data.
    func isEmpty(_ windows: Range<Int>) -> Bool {
        let (without, with) = (empty.sum(windows), full.sum(windows))
        return without + with > 0 && with * 50 <= without + with
    }

    /// Whether advertisements of some windows had data.
    func isFull(_ windows: Range<Int>) -> Bool {
        let (without, with) = (empty.sum(windows), full.sum(windows))
        return with * 50 > without + with
    }
}
