/// The topics of a gateway.
public struct GatewayTopics: Equatable, Sendable {
    /// The topic of a device's documents.
    public var device = TopicTemplate(unchecked: "jelling/{gateway}/devices/{address}")
    /// The topic of the gateway's status, `online` or `offline`.
    public var status = TopicTemplate(unchecked: "jelling/{gateway}/status")
    /// The topic of a device's presence.
    public var presence = TopicTemplate(unchecked: "jelling/{gateway}/presence/{address}")

    public init() {}
}

/// A topic with placeholders in braces.
public struct TopicTemplate: Equatable, Sendable, CustomStringConvertible {
    /// A placeholder.
    public enum Placeholder: String, CaseIterable, Sendable {
        /// The gateway's name.
        case gateway
        /// The address of the device with colons, or the name of its identity if that has no known address.
        case address
        /// The same in lower case, without colons.
        case id
        /// The name of the device, or its address if it has none.
        case name
        /// The transport of the adapter that receives the device best.
        case adapter
    }

    /// What a topic is for, and so what can stand in it.
    public enum Use: Sendable {
        /// Of the gateway: the same for all devices.
        case gateway
        /// Documents of a device: the topic differs between devices.
        case device
        /// The presence of a device, which no single adapter determines.
        case presence

        fileprivate func allows(_ placeholder: Placeholder) -> Bool {
            switch self {
            case .gateway: placeholder == .gateway
            case .device: true
            case .presence: placeholder != .adapter
            }
        }
    }

    /// Why a text is not a template.
    public enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
        case empty
        case tooLong
        case wildcard
        case unclosedBrace
        case unknownPlaceholder(String)
        case notDistinct
        case meaningless(Placeholder)
        case ofBroker

        public var description: String {
            switch self {
            case .empty: "a topic cannot be empty"
            case .tooLong: "a topic has at most 512 characters here"
            case .wildcard: "‘+’, ‘#’ and control characters cannot stand in a topic to publish to"
            case .unclosedBrace: "‘{’ without ‘}’"
            case .unknownPlaceholder(let name):
                "unknown placeholder {\(name)}; known: "
                    + Placeholder.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
            case .notDistinct: "the topic is the same for every device: write {address} or {id} in it"
            case .meaningless(let placeholder): "{\(placeholder.rawValue)} has no value in this topic"
            case .ofBroker: "topics that begin with ‘$’ are the broker’s own"
            }
        }
    }

    private enum Piece: Equatable, Sendable {
        case text(String)
        case placeholder(Placeholder)
    }

    public let description: String
    private let pieces: [Piece]

    /// Parses a template.
    /// - Throws: `Problem`.
    public init(_ text: String, for use: Use) throws(Problem) {
        guard !text.isEmpty else { throw .empty }
        guard text.unicodeScalars.first != "$" else { throw .ofBroker }
        guard text.utf8.count <= 512 else { throw .tooLong }
        var pieces: [Piece] = []
        var plain = ""
        // Scalars, because ‘+’ with a combining character is another `Character` but still a wildcard for the broker.
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "{" {
                guard let end = rest.firstIndex(of: "}") else { throw .unclosedBrace }
                let name = String(rest[..<end])
                guard let placeholder = Placeholder(rawValue: name) else { throw .unknownPlaceholder(name) }
                guard use.allows(placeholder) else { throw .meaningless(placeholder) }
                if !plain.isEmpty { pieces.append(.text(plain)) }
                plain = ""
                pieces.append(.placeholder(placeholder))
                rest = rest[rest.index(after: end)...]
                continue
            }
            guard Self.isAllowed(scalar) else { throw .wildcard }
            plain.unicodeScalars.append(scalar)
        }
        if !plain.isEmpty { pieces.append(.text(plain)) }
        if use != .gateway, !pieces.contains(.placeholder(.address)), !pieces.contains(.placeholder(.id)) {
            throw .notDistinct
        }
        description = text
        self.pieces = pieces
    }

    /// Only for the templates above, which are valid.
    init(unchecked text: String) {
        // A literal of this module; tests parse each of them.
        self =
            (try? TopicTemplate(text, for: .device)) ?? (try? TopicTemplate(text, for: .gateway))
            ?? TopicTemplate(plain: text)
    }

    private init(plain text: String) {
        description = text
        pieces = [.text(text)]
    }

    /// The topic with every placeholder replaced; characters that a topic cannot contain become `_`, so that a
    /// device's name neither adds levels nor leads into the broker's own topics, which begin with `$`.
    public func topic(_ value: (Placeholder) -> String) -> String {
        var topic = ""
        for piece in pieces {
            switch piece {
            case .text(let text): topic += text
            case .placeholder(let placeholder):
                for scalar in value(placeholder).unicodeScalars {
                    let fits = Self.isAllowed(scalar) && scalar != "/" && (scalar != "$" || !topic.isEmpty)
                    topic.unicodeScalars.append(fits ? scalar : "_")
                }
            }
        }
        return topic
    }

    /// Whether a topic may contain it: no wildcard, no control character, no noncharacter (MQTT 5, 1.5.4 and 4.7.1).
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "+" || scalar == "#" || scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) {
            return false
        }
        return scalar.value & 0xFFFE != 0xFFFE && !(0xFDD0...0xFDEF).contains(scalar.value)
    }
}
