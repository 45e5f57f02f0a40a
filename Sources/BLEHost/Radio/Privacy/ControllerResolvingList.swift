import BLEPackets

/// The controller's resolving list, kept equal to the bonds whose peers have private addresses
/// (Core 5.4, Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77).
///
///     in step ──bonds change──▶ waiting for the radio ──all off──▶ writing, a command at a time ──last answer──▶ in step
///
/// The list changes only while nothing is advertised, scanned or initiated: with resolution on the controller refuses it
/// otherwise, so that the radio pauses for it as it does for an address of our own.
///
/// What the controller makes of the list is seen, not believed: some take every command and resolve nothing. Until it
/// has named a peer by its identity, peers with private addresses are looked for by the host, which scans; from then on
/// they may stand in the filter accept list. A controller that shows the host an address which it ought to have resolved
/// is never relied on. What finds no room stays with the host.
struct ControllerResolvingList {
    /// One peer of the list.
    struct Entry: Equatable {
        var identity: DeviceAddress
        var peerKey: Key128
        /// Zero where we show our identity.
        var localKey: Key128
    }

    /// What was seen of the controller's resolution.
    enum Evidence: Equatable { case none, resolves, doesNotResolve }

    /// A command, in flight until its answer comes.
    enum Step: Equatable {
        case remove(DeviceAddress)
        case add(Entry)
        /// A peer that shows its identity is listened to all the same.
        case setDevicePrivacy(DeviceAddress)
        case setTimeout
        case enable
    }

    private static let attempts = 3

    /// Entries that the controller holds at most; 0 where there is no list, or none that can be used.
    private(set) var capacity = 0
    private(set) var evidence = Evidence.none
    private var held: [Entry] = []
    private var wanted: [Entry] = []
    /// Entries that the controller does not take.
    private var refused: [Entry] = []
    /// Whose privacy mode has been set, or cannot be.
    private var withDevicePrivacy: [DeviceAddress] = []
    private var isTimeoutSet = false
    private var isEnabled = false
    private var step: Step?
    private var failures = 0
    /// Grows with each change of the list: what was heard before tells nothing of the list after.
    private(set) var revision: UInt32 = 0

    /// The controller was reset: its list is empty, its resolution off.
    init() {}

    init(capacity: UInt8) { self.capacity = Int(capacity) }

    // MARK: Wishes

    /// Peers in the order in which they are to find room. A key that two peers share resolves for neither of them.
    mutating func want(_ entries: [Entry]) {
        wanted = entries.filter { entry in
            entry.peerKey != .zero && entries.count { $0.peerKey == entry.peerKey } == 1
        }
        refused.removeAll { !wanted.contains($0) }
    }

    /// Whether the list is to be changed, for which the radio has to pause.
    var needsRadio: Bool { step != nil || nextStep != nil }

    /// Sends the next command; the radio rests.
    /// - Returns: `nil` when nothing is to be done, or an answer is awaited.
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
            // Refused, it was not there.
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

    /// The controller never answered: the list is not used.
    mutating func timedOut() { giveUp() }

    private mutating func failed(_ done: Step, _ status: HCIStatus) {
        switch done {
        // Controllers before Core 5.0 know no privacy mode, and listen to identities.
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

    /// The controller named a peer by its identity.
    /// - Returns: whether that is news.
    mutating func resolved(_ identity: DeviceAddress) -> Bool {
        guard evidence == .none, holds(identity) else { return false }
        evidence = .resolves
        return true
    }

    /// The host found out who is behind an address that the controller had shown as it is.
    /// - Parameter revision: of the list when the address was heard.
    /// - Returns: whether that is news.
    mutating func leftUnresolved(_ identity: DeviceAddress, revision: UInt32) -> Bool {
        guard evidence != .doesNotResolve, revision == self.revision, holds(identity) else { return false }
        evidence = .doesNotResolve
        return true
    }

    /// Whether the list holds the peer and is in use, whatever the controller makes of it.
    func holds(_ identity: DeviceAddress) -> Bool {
        guard isEnabled, step == nil else { return false }
        let identity = identity.withoutIdentityMark
        return held.contains { $0.identity == identity }
    }

    /// Whether the controller can be relied on to find the peer behind its private addresses.
    func finds(_ identity: DeviceAddress) -> Bool { evidence == .resolves && holds(identity) }

    /// Whether the controller makes private addresses of ours for the peer, so far as is known.
    func makesAddress(towards identity: DeviceAddress) -> Bool {
        guard evidence != .doesNotResolve, holds(identity) else { return false }
        let identity = identity.withoutIdentityMark
        return held.contains { $0.identity == identity && $0.localKey != .zero }
    }

    /// Whether the controller makes private addresses of ours.
    var makesAddresses: Bool {
        evidence == .resolves && isEnabled && step == nil && held.contains { $0.localKey != .zero }
    }
}
