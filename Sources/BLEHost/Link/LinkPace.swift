import BLEPackets

/// Connection parameters that follow what runs on a link: short intervals while much is sent, as during a discovery or
/// a transfer, long ones while the link is idle. The central applies it.
///
/// What the peripheral asks for and gets (`ParameterPolicy`) is from then on used while the link is idle. A client that
/// chooses the parameters of a link itself ends its pace.
public struct LinkPace: Hashable, Sendable {
    /// While much is sent, and at the beginning.
    public var busy: ConnectionParameterRequest
    /// After `idleSpan` with little traffic.
    public var idle: ConnectionParameterRequest
    /// How long little must be sent before the link counts as idle.
    public var idleSpan: Microseconds

    public init(
        busy: ConnectionParameterRequest, idle: ConnectionParameterRequest, idleSpan: Microseconds = .seconds(5)
    ) {
        self.busy = busy
        self.idle = idle
        self.idleSpan = idleSpan
    }

    /// 30 to 50 ms, and 400 to 500 ms with a latency of 4 while idle.
    public static let lowPower = LinkPace(busy: request(30, 50, latency: 0), idle: request(400, 500, latency: 4))
    /// 15 to 30 ms, and 100 to 150 ms with a latency of 2 while idle.
    public static let balanced = LinkPace(busy: request(15, 30, latency: 0), idle: request(100, 150, latency: 2))
    /// 7.5 to 15 ms, and 30 to 50 ms while idle.
    public static let throughput = LinkPace(
        busy: request(7.5, 15, latency: 0), idle: request(30, 50, latency: 0), idleSpan: .seconds(10))

    private static func request(_ minimum: Double, _ maximum: Double, latency: UInt16) -> ConnectionParameterRequest {
        ConnectionParameterRequest(
            interval: .milliseconds(minimum)...ConnectionInterval.milliseconds(maximum), peripheralLatency: latency,
            supervisionTimeout: .milliseconds(6000))
    }

    var isValid: Bool { busy.isValid && idle.isValid && idleSpan.rawValue > 0 }
}

/// Decides between the two parameters of a pace by counting frames. There is a timer only while the link is busy.
struct PaceMachine {
    private enum State {
        case busy(check: Instant)
        case idle
    }

    /// A link in use becomes busy with so many frames within a second and eight connection events: a value that is read
    /// each second does not, a discovery does at any interval.
    private static let busyFrames = 5
    /// A busy link with fewer frames in `idleSpan` becomes idle.
    private static let idleFrames = 8

    private var pace: LinkPace
    private var state: State
    private var frames = 0
    private var windowBegan: Instant
    /// Parameters that could not be asked for yet.
    private var isOwed = false

    init(_ pace: LinkPace, at now: Instant) {
        self.pace = pace
        state = .busy(check: now.advanced(by: pace.idleSpan))
        windowBegan = now
    }

    /// What to ask for, if the link does not use it.
    private var wish: ConnectionParameterRequest {
        switch state {
        case .busy: pace.busy
        case .idle: pace.idle
        }
    }

    /// The peripheral has asked for parameters and got them.
    mutating func adopt(_ granted: ConnectionParameterRequest) { pace.idle = granted }

    /// Frames were received or sent.
    /// - Parameter interval: the interval of the link.
    /// - Returns: the parameters to ask for now.
    mutating func countTraffic(
        _ count: Int, interval: ConnectionInterval, at now: Instant
    ) -> ConnectionParameterRequest? {
        frames += count
        guard case .idle = state else { return nil }
        let window = Microseconds.microseconds(1_000_000 + 8 * Int64(interval.microseconds))
        guard windowBegan.advanced(by: window) > now else {
            windowBegan = now
            frames = count
            return nil
        }
        guard frames >= Self.busyFrames else { return nil }
        become(.busy(check: now.advanced(by: pace.idleSpan)), at: now)
        return wish
    }

    var nextDeadline: Instant? {
        if case .busy(let check) = state { check } else { nil }
    }

    /// - Returns: the parameters to ask for now.
    mutating func advance(to now: Instant) -> ConnectionParameterRequest? {
        guard case .busy(let check) = state, check <= now else { return nil }
        let isIdle = frames < Self.idleFrames
        become(isIdle ? .idle : .busy(check: now.advanced(by: pace.idleSpan)), at: now)
        return isIdle || isOwed ? wish : nil
    }

    /// The parameters could not be asked for because another change runs: they are asked for at the next occasion.
    mutating func postpone(at now: Instant) {
        isOwed = true
        if case .idle = state { become(.busy(check: now.advanced(by: pace.idleSpan)), at: now) }
    }

    /// The parameters were asked for.
    mutating func asked() { isOwed = false }

    private mutating func become(_ next: State, at now: Instant) {
        state = next
        frames = 0
        windowBegan = now
    }
}
