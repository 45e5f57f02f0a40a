import BLEPackets

/// A command that a simulated controller carries out: how it is answered, and which method does it.
///
/// The list of all is generated from the table of packets; the methods stand in the controller's extensions, one for
/// each command, under its name.
struct ServedCommand: Sendable {
    /// What the controller sends back at once.
    enum Answer { case status, complete, nothing }

    let opcode: HCIOpcode
    let answer: Answer
    /// The controller knows the command when it has one of these; empty for a command that every controller knows.
    let features: LEFeatures
    /// Whether the command belongs to legacy or to extended advertising, scanning and connecting; `.undecided` for
    /// neither.
    let family: SimulatedController.CommandFamily
    let carryOut: @Sendable (SimulatedController, RawSpan) -> Void

    /// A command whose answer is its status.
    init<Command: HCICommand>(
        status method: @escaping @Sendable (SimulatedController) -> (Command) -> HCIStatus,
        with features: LEFeatures = [], family: SimulatedController.CommandFamily = .undecided
    ) {
        opcode = Command.opcode
        answer = Command.answer == .status ? .status : .complete
        self.features = features
        self.family = family
        carryOut = { $0.perform(Command.self, $1, method($0)) }
    }

    /// A command that returns more than its status.
    init<Command: HCICommand>(
        returns method: @escaping @Sendable (SimulatedController) -> (Command) -> Command.ReturnParameters,
        with features: LEFeatures = [], family: SimulatedController.CommandFamily = .undecided
    ) {
        opcode = Command.opcode
        answer = .complete
        self.features = features
        self.family = family
        carryOut = { $0.query(Command.self, $1, method($0)) }
    }

    /// A command without credit and answer.
    init<Command: HCICommand>(
        unanswered method: @escaping @Sendable (SimulatedController) -> (Command) -> Void
    ) {
        opcode = Command.opcode
        answer = .nothing
        features = []
        family = .undecided
        carryOut = { controller, parameters in
            if let command = controller.decode(Command.self, parameters) { method(controller)(command) }
        }
    }

    /// The commands by opcode.
    static let all = Dictionary(list.map { ($0.opcode, $0) }) { first, _ in first }

    /// Whether a controller with these features knows the command.
    func isKnown(with features: LEFeatures) -> Bool {
        self.features.isEmpty || !features.isDisjoint(with: self.features)
    }
}
