import BLE

/// How a device that asks for other connection parameters is answered: `accept`, `reject`, or bounds in milliseconds
/// such as `15-50,latency=4,timeout=2000-6000`.
struct ParameterPolicyArgument: ExplainedArgument, Equatable, Sendable {
    var policy: ParameterPolicy

    private static let intervals = ConnectionInterval.least.milliseconds...ConnectionInterval.greatest.milliseconds
    private static let timeouts = SupervisionTimeout.least.milliseconds...SupervisionTimeout.greatest.milliseconds
    private static let latencies: ClosedRange<UInt16> = 0...499

    init?(argument: String) {
        switch argument.lowercased() {
        case "accept": policy = .accept
        case "reject": policy = .reject
        default:
            var parts = argument.split(separator: ",", omittingEmptySubsequences: false)[...]
            guard let first = parts.popFirst(), let interval = Self.range(first, within: Self.intervals) else {
                return nil
            }
            var latency: UInt16?
            var timeout: ClosedRange<Double>?
            for part in parts {
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard pair.count == 2 else { return nil }
                switch pair[0].lowercased() {
                case "latency":
                    guard latency == nil, let number = UInt16(pair[1]), Self.latencies.contains(number) else {
                        return nil
                    }
                    latency = number
                case "timeout":
                    guard timeout == nil, let range = Self.range(pair[1], within: Self.timeouts) else { return nil }
                    timeout = range
                default: return nil
                }
            }
            policy = .within(
                .milliseconds(interval.lowerBound)...ConnectionInterval.milliseconds(interval.upperBound),
                latency: latency ?? Self.latencies.upperBound,
                supervisionTimeout: timeout.map {
                    .milliseconds($0.lowerBound)...SupervisionTimeout.milliseconds($0.upperBound)
                })
        }
    }

    static func mistake(in text: String) -> String {
        "use accept, reject, or bounds in ms, such as 15-50,latency=4,timeout=2000-6000: intervals of 7.5 to 4000, a "
            + "latency to 499, timeouts of 100 to 32000"
    }

    private static func range(_ text: Substring, within limits: ClosedRange<Double>) -> ClosedRange<Double>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Double($0) }
        guard ends.count == 2, let low = ends[0], let high = ends[1], limits.contains(low), limits.contains(high),
            low <= high
        else { return nil }
        return low...high
    }
}
