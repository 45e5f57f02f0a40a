import BLEPackets

/// Faults of a simulated controller; they can be changed at any time.
public struct SimulatedControllerFaults: Hashable, Sendable {
    /// A command that is always refused.
    public struct Refusal: Hashable, Sendable {
        /// The command that is refused.
        public var opcode: HCIOpcode
        /// The status of the answer.
        public var status: HCIStatus
        /// How often; `nil` for always.
        public var count: Int?

        public init(_ opcode: HCIOpcode, status: HCIStatus, count: Int? = nil) {
            self.opcode = opcode
            self.status = status
            self.count = count
        }
    }

    /// How an attempt to connect fails.
    public enum ConnectionFailure: Hashable, Sendable {
        /// Connection Complete reports success, and Disconnection Complete with 0x3E follows, as the specification
        /// requires.
        case disconnection
        /// Connection Complete has status 0x3E, as from some controllers.
        case connectionComplete
    }

    /// Commands that are ignored and never answered.
    public var unansweredCommands: [HCIOpcode] = []
    /// Commands that are refused; the first match counts.
    public var refusals: [Refusal] = []
    /// Whether Number Of Completed Packets is withheld.
    public var keepsCompletedPackets = false
    /// How many of the next connections fail to be established.
    public var failingConnections = 0
    /// How those connections fail.
    public var connectionFailure = ConnectionFailure.disconnection
    /// The delay of Connection Complete after the link was made, in microseconds: data may arrive first.
    public var connectionCompleteDelayMicroseconds: Int64 = 0
    /// The maximum random delay of each event that does not answer a command, in microseconds, so that events overtake
    /// each other.
    public var eventDisorderMicroseconds: Int64 = 0
    /// Whether advertising reports are withheld although scanning continues.
    public var silencesReports = false
    /// Whether the resolving list is accepted but ignored, as by Bumble's controllers.
    public var resolvesNothing = false

    /// No faults.
    public init() {}
}

/// Counters of a simulated controller's traffic with its host.
public struct SimulatedControllerStatistics: Hashable, Sendable {
    /// A command that was answered with an error status.
    public struct Rejection: Hashable, Sendable {
        /// The command.
        public var opcode: HCIOpcode
        /// The status of the answer.
        public var status: HCIStatus

        public init(opcode: HCIOpcode, status: HCIStatus) {
            self.opcode = opcode
            self.status = status
        }
    }

    /// Commands of the host, including refused ones.
    public var commands = 0
    /// The last 64 of them.
    public var rejections: [Rejection] = []
    /// Commands that came while the host had no credit.
    public var commandsWithoutCredit = 0
    /// ACL packets of the host.
    public var dataPacketsFromHost = 0
    /// ACL packets to the host.
    public var dataPacketsToHost = 0
    /// Data packets without a free buffer, or longer than a buffer.
    public var bufferOverflows = 0
    /// Data packets for a link that does not exist.
    public var dataPacketsWithoutLink = 0
    /// Invalid H4 packets, and data that an LE link cannot carry.
    public var malformedPackets = 0
    /// Advertising reports to the host.
    public var reports = 0

    /// All zero.
    public init() {}
}
