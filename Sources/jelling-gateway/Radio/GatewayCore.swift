import BLE
import BLEGateway
import BLESecurity
import Dispatch
import Logging
import Synchronization

/// The gateway's machine with its clock and its timer.
final class GatewayCore: Sendable {
    struct State {
        var gateway: Gateway
        var armed: Instant?
        var adapters: [String] = []
        var hasReportedLimit = false
        /// The quality of service of documents.
        var quality: @Sendable () -> Int = { 1 }
        /// Called when `statements` may have something.
        var wake: (@Sendable () -> Void)?
    }

    let state: Mutex<State>
    private let timer = DispatchQueue(label: "timer")
    /// Receives messages in order. It is called under a lock, so it must not wait.
    private let deliver: @Sendable ([GatewayMessage]) -> Void
    private let logger: Logger

    init(
        _ configuration: GatewayConfiguration, logger: Logger,
        deliver: @escaping @Sendable ([GatewayMessage]) -> Void
    ) {
        let gateway = Gateway(configuration: configuration) { key, block in
            guard case .octets(let octets) = SwiftCryptoProvider().answer(.encrypt(key: key, block: block)) else {
                return nil
            }
            return octets
        }
        state = Mutex(State(gateway: gateway))
        self.deliver = deliver
        self.logger = logger
    }

    static var now: Instant { Instant(microseconds: Int64(EventLoop.nowMicroseconds)) }

    /// The index of an adapter in sightings.
    func index(ofAdapter name: String) -> Int {
        state.withLock { state in
            if let index = state.adapters.firstIndex(of: name) { return index }
            state.adapters.append(name)
            state.gateway.setAdapters(state.adapters)
            return state.adapters.count - 1
        }
    }

    func receive(_ discovery: Discovery, adapter: Int) {
        let now = Self.now
        let unix = Int64(EventLoop.unixMicroseconds) - (now.microseconds - discovery.time.microseconds)
        change { $0.receive(Sighting(discovery, adapter: adapter), at: now, unix: unix) }
    }

    func configure(_ configuration: GatewayConfiguration) { change { $0.configure(configuration) } }

    /// Home Assistant has started.
    func announceAgain() { change { $0.announceAgain(at: Self.now) } }

    /// What outlives the program of the devices that encrypt.
    var replayCounters: [ReplayCounter] { state.withLock { $0.gateway.replayCounters } }

    func restore(_ counters: [ReplayCounter]) { state.withLock { $0.gateway.restore(counters, at: Self.now) } }

    /// The digests of the packets of devices that encrypt, and a number that changes with them.
    var heardPackets: [UInt8] { state.withLock { $0.gateway.heardPackets } }
    var heardPacketCount: UInt64 { state.withLock { $0.gateway.heardPacketCount } }

    /// - Returns: whether the octets are whole.
    func restore(heardPackets: [UInt8]) -> Bool { state.withLock { $0.gateway.restore(heardPackets: heardPackets) } }

    /// The gateway's name, which a reload may change.
    var name: String { state.withLock { $0.gateway.configuration.name } }

    var counters: GatewayCounters { state.withLock { $0.gateway.counters } }
    var deviceCount: Int { state.withLock { $0.gateway.deviceCount } }

    private func reportLimit(_ state: inout State) {
        state.hasReportedLimit = true
        let limit = state.gateway.configuration.homeAssistant?.deviceLimit ?? 0
        logger.warning(
            """
            Home Assistant was told of \(limit) devices, others are not announced; allow only your own with ‘filters’, \
            or raise ‘homeAssistant.devices’
            """)
    }

    func change(_ body: (inout Gateway) -> Void) {
        let deadline = state.withLock { state -> Instant? in
            body(&state.gateway)
            if !state.hasReportedLimit, state.gateway.counters.unannouncedDocuments > 0 { reportLimit(&state) }
            for notice in state.gateway.drainNotices() { logger.warning("\(notice)") }
            let messages = state.gateway.drainMessages()
            if !messages.isEmpty { deliver(messages) }
            if state.gateway.hasStatements { state.wake?() }
            guard let next = state.gateway.nextDeadline, state.armed.map({ next < $0 }) ?? true else { return nil }
            state.armed = next
            return next
        }
        guard let deadline else { return }
        let wait = max(0, Self.now.distance(to: deadline).rawValue)
        timer.asyncAfter(deadline: .now() + .microseconds(Int(min(wait, 3_600_000_000)))) { [weak self] in
            guard let self else { return }
            state.withLock { if $0.armed == deadline { $0.armed = nil } }
            change { $0.advance(to: Self.now) }
        }
    }
}
