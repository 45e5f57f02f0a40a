/// How fast a capture is played.
struct PlayedPace {
    /// What can be asked for: so many times faster than it was recorded.
    static let rates = 1e-3...1e6
    /// No silence lasts longer: a clock that was set forward while it was recorded, as on machines that learn the time
    /// late, must not stop the playing for years.
    static let longestSilence: Int64 = 86_400_000_000

    var rate: Double

    /// How long to wait for what lies so far away in the capture.
    func microseconds(_ recorded: Int64) -> Int64 {
        Int64(Double(min(max(recorded, 0), Self.longestSilence)) / rate)
    }
}
