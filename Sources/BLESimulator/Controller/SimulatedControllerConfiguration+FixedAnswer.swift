import BLEPackets

extension SimulatedControllerConfiguration {
    /// A command that always returns the same in Command Complete.
    public struct FixedAnswer: Hashable, Sendable {
        /// The command.
        public var opcode: HCIOpcode
        /// What it returns, status first.
        public var returnParameters: [UInt8]

        public init(_ opcode: HCIOpcode, returns returnParameters: [UInt8] = [0]) {
            self.opcode = opcode
            self.returnParameters = returnParameters
        }
    }
}
