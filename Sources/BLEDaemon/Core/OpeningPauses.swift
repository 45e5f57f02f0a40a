/// When a controller that was lost is opened again.
///
/// Each pause is twice as long as the one before. An adapter that is plugged in ends the wait for one that was not there;
/// it does not end the pause of one that is lost again and again, which would come back at each of its falls. Those are
/// forgotten only when it has worked for a while.
struct OpeningPauses {
    private static let shortest: UInt64 = 250_000
    /// For one that is not there: whoever plugs it in is noticed at once.
    private static let longestAbsence: UInt64 = 4_000_000
    private static let longest: UInt64 = 120_000_000
    /// How long it must work before its falls are forgotten.
    static let stable: UInt64 = 60_000_000
    /// After so many falls people are told.
    static let manyFalls = 5

    /// How often it was lost although it could be opened, since it worked for a while.
    private(set) var falls = 0
    private var firstFall: UInt64 = 0
    private var lastFall: UInt64 = 0
    private var readySince: UInt64?
    private var absence = Self.shortest
    private var notBefore: UInt64 = 0

    var isFlapping: Bool { falls >= Self.manyFalls }
    /// The time in which the falls were, in whole seconds.
    var secondsOfFalls: UInt64 { (lastFall - firstFall + 999_999) / 1_000_000 }

    /// The controller works.
    mutating func isReady(at now: UInt64) {
        readySince = now
        absence = Self.shortest
    }

    /// The controller could be opened, and was lost.
    /// - Returns: when to open it again.
    mutating func fell(at now: UInt64) -> UInt64 {
        if let readySince, now >= readySince + Self.stable { falls = 0 }
        readySince = nil
        absence = Self.shortest
        if falls == 0 { firstFall = now }
        lastFall = now
        falls += 1
        notBefore = now + min(Self.shortest << UInt64(min(falls - 1, 20)), Self.longest)
        return notBefore
    }

    /// The controller could not be opened.
    /// - Returns: when to try again.
    mutating func wasRefused(at now: UInt64) -> UInt64 {
        readySince = nil
        defer { absence = min(2 * absence, Self.longestAbsence) }
        return max(now + absence, notBefore)
    }

    /// An adapter has been plugged in.
    /// - Returns: when to open it.
    mutating func hasCome(at now: UInt64) -> UInt64 {
        absence = Self.shortest
        return max(now, notBefore)
    }

    /// An operator wants it to be tried now.
    mutating func forget() { self = OpeningPauses() }
}
