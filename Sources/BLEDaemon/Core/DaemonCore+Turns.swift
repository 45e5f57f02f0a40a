import BLETransport

/// The turns in which programs' requests are carried out.
struct Turns {
    /// A turn that has begun, and whose costs are counted when the next input comes: it lasts until then.
    struct Turn {
        let connection: ConnectionID
        let isBusy: Bool
        let began: UInt64
        let hadGreeted: Bool
    }

    /// The programs whose requests wait.
    var line = TurnLine()
    /// Whether the owner has been asked for a round.
    var isRoundPlanned = false
    /// What the turns of the present round may still cost; `nil` between rounds.
    var left: Int?
    var current: Turn?
    /// When the next busy program takes its turn.
    var deadline: UInt64?

    var isInRound: Bool { left != nil }
}

extension DaemonCore {
    /// A program has sent something, or can go on: its requests wait for its turn.
    mutating func lineUp(_ connection: Connection) {
        // What it sends until its turn waits in the kernel.
        guard !connection.isInLine, connection.hasRequest else { return readIfEmpty(connection) }
        connection.isInLine = true
        let now = microseconds
        turns.line.append(connection.id.client, of: connection.peer.user, isBusy: connection.meter.isBusy(at: now))
        planTurns(at: now)
    }

    /// While messages wait in the session, more of them wait in the kernel.
    mutating func readIfEmpty(_ connection: Connection) {
        let reads = !connection.hasMessage
        guard reads != connection.isReading else { return }
        connection.isReading = reads
        effects.append(.read(connection.id, reads))
    }

    private mutating func planTurns(at now: UInt64) {
        guard !turns.isRoundPlanned, !turns.isInRound, let next = turns.line.nextTurn(at: now) else { return }
        if next <= now { planRound() } else { turns.deadline = next }
    }

    mutating func planRound() {
        turns.deadline = nil
        guard !turns.isRoundPlanned, !turns.isInRound else { return }
        turns.isRoundPlanned = true
        effects.append(.planRound)
    }

    /// Ends the present turn, and begins the next one of the round.
    mutating func takeTurn() {
        turns.isRoundPlanned = false
        let now = microseconds
        var left = turns.left ?? TurnLine.round
        if let turn = turns.current {
            turns.current = nil
            left -= end(turn, at: now)
        }
        while left > 0, let next = turns.line.next(at: now) {
            // It may have been ended while it waited.
            guard let connection = connections[next.client] else {
                left -= 1
                continue
            }
            connection.isInLine = false
            connection.allowance = TurnLine.turn
            turns.current = Turns.Turn(
                connection: connection.id, isBusy: next.isBusy, began: now, hadGreeted: connection.hasGreeted)
            turns.left = left
            return look(at: connection)
        }
        turns.left = nil
        planTurns(at: now)
    }

    /// - Returns: what the requests of the turn have cost.
    private mutating func end(_ turn: Turns.Turn, at now: UInt64) -> Int {
        // Its connection may have been removed in the turn, which then has cost little.
        guard let connection = connections[turn.connection] else { return 1 }
        // Nothing wakes the owner for a greeting that has come.
        if connection.hasGreeted, !turn.hadGreeted { planGreetings() }
        let cost = max(1, TurnLine.turn - connection.allowance)
        connection.allowance = 0
        let asked = cost - (connection.app?.session.takeAcknowledgements() ?? 0)
        let programs = connections.programs
        connection.hasAsked(asked, of: programs[connection.peer.user, default: 1], programs.count, at: now)
        if turn.isBusy {
            turns.line.ended(turn.connection.client, of: connection.peer.user, began: turn.began, at: now)
        }
        lineUp(connection)
        if !connection.hasRequest, connection.isClosed { left(connection) }
        readIfEmpty(connection)
        return cost
    }
}
