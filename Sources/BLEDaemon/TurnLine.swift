import BLEHost
import BLEPackets

/// Whose requests are carried out next. A value without a clock: it is told the time, in microseconds.
///
///     a request arrives ──▶ in line ──turn──▶ all done
///                              ▲          └──▶ more are left ──┐
///                              └───────────────────────────────┘
///
/// Programs take turns of a few requests each, so that one that sends as much as it can delays another by a turn and
/// not by everything that it has sent. Between rounds of turns the loop serves its descriptors: packets of the
/// controller wait for no more than one round.
///
/// A program that asks for more than its share is busy for a while and goes behind those that are not (`TurnShare`).
/// One busy program may have all the time that others leave. Several get an eighth of the loop's time together at most,
/// which is more than any radio needs: every answer wakes the program that it is for, so they would otherwise take the
/// processor from the programs that ask for little, and from this one, which would no longer be in time for them.
/// When a busy program's turn is due, no more than `patience` turns of others come before it: many programs that ask
/// for little each would otherwise keep it waiting for ever.
struct TurnLine {
    /// What a program's requests may cost in one turn.
    static let turn = 8
    /// What all turns between two looks at the descriptors may cost.
    static let round = 32
    /// How many turns of others may come before that of a busy program once it is due.
    static let patience = 32
    /// The longest pause, in microseconds, whatever has held up a turn.
    private static let longestPause: UInt64 = 20_000

    /// Long messages cost more.
    static func cost(of message: ArraySlice<UInt8>) -> Int { 1 + message.count / 1024 }

    /// How long work that may have an eighth of the time rests after a part of it, in microseconds.
    static func pause(after duration: UInt64) -> UInt64 { min(7 * duration, longestPause) }

    private var light = Queue<ClientID>()
    private var busy = Queue<ClientID>()
    /// The program that had the latest turn of a busy one, and when.
    private var lastBusy: (client: ClientID, at: UInt64)?
    /// Until when several programs count as busy.
    private var severalUntil: UInt64 = 0
    /// When the next busy program may take its turn.
    private var busyTurnAt: UInt64 = 0
    /// The turns of others since that of a busy program has been due.
    private var passed = 0

    mutating func append(_ client: ClientID, isBusy: Bool) {
        if isBusy { busy.append(client) } else { light.append(client) }
    }

    /// The program whose turn it is, and whether it is busy.
    mutating func next(at now: UInt64) -> (client: ClientID, isBusy: Bool)? {
        let isBusyDue = !busy.isEmpty && now >= busyTurnAt
        if !isBusyDue || passed < Self.patience, let client = light.popFirst() {
            passed = isBusyDue ? passed + 1 : 0
            return (client, false)
        }
        guard isBusyDue, let client = busy.popFirst() else { return nil }
        passed = 0
        return (client, true)
    }

    /// When somebody's turn is due; `nil` if nobody waits.
    func nextTurn(at now: UInt64) -> UInt64? { light.isEmpty ? busy.isEmpty ? nil : max(now, busyTurnAt) : now }

    /// A busy program has had its turn.
    /// - Parameter began: when the turn began.
    mutating func ended(_ client: ClientID, began: UInt64, at now: UInt64) {
        if let lastBusy, lastBusy.client != client, now < lastBusy.at + TurnShare.window {
            severalUntil = now + TurnShare.window
        }
        lastBusy = (client, now)
        guard !busy.isEmpty || now < severalUntil else { return }
        busyTurnAt = now + Self.pause(after: now - began)
    }
}
