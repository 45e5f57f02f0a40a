import BLEPackets

extension SimulatedControllerFaults {
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

    /// A command that is carried out late.
    public struct AnswerDelay: Hashable, Sendable {
        /// The command.
        public var opcode: HCIOpcode
        /// How late, in microseconds.
        public var microseconds: Int64

        public init(_ opcode: HCIOpcode, microseconds: Int64) {
            self.opcode = opcode
            self.microseconds = microseconds
        }
    }

    /// A command at which the controller crashes: it is silent, then sends Hardware Error, and has forgotten everything.
    /// So a Raspberry Pi's does at LE Read Remote Features while it scans (raspberrypi/linux#3330).
    public struct Crash: Hashable, Sendable {
        /// The command.
        public var opcode: HCIOpcode
        /// Whether it crashes only while a scan runs.
        public var whileScanning: Bool
        /// How long nothing is answered before Hardware Error comes, in microseconds; Reset ends it, too.
        public var silenceMicroseconds: Int64
        /// The code in Hardware Error.
        public var code: UInt8

        public init(
            _ opcode: HCIOpcode, whileScanning: Bool = false, silenceMicroseconds: Int64 = 1_000_000, code: UInt8 = 0x03
        ) {
            self.opcode = opcode
            self.whileScanning = whileScanning
            self.silenceMicroseconds = silenceMicroseconds
            self.code = code
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
}
