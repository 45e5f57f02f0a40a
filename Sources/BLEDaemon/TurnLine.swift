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
/// A program that asks for more than its share is busy for a while and goes behind those that are not (`BusyMeter`).
/// One busy program may have all the time that others leave. The busy programs of one user get an eighth of the loop's
/// time together at most, which is more than any radio needs: every answer wakes the program that it is for, so they
/// would otherwise take the processor from the programs that ask for little, and from this one, which would no longer
/// be in time for them. Users take turns, however many programs they have, and one user's turns do not make another's
/// wait for longer than they last.
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

    /// What making a pair of keys costs besides: as much as a turn, which it takes as long as.
    static let keyPair = turn

    /// Long messages cost more.
    static func cost(of message: ArraySlice<UInt8>) -> Int { 1 + message.count / 1024 }

    /// How long work that may have an eighth of the time rests after a part of it, in microseconds.
    static func pause(after duration: UInt64) -> UInt64 { min(7 * duration, longestPause) }

    /// The busy programs of a user.
    private struct BusyUser {
        let user: UInt32
        var clients = Queue<ClientID>()
        /// When the next of them may take its turn.
        var turnAt: UInt64 = 0
    }

    private var light = Queue<ClientID>()
    /// In the order of their turns. One without programs stays as long as it has to rest.
    private var busy: [BusyUser] = []
    /// The program that had the latest turn of a busy one, and when.
    private var lastBusy: (client: ClientID, at: UInt64)?
    /// Until when several programs count as busy.
    private var severalUntil: UInt64 = 0
    /// When the next busy program of any user may take its turn.
    private var busyTurnAt: UInt64 = 0
    /// The turns of others since that of a busy program has been due.
    private var passed = 0

    mutating func append(_ client: ClientID, of user: UInt32, isBusy: Bool) {
        guard isBusy else { return light.append(client) }
        busy[place(of: user)].clients.append(client)
    }

    private mutating func place(of user: UInt32) -> Int {
        if let place = busy.firstIndex(where: { $0.user == user }) { return place }
        busy.append(BusyUser(user: user))
        return busy.count - 1
    }

    /// The program whose turn it is, and whether it is busy.
    mutating func next(at now: UInt64) -> (client: ClientID, isBusy: Bool)? {
        busy.removeAll { $0.clients.isEmpty && $0.turnAt <= now }
        let due = now < busyTurnAt ? nil : busy.firstIndex { !$0.clients.isEmpty && $0.turnAt <= now }
        if due == nil || passed < Self.patience, let client = light.popFirst() {
            passed = due == nil ? 0 : passed + 1
            return (client, false)
        }
        guard let due, let client = busy[due].clients.popFirst() else { return nil }
        busy.append(busy.remove(at: due))
        passed = 0
        return (client, true)
    }

    /// When somebody's turn is due; `nil` if nobody waits.
    func nextTurn(at now: UInt64) -> UInt64? {
        guard light.isEmpty else { return now }
        return busy.lazy.filter { !$0.clients.isEmpty }.map(\.turnAt).min().map { max(now, busyTurnAt, $0) }
    }

    /// A busy program has had its turn.
    /// - Parameter began: when the turn began.
    mutating func ended(_ client: ClientID, of user: UInt32, began: UInt64, at now: UInt64) {
        if let lastBusy, lastBusy.client != client, now < lastBusy.at + BusyMeter.window {
            severalUntil = now + BusyMeter.window
        }
        lastBusy = (client, now)
        guard busy.contains(where: { !$0.clients.isEmpty }) || now < severalUntil else { return }
        busyTurnAt = now + min(now - began, Self.longestPause)
        busy[place(of: user)].turnAt = now + Self.pause(after: now - began)
    }
}
