import Glibc

/// The two files of a recording.
public struct RecordingFiles: Hashable, Sendable {
    /// The path without the endings.
    public let name: String

    private static let inputsEnding = ".inputs.jsonl"
    /// A recording is written as btsnoop; a converted one can be read, too.
    private static let packetsEndings = [".btsnoop", ".pcap", ".pcapng", ".pklg"]

    /// - Parameter name: the path of the recording, or of one of its files.
    public init(_ name: String) {
        for ending in [Self.inputsEnding] + Self.packetsEndings where name.hasSuffix(ending) {
            self.name = String(name.dropLast(ending.count))
            return
        }
        self.name = name
    }

    /// The capture with every packet that crossed HCI.
    public var packets: String { name + Self.packetsEndings[0] }
    /// The engine's configuration and inputs, one JSON object per line.
    public var inputs: String { name + Self.inputsEnding }

    /// The existing capture, in any format; `packets` if there is none.
    public var existingPackets: String {
        Self.packetsEndings.map { name + $0 }.first { unsafe access($0, F_OK) == 0 } ?? packets
    }
}
