import ArgumentParser

/// An option whose value is a secret. The parser repeats a value that it refuses, on a screen and in logs; a secret is
/// refused in `validate` of its options instead, without its text.
struct Secret<Value: ExplainedArgument & Equatable & Sendable>: ExpressibleByArgument, Equatable, Sendable {
    /// `nil` if it is not what the option accepts.
    let value: Value?
    private let mistake: String

    init(argument: String) {
        value = Value(argument: argument)
        mistake = value == nil ? Value.mistake(in: argument) : ""
    }

    /// - Parameter option: the option as its help shows it, such as `--key <key>`.
    /// - Throws: `ValidationError` with the mistake, if there is one.
    func check(_ option: String) throws {
        if value == nil { throw ValidationError("The value is invalid for '\(option)': \(mistake)") }
    }
}
