import BLEPackets

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
    /// Resets of the host, answered or not.
    public var resets = 0
    /// The last 64 commands that were refused.
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
