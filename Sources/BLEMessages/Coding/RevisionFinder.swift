/// Finds the revision of the protocol that first had everything in a message.
public struct RevisionFinder: Coder {
    public static var reads: Bool { false }

    /// The revision (`Welcome.revision`).
    public private(set) var revision: UInt32 = 0
    public var isChosen = false
    public var isRecording: Bool { false }
    private var present: UInt32 = 0

    public init() {}

    public mutating func hasField(_ number: Int, _ name: StaticString, _ presence: Presence, isSet: Bool) -> Bool {
        guard isSet, presence != .option || !isChosen else { return false }
        if presence == .option { isChosen = true }
        revision = max(revision, present)
        return true
    }

    public mutating func scalar(_ number: Int, _ name: StaticString, _ bits: UInt64, _ type: ScalarType) -> UInt64 { 0 }
    public mutating func octets(
        _ number: Int, _ name: StaticString, _ content: [UInt8], isText: Bool
    ) -> ArraySlice<UInt8> { [] }
    public mutating func begin(_ number: Int, _ name: StaticString, _ type: @autoclosure () -> String) {}
    public mutating func end(_ place: inout Void) -> Bool { true }

    public mutating func since(
        _ revision: UInt32, _ fields: (inout Self) throws(MessageError) -> Void
    ) throws(MessageError) {
        let outer = present
        present = max(outer, revision)
        try fields(&self)
        present = outer
    }
}

extension Message {
    /// The revision of the protocol that first had what the message has.
    public var revision: UInt32 {
        var (finder, copy) = (RevisionFinder(), self)
        // What the schema lacks is refused when it is written.
        try? Self.describe(&copy, &finder)
        return finder.revision
    }
}
