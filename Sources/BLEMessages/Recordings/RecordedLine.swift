import BLEHost

/// One line of `NAME.inputs.jsonl` behind the first: an input of the engine and its time.
///
/// Packets are not repeated here: `packet` is the number of a packet from the controller in the capture, from 0.
///
///     {"at":1200,"transport_opened":{}}
///     {"at":1350,"packet":0}
///     {"at":2000,"command":{"client":1,"scan":{…}}}
///     {"at":9000,"end":{}}
public struct RecordedLine: Message, Equatable, Sendable {
    /// What a line states.
    public enum Content: Equatable, Sendable {
        case packet(UInt64)
        /// The last line: the program ended normally, and no input is missing.
        case end
        case input(HostInput)
    }

    public var time: Instant
    public var content: Content

    public init(_ content: Content, at time: Instant) {
        self.time = time
        self.content = content
    }

    public static var blank: Self { Self(.end, at: .zero) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "at", &it.time)
        try c.choice(&it.content)
    }
}

extension RecordedLine.Content: Choice {
    public static var blank: Self { .end }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "packet", &it, Self.packet) { if case .packet(let number) = $0 { number } else { nil } }
        try c.option(3, "end", &it, .end)
        try c.options(&it, Self.input) { if case .input(let input) = $0 { input } else { nil } }
    }
}
