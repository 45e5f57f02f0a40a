/// A device that moves to and fro: its signal becomes weaker and stronger again.
///
/// It stays in range. The air's time alone decides where it is, so that every run is the same.
public struct SimulatedMotion: Hashable, Sendable {
    /// How much weaker it is received at the far end than at the near one, 0 to 60 dB.
    public var decibels: Int8
    /// The time to the far end and back in microseconds, at least 1 s.
    public var periodMicroseconds: Int64

    public init(decibels: Int8, periodMicroseconds: Int64) {
        self.decibels = decibels
        self.periodMicroseconds = periodMicroseconds
    }

    /// How much weaker than at the near end, in dB.
    func loss(atMicroseconds time: Int64) -> Int64 {
        let half = max(1_000_000, min(periodMicroseconds, 1 << 50)) / 2
        let place = time % (2 * half)
        return Int64(max(0, min(60, decibels))) * (place < half ? place : 2 * half - place) / half
    }
}
