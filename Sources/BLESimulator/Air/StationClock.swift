/// The clock with which a station measures its intervals.
///
/// The air's clock is true. A station's runs faster or slower by a constant share, as an oscillator's does.
struct StationClock: Equatable {
    /// A true clock.
    static let exact = StationClock(partsPerMillion: 0)

    /// By how much the station's intervals are too long.
    var partsPerMillion: Int64

    private static let million: Int64 = 1_000_000

    /// How long a time of the station takes on the air, in microseconds, rounded up.
    func airTime(of own: Int64) -> Int64 {
        guard partsPerMillion != 0 else { return own }
        let (whole, rest) = own.quotientAndRemainder(dividingBy: Self.million)
        let scaled = rest * (Self.million + partsPerMillion)
        return whole * (Self.million + partsPerMillion) + (scaled + Self.million - 1) / Self.million
    }

    /// What the station has measured after a time of the air, in microseconds, rounded down: the inverse of `airTime`.
    func ownTime(after air: Int64) -> Int64 {
        guard partsPerMillion != 0 else { return air }
        let (whole, rest) = air.quotientAndRemainder(dividingBy: Self.million + partsPerMillion)
        return whole * Self.million + rest * Self.million / (Self.million + partsPerMillion)
    }
}
