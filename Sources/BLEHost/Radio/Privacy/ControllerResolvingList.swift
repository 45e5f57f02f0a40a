import BLEPackets

/// The controller's resolving list, kept in step with the bonds whose peers have private addresses (Core 5.4, Vol 4,
/// Part E, 7.8.38 to 7.8.45 and 7.8.77).
///
///     in step ──bonds change──▶ waiting for the radio ──all off──▶ writing, a command at a time
///        ▲                                                              │
///        └───────────────────────── last answer ────────────────────────┘
///
/// The list changes only while the controller neither advertises nor scans nor initiates; otherwise it refuses the
/// change while address resolution is on. So the radio pauses for it, as it does for a new address of this device.
///
/// The engine relies on the controller's resolution only when it has seen it work, because some controllers accept
/// every command and resolve nothing. Until the controller has reported a peer by its identity address, the host scans
/// for peers with private addresses; after that, they may be in the filter accept list. A controller that reports an
/// address which it should have resolved is never relied on. The host resolves the addresses of peers that do not fit
/// into the list.
struct ControllerResolvingList {
    /// One peer of the list.
    struct Entry: Equatable {
        var identity: DeviceAddress
        var peerKey: Key128
        /// Zero if we show our identity address.
        var localKey: Key128
    }

    /// What was seen of the controller's resolution.
    enum Evidence: Equatable { case none, resolves, doesNotResolve }

    /// A command, in flight until its answer comes.
    enum Step: Equatable {
        case remove(DeviceAddress)
        case add(Entry)
        /// Device privacy mode: a peer that shows its identity address is accepted, too.
        case setDevicePrivacy(DeviceAddress)
        case setTimeout
        case enable
    }

    private static let attempts = 3

    /// The maximum number of entries in the controller; 0 if there is no usable list.
    private(set) var capacity = 0
    var evidence = Evidence.none
    private var held: [Entry] = []
    private var wanted: [Entry] = []
    /// Entries that the controller refused.
    private var refused: [Entry] = []
    /// Peers whose privacy mode has been set or cannot be set.
    private var withDevicePrivacy: [DeviceAddress] = []
    private var isTimeoutSet = false
    private var isEnabled = false
    private var step: Step?
    private var failures = 0
    /// Grows with each change of the list: reports from before a change say nothing about the list after it.
    private(set) var revision: UInt32 = 0

    /// The state after a reset of the controller: the list is empty, address resolution is off.
    init() {}

    init(capacity: UInt8) { self.capacity = Int(capacity) }

    // MARK: Wishes

    /// Sets the wanted peers; earlier ones have priority if the list is too short. Peers that share a key are left out,
    /// because it could not distinguish them.
    mutating func want(_ entries: [Entry]) {
        wanted = entries.filter { entry in
            entry.peerKey != .zero && entries.count { $0.peerKey == entry.peerKey } == 1
        }
        refused.removeAll { !wanted.contains($0) }
    }

    /// Whether the list has to change, for which the radio must pause.
    var needsRadio: Bool { step != nil || nextStep != nil }

    /// Whether there is something to do, and no answer is missing.
    var hasNextStep: Bool { step == nil && nextStep != nil }

    /// Returns the next command; call only while the radio is idle.
    /// - Returns: `nil` if there is nothing to do or an answer is still missing.
    mutating func proceed() -> Step? {
        guard step == nil, let next = nextStep else { return nil }
        step = next
        return next
    }

    private var target: [Entry] { Array(wanted.lazy.filter { !refused.contains($0) }.prefix(capacity)) }

    private var nextStep: Step? {
        guard capacity > 0 else { return nil }
        let target = target
        if let entry = held.first(where: { !target.contains($0) }) { return .remove(entry.identity) }
        if let entry = target.first(where: { !held.contains($0) }) { return .add(entry) }
        if let entry = held.first(where: { !withDevicePrivacy.contains($0.identity) }) {
            return .setDevicePrivacy(entry.identity)
        }
        if !isTimeoutSet, held.contains(where: { $0.localKey != .zero }) { return .setTimeout }
        return isEnabled || held.isEmpty ? nil : .enable
    }

    // MARK: Answers

    /// The controller has answered the last command.
    mutating func completed(_ status: HCIStatus) {
        guard let done = step else { return }
        step = nil
        revision &+= 1
        if status == .unknownCommand || status == .commandDisallowed { return failed(done, status) }
        switch done {
        case .remove(let identity):
            // If the controller refused, the entry was not there.
            held.removeAll { $0.identity == identity }
            withDevicePrivacy.removeAll { $0 == identity }
        case .add(let entry):
            if status.isSuccess {
                held.append(entry)
            } else if status == .memoryCapacityExceeded, !held.isEmpty {
                capacity = held.count
            } else {
                refused.append(entry)
            }
        case .setDevicePrivacy(let identity): withDevicePrivacy.append(identity)
        case .setTimeout: isTimeoutSet = true
        case .enable:
            guard status.isSuccess else { return giveUp() }
            isEnabled = true
        }
        failures = 0
    }

    /// The controller did not answer: the list is not used any more.
    mutating func timedOut() { giveUp() }

    private mutating func failed(_ done: Step, _ status: HCIStatus) {
        switch done {
        // Controllers before Core 5.0 have no privacy mode, and accept identity addresses.
        case .setDevicePrivacy(let identity) where status == .unknownCommand: withDevicePrivacy.append(identity)
        case .setTimeout where status == .unknownCommand: isTimeoutSet = true
        case .setDevicePrivacy, .setTimeout, .remove, .add, .enable:
            failures += 1
            if status == .unknownCommand || failures >= Self.attempts { giveUp() }
        }
    }

    private mutating func giveUp() {
        capacity = 0
        step = nil
        held = []
    }

    // MARK: What it is good for

    /// Whether a report of a peer by its identity address is the first proof that the controller resolves.
    func isFirstResolution(of identity: DeviceAddress) -> Bool { evidence == .none && contains(identity) }

    /// Whether an address that the host resolved is the first proof that the controller does not.
    /// - Parameter revision: the revision of the list when the address was received.
    func wasLeftUnresolved(_ identity: DeviceAddress, revision: UInt32) -> Bool {
        evidence != .doesNotResolve && revision == self.revision && contains(identity)
    }

    /// Whether the list contains the peer and is in use, even if the controller does not resolve addresses with it.
    func contains(_ identity: DeviceAddress) -> Bool {
        guard isEnabled, step == nil else { return false }
        let identity = identity.withoutIdentityMark
        return held.contains { $0.identity == identity }
    }

    /// Whether the controller can be relied on to resolve the peer's private addresses.
    func finds(_ identity: DeviceAddress) -> Bool { evidence == .resolves && contains(identity) }

    /// Whether the controller generates private addresses of this device towards the peer, as far as is known.
    func makesAddress(towards identity: DeviceAddress) -> Bool {
        guard evidence != .doesNotResolve, contains(identity) else { return false }
        let identity = identity.withoutIdentityMark
        return held.contains { $0.identity == identity && $0.localKey != .zero }
    }

    /// Whether the controller generates private addresses of this device.
    var makesAddresses: Bool {
        evidence == .resolves && isEnabled && step == nil && held.contains { $0.localKey != .zero }
    }
}
