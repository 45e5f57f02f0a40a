import BLEPackets

/// What the owner of an attribute server must do.
public enum GATTServerAction: Equatable, Sendable {
    /// Send a PDU on a link's ATT channel, and call `sent` when the controller has it.
    case send([UInt8], to: LinkID, tag: GATTServerSendTag)
    /// Send a PDU on an enhanced bearer of a link, and call `sent` when the controller has it.
    case sendEnhanced([UInt8], to: LinkID, bearer: UInt32, tag: GATTServerSendTag)
    /// Report an event.
    case event(GATTServerEvent)
    /// The bearer is dead: end the link. Nothing more is sent on it.
    case disconnect(LinkID, GATTServerFault)
    /// The enhanced bearer is dead: close its channel. Nothing more is sent on it.
    case closeBearer(LinkID, UInt32, GATTServerFault)
    /// Compute AES-CMAC with a key of zeros over a message. Pass the 16 octets, in the order of the cipher, to
    /// `databaseHash(_:revision:at:)`, or `nil` if that fails (Core 5.4, Vol 3, Part G, 7.3).
    case computeHash(message: [UInt8], revision: UInt64)
    /// Send these advertising-data structures, and no others of earlier actions, whenever this device advertises (Core
    /// 5.4, Vol 3, Part G, 2.7).
    case broadcast([[UInt8]])
}

/// Why a server gave up on a bearer.
public enum GATTServerFault: Equatable, Sendable {
    /// The app did not answer a request in time.
    case answerTimeout
    /// The client did not confirm an indication in time.
    case confirmationTimeout
    /// The client kept sending requests without waiting for responses.
    case flooded
}

/// Identifies a request to the app; each number is used once.
public struct GATTRequestID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A client reads a value that the app supplies (SPEC PER-13).
public struct GATTReadRequest: Equatable, Sendable {
    /// The identifier for `respond`.
    public var id: GATTRequestID
    /// The link of the client.
    public var link: LinkID
    /// The attribute to read.
    public var handle: AttributeHandle
    /// Octets of the value to skip: the answer begins behind them (SPEC PER-14, PER-15).
    public var offset: Int
    /// The client that published the attribute.
    public var owner: ClientID

    public init(id: GATTRequestID, link: LinkID, handle: AttributeHandle, offset: Int, owner: ClientID) {
        self.id = id
        self.link = link
        self.handle = handle
        self.offset = offset
        self.owner = owner
    }
}

/// One of the values that a client writes.
public struct GATTWrite: Equatable, Sendable {
    /// The attribute to write.
    public var handle: AttributeHandle
    /// The offset of the octets in the value.
    public var offset: Int
    /// The octets, at most 512.
    public var value: [UInt8]

    public init(handle: AttributeHandle, offset: Int, value: [UInt8]) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }
}

/// A client writes values that the app handles: all of them or none (SPEC PER-17 to PER-19).
public struct GATTWriteRequest: Equatable, Sendable {
    /// The identifier for `respond`.
    public var id: GATTRequestID
    /// The link of the client.
    public var link: LinkID
    /// At least one, in the order in which the client sent them.
    public var writes: [GATTWrite]
    /// Whether the client waits for a response; an answer to a command is accepted but has no effect (SPEC 2.4).
    public var needsAnswer: Bool
    /// The client that published the attributes.
    public var owner: ClientID

    public init(id: GATTRequestID, link: LinkID, writes: [GATTWrite], needsAnswer: Bool, owner: ClientID) {
        self.id = id
        self.link = link
        self.writes = writes
        self.needsAnswer = needsAnswer
        self.owner = owner
    }
}

/// The app's answer to a read or write.
public enum GATTAnswer: Equatable, Sendable {
    /// The value from the requested offset on; empty if the offset is at its end.
    case value([UInt8])
    /// All values have been written.
    case success
    /// Nothing was read or written.
    /// - Parameter handle: the attribute that caused the error; `nil` for the first one.
    case failure(ATTError, handle: AttributeHandle? = nil)
}

/// A subscription: which client receives which value.
public struct GATTSubscription: Equatable, Sendable {
    /// The link of the subscriber.
    public var link: LinkID
    /// The handle of the characteristic value.
    public var handle: AttributeHandle
    /// The modes that the client asked for; empty when the subscription has ended.
    public var modes: SubscriptionModes
    /// Octets that one update can carry: ATT_MTU − 3 (SPEC 2.4 maximumUpdateValueLength).
    public var maximumUpdateLength: Int
    /// The client that published the attribute.
    public var owner: ClientID

    public init(
        link: LinkID, handle: AttributeHandle, modes: SubscriptionModes, maximumUpdateLength: Int, owner: ClientID
    ) {
        self.link = link
        self.handle = handle
        self.modes = modes
        self.maximumUpdateLength = maximumUpdateLength
        self.owner = owner
    }
}

/// What an attribute server reports.
public enum GATTServerEvent: Equatable, Sendable {
    /// A read to answer once with `respond` (SPEC PER-16).
    case read(GATTReadRequest)
    /// A write to answer once with `respond` (SPEC PER-18).
    case write(GATTWriteRequest)
    /// A client subscribed, which is the cue to send updates (SPEC PER-20); also reported when it changes the mode.
    case subscribed(GATTSubscription)
    /// The client unsubscribed, or is gone for good.
    case unsubscribed(GATTSubscription)
    /// There is room for updates again after one was refused (SPEC PER-22).
    case readyToUpdate
    /// A client wrote a value that the server stores.
    case stored(LinkID, GATTWrite)
    /// A client confirmed an indication of this value.
    case confirmed(LinkID, AttributeHandle)
    /// A client accepts updates so slowly that the others no longer wait for it: it misses the updates that it has no
    /// room for.
    case fellBehind(LinkID)
    /// The app did not answer in time; the bearer is given up with the request.
    case requestExpired(GATTRequestID, LinkID)
}

/// What is stored of a bonded client from one connection to the next (Core 5.4, Vol 3, Part G, 2.5.2 and 3.3.3.3).
public struct GATTClientRecord: Equatable, Sendable {
    /// What a client wrote into one Client Characteristic Configuration.
    public struct Configuration: Equatable, Sendable {
        /// The handle of the configuration descriptor.
        public var handle: AttributeHandle
        /// The modes that the client asked for.
        public var modes: SubscriptionModes
        /// A digest of the service and the characteristic that it belongs to: another one may have the handle when the
        /// client comes back. `nil` in records without a digest; in this case only the handle counts.
        public var owner: UInt64?

        public init(handle: AttributeHandle, modes: SubscriptionModes, owner: UInt64? = nil) {
            self.handle = handle
            self.modes = modes
            self.owner = owner
        }
    }

    /// In ascending order of their handles.
    public var configurations: [Configuration]
    /// The value of Client Supported Features (Core 5.4, Vol 3, Part G, 7.2).
    public var features: UInt8
    /// A digest of the table that the client knows.
    public var knownTable: UInt64

    public init(configurations: [Configuration], features: UInt8, knownTable: UInt64) {
        self.configurations = configurations
        self.features = features
        self.knownTable = knownTable
    }
}
