/// Why a JSON object is not a message, and where.
public struct MessageJSONProblem: Error, Equatable, Sendable {
    /// What is wrong with a member.
    public enum Cause: Equatable, Sendable {
        /// The value is of another kind: what the member needs, and what is there.
        case unexpected(needed: String, found: String)
        /// The value is one that the member cannot have.
        case impossible(String)
        /// There is no value, and the member needs one.
        case missing
        /// A list has more elements than it may.
        case tooLong
        /// Of members that exclude each other there is none that this version has.
        case noKnownChoice
        /// Two members exclude each other.
        case twoChoices(String, String)
        /// Each value is possible, and all of them together are not.
        case inconsistent
    }

    /// The names of the members from the outermost object on: `configuration.limits.links`, `services[2]`. It is empty
    /// for the outermost object itself.
    public var path: String
    public var cause: Cause

    public init(path: String, _ cause: Cause) {
        self.path = path
        self.cause = cause
    }
}

extension MessageJSONProblem: CustomStringConvertible {
    public var description: String { path.isEmpty ? cause.description : "\(path): \(cause)" }
}

extension MessageJSONProblem.Cause: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unexpected(let needed, let found): "\(needed) is expected, not \(found)"
        case .impossible(let value): "it cannot be \(value)"
        case .missing: "it is missing"
        case .tooLong: "the list is too long"
        case .noKnownChoice: "no member that this program knows"
        case .twoChoices(let first, let second): "‘\(first)’ and ‘\(second)’ exclude each other"
        case .inconsistent: "its values do not go together"
        }
    }
}
