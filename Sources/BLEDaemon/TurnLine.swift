import BLEPackets

/// Whose requests are carried out next.
///
///     a request arrives ──▶ in line ──turn──▶ all done
///                              ▲          └──▶ more are left
///                              └── behind those who asked for less ◀──┘
///
/// Programs take turns of a few requests each, so that one that sends as much as it can delays another by a turn and not by
/// everything that it has sent. A program that has filled a turn goes behind those that have not for a while. Between rounds
/// of turns the loop serves its descriptors: packets of the controller wait for no more than one round.
struct TurnLine {
    /// What a program's requests may cost in one turn.
    static let turn = 8
    /// What all turns between two looks at the descriptors may cost.
    static let round = 32
    /// How long a program that has filled a turn goes behind others, in microseconds.
    static let busyMicroseconds: UInt64 = 10_000

    /// Long messages cost more.
    static func cost(of message: ArraySlice<UInt8>) -> Int { 1 + message.count / 1024 }

    private var light = Queue<Connection>()
    private var busy = Queue<Connection>()
    /// How many turns light programs have had while a busy one waited.
    private var passed = 0

    var isEmpty: Bool { light.isEmpty && busy.isEmpty }

    mutating func append(_ connection: Connection, isBusy: Bool) {
        if isBusy { busy.append(connection) } else { light.append(connection) }
    }

    /// Light programs first, but a busy one moves on, too.
    mutating func next() -> Connection? {
        if passed < Self.round, let connection = light.popFirst() {
            passed = busy.isEmpty ? 0 : passed + 1
            return connection
        }
        passed = 0
        return busy.popFirst() ?? light.popFirst()
    }
}
