/// What a program has asked for lately, and whether that is more than its share. See `TurnLine`.
struct BusyMeter {
    /// How long a program is busy after it has exceeded its share, and the time to which the share belongs, in
    /// microseconds.
    static let window: UInt64 = 10_000
    /// What all programs' requests may cost in that time before they are busy: each user's as much as another's, and each
    /// program's of one user.
    static let ofAll = 32

    private var spent = 0
    private var began: UInt64 = 0
    private var busyUntil: UInt64 = 0

    /// - Parameters:
    ///   - programs: how many of the user are connected.
    ///   - users: how many users' programs are connected.
    mutating func spend(_ cost: Int, of programs: Int, _ users: Int, at now: UInt64) {
        if now >= began + Self.window {
            spent = 0
            began = now
        }
        spent += cost
        if spent > max(1, Self.ofAll / max(1, programs * users)) { busyUntil = now + Self.window }
    }

    func isBusy(at now: UInt64) -> Bool { now < busyUntil }
}
