import BLEJSON

/// A step of `check`, in the order in which they are printed.
enum CheckStep: String, CaseIterable, Sendable {
    /// The controller starts.
    case start
    /// Who made it, and what it says of itself.
    case chip
    case firmware
    /// The device behind the adapter: USB identifiers and port, or another bus.
    case device
    /// Whether the kernel may suspend the device.
    case power
    /// Advertising of others is received.
    case scan
    /// The second adapter's advertising is received.
    case hear
    /// A link to the second adapter.
    case connect
    /// Write commands to the second adapter.
    case write
    /// Round trips to the second adapter and back.
    case latency
    /// Notifications from the second adapter.
    case notify
    /// Pairing with the second adapter.
    case pair
    /// The second adapter receives the advertising of this one.
    case advertise
    /// The controller works again after it was reset.
    case reset
    /// Which commands it claims, and which work.
    case commands
    /// What went wrong on the way.
    case counters
}

/// How a step ended.
enum CheckGrade: String, Sendable {
    case ok
    /// It works, but not as it should.
    case weak
    case failed
    /// It was not done; the text says why.
    case skipped
}

/// The result of a step.
struct CheckFinding: Equatable, Sendable {
    let step: CheckStep
    let grade: CheckGrade
    let text: String
    /// What was measured or read; the names are those of Documentation/JSON.md.
    let figures: JSONValue

    init(_ step: CheckStep, _ grade: CheckGrade, _ text: String, _ figures: JSONValue = .object([])) {
        (self.step, self.grade, self.text, self.figures) = (step, grade, text, figures)
    }

    var object: JSONValue {
        [
            "event": "check", "step": .string(step.rawValue), "verdict": .string(grade.rawValue),
            "text": .string(text), "figures": figures,
        ]
    }

    /// A line in columns.
    var line: String { "\(grade.rawValue.padded(to: 8)) \(step.rawValue.padded(to: 10)) \(text)" }
}
