import BLEPackets

/// A command that a simulated controller supports: its kind of answer and its method.
///
/// The list is generated from the table of packets; the methods are in the controller's extensions, one per command,
/// with the command's name.
struct ServedCommand: Sendable {
    /// The controller's immediate answer.
    enum Answer { case status, complete, nothing }

    let opcode: HCIOpcode
    let answer: Answer
    /// The controller supports the command if it has one of these features; empty for a command of every controller.
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

    /// A command that uses no credit and has no answer.
    init<Command: HCICommand>(unanswered method: @escaping @Sendable (SimulatedController) -> (Command) -> Void) {
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

    /// Whether a controller with these features supports the command.
    func isKnown(with features: LEFeatures) -> Bool {
        self.features.isEmpty || !features.isDisjoint(with: self.features)
    }
}
