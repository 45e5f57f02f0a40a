extension CaptureSummary {
    /// A protocol number, and how many packets had it.
    public struct Count: Equatable, Sendable {
        /// An opcode, a code or a channel identifier, depending on the list.
        public var number: UInt16
        /// The number of packets, never zero.
        public var count: Int
    }

    /// Commands by opcode, in order.
    public var commandsByOpcode: [Count] { Self.nonzero(opcodes) }
    /// Events by code, in order.
    public var eventsByCode: [Count] { Self.nonzero(eventCodes) }
    /// LE Meta events by subevent code, in order.
    public var leSubevents: [Count] { Self.nonzero(subevents) }
    /// ATT PDUs by opcode, in order; without those on enhanced bearers.
    public var attByOpcode: [Count] { Self.nonzero(attOpcodes) }
    /// ATT PDUs on enhanced bearers by opcode, in order.
    public var enhancedATTByOpcode: [Count] { Self.nonzero(enhancedATTOpcodes) }
    /// SMP PDUs over LE by code, in order.
    public var smpByCode: [Count] { Self.nonzero(smpOpcodes) }
    /// Whole L2CAP frames by channel identifier, in order.
    public var l2capByChannel: [Count] { Self.nonzero(channels) }

    private static func nonzero(_ counts: SparseCounts) -> [Count] {
        var found: [Count] = []
        counts.visit { found.append(Count(number: $0, count: $1)) }
        return found
    }

    private static func nonzero(_ counts: [Int]) -> [Count] {
        counts.indices.compactMap { counts[$0] == 0 ? nil : Count(number: UInt16($0), count: counts[$0]) }
    }
}
