/// What a program may ask for while it does not read all that it is told. A value without I/O.
///
/// One that reads its reports more slowly than they come must be able to end them, although something always waits for
/// it. One that reads nothing must not cost the daemon, and the programs beside it, as much as it can ask for. So it
/// may ask for a little, and for as much again when it has read what had waited then.
struct UnreadCredit {
    /// What its requests may cost until it has read that, see `TurnLine`.
    static let share = 32

    private var spent = 0
    /// Where what waited ended, in octets since the connection began.
    private var end: UInt64 = 0

    /// - Parameters:
    ///   - taken: the octets that the kernel has taken for the program since the connection began.
    ///   - refused: the octets that it has not taken yet.
    func isHeard(taken: UInt64, refused: Int) -> Bool { refused == 0 || spent < Self.share || taken >= end }

    /// Requests have been carried out.
    mutating func spend(_ cost: Int, taken: UInt64, refused: Int) {
        guard refused > 0 else { return }
        if taken >= end {
            spent = 0
            end = taken + UInt64(refused)
        }
        spent += cost
    }
}
