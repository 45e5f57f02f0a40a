import BLEPackets

/// How a simulated controller misbehaves; may be changed at any time.
public struct SimulatedControllerFaults: Hashable, Sendable {
    /// A command that is refused whatever its parameters and the state.
    public struct Refusal: Hashable, Sendable {
        /// The command that is refused.
        public var opcode: HCIOpcode
        /// What it is answered with.
        public var status: HCIStatus
        /// How often; `nil` for ever.
        public var count: Int?

        public init(_ opcode: HCIOpcode, status: HCIStatus, count: Int? = nil) {
            self.opcode = opcode
            self.status = status
            self.count = count
        }
    }

    /// How an attempt to connect goes wrong.
    public enum ConnectionFailure: Hashable, Sendable {
        /// Connection Complete says success, and a Disconnection Complete with 0x3E follows, as the specification has it.
        case disconnection
        /// Connection Complete itself says 0x3E, as some controllers do.
        case connectionComplete
    }

    /// Commands that are carried out by nobody and never answered.
    public var unansweredCommands: [HCIOpcode] = []
    /// Commands that are refused, the first that fits.
    public var refusals: [Refusal] = []
    /// No Number Of Completed Packets is sent.
    public var keepsCompletedPackets = false
    /// How many of the next connections fail to be established.
    public var failingConnections = 0
    /// How those connections fail.
    public var connectionFailure = ConnectionFailure.disconnection
    /// How much later than the link itself its Connection Complete arrives, so that data may come before it.
    public var connectionCompleteDelayMicroseconds: Int64 = 0
    /// Events other than answers to commands are held back by up to this time each, so that they overtake one another.
    public var eventDisorderMicroseconds: Int64 = 0
    /// Advertising reports stop, though scanning goes on.
    public var silencesReports = false
    /// The resolving list is taken, and nothing is done with it, as Bumble's controllers do.
    public var resolvesNothing = false

    /// Of a controller that does all it should.
    public init() {}
}

/// What a simulated controller has seen of its host.
public struct SimulatedControllerStatistics: Hashable, Sendable {
    /// A command that was answered with another status than success.
    public struct Rejection: Hashable, Sendable {
        /// The command.
        public var opcode: HCIOpcode
        /// What it was answered with.
        public var status: HCIStatus

        public init(opcode: HCIOpcode, status: HCIStatus) {
            self.opcode = opcode
            self.status = status
        }
    }

    /// Commands of the host, refused ones among them.
    public var commands = 0
    /// The last 64 of them.
    public var rejections: [Rejection] = []
    /// Commands that came while the host had no credit.
    public var commandsWithoutCredit = 0
    /// ACL packets of the host.
    public var dataPacketsFromHost = 0
    /// ACL packets that the host was given.
    public var dataPacketsToHost = 0
    /// Data packets that found no buffer or were longer than one.
    public var bufferOverflows = 0
    /// Data packets for a link that does not exist.
    public var dataPacketsWithoutLink = 0
    /// What was no H4 packet, or data that an LE link cannot carry.
    public var malformedPackets = 0
    /// Advertising reports that the host was given.
    public var reports = 0

    /// All zero.
    public init() {}
}
