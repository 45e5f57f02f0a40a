/// Something that the broker retains because the gateway has stated it.
public struct RetainedStatement: Equatable, Sendable {
    /// What is stated.
    public enum Kind: String, CaseIterable, Sendable {
        /// Whether the gateway is online; the session with the broker states that itself.
        case status
        /// Whether a device is present.
        case presence
        /// A value of a device, announced to Home Assistant.
        case entity
        /// The presence of a device, announced to Home Assistant.
        case tracker
        /// The last document of a device.
        case document
    }

    public var topic: String
    /// What it states.
    public var kind: Kind
    /// The device: its address in documents, or the name of its identity if that has no known address; empty for the
    /// status.
    public var owner: String
    /// What the settings made of the topics in it: if that changes, the statement is no longer true.
    public var basis: String
    /// What was stated; `nil`: it cannot be stated again, because it was stated in an earlier run, or has an event in it,
    /// or the session states it.
    public var payload: [UInt8]?
    /// Whether the broker has to remove it.
    public var isWithdrawn = false

    public init(topic: String, kind: Kind, owner: String, basis: String, payload: [UInt8]?) {
        self.topic = topic
        self.kind = kind
        self.owner = owner
        self.basis = basis
        self.payload = payload
    }

    /// The octets that it needs in memory and on disk, about.
    var size: Int { topic.utf8.count + owner.utf8.count + basis.utf8.count + (payload?.count ?? 0) + 64 }
}

/// A device of which something is retained.
public struct RetainedOwner: Equatable, Sendable {
    /// As in statements.
    public var name: String
    /// When it was received first and last, in seconds since 1970.
    public var firstHeard: Int64
    public var lastHeard: Int64
    /// Whether the adapter, or the daemon, knows the device by a bond.
    public var isResolved: Bool

    public init(name: String, firstHeard: Int64, lastHeard: Int64, isResolved: Bool) {
        self.name = name
        self.firstHeard = firstHeard
        self.lastHeard = lastHeard
        self.isResolved = isResolved
    }
}

/// Everything that outlives the program of what is retained, or a part of it that has changed.
public struct RetainedRecord: Equatable, Sendable {
    /// What is stated, or has to be removed.
    public var statements: [RetainedStatement] = []
    /// The devices of the statements.
    public var owners: [RetainedOwner] = []
    /// The topics that nothing is retained for any more.
    public var removedTopics: [String] = []
    /// The devices of which nothing is retained any more.
    public var removedOwners: [String] = []

    public init() {}

    /// Whether it says nothing.
    public var isEmpty: Bool {
        statements.isEmpty && owners.isEmpty && removedTopics.isEmpty && removedOwners.isEmpty
    }
}

/// What became of a retained message.
public enum RetainedOutcome: Equatable, Sendable {
    /// The broker has acknowledged it.
    case accepted
    /// The broker refused it for good, or it could not be sent: it is stated again in a session some time later.
    case refused
    /// The broker refused it for the moment.
    case postponed
}
