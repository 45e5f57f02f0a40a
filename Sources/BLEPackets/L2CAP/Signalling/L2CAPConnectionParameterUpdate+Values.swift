extension L2CAPConnectionParameterUpdateRequest {
    /// Whether all values are in their ranges and the supervision timeout is longer than the events that may be
    /// skipped; an invalid request is answered with `L2CAPConnectionParameterUpdateResponse.Result.rejected`.
    public var isValid: Bool {
        guard (6...3200).contains(minimumInterval), (6...3200).contains(maximumInterval),
            minimumInterval <= maximumInterval, latency <= 499, (10...3200).contains(supervisionTimeout)
        else { return false }
        // Timeout in ms > (1 + latency) × interval in ms × 2, both sides times 4 to stay with integers.
        return UInt32(supervisionTimeout) * 40 > (1 + UInt32(latency)) * UInt32(maximumInterval) * 10
    }
}

extension L2CAPConnectionParameterUpdateResponse {
    /// Accepted or rejected; other values have no meaning and count as rejected.
    public struct Result: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt16
        @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The central is going to change the parameters.
        public static let accepted = Result(rawValue: 0x0000)
        /// The parameters stay as they are.
        public static let rejected = Result(rawValue: 0x0001)
    }
}
