import BLEPackets

/// A preference between latency and energy on a link (SPEC 2.1, 2.4 setDesiredConnectionLatency).
///
/// It is a hint: the central decides. The requested parameters follow all the rules that Apple has published for
/// accessories since 2014, so that none of its devices has a reason to refuse them (SPEC section 4).
public enum ConnectionLatency: Int, Hashable, Sendable, CaseIterable {
    /// A connection interval of 15 to 30 ms, without peripheral latency.
    case low = 0
    /// A connection interval of 90 to 120 ms; the peripheral may skip two events.
    case medium = 1
    /// A connection interval of 285 to 300 ms; the peripheral may skip four events.
    case high = 2

    /// The connection parameters to request; the supervision timeout is always 6 s.
    public var parameters: ConnectionParameterRequest {
        switch self {
        case .low: Self.wish(from: .milliseconds(15), to: .milliseconds(30), peripheralLatency: 0)
        case .medium: Self.wish(from: .milliseconds(90), to: .milliseconds(120), peripheralLatency: 2)
        case .high: Self.wish(from: .milliseconds(285), to: .milliseconds(300), peripheralLatency: 4)
        }
    }

    private static func wish(
        from minimum: ConnectionInterval, to maximum: ConnectionInterval, peripheralLatency: UInt16
    ) -> ConnectionParameterRequest {
        ConnectionParameterRequest(
            interval: minimum...maximum, peripheralLatency: peripheralLatency,
            supervisionTimeout: .milliseconds(6000))
    }
}
