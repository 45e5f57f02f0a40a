/// The two files of a recording.
public struct RecordingFiles: Hashable, Sendable {
    /// The path without the endings.
    public let name: String

    /// - Parameter name: the path of the recording, or of one of its files.
    public init(_ name: String) {
        for ending in [".btsnoop", ".inputs.jsonl"] where name.hasSuffix(ending) {
            self.name = String(name.dropLast(ending.count))
            return
        }
        self.name = name
    }

    /// Every packet that crossed HCI.
    public var packets: String { name + ".btsnoop" }
    /// The engine's configuration and inputs, a JSON object a line.
    public var inputs: String { name + ".inputs.jsonl" }
}
