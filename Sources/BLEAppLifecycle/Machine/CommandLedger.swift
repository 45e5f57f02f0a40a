import BLEHost

/// The pending commands of the engine, and the purpose of each.
///
///     added ──named by the engine──▶ running ──ended──▶ taken
///       └──cancelled──▶ cancelled as soon as the engine has named it
struct CommandLedger {
    private struct Command {
        var purpose: Purpose
        var operation: OperationID?
        /// To be cancelled as soon as its operation is known.
        var isCancelled = false
    }

    /// Only for lookup, never iterated.
    private var commands: [CommandToken: Command] = [:]
    /// Only for lookup, never iterated.
    private var tokens: [OperationID: CommandToken] = [:]
    private var lastToken: UInt64 = 0

    mutating func add(_ purpose: Purpose) -> CommandToken {
        lastToken += 1
        let token = CommandToken(rawValue: lastToken)
        commands[token] = Command(purpose: purpose)
        return token
    }

    /// The engine has accepted a command.
    /// - Returns: its purpose, and whether it was cancelled before.
    mutating func name(_ token: CommandToken, _ operation: OperationID) -> (purpose: Purpose, isCancelled: Bool)? {
        guard let command = commands[token] else { return nil }
        commands[token]?.operation = operation
        tokens[operation] = token
        return (command.purpose, command.isCancelled)
    }

    /// - Returns: the operation to cancel; `nil` if it is not known yet, or has ended.
    mutating func cancel(_ token: CommandToken) -> OperationID? {
        guard let command = commands[token] else { return nil }
        commands[token]?.purpose = .none
        if command.operation == nil { commands[token]?.isCancelled = true }
        return command.operation
    }

    /// The operation of a command, once it is known.
    func operation(of token: CommandToken) -> OperationID? { commands[token]?.operation }

    /// Whether this ledger has the operation.
    func knows(_ operation: OperationID) -> Bool { tokens[operation] != nil }

    /// Removes an operation that has ended, and returns its purpose.
    mutating func take(_ operation: OperationID) -> (token: CommandToken, purpose: Purpose)? {
        guard let token = tokens.removeValue(forKey: operation), let command = commands.removeValue(forKey: token)
        else { return nil }
        return (token, command.purpose)
    }

    /// Forgets commands of a manager that no longer waits for them; the engine completes them anyway.
    mutating func forget(_ client: ClientID, on peer: PeerIdentifier? = nil) {
        for (token, command) in commands {
            // Each entry is changed independently: the order has no effect.
            guard command.purpose.client == client else { continue }
            if let peer {
                guard case .peripheral(_, peer, _) = command.purpose else { continue }
            }
            commands[token]?.purpose = .none
        }
    }
}
