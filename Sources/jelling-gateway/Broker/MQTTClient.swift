import BLEGateway
import CMosquitto
import Dispatch
import Glibc
import Synchronization

/// A session with a broker, through libmosquitto, on its own thread.
///
///     waiting ──connect──▶ opened ──CONNACK──▶ greeted ──status acknowledged──▶ connected
///        ▲                   │                    │                                │
///        └────── backoff ────┴────────────────────┴───────── lost, refused ────────┘
///
/// After a reconnection, libmosquitto first sends the unacknowledged messages again, in order. The acknowledgement of
/// the status message comes after them; waiting for it ensures that no new message overtakes them.
///
/// `@unchecked`: libmosquitto locks its own state, the handle never changes, and a mutex protects everything else.
@safe final class MQTTClient: @unchecked Sendable {
    /// Receives the client's events, on the client's thread.
    protocol Delegate: AnyObject, Sendable {
        func connected(_ client: MQTTClient)
        func disconnected(_ client: MQTTClient, _ ending: SessionEnding)
        func acknowledged(_ client: MQTTClient, _ message: Int32, _ reason: BrokerReason)
        /// A topic cannot be read.
        func notSubscribed(_ client: MQTTClient, _ reason: BrokerReason)
        func received(topic: String, payload: [UInt8])
    }

    private struct State {
        /// When the end of the session was requested.
        var stopped: ContinuousClock.Instant?
        var isStopped: Bool { stopped != nil }
        var isConnected = false
        /// When the broker accepted the session; `nil` if it has not.
        var greeted: ContinuousClock.Instant?
        var statusMessage: Int32?
        var failure: String?
        /// Why the broker refused or ended the session; `nil` if it gave no reason.
        var reason: BrokerReason?
        /// What the broker allows in this session, as it says.
        var granted = SessionLimits()
        /// What the broker's refusals have shown.
        var learned = SessionLimits()
        var limits: SessionLimits { granted.combined(with: learned) }
        /// The last error of OpenSSL or libmosquitto.
        var lastError: String?
        var connections = 0
        /// The number of sessions in a row that ended soon or could not begin; the pause before the next depends on it.
        var failures = 0
    }

    let settings: BrokerSettings
    private let clientID: String
    private let statusTopic: String
    private let subscriptions: [String]
    /// The topic of requests for GATT; `nil`: none are taken.
    private let requestTopic: String?
    private weak let delegate: (any Delegate)?
    private let handle: OpaquePointer
    private let state = Mutex(State())
    // Not semaphores: on Linux their time-outs are moments of the wall clock, and one that is set back makes them last.
    private let wakeUp = WakeUp()
    private let ended = WakeUp()

    /// The longest message that is looked at, in octets.
    private static let longestPayload: Int32 = 64
    /// The longest packet that a broker with MQTT 5 may send, in octets; the largest it needs is the CONNACK.
    private static let longestPacket: UInt32 = 16_384

    /// The same, if requests for GATT are taken.
    private static let longestRequestPacket: UInt32 = 81_920

    private static let isLibraryReady: Bool = mosquitto_lib_init() == 0

    /// - Throws: `MQTTProblem` for files and settings that libmosquitto rejects.
    init(
        _ settings: BrokerSettings, clientID: String, statusTopic: String, subscriptions: [String],
        requestTopic: String?, delegate: (any Delegate)?
    ) throws(MQTTProblem) {
        _ = Self.isLibraryReady
        self.settings = settings
        self.clientID = clientID
        self.statusTopic = statusTopic
        self.subscriptions = subscriptions + (requestTopic.map { [$0] } ?? [])
        self.requestTopic = requestTopic
        self.delegate = delegate
        guard let handle = unsafe mosquitto_new(clientID, true, nil) else {
            throw MQTTProblem("libmosquitto cannot make a session: \(systemText(errno))")
        }
        unsafe self.handle = handle
        do throws(MQTTProblem) { try prepare() } catch {
            unsafe mosquitto_destroy(handle)
            throw error
        }
    }

    /// The session of a gateway, which also listens to the start of Home Assistant.
    convenience init(
        _ settings: BrokerSettings, of gateway: GatewayConfiguration, delegate: (any Delegate)?
    ) throws(MQTTProblem) {
        try self.init(
            settings, clientID: settings.clientID ?? "jelling-\(gateway.name)",
            statusTopic: Gateway.statusTopic(of: gateway),
            subscriptions: gateway.homeAssistant.map { [$0.prefix + "/status"] } ?? [],
            requestTopic: gateway.takesGATTRequests ? GATTTopics(gateway: gateway.name).request : nil,
            delegate: delegate)
    }

    deinit { unsafe mosquitto_destroy(handle) }

    private func check(_ code: Int32, _ what: String) throws(MQTTProblem) {
        guard code != 0 else { return }
        throw MQTTProblem("\(what): \(text(of: code))")
    }

    private func prepare() throws(MQTTProblem) {
        unsafe mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        unsafe mosquitto_threaded_set(handle, true)
        let version = settings.version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        try check(unsafe mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, version), "version of MQTT")
        unsafe mosquitto_max_inflight_messages_set(handle, UInt32(settings.inFlightLimit))
        // Somebody waits for each answer; it would wait for the broker's acknowledgement of what was sent before it.
        if requestTopic != nil {
            try check(unsafe mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1), "TCP_NODELAY")
        }
        try setWill()
        if let security = settings.security {
            try settings.checkFiles()
            let path = security.authorities == nil ? "/etc/ssl/certs" : nil
            try check(
                unsafe mosquitto_tls_set(handle, security.authorities, path, security.certificate, security.key, nil),
                "TLS")
        }
        unsafe mosquitto_connect_v5_callback_set(handle) { _, object, code, _, properties in
            unsafe MQTTClient.of(object)?.greeted(code, SessionLimits(properties), serverReference(in: properties))
        }
        unsafe mosquitto_disconnect_callback_set(handle) { _, object, code in
            unsafe MQTTClient.of(object)?.note(failure: code)
        }
        unsafe mosquitto_publish_v5_callback_set(handle) { _, object, message, reason, _ in
            unsafe MQTTClient.of(object)?.acknowledged(message, reason: reason)
        }
        unsafe mosquitto_subscribe_callback_set(handle) { _, object, _, count, granted in
            guard let client = unsafe MQTTClient.of(object), let granted = unsafe granted else { return }
            for code in unsafe Array(UnsafeBufferPointer(start: granted, count: Int(count))) {
                let reason = BrokerReason(.subscription, code: UInt8(truncatingIfNeeded: code))
                if reason.verdict != .accepted { client.delegate?.notSubscribed(client, reason) }
            }
        }
        unsafe mosquitto_message_callback_set(handle) { _, object, message in
            guard let client = unsafe MQTTClient.of(object), let message = unsafe message?.pointee else { return }
            let topic = unsafe String(cString: message.topic)
            // Nothing that a subscriber waits for is longer, and anybody at the broker may send 256 MB.
            let isRequest = topic == client.requestTopic
            let longest = isRequest ? Int32(GATTRequest.octetLimit) : MQTTClient.longestPayload
            guard unsafe message.payloadlen <= longest, client.subscriptions.contains(topic) else { return }
            // A request that the broker has retained would be carried out at each start.
            if unsafe isRequest && message.retain { return }
            let bytes = unsafe UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            client.delegate?.received(topic: topic, payload: unsafe Array(bytes))
        }
        unsafe mosquitto_log_callback_set(handle) { _, object, level, text in
            guard level & MOSQ_LOG_ERR != 0, let text = unsafe text else { return }
            let line = unsafe String(cString: text)
            unsafe MQTTClient.of(object)?.state.withLock { $0.lastError = line }
        }
    }

    private func setWill() throws(MQTTProblem) {
        let limits = state.withLock { $0.learned }
        let offline = Array("offline".utf8)
        try check(
            unsafe mosquitto_will_set(
                handle, statusTopic, Int32(offline.count), offline, Int32(min(1, limits.maximumQualityOfService)),
                limits.retainsMessages), "last will")
    }

    private static func of(_ object: UnsafeMutableRawPointer?) -> MQTTClient? {
        unsafe object.map { unsafe Unmanaged<MQTTClient>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether messages can be sent now.
    var isConnected: Bool { state.withLock { $0.isConnected } }
    /// What the broker allows in the session, or allowed in the last one.
    var limits: SessionLimits { state.withLock { $0.limits } }
    /// How many messages may be without acknowledgement.
    var inFlightLimit: Int { min(settings.inFlightLimit, limits.receiveMaximum) }
    /// The number of sessions that the broker has accepted.
    var connections: Int { state.withLock { $0.connections } }

    // MARK: Life

    func start() {
        let thread = DispatchQueue(label: "mqtt")
        thread.async { self.run() }
    }

    /// Another client for the same session, without the messages that this one keeps. It makes the pause that this one
    /// would have made.
    func renewed() throws(MQTTProblem) -> MQTTClient? {
        guard let delegate else { return nil }
        let next = try MQTTClient(
            settings, clientID: clientID, statusTopic: statusTopic,
            subscriptions: subscriptions.filter { $0 != requestTopic }, requestTopic: requestTopic, delegate: delegate)
        let (failures, learned) = state.withLock { ($0.failures, $0.learned) }
        next.state.withLock { state in
            state.failures = failures
            state.learned = learned
        }
        return next
    }

    /// Learns what the broker allows from the end of a session.
    /// - Parameter onTheWay: how many messages had no acknowledgement.
    func learn(from reason: BrokerReason, onTheWay: Int) {
        state.withLock { state in
            let current = state.limits
            state.learned.learn(
                reason.verdict, from: current, onTheWay: onTheWay, isBegin: reason.packet != .disconnection)
        }
    }

    /// The broker works although sessions end soon: the next pause is short.
    func works() { state.withLock { $0.failures = 0 } }

    /// Publishes `online` once more, because the broker refused it.
    func publishStatusAgain() {
        let online = Array("online".utf8)
        state.withLock { state in
            guard state.isConnected, !state.isStopped else { return }
            var message: Int32 = 0
            let code = unsafe mosquitto_publish(
                handle, &message, statusTopic, Int32(online.count), online,
                Int32(min(1, state.limits.maximumQualityOfService)), state.limits.retainsMessages)
            if code == 0 { state.statusMessage = message }
        }
    }

    /// Publishes `offline` and ends the session; waits a short time for that.
    func stop() {
        let (isGreeted, limits) = state.withLock { state in
            state.stopped = .now
            return (state.greeted != nil, state.limits)
        }
        if isGreeted {
            let offline = Array("offline".utf8)
            unsafe mosquitto_publish(
                handle, nil, statusTopic, Int32(offline.count), offline, Int32(min(1, limits.maximumQualityOfService)),
                limits.retainsMessages)
            // After everything that waits to be written.
            unsafe mosquitto_disconnect(handle)
        }
        wakeUp.signal()
        ended.wait(3000)
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func run() {
        var isFirst = true
        pause()
        while !isStopped {
            let code = connect(isFirst: isFirst)
            isFirst = false
            let result = code == 0 ? serve() : code
            // Another client of the same name, or a broker that breaks, would otherwise be met every second.
            let isLong = code == 0 && lasted >= Self.shortSession
            state.withLock { state in
                state.failures = isLong ? 1 : state.failures + 1
                // Trying more often changes nothing, and may lock the user out.
                if state.reason?.verdict == .settingsAreAtFault { state.failures = Self.mostFailures }
            }
            lost(result)
            pause()
        }
        ended.signal()
    }

    /// Waits before the next session.
    private func pause() {
        let (failures, isStopped) = state.withLock { ($0.failures, $0.isStopped) }
        guard failures > 0, !isStopped else { return }
        let longest = min(settings.longestBackoff, Double(1 << (min(failures, Self.mostFailures) - 1)))
        // Random, because several gateways may lose their broker at the same moment.
        wakeUp.wait(Int32(clamping: Int(longest * .random(in: 500...1000))))
    }

    /// Serves the session until it ends.
    private func serve() -> Int32 {
        while true {
            let (isGreeted, stopped) = state.withLock { ($0.greeted != nil, $0.stopped) }
            // What waits is still sent, but only to a broker that takes it; the last will says `offline` otherwise.
            if let stopped, !isGreeted || ContinuousClock.now - stopped > Self.farewell {
                return Int32(MOSQ_ERR_NO_CONN.rawValue)
            }
            // libmosquitto returns for keep-alive by itself; a new message wakes it. Before the broker has accepted the
            // session, nothing reports the end to it.
            let result = unsafe mosquitto_loop(handle, isGreeted && stopped == nil ? 60_000 : 200, 1)
            if result != 0 { return result }
        }
    }

    /// How long a session may go on after its end was requested.
    private static let farewell = Duration.seconds(3)
    private static let shortSession = Duration.seconds(10)
    /// From here on the pause is the longest.
    private static let mostFailures = 13

    /// How long the current session has lasted since the broker accepted it.
    private var lasted: Duration {
        guard let greeted = state.withLock({ $0.greeted }) else { return .zero }
        return ContinuousClock.now - greeted
    }

    private func connect(isFirst: Bool) -> Int32 {
        state.withLock { state in
            state.lastError = nil
            state.greeted = nil
            state.failure = nil
            state.reason = nil
            state.granted = SessionLimits()
        }
        do throws(MQTTProblem) { try setWill() } catch { return Int32(MOSQ_ERR_NOMEM.rawValue) }
        do throws(MQTTProblem) {
            try settings.checkFiles()
            let password = try settings.currentPassword()
            let code = settings.username.map { unsafe mosquitto_username_pw_set(handle, $0, password) } ?? 0
            if code != 0 { return code }
        } catch {
            state.withLock { $0.failure = error.description }
            return Int32(MOSQ_ERR_INVAL.rawValue)
        }
        if isFirst {
            var properties: OpaquePointer?
            defer { unsafe mosquitto_property_free_all(&properties) }
            if settings.version == .v5 {
                let code = unsafe mosquitto_property_add_int32(
                    &properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue),
                    requestTopic == nil ? Self.longestPacket : Self.longestRequestPacket)
                if code != 0 { return code }
            }
            // The library keeps the properties for the sessions after it.
            return unsafe mosquitto_connect_bind_v5(
                handle, settings.host, Int32(settings.port), Int32(settings.keepAlive), nil, properties)
        }
        return unsafe mosquitto_reconnect(handle)
    }

    // MARK: On the thread

    private func greeted(_ code: Int32, _ granted: SessionLimits, _ reference: String?) {
        guard code == 0 else {
            let packet = settings.version == .v5 ? BrokerReason.Packet.connection : .connection311
            let reason = BrokerReason(packet, code: UInt8(truncatingIfNeeded: code))
            let server = reference.map { " (it names \($0))" } ?? ""
            state.withLock { state in
                state.reason = reason
                state.failure = "the broker refused the session: \(reason)\(server)"
            }
            unsafe mosquitto_disconnect(handle)
            return
        }
        for topic in subscriptions { unsafe mosquitto_subscribe(handle, nil, topic, 1) }
        let online = Array("online".utf8)
        let problem = state.withLock { state -> Int32 in
            // After a reload another session, or none, is in charge of the status.
            guard !state.isStopped else { return 0 }
            state.connections += 1
            state.greeted = .now
            state.granted = granted
            var message: Int32 = 0
            let code = unsafe mosquitto_publish(
                handle, &message, statusTopic, Int32(online.count), online,
                Int32(min(1, state.limits.maximumQualityOfService)), state.limits.retainsMessages)
            state.statusMessage = message
            return code
        }
        guard problem != 0 else { return }
        let text = text(of: problem)
        state.withLock { $0.failure = "the status cannot be published: \(text)" }
        unsafe mosquitto_disconnect(handle)
    }

    private func acknowledged(_ message: Int32, reason code: Int32) {
        let reason = BrokerReason(.publication, code: UInt8(truncatingIfNeeded: code))
        let isStatus = state.withLock { state in
            guard state.statusMessage == message else { return false }
            state.statusMessage = nil
            defer { state.isConnected = true }
            return !state.isConnected
        }
        if isStatus { delegate?.connected(self) }
        delegate?.acknowledged(self, message, reason)
    }

    private func note(failure code: Int32) {
        guard code != 0 else { return }
        // Errors of libmosquitto are smaller numbers than the broker's reasons.
        let reason = code >= 0x80 ? BrokerReason(.disconnection, code: UInt8(truncatingIfNeeded: code)) : nil
        let text = reason.map { "the broker ended the session: \($0)" } ?? text(of: code)
        state.withLock { state in
            state.failure = state.failure ?? text
            state.reason = state.reason ?? reason
        }
    }

    private func lost(_ code: Int32) {
        let fallback = text(of: code)
        let ending = state.withLock { state -> SessionEnding in
            state.isConnected = false
            state.statusMessage = nil
            return SessionEnding(
                text: state.failure ?? fallback, reason: state.reason,
                wasShort: state.greeted.map { ContinuousClock.now - $0 < Self.shortSession } ?? false)
        }
        guard !isStopped else { return }
        delegate?.disconnected(self, ending)
    }

    /// A description of an error code of libmosquitto.
    private func text(of code: Int32) -> String {
        let system = errno
        let said = state.withLock { $0.lastError }
        switch mosq_err_t(rawValue: code) {
        case MOSQ_ERR_ERRNO: return systemText(system)
        case MOSQ_ERR_EAI: return "the name \(settings.host) cannot be resolved"
        case MOSQ_ERR_TLS:
            let detail = said.map { ": \($0)" } ?? ""
            return "TLS failed\(detail); check that no certificate has expired, that the broker's is for "
                + "\(settings.host), and that the authority in ‘caFile’ signed it"
        case MOSQ_ERR_CONN_LOST:
            guard state.withLock({ $0.greeted }) != nil else {
                let hint = settings.version == .v5 ? "" : Self.hint311
                return "the broker closed the connection before it accepted the session\(hint)"
            }
            guard lasted < Self.shortSession else { return "the broker closed the connection" }
            return "the broker closed the connection soon after it had accepted the session; does another client have "
                + "the name ‘\(clientID)’?"
        case MOSQ_ERR_KEEPALIVE: return "the broker does not answer"
        default:
            let text = unsafe String(cString: mosquitto_strerror(code))
            return said.map { "\(text) (\($0))" } ?? text
        }
    }

    /// MQTT 3.1.1 has no reasons, and a broker that does not accept the last will can only close the connection.
    private static let hint311 =
        "; one that retains nothing, or has no quality of service 1, needs ‘mqtt.version’ \"5\", with which it tells that"

    // MARK: Sending

    /// Sends a message, or lets libmosquitto keep it until it can be sent.
    /// - Returns: its identifier; `nil` if it was not sent and is not kept.
    func publish(
        topic: String, payload: [UInt8], qualityOfService: Int, isRetained: Bool
    ) throws(MQTTProblem) -> Int32? {
        let limits = limits
        guard limits.fits(topic: topic.utf8.count, payload: payload.count) else {
            throw MQTTProblem("the broker takes packets of \(limits.maximumPacketSize ?? 0) octets at most")
        }
        let qualityOfService = min(qualityOfService, limits.maximumQualityOfService)
        var message: Int32 = 0
        let code = unsafe mosquitto_publish(
            handle, &message, topic, Int32(clamping: payload.count), payload, Int32(qualityOfService),
            isRetained && limits.retainsMessages)
        switch mosq_err_t(rawValue: code) {
        case MOSQ_ERR_NO_CONN, MOSQ_ERR_CONN_LOST, MOSQ_ERR_ERRNO, MOSQ_ERR_TLS:
            // The session has just been lost. libmosquitto keeps messages that need an acknowledgement and sends them
            // in the next session.
            return qualityOfService > 0 ? message : nil
        default:
            try check(code, "message for \(topic)")
            return message
        }
    }
}

/// Why a session cannot start or a message cannot be sent.
struct MQTTProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The C library's description of an error.
func systemText(_ code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
