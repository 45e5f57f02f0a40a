import BLEHost

/// The first line of `NAME.inputs.jsonl`.
public struct RecordingHeader: Message, Equatable, Sendable {
    public static let currentVersion: UInt32 = 2

    /// The version of the format.
    public var version: UInt32
    public var configuration: HostConfiguration
    /// Whether a complete recording has a last line.
    public var hasEnding: Bool

    public init(_ configuration: HostConfiguration, hasEnding: Bool = true) {
        version = Self.currentVersion
        self.configuration = configuration
        self.hasEnding = hasEnding
    }

    public static var blank: Self { Self(HostConfiguration()) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "recording", &it.version)
        // What another version has behind its number is not known.
        guard it.version == currentVersion else { return }
        try c.field(2, "configuration", &it.configuration)
        try c.field(3, "has_ending", &it.hasEnding)
    }
}
