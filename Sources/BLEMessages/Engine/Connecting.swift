import BLEHost
import BLEPackets

extension ConnectRequest: Message {
    public static var blank: Self { Self(peer: .blank) }
    public static var schemaName: String { "Connect" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peer", &it.peer)
        try c.field(2, "establishment_retries", &it.establishmentRetries)
        try c.field(3, "parameters", &it.parameters)
        try c.since(1) { c throws(MessageError) in
            try c.field(4, "phys", &it.phys, nilAs: 0)
            try c.field(5, "pace", &it.pace)
            try c.field(6, "enhanced_bearers", &it.enhancedBearers, nilAs: 0)
        }
        try c.since(3) { c throws(MessageError) in try c.field(7, "parameter_policy", &it.parameterPolicy) }
        var (user, isOfOperator) = (it.user?.number, it.user?.isOperator ?? false)
        try c.since(7) { c throws(MessageError) in try c.field(8, "user", &user) }
        // The daemon knows by itself.
        try c.recorded { c throws(MessageError) in try c.field(100, "is_of_operator", &isOfOperator) }
        if C.reads { it.user = user.map { ClientUser($0, isOperator: isOfOperator) } }
    }
}

extension ConnectionParameterRequest: Message {
    public static var blank: Self {
        Self(interval: .blank ... .blank, peripheralLatency: 0, supervisionTimeout: .blank)
    }
    public static var schemaName: String { "ConnectionParameters" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        var (minimum, maximum) = (it.interval.lowerBound, it.interval.upperBound)
        try c.field(1, "minimum_interval", &minimum)
        try c.field(2, "maximum_interval", &maximum)
        guard minimum <= maximum else { throw .invalidField }
        it.interval = minimum...maximum
        try c.field(3, "peripheral_latency", &it.peripheralLatency)
        try c.field(4, "supervision_timeout", &it.supervisionTimeout)
    }
}

extension LinkPace: Message {
    public static var blank: Self { Self(busy: .blank, idle: .blank) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "busy", &it.busy)
        try c.field(2, "idle", &it.idle)
        try c.field(3, "idle_microseconds", &it.idleSpan)
    }
}

extension ParameterPolicy: Choice {
    public static var blank: Self { .accept }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(1, "accept", &it, .accept) { $0 == .accept }
        try c.option(2, "reject", &it, .reject) { $0 == .reject }
        try c.option(
            3, "within", as: "ParameterBounds", &it, Self.within, "minimum_interval", "maximum_interval",
            "maximum_latency", "minimum_timeout", "maximum_timeout"
        ) {
            guard case .within(let intervals, let latency, let timeouts) = $0 else { return nil }
            return (
                intervals.lowerBound, intervals.upperBound, latency, timeouts?.lowerBound ?? .blank,
                timeouts?.upperBound ?? .blank
            )
        }
    }

    /// 0 and 0 as timeouts: every timeout.
    private static func within(
        _ minimum: ConnectionInterval, _ maximum: ConnectionInterval, _ latency: UInt16,
        _ minimumTimeout: SupervisionTimeout, _ maximumTimeout: SupervisionTimeout
    ) throws(MessageError) -> Self {
        guard minimum <= maximum, minimumTimeout <= maximumTimeout else { throw .invalidField }
        let isAny = maximumTimeout.rawValue == 0
        return .within(
            minimum...maximum, latency: latency, supervisionTimeout: isAny ? nil : minimumTimeout...maximumTimeout)
    }
}
