import BLEMessages

/// Prints the schema of messages, as `Protocol/bled.proto` has it.
public struct SchemaPrinter: Coder {
    public static var reads: Bool { false }
    public static var visitsAll: Bool { true }

    /// The messages by their names, each with its fields. A name that has two descriptions is there twice.
    public private(set) var messages: [(name: String, fields: [String])] = []
    public var isChosen = false
    public let isRecording: Bool
    private var fields: [String] = []
    private var presence = Presence.plain

    public init(isRecording: Bool = false) { self.isRecording = isRecording }

    /// Adds a message, and those in its fields.
    public mutating func add<M: Message>(_ message: M.Type) throws(MessageError) {
        var (it, place) = (M.blank, Place(fields: [], name: M.schemaName))
        try M.describe(&it, &self)
        _ = end(&place)
    }

    private mutating func add(_ type: String, _ number: Int, _ name: StaticString, isMessage: Bool = false) {
        let label =
            switch presence {
            case .plain: ""
            case .optional: isMessage ? "" : "optional "
            case .repeated: "repeated "
            case .option: "oneof "
            }
        fields.append("\(label)\(type) \(name) = \(number)")
    }

    public mutating func hasField(_ number: Int, _ name: StaticString, _ presence: Presence, isSet: Bool) -> Bool {
        self.presence = presence
        if presence == .option { isChosen = true }
        return true
    }

    public mutating func scalar(_ number: Int, _ name: StaticString, _ bits: UInt64, _ type: ScalarType) -> UInt64 {
        add("\(type)", number, name)
        return 0
    }

    public mutating func octets(
        _ number: Int, _ name: StaticString, _ content: [UInt8], isText: Bool
    ) -> ArraySlice<UInt8> {
        add(isText ? "string" : "bytes", number, name)
        return []
    }

    /// The message around the present one.
    public struct Place {
        fileprivate var fields: [String]
        fileprivate var name: String
    }

    public mutating func begin(_ number: Int, _ name: StaticString, _ type: @autoclosure () -> String) -> Place {
        add(type(), number, name, isMessage: true)
        defer { fields = [] }
        return Place(fields: fields, name: type())
    }

    public mutating func end(_ place: inout Place) -> Bool {
        let (name, found) = (place.name, fields)
        if !messages.contains(where: { $0.name == name && $0.fields == found }) { messages.append((name, found)) }
        fields = place.fields
        return true
    }
}
