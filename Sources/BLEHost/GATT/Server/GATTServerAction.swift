import BLEPackets

/// What the owner of an attribute server has to do.
public enum GATTServerAction: Equatable, Sendable {
    /// Send a PDU on a link's ATT channel, and call `sent` when the controller has it.
    case send([UInt8], to: LinkID, tag: GATTServerSendTag)
    /// Report an event.
    case event(GATTServerEvent)
    /// The bearer is dead: end the link. Nothing more goes to it.
    case disconnect(LinkID, GATTServerFault)
    /// Compute AES-CMAC with a key of zeros over a message and hand the 16 octets, in the order of the cipher, to
    /// `databaseHash(_:revision:at:)`, or `nil` where it cannot be done (Core 5.4, Vol 3, Part G, 7.3).
    case computeHash(message: [UInt8], revision: UInt64)
}

/// Why a server gave up a bearer.
public enum GATTServerFault: Equatable, Sendable {
    /// The app left a request without an answer until its time was over.
    case answerTimeout
    /// The client did not confirm an indication in time.
    case confirmationTimeout
    /// The client went on sending requests without waiting for answers.
    case flooded
}

/// Identifies a request to the app; each number is used once.
public struct GATTRequestID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A client wants to know a value that the app holds (SPEC PER-13).
public struct GATTReadRequest: Equatable, Sendable {
    /// The identifier for the answer.
    public var id: GATTRequestID
    /// Who asks.
    public var link: LinkID
    /// What is asked for.
    public var handle: AttributeHandle
    /// Octets of the value to leave out: the answer begins behind them (SPEC PER-14, PER-15).
    public var offset: Int
    /// Who published the attribute.
    public var owner: ClientID
}

/// One of the values that a client wants to set.
public struct GATTWrite: Equatable, Sendable {
    /// What is to be set.
    public var handle: AttributeHandle
    /// Where in the value the octets belong.
    public var offset: Int
    /// The octets, at most 512.
    public var value: [UInt8]
}

/// A client wants to set values that the app holds: all of them or none (SPEC PER-17 to PER-19).
public struct GATTWriteRequest: Equatable, Sendable {
    /// By which it is answered.
    public var id: GATTRequestID
    /// Who writes.
    public var link: LinkID
    /// At least one, in the order in which the client sent them.
    public var writes: [GATTWrite]
    /// Whether the client waits; an answer to a command is taken and goes nowhere (SPEC 2.4).
    public var needsAnswer: Bool
    /// Who published the attributes.
    public var owner: ClientID
}

/// The app's answer to a question.
public enum GATTAnswer: Equatable, Sendable {
    /// The value from the requested offset on; empty at its end.
    case value([UInt8])
    /// All is written.
    case success
    /// Nothing is read or written.
    /// - Parameter handle: which of the attributes is at fault; the first where it is `nil`.
    case failure(ATTError, handle: AttributeHandle? = nil)
}

/// A subscription: which client receives which value.
public struct GATTSubscription: Equatable, Sendable {
    /// Whose subscription it is.
    public var link: LinkID
    /// Of the characteristic's value.
    public var handle: AttributeHandle
    /// What the client asks for; nothing when the subscription is over.
    public var modes: SubscriptionModes
    /// Octets that one update can carry: ATT_MTU − 3 (SPEC 2.4 maximumUpdateValueLength).
    public var maximumUpdateLength: Int
    /// Who published the attribute.
    public var owner: ClientID
}

/// What an attribute server has to tell.
public enum GATTServerEvent: Equatable, Sendable {
    /// To be answered with `respond`, once (SPEC PER-16).
    case read(GATTReadRequest)
    /// To be answered with `respond`, once (SPEC PER-18).
    case write(GATTWriteRequest)
    /// The cue to send updates (SPEC PER-20); also when a client asks for another mode.
    case subscribed(GATTSubscription)
    /// The client wants no more updates, or is gone for good.
    case unsubscribed(GATTSubscription)
    /// There is room for updates again after one was refused (SPEC PER-22).
    case readyToUpdate
    /// A value that the server keeps was written by a client.
    case stored(LinkID, GATTWrite)
    /// A client confirmed an indication of this value.
    case confirmed(LinkID, AttributeHandle)
    /// A client takes updates so slowly that it is not waited for any more: it misses what it has no room for.
    case fellBehind(LinkID)
    /// The app's time for an answer is over; the bearer is gone with it.
    case requestExpired(GATTRequestID, LinkID)
}

/// What is kept of a bonded client from one connection to the next (Core 5.4, Vol 3, Part G, 2.5.2 and 3.3.3.3).
public struct GATTClientRecord: Equatable, Sendable {
    /// What a client wrote into one Client Characteristic Configuration.
    public struct Configuration: Equatable, Sendable {
        /// Of the configuration descriptor.
        public var handle: AttributeHandle
        /// What the client wants to be sent.
        public var modes: SubscriptionModes
        /// A digest of the service and the characteristic that it belongs to: under the handle there may be another one
        /// when the client comes back. `nil` in records that were kept without; the handle alone counts then.
        public var owner: UInt64?

        public init(handle: AttributeHandle, modes: SubscriptionModes, owner: UInt64? = nil) {
            self.handle = handle
            self.modes = modes
            self.owner = owner
        }
    }

    /// In ascending order of their handles.
    public var configurations: [Configuration]
    /// The Client Supported Features (Core 5.4, Vol 3, Part G, 7.2).
    public var features: UInt8
    /// A digest of the table that the client knows.
    public var knownTable: UInt64

    public init(configurations: [Configuration], features: UInt8, knownTable: UInt64) {
        self.configurations = configurations
        self.features = features
        self.knownTable = knownTable
    }
}

#if !hasFeature(Embedded)
extension GATTRequestID: Codable {}
extension GATTAnswer: Codable {}
extension GATTClientRecord.Configuration: Codable {}
extension GATTClientRecord: Codable {}
#endif
