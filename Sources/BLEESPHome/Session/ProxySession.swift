import BLEGateway
import BLEHost
import BLEMessages

/// One client of the proxy: what it has sent, what it wants, and what waits for it.
///
///     greeting ──Hello──▶ open ──Disconnect, violation──▶ closing ──written, limit──▶ closed
struct ProxySession {
    enum Phase: Equatable {
        case greeting
        case open
        case closing(deadline: Instant)
        case closed
    }

    /// What the client waits for.
    enum Pending: Equatable {
        case services(UInt64)
        case read(UInt64, UInt32)
        case write(UInt64, UInt32)
        case notify(UInt64, UInt32)
        case pair(UInt64)
        case unpair(UInt64)
        case parameters(UInt64)
    }

    /// What the client wants of others.
    enum Wish: Equatable {
        case opened
        case link(LinkRequest)
        case scan(isActive: Bool)
        /// It has subscribed to advertisements, or has ended that.
        case subscription
    }

    let description: ProxyDescription
    let limits: ProxyLimits
    private var frames: FrameLayer
    private(set) var phase = Phase.greeting
    private(set) var counters = ProxyCounters()
    /// The minor version of the protocol that the client speaks.
    private(set) var clientMinor: UInt32 = 0
    var wantsAdvertisements = false
    var wantsSlots = false
    /// The last known state of the slots.
    var slots: LinkSlots?
    /// The devices that the client has links to, or connects to.
    var devices: Set<UInt64> = []
    var pending: [UInt64: Pending] = [:]
    private var lastTag: UInt64 = 0
    private var wishes: [Wish] = []

    private var output: [UInt8] = []
    private var writtenCount = 0
    private let began: Instant
    private var lastReceived: Instant
    private var lastWritten: Instant
    private var isAsked = false

    init(_ description: ProxyDescription, _ limits: ProxyLimits, ephemeral: [UInt8], at now: Instant) {
        self.description = description
        self.limits = limits
        frames = FrameLayer(
            description.key.map {
                NoiseSecurity(
                    key: $0, ephemeral: ephemeral, name: description.name, address: description.addressDigits)
            })
        began = now
        lastReceived = now
        lastWritten = now
    }

    /// How much the client makes use of its place: those with a lower number give it up first.
    var worth: Int {
        switch phase {
        case .closing, .closed: 0
        case .greeting: 1
        case .open: wantsAdvertisements || wantsSlots || !devices.isEmpty ? 3 : 2
        }
    }

    // MARK: The connection

    var waitingCount: Int { output.count - writtenCount }
    var reads: Bool { phase == .greeting || (phase == .open && waitingCount < limits.readingOctets) }

    /// What is to be written next.
    var waiting: ArraySlice<UInt8> { output[writtenCount...] }

    mutating func wrote(_ count: Int, at now: Instant) {
        lastWritten = now
        writtenCount += count
        if writtenCount == output.count {
            output.removeAll(keepingCapacity: output.count <= limits.advertisementOctets)
            writtenCount = 0
            if case .closing = phase { phase = .closed }
        } else if writtenCount > limits.advertisementOctets {
            output.removeFirst(writtenCount)
            writtenCount = 0
        }
    }

    mutating func drainWishes() -> [Wish] {
        defer { wishes = [] }
        return wishes
    }

    mutating func wish(_ wish: Wish) { wishes.append(wish) }

    /// The moment at which `advance` has something to do.
    var nextDeadline: Instant {
        let stall = waitingCount > 0 ? lastWritten.advanced(by: limits.stallTime) : nil
        let own: Instant =
            switch phase {
            case .greeting: began.advanced(by: limits.greetingTime)
            case .open: lastReceived.advanced(by: isAsked ? limits.longestSilence : limits.silence)
            case .closing(let deadline): deadline
            case .closed: .zero
            }
        return stall.map { min($0, own) } ?? own
    }

    mutating func advance(to now: Instant) {
        guard nextDeadline <= now else { return }
        switch phase {
        case .greeting, .closing, .closed: phase = .closed
        case .open:
            if waitingCount > 0, lastWritten.advanced(by: limits.stallTime) <= now {
                counters.stalls += 1
                phase = .closed
            } else if isAsked {
                phase = .closed
            } else {
                isAsked = true
                send(.pingRequest, EmptyMessage(), now)
            }
        }
    }

    /// Sends what waits, and ends.
    mutating func close(at now: Instant) {
        guard phase != .closed else { return }
        phase = waitingCount > 0 ? .closing(deadline: now.advanced(by: limits.closingTime)) : .closed
    }

    // MARK: Receiving

    mutating func received(_ octets: some Collection<UInt8>, at now: Instant) {
        guard phase == .greeting || phase == .open else { return }
        frames.append(octets)
        do throws(FrameFailure) {
            while phase == .greeting || phase == .open, let frame = try frames.next() {
                lastReceived = now
                isAsked = false
                do throws(MessageError) { try handle(frame, now) } catch { throw .malformed }
                sendGreetings(now)
            }
            sendGreetings(now)
        } catch {
            switch error {
            case .noise, .plain, .encrypted: counters.wrongKeys += 1
            case .malformed: counters.violations += 1
            }
            sendGreetings(now)
            close(at: now)
        }
    }

    private mutating func sendGreetings(_ now: Instant) {
        let octets = frames.drainGreetings()
        if !octets.isEmpty { append(octets, now) }
    }

    private mutating func handle(_ frame: Frame, _ now: Instant) throws(MessageError) {
        guard let type = MessageType(rawValue: frame.type) else { return }
        if phase == .greeting {
            // Nothing is answered before.
            guard type == .helloRequest else { return }
            let hello = try HelloRequest(octets: frame.content)
            clientMinor = hello.major > Self.major ? .max : hello.minor
            phase = .open
            wish(.opened)
            return send(
                .helloResponse,
                HelloResponse(
                    major: Self.major, minor: Self.minor, server: "jelling-gateway \(description.version)",
                    name: description.name), now)
        }
        switch type {
        case .authenticationRequest: send(.authenticationResponse, EmptyMessage(), now)
        case .disconnectRequest:
            send(.disconnectResponse, EmptyMessage(), now)
            close(at: now)
        case .pingRequest: send(.pingResponse, EmptyMessage(), now)
        case .deviceInfoRequest: send(.deviceInfoResponse, description.information, now)
        case .listEntitiesRequest: send(.listEntitiesDoneResponse, EmptyMessage(), now)
        default: try handleBluetooth(type, frame.content, now)
        }
    }

    /// The version of the protocol. From 1.12 on short forms of UUIDs are known.
    private static let major: UInt32 = 1
    private static let minor: UInt32 = 12
    var knowsShortUUIDs: Bool { clientMinor >= Self.minor }

    mutating func nextTag(_ pending: Pending) -> UInt64 {
        lastTag += 1
        self.pending[lastTag] = pending
        return lastTag
    }

    // MARK: Sending

    mutating func send(_ type: MessageType, _ message: some Message, _ now: Instant) {
        guard let content = try? message.encoded() else { return }
        send(type, content: content, now)
    }

    /// - Returns: whether it could be sent.
    @discardableResult
    mutating func send(_ type: MessageType, content: [UInt8], _ now: Instant) -> Bool {
        guard phase == .open, let octets = frames.encode(type.rawValue, content) else { return false }
        append(octets, now)
        return phase == .open
    }

    /// Advertisements, unless the client is behind.
    mutating func send(advertisements content: [UInt8], _ now: Instant) {
        guard phase == .open, wantsAdvertisements else { return }
        guard waitingCount <= limits.advertisementOctets else {
            counters.droppedBatches += 1
            return
        }
        counters.batches += 1
        send(.rawAdvertisementsResponse, content: content, now)
    }

    private mutating func append(_ octets: [UInt8], _ now: Instant) {
        if waitingCount == 0 { lastWritten = now }
        guard waitingCount + octets.count <= limits.octets else {
            counters.stalls += 1
            phase = .closed
            return
        }
        output += octets
    }
}
