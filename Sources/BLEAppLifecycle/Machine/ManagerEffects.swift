import BLEHost
import BLEPackets

/// The effects of the managers' machines. Commands and outputs leave as they are, in order; `AppRuntime` carries out
/// the others after each call of a machine, and considers alerts at the end of each input.
struct ManagerEffects {
    enum Effect: Equatable {
        /// An event for a manager: delivered at once, later, or by waking or launching the app.
        case deliver(ClientEvent, ClientID)
        case log(LogMessage, AppID)
    }

    /// Something happened at a peripheral about which some app may want to alert its user.
    struct PossibleAlert: Equatable {
        let kind: Alert.Kind
        let address: DeviceAddress
    }

    /// A command on its way to the engine.
    struct Submission: Equatable {
        let command: HostCommand
        let client: ClientID
        let token: CommandToken
    }

    /// The time of the current input.
    var now = Instant.zero
    private var effects = Queue<Effect>()
    private var alerts = Queue<PossibleAlert>()
    private var submissions = Queue<Submission>()
    /// A journal entry must be written before an app receives the event, so these go before all other outputs.
    private var entries = Queue<JournalEntry>()
    private var outputs = Queue<LifecycleOutput>()
    /// The pending commands.
    var commands = CommandLedger()
    private var lastChannel: UInt32 = 0

    /// The oldest effect that has not been carried out.
    mutating func next() -> Effect? { effects.popFirst() }

    /// The oldest possible alert that has not been considered.
    mutating func nextAlert() -> PossibleAlert? { alerts.popFirst() }

    /// The oldest command that has not been submitted.
    mutating func nextSubmission() -> Submission? { submissions.popFirst() }

    /// The next output for the owner; never `submit`.
    mutating func nextOutput() -> LifecycleOutput? { entries.popFirst().map { .journal($0) } ?? outputs.popFirst() }

    /// Submits a command to the engine.
    @discardableResult
    mutating func submit(_ command: HostCommand, from client: ClientID, for purpose: Purpose = .none) -> CommandToken {
        let token = commands.add(purpose, octets: command.waitingOctets, of: client)
        submissions.append(Submission(command: command, client: client, token: token))
        return token
    }

    /// Cancels a command; its completion is ignored.
    mutating func cancel(_ token: CommandToken) {
        if let operation = commands.cancel(token) { submit(.cancel(operation), from: .system) }
    }

    mutating func deliver(_ event: ClientEvent, to client: ClientID) { effects.append(.deliver(event, client)) }
    mutating func log(_ message: LogMessage, of app: AppID) { effects.append(.log(message, app)) }
    mutating func alert(_ kind: Alert.Kind, at address: DeviceAddress) {
        alerts.append(PossibleAlert(kind: kind, address: address))
    }

    /// Gives the owner an output, after everything that has been carried out.
    mutating func emit(_ output: LifecycleOutput) { outputs.append(output) }

    mutating func write(_ entry: JournalEntry) { entries.append(entry) }

    mutating func nextChannel() -> L2CAPChannelID {
        lastChannel &+= 1
        return L2CAPChannelID(rawValue: lastChannel)
    }
}

extension ClientID {
    /// The client of the system's own operations.
    static let system = ClientID(rawValue: .max)
}
