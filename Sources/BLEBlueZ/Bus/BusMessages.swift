/// A call of a client that waits for its reply; each number is used once.
public struct CallID: Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A call of this service to a client; each number is used once.
public struct QuestionID: Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A method call of a client.
public struct BusCall: Hashable, Sendable {
    public var id: CallID
    /// The unique name of the client.
    public var sender: String
    /// The Unix user of the client.
    public var user: UInt32
    public var path: String
    /// `nil` if the caller left it out, which D-Bus permits.
    public var interface: String?
    public var member: String
    public var arguments: [BusValue]

    public init(
        id: CallID, sender: String, user: UInt32, path: String, interface: String?, member: String,
        arguments: [BusValue] = []
    ) {
        self.id = id
        self.sender = sender
        self.user = user
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// The types of the arguments.
    var signature: String { arguments.map(\.signature).joined() }

    /// The `a{sv}` at a place among the arguments; empty if it is of another type.
    func options(at place: Int) -> [(name: String, value: BusValue)] {
        arguments.indices.contains(place) ? arguments[place].options ?? [] : []
    }

    /// The text or path at a place among the arguments; empty if it is of another type.
    func text(at place: Int) -> String { arguments.indices.contains(place) ? arguments[place].text ?? "" : "" }
}

/// A method to call at a client.
public struct BusRequest: Hashable, Sendable {
    /// The unique name of the client.
    public var destination: String
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [BusValue]

    public init(destination: String, path: String, interface: String, member: String, arguments: [BusValue]) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}

/// A signal for everybody on the bus.
public struct BusSignal: Hashable, Sendable {
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [BusValue]

    public init(path: String, interface: String, member: String, arguments: [BusValue]) {
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}

/// An error reply: a name, which programs match, and a text for people, which some programs match too.
public struct BusError: Error, Hashable, Sendable {
    public var name: String
    public var text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}
