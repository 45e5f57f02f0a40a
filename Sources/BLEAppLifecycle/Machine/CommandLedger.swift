import BLEHost

/// The pending commands of the engine, and the purpose of each.
///
///     added ──named by the engine──▶ running ──ended──▶ removed
///       └──cancelled──▶ cancelled as soon as the engine has named it
struct CommandLedger {
    private struct Command {
        var purpose: Purpose
        let client: ClientID
        /// What it takes of the memory while it waits.
        let octets: Int
        var operation: OperationID?
        /// To be cancelled as soon as its operation is known.
        var isCancelled = false
    }

    /// Only for lookup, never iterated.
    private var commands: [CommandToken: Command] = [:]
    /// Only for lookup, never iterated.
    private var tokens: [OperationID: CommandToken] = [:]
    /// The octets of each client's commands; none is 0. Only for lookup, never iterated.
    private var octets: [ClientID: Int] = [:]
    private var lastToken: UInt64 = 0

    /// - Parameter count: the octets with which a client's command counts until it has ended.
    mutating func add(_ purpose: Purpose, octets count: Int = 0, of client: ClientID = .system) -> CommandToken {
        lastToken += 1
        let token = CommandToken(rawValue: lastToken)
        if count > 0 { octets[client, default: 0] += count }
        commands[token] = Command(purpose: purpose, client: client, octets: count)
        return token
    }

    /// The octets of a client's commands that have not ended.
    func octets(of client: ClientID) -> Int { octets[client] ?? 0 }

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
    mutating func remove(_ operation: OperationID) -> (token: CommandToken, purpose: Purpose)? {
        guard let token = tokens.removeValue(forKey: operation), let command = commands.removeValue(forKey: token)
        else { return nil }
        if command.octets > 0 {
            let left = octets(of: command.client) - command.octets
            octets[command.client] = left > 0 ? left : nil
        }
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
