import BLE

/// What a bridge does with packets of its controller and of the one client that may use it. No I/O and no clock.
///
///     resetting ──answered──▶ ready ──client──▶ serving ──client gone──▶ leaving ──links ended──▶ resetting
///         └──no answer──▶ failed ──client──▶ (opened again)
///
/// A client may be anybody: what it sends is bounded by the controller's own flow control, as this side counts it, and a
/// packet that a host never sends ends it. Between clients the links are ended and the controller is reset, so nothing of
/// one reaches the next.
struct BridgeState {
    enum Action: Equatable {
        case send([UInt8])
        /// The controller has been reset for the client that waits.
        case serve
        case end(reason: String)
        /// The controller does not answer.
        case giveUp(reason: String)
    }

    enum Phase: Equatable {
        case resetting
        case ready
        case serving
        case leaving
        case failed
    }

    /// So much of what a client has sent may be unanswered before it is read again.
    static let commandLimit = 32
    static let dataOctetLimit = 256 * 1024
    static let dataPacketLimit = 1024
    private static let patience: UInt64 = 3_000_000
    private static let firstPacketLimit: UInt64 = 10_000_000
    /// How long a client may have more in flight than a host that keeps to the controller's room ever has. Its end cannot
    /// be seen while it is not read.
    private static let stallLimit: UInt64 = 10_000_000

    private(set) var phase = Phase.failed
    /// Whether a client waits until the controller has been reset.
    private(set) var hasWaitingClient = false
    /// When to call `advance`, in microseconds.
    private(set) var deadline: UInt64?
    private(set) var actions: [Action] = []

    private var handles: Set<UInt16> = []
    /// Links whose end has still to be asked for.
    private var ending: [UInt16] = []
    private var commandsInFlight = 0
    /// The sizes of data packets that the controller has not completed, by handle.
    private var dataInFlight: [UInt16: [Int]] = [:]
    private var octetsInFlight = 0
    private var packetsInFlight = 0
    /// The link whose end was asked for last.
    private var asked: UInt16?
    private var hasSpoken = false

    /// Whether more of the client is to be read.
    var mayRead: Bool {
        phase == .serving && commandsInFlight < Self.commandLimit && octetsInFlight < Self.dataOctetLimit
            && packetsInFlight < Self.dataPacketLimit
    }

    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    // MARK: The controller

    /// The controller has been opened.
    mutating func opened(at now: UInt64) { reset(at: now) }

    /// The controller is gone.
    mutating func lost(_ reason: String) {
        if phase == .serving || hasWaitingClient { actions.append(.end(reason: reason)) }
        forget()
        hasWaitingClient = false
        (phase, deadline) = (.failed, nil)
    }

    private mutating func reset(at now: UInt64) {
        forget()
        (phase, deadline) = (.resetting, now + Self.patience)
        commandsInFlight = 1
        actions.append(.send([H4PacketType.command.rawValue, 0x03, 0x0C, 0]))
    }

    private mutating func forget() {
        (handles, ending, asked, commandsInFlight) = ([], [], nil, 0)
        (dataInFlight, octetsInFlight, packetsInFlight) = ([:], 0, 0)
    }

    /// A packet of the controller.
    /// - Returns: whether the client gets it.
    mutating func receiveFromController(_ packet: RawSpan, at now: UInt64) -> Bool {
        let isServing = phase == .serving
        guard packet.at(0) == H4PacketType.event.rawValue else { return isServing }
        switch packet.at(1) {
        case 0x0E: answered(packet.number(4), at: now)
        case 0x0F:
            // A link that is gone already.
            if packet.number(5) == 0x0406, packet.at(3) != 0, phase == .leaving { disconnected(asked) }
            answered(packet.number(5), at: now)
        case 0x03 where packet.at(3) == 0: connected(packet.number(4))
        case 0x05 where packet.at(3) == 0: disconnected(packet.number(4))
        case 0x13: completed(packet)
        // Synchronous Connection Complete.
        case 0x2C where packet.at(3) == 0: connected(packet.number(4))
        case 0x3E:
            let isConnection = [0x01, 0x0A, 0x29].contains(packet.at(3) ?? 0)
            if isConnection, packet.at(4) == 0 { connected(packet.number(5)) }
        default: break
        }
        leave(at: now)
        if isServing, hasSpoken, mayRead { deadline = nil }
        return isServing
    }

    private mutating func answered(_ opcode: UInt16?, at now: UInt64) {
        guard let opcode, opcode != 0 else { return }
        commandsInFlight = max(0, commandsInFlight - 1)
        guard opcode == 0x0C03 else { return }
        // Whoever reset the controller: it has no links any more, and nothing in flight.
        forget()
        guard phase == .resetting else { return }
        (phase, deadline) = (.ready, nil)
        if hasWaitingClient { serve(at: now) }
    }

    private mutating func connected(_ handle: UInt16?) {
        guard let handle, handles.insert(handle).inserted, phase == .leaving else { return }
        ending.append(handle)
    }

    private mutating func disconnected(_ handle: UInt16?) {
        guard let handle else { return }
        handles.remove(handle)
        ending.removeAll { $0 == handle }
        let sizes = dataInFlight.removeValue(forKey: handle) ?? []
        octetsInFlight -= sizes.reduce(0, +)
        packetsInFlight -= sizes.count
    }

    private mutating func completed(_ packet: RawSpan) {
        for index in 0..<Int(packet.at(3) ?? 0) {
            guard let handle = packet.number(4 + 4 * index), let count = packet.number(6 + 4 * index) else { return }
            guard let sizes = dataInFlight[handle & 0x0FFF] else { continue }
            octetsInFlight -= sizes.prefix(Int(count)).reduce(0, +)
            packetsInFlight -= min(sizes.count, Int(count))
            dataInFlight[handle & 0x0FFF] = sizes.count > count ? Array(sizes.dropFirst(Int(count))) : nil
        }
    }

    // MARK: The client

    /// Somebody has connected.
    /// - Returns: whether it may stay; it is served after `Action.serve`.
    mutating func clientArrived(at now: UInt64) -> Bool {
        guard phase != .serving, !hasWaitingClient else { return false }
        hasWaitingClient = true
        if phase == .ready { serve(at: now) }
        return true
    }

    private mutating func serve(at now: UInt64) {
        hasWaitingClient = false
        (phase, deadline, hasSpoken) = (.serving, now + Self.firstPacketLimit, false)
        actions.append(.serve)
    }

    /// A packet of the client that is served.
    /// - Returns: whether the controller gets it.
    mutating func receiveFromClient(_ packet: RawSpan, at now: UInt64) -> Bool {
        guard phase == .serving else { return false }
        if !hasSpoken { (hasSpoken, deadline) = (true, nil) }
        switch packet.at(0).flatMap(H4PacketType.init(rawValue:)) {
        case .command:
            // Host Number Of Completed Packets is the one that nothing answers.
            if packet.number(1) != 0x0C35 { commandsInFlight += 1 }
        case .acl, .iso:
            let handle = (packet.number(1) ?? 0) & 0x0FFF
            dataInFlight[handle, default: []].append(packet.byteCount)
            octetsInFlight += packet.byteCount
            packetsInFlight += 1
        case .sco:
            // Nothing says when such a packet has left: without a link it goes nowhere.
            guard handles.contains((packet.number(1) ?? 0) & 0x0FFF) else { return false }
        case .event, nil:
            actions.append(.end(reason: "it sent an event, which only controllers send"))
            return false
        }
        if !mayRead, deadline == nil { deadline = now + Self.stallLimit }
        return true
    }

    /// The client is gone, or has been ended.
    mutating func clientLeft(at now: UInt64) {
        if hasWaitingClient {
            hasWaitingClient = false
            return
        }
        guard phase == .serving else { return }
        (phase, deadline) = (.leaving, now + Self.patience)
        ending = handles.sorted()
        leave(at: now)
    }

    /// Ends links one after the other, and resets the controller when none is left.
    private mutating func leave(at now: UInt64) {
        // A controller may lose a command that it has no room for.
        guard phase == .leaving, commandsInFlight == 0 else { return }
        if let handle = ending.popLast() {
            commandsInFlight = 1
            asked = handle
            let (low, high) = (UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8))
            // Remote User Terminated Connection: what the peer hears when a host goes.
            return actions.append(.send([H4PacketType.command.rawValue, 0x06, 0x04, 3, low, high, 0x13]))
        }
        if handles.isEmpty { reset(at: now) }
    }

    /// Time has passed.
    mutating func advance(to now: UInt64) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        switch phase {
        case .serving:
            let reason = hasSpoken ? "it sends more than the controller takes" : "it has sent nothing for 10 s"
            actions.append(.end(reason: reason))
        case .leaving: reset(at: now)
        case .resetting:
            phase = .failed
            if hasWaitingClient {
                hasWaitingClient = false
                actions.append(.end(reason: "the controller does not answer HCI Reset"))
            }
            actions.append(.giveUp(reason: "the controller does not answer HCI Reset"))
        case .ready, .failed: break
        }
    }

    /// Whether a packet says what devices advertise: such a one may be dropped, others never.
    static func isReport(_ packet: RawSpan) -> Bool {
        packet.at(0) == H4PacketType.event.rawValue && packet.at(1) == 0x3E
            && [0x02, 0x0B, 0x0D].contains(packet.at(3) ?? 0)
    }
}

extension RawSpan {
    fileprivate func at(_ index: Int) -> UInt8? { index < byteCount ? byte(at: index) : nil }

    /// Two octets, the low one first.
    fileprivate func number(_ index: Int) -> UInt16? {
        guard let low = at(index), let high = at(index + 1) else { return nil }
        return UInt16(low) | UInt16(high) << 8
    }
}
