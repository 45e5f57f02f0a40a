import BLEHost
import BLEPackets

extension WireParameterPolicy {
    init(_ value: ParameterPolicy) {
        self.init()
        switch value {
        case .accept: accept = WireNothing()
        case .reject: reject = WireNothing()
        case .within(let intervals, let latency, let timeouts):
            within.minimumInterval = UInt32(intervals.lowerBound.rawValue)
            within.maximumInterval = UInt32(intervals.upperBound.rawValue)
            within.maximumLatency = UInt32(latency)
            within.minimumTimeout = UInt32(timeouts?.lowerBound.rawValue ?? 0)
            within.maximumTimeout = UInt32(timeouts?.upperBound.rawValue ?? 0)
        }
    }
}

extension ParameterPolicy {
    /// - Throws: `WireError.invalidField`, also for a policy that a later revision may have added.
    init(_ wire: WireParameterPolicy) throws(WireError) {
        switch wire.policy {
        case .accept: self = .accept
        case .reject: self = .reject
        case .within(let bounds):
            guard let latency = UInt16(exactly: bounds.maximumLatency) else { throw .invalidField }
            let intervals = try Self.range(bounds.minimumInterval, bounds.maximumInterval)
            var timeouts: ClosedRange<SupervisionTimeout>?
            if bounds.minimumTimeout != 0 || bounds.maximumTimeout != 0 {
                let numbers = try Self.range(bounds.minimumTimeout, bounds.maximumTimeout)
                timeouts =
                    SupervisionTimeout(rawValue: numbers.lowerBound)...SupervisionTimeout(rawValue: numbers.upperBound)
            }
            self = .within(
                ConnectionInterval(rawValue: intervals.lowerBound)...ConnectionInterval(rawValue: intervals.upperBound),
                latency: latency, supervisionTimeout: timeouts)
        case nil: throw .invalidField
        }
    }

    private static func range(_ minimum: UInt32, _ maximum: UInt32) throws(WireError) -> ClosedRange<UInt16> {
        guard minimum <= maximum, let low = UInt16(exactly: minimum), let high = UInt16(exactly: maximum) else {
            throw .invalidField
        }
        return low...high
    }
}
