/// What is found while settings are read: all problems, and where each key stands.
final class SettingsReview {
    private(set) var problems: [SettingsProblem] = []
    /// The settings file; empty without one.
    let file: String
    private var lines: [String: Int] = [:]
    private var options: [String: String] = [:]

    init(file: String) { self.file = file }

    func add(_ problem: SettingsProblem) { problems.append(problem) }

    /// Notes the line of a key, such as `mqtt.caFile`.
    func note(_ key: String, line: Int?) { lines[key] = line }

    /// Notes that the value of a key comes from an option or a variable.
    func note(_ key: String, option: String) { options[key] = option }

    /// Adds a problem with the value of a key that was read before.
    func add(_ key: String, _ message: String) {
        if let option = options[key] {
            add(SettingsProblem(file: option, message: message))
        } else {
            add(SettingsProblem(file: file.isEmpty ? "settings" : file, line: lines[key], key: key, message: message))
        }
    }
}

/// Why settings cannot be used.
struct WrongSettings: Error, CustomStringConvertible {
    let problems: [SettingsProblem]

    /// More would hide the first ones.
    private static let limit = 50

    /// A line for each problem, in the order of the file; those without a line come behind.
    var lines: [String] {
        let excess = problems.count - Self.limit
        let order = problems.indices.sorted { (problems[$0].line ?? .max, $0) < (problems[$1].line ?? .max, $1) }
        return order.prefix(Self.limit).map { problems[$0].description }
            + (excess > 0 ? ["\(excess) more problem\(excess == 1 ? "" : "s")"] : [])
    }

    var description: String { lines.joined(separator: "\n") }
}
