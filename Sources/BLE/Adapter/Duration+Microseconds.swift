extension Duration {
    /// Whole microseconds, at most the longest time that a loop can wait.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let longest: Int64 = 1 << 52
        guard abs(seconds) < longest / 1_000_000 else { return seconds < 0 ? -longest : longest }
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
