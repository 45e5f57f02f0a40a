import BLEPackets

/// How this side, as the central, answers a peripheral that asks for other connection parameters, through the link
/// layer or over L2CAP (Core 5.4, Vol 3, Part A, 4.20; Vol 4, Part E, 7.8.31).
public enum ParameterPolicy: Hashable, Sendable {
    /// Accept all that the specification allows.
    case accept
    /// Reject every request; the parameters stay those that this side has chosen.
    case reject
    /// Accept what lies in these bounds: the interval becomes the part of the requested range that lies in them. A
    /// request without such a part, with a longer latency (0 to 499), or with a supervision timeout outside the range
    /// is rejected. `nil`: every timeout.
    case within(
        ClosedRange<ConnectionInterval>, latency: UInt16, supervisionTimeout: ClosedRange<SupervisionTimeout>? = nil)

    /// What to grant; `nil` to reject the request.
    func granted(_ request: ConnectionParameterRequest) -> ConnectionParameterRequest? {
        switch self {
        case .accept: return request
        case .reject: return nil
        case .within(let intervals, let latency, let timeouts):
            let shortest = max(intervals.lowerBound, request.interval.lowerBound)
            let longest = min(intervals.upperBound, request.interval.upperBound)
            guard shortest <= longest, request.peripheralLatency <= latency,
                timeouts?.contains(request.supervisionTimeout) ?? true
            else { return nil }
            var granted = request
            granted.interval = shortest...longest
            return granted
        }
    }
}
