@_spi(HostRunner) import BLE
import BLETransport

/// The turns in which programs' requests are carried out.
extension Daemon {
    /// A program has sent something, or can go on: its requests wait for its turn.
    func lineUp(_ connection: Connection) {
        guard !connection.isInLine, connection.hasRequest else { return }
        connection.isInLine = true
        line.append(connection, isBusy: loop.nowMicroseconds < connection.busyUntil)
        planRound()
    }

    private func planRound() {
        guard !isRoundPlanned else { return }
        isRoundPlanned = true
        loop.runAfterReady { [weak self] in self?.takeTurns() }
    }

    private func takeTurns() {
        isRoundPlanned = false
        // The loop ends when no work is left.
        guard !isStopping else { return }
        var left = TurnLine.round
        while left > 0, let connection = line.next() {
            connection.isInLine = false
            left -= max(1, takeTurn(connection))
        }
        if !line.isEmpty { planRound() }
    }

    /// - Returns: what its requests have cost.
    private func takeTurn(_ connection: Connection) -> Int {
        // It may have been ended while it waited.
        guard tools[connection.tool.client] === connection else { return 0 }
        let hadGreeted = connection.tool.hasGreeted
        connection.allowance = TurnLine.turn
        look(at: connection)
        pump()
        // Nothing wakes the loop for a greeting that has come.
        if connection.tool.hasGreeted, !hadGreeted { armGreetings() }
        let left = connection.allowance
        connection.allowance = 0
        if connection.hasRequest {
            connection.busyUntil = loop.nowMicroseconds + TurnLine.busyMicroseconds
            lineUp(connection)
        } else if connection.isClosed {
            self.left(connection)
        }
        connection.readIfEmpty()
        return TurnLine.turn - left
    }
}
