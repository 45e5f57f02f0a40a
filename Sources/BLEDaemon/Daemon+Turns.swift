@_spi(HostRunner) import BLE
import BLETransport

/// The turns in which programs' requests are carried out.
extension Daemon {
    /// A program has sent something, or can go on: its requests wait for its turn.
    func lineUp(_ connection: Connection) {
        // What it sends until its turn waits in the kernel.
        guard !connection.isInLine, connection.hasRequest else { return connection.readIfEmpty() }
        connection.isInLine = true
        let now = loop.nowMicroseconds
        line.append(connection.tool.client, of: connection.peer.user, isBusy: connection.share.isBusy(at: now))
        planTurns(at: now)
    }

    private func planTurns(at now: UInt64) {
        guard !isRoundPlanned, let next = line.nextTurn(at: now) else { return }
        if next <= now { planRound() } else { busyDeadline?.set(atMicroseconds: next) }
    }

    func planRound() {
        guard !isRoundPlanned else { return }
        isRoundPlanned = true
        loop.runAfterReady { [weak self] in self?.takeTurns() }
    }

    private func takeTurns() {
        isRoundPlanned = false
        // The loop ends when no work is left.
        guard !isStopping else { return }
        var left = TurnLine.round
        var now = loop.nowMicroseconds
        while left > 0, let turn = line.next(at: now) {
            let began = now
            // It may have been ended while it waited.
            let connection = tools[turn.client]
            left -= connection.map(takeTurn) ?? 1
            now = loop.nowMicroseconds
            guard let connection else { continue }
            if turn.isBusy { line.ended(turn.client, of: connection.peer.user, began: began, at: now) }
            lineUpAgain(connection)
        }
        planTurns(at: now)
    }

    /// - Returns: what its requests have cost.
    private func takeTurn(_ connection: Connection) -> Int {
        connection.isInLine = false
        let hadGreeted = connection.tool.hasGreeted
        connection.allowance = TurnLine.turn
        look(at: connection)
        pump()
        // Nothing wakes the loop for a greeting that has come.
        if connection.tool.hasGreeted, !hadGreeted { armGreetings() }
        let cost = max(1, TurnLine.turn - connection.allowance)
        connection.allowance = 0
        let asked = cost - (connection.app?.takeAcknowledgements() ?? 0)
        connection.hasAsked(
            asked, of: programs[connection.peer.user, default: 1], programs.count, at: loop.nowMicroseconds)
        return cost
    }

    private func lineUpAgain(_ connection: Connection) {
        lineUp(connection)
        if !connection.hasRequest, connection.isClosed { left(connection) }
        connection.readIfEmpty()
    }
}
