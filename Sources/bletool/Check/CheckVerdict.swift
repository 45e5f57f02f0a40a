import BLE
import BLEJSON

/// What the steps of a check mean together. Pure, so that it is tested without an adapter.
struct CheckVerdict: Equatable, Sendable {
    /// `ok`, `weak` or `failed`; `skipped` if the check was interrupted.
    let grade: CheckGrade
    /// A sentence.
    let text: String
    /// What is weak, found by the steps or known of the family, each with advice.
    let weaknesses: [String]
    /// The same in short, without what was measured: for a table.
    let points: [String]

    /// - Parameters:
    ///   - findings: of all steps.
    ///   - traits: of the controller, also what was learned.
    ///   - transport: where the controller is, for the advice.
    ///   - isShared: whether only what is harmless to other programs was done.
    ///   - isComplete: whether every step was reached.
    init(
        _ findings: [CheckFinding], traits: ControllerTraits, at transport: TransportAddress? = nil,
        isShared: Bool = false, isComplete: Bool = true
    ) {
        let failed = findings.filter { $0.grade == .failed }
        let weak = findings.filter { $0.grade == .weak }
        var known = traits.intersection(TraitTexts.harmful)
        // A step says the same in its own words.
        known.remove(.lacksFirmware)
        if findings.contains(where: { $0.step == .power && $0.grade != .skipped }) {
            known.remove(.suffersFromAutosuspend)
        }
        points = (failed + weak).map { "step “\($0.step.rawValue)”" } + TraitTexts.texts(of: known)
        weaknesses =
            (failed + weak).map { "\($0.step.rawValue): \($0.text)" } + TraitTexts.weaknesses(of: known, at: transport)
        if !failed.isEmpty {
            grade = .failed
            text = "not usable: " + failed.map { "“\($0.step.rawValue)”" }.joined(separator: ", ") + " failed"
        } else if !isComplete {
            grade = .skipped
            text = "unknown: the check was interrupted"
        } else {
            grade = weaknesses.isEmpty ? .ok : .weak
            let count =
                weaknesses.isEmpty ? "" : ", with \(weaknesses.count) weak point\(weaknesses.count == 1 ? "" : "s")"
            text = "usable\(count)" + (isShared ? ", as far as a shared controller can be checked" : "")
        }
    }

    var object: JSONValue {
        [
            "event": "checked", "verdict": .string(grade.rawValue), "text": .string(text),
            "weaknesses": JSONValue(weaknesses),
        ]
    }

    var lines: String { ([text] + weaknesses.map { "  – " + $0 }).joined(separator: "\n") }
}
