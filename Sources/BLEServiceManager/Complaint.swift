import Glibc

/// What a service says before it ends because of an error.
package struct Complaint {
    private let program: String
    private let text: String

    /// - Parameters:
    ///   - text: the cause and the remedy.
    ///   - isUsage: whether the options are wrong.
    package init(of program: String, _ text: String, isUsage: Bool) {
        self.program = program
        let second = text.dropFirst().first
        let isSentence = text.first?.isUppercase == true && (second == " " || second?.isLowercase == true)
        let continued = isSentence ? text.prefix(1).lowercased() + text.dropFirst() : text
        self.text = continued + (isUsage ? "\n  See ‘\(program) --help’" : "")
    }

    /// Writes it to standard error, and ends the process.
    package func end(status: Int32) -> Never {
        let octets = [UInt8]("\(program): error: \(text)\n".utf8)
        _ = unsafe write(STDERR_FILENO, octets, octets.count)
        exit(status)
    }
}
