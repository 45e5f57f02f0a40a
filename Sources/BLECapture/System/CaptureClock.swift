import Glibc

/// The clock that stamps captures.
public enum CaptureClock {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public static func microsecondsSinceEpoch() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) &* 1_000_000 &+ Int64(now.tv_nsec) / 1000
    }
}
