/// The speed at which a capture is played.
struct PlayedPace {
    /// The valid rates: how many times faster than it was recorded.
    static let rates = 1e-3...1e6
    /// The longest pause: if the clock was set forward during the recording, as on machines that get the time late,
    /// playing must not stop for years.
    static let longestSilence: Int64 = 86_400_000_000

    var rate: Double

    /// How long to wait for a time distance in the capture.
    func microseconds(_ recorded: Int64) -> Int64 {
        Int64(Double(min(max(recorded, 0), Self.longestSilence)) / rate)
    }
}
