import Glibc

/// A file with secrets. Other users can read arguments, and a shell keeps them; a file has an owner.
enum SecretFile {
    /// More than any secret has.
    private static let greatestByteCount = 4096

    /// A secret that is the first line.
    /// - Parameter path: `-` is standard input, of which nothing more is read than this line.
    /// - Throws: `Failure`, without anything of the file, when it cannot be read or has no such secret.
    static func value<Value>(of path: String, _: Value.Type = Value.self) throws -> Value
    where Value: ExplainedArgument & Equatable & Sendable {
        let line = path == "-" ? try inputLine() : try lines(of: path).first?.text ?? ""
        return try value(in: line, at: "the first line", of: path)
    }

    /// Secrets, one a line; empty lines and those that begin with `#` have none.
    /// - Parameter path: `-` is standard input, to its end.
    /// - Throws: `Failure`, without anything of the file, when it cannot be read or has a line that is none.
    static func values<Value>(of path: String, _: Value.Type = Value.self) throws -> [Value]
    where Value: ExplainedArgument & Equatable & Sendable {
        try lines(of: path).filter { !$0.text.isEmpty && !$0.text.hasPrefix("#") }
            .map { try value(in: $0.text, at: "line \($0.number)", of: path) }
    }

    private static func value<Value>(in line: String, at place: String, of path: String) throws -> Value
    where Value: ExplainedArgument & Equatable & Sendable {
        if let value = Value(argument: line) { return value }
        let name = path == "-" ? "standard input" : "‘\(path)’"
        throw Failure("\(name), \(place): \(Value.mistake(in: line))", status: .usage)
    }

    private static func lines(of path: String) throws -> [(number: Int, text: String)] {
        try TextFile.bytes(of: path).split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
            .map { ($0 + 1, trimmed($1)) }
    }

    /// The first line of standard input, which may carry something else behind it.
    private static func inputLine() throws -> String {
        var line: [UInt8] = []
        while line.count < greatestByteCount {
            guard let octet = try TextFile.octet(ofInput: STDIN_FILENO), octet != 0x0A else { break }
            line.append(octet)
        }
        return trimmed(line[...])
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        let end = line.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? line.startIndex
        return String(decoding: line[..<end].drop(while: isSpace), as: UTF8.self)
    }
}
