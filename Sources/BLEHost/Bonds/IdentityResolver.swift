import BLEPackets

/// Finds the identity behind a resolvable private address (Core 5.4, Vol 3, Part C, 10.8.2.3).
///
/// Each new address is tried once against the keys of all bonds. The result is remembered, also for strangers, so that
/// each stranger in a crowd costs only one pass. All of this is limited in size.
///
/// Devices may share a key, and a stranger may distribute the key of another device: an address then has several
/// identities. One of them is assumed until its bond fails to encrypt the link; then the next one is assumed. An
/// identity from a resolving key is only a guess: the proof is encryption.
struct IdentityResolver {
    enum Answer: Equatable {
        case identity(DeviceAddress)
        /// Several devices have the key. The last `refuted` ones have been refuted, the most recent last.
        case several([DeviceAddress], refuted: Int)
        /// No bond has a matching key.
        case stranger
        /// The resolution is in progress; what depends on its result waits in this `pass`.
        case pending(pass: UInt32)
    }

    /// The trial of one address against all keys.
    struct Pass {
        let number: UInt32
        let address: DeviceAddress
        /// Keys that have not been tried yet.
        var remaining: Int
        var matches: [DeviceAddress] = []
        /// The answer, once the last key was tried.
        var answer: Answer { Answer(matches) }
        /// Links that wait until their peers are known.
        var connections: [NewLink] = []
        var reports: [(report: Scanner.Report, data: [UInt8])] = []
    }

    /// How many addresses are remembered; the oldest is forgotten first.
    static let capacity = 4096
    /// How many passes may run at a time; further strangers are tried when they are received again.
    static let passLimit = 32
    /// How many reports may wait for one pass.
    private static let reportLimit = 8

    private var answers: [UInt64: Answer] = [:]
    private var order = Queue<UInt64>()
    private var passes: [Pass] = []
    private var lastPass: UInt32 = 0
    /// The `BondTable.resolvingRevision` of the remembered answers.
    private var revision: UInt64 = 0

    /// What is known about an address; `nil` if a pass must begin.
    mutating func answer(for address: DeviceAddress, revision: UInt64) -> Answer? {
        if revision != self.revision {
            // A new bond may resolve the address.
            self.revision = revision
            answers.removeAll()
            order.removeAll()
        }
        if let known = answers[address.value] { return known }
        if let pass = passes.first(where: { $0.address == address }) { return .pending(pass: pass.number) }
        return passes.count < Self.passLimit ? nil : .stranger
    }

    mutating func begin(_ address: DeviceAddress, keys: Int) -> UInt32 {
        lastPass &+= 1
        passes.append(Pass(number: lastPass, address: address, remaining: keys))
        return lastPass
    }

    /// One key was tried.
    /// - Returns: the pass, if this was its last key.
    mutating func tried(_ identity: DeviceAddress, matches: Bool, in number: UInt32) -> Pass? {
        guard let index = passes.firstIndex(where: { $0.number == number }) else { return nil }
        if matches { passes[index].matches.append(identity) }
        passes[index].remaining -= 1
        guard passes[index].remaining <= 0 else { return nil }
        let pass = passes.remove(at: index)
        remember(pass.address, pass.answer)
        return pass
    }

    /// A bond's key did not encrypt a link to an address that the bond's resolving key had resolved: the next candidate
    /// is assumed, and all of them again once all have failed.
    mutating func refute(_ identity: DeviceAddress, behind address: DeviceAddress) {
        guard case .several(var matches, let refuted)? = answers[address.value],
            let index = matches.dropLast(refuted).firstIndex(of: identity)
        else { return }
        matches.append(matches.remove(at: index))
        answers[address.value] = .several(matches, refuted: (refuted + 1) % matches.count)
    }

    /// All identities with the key that resolved an address, if there are several.
    func identities(behind address: DeviceAddress) -> [DeviceAddress] {
        if case .several(let identities, _)? = answers[address.value] { identities } else { [] }
    }

    func address(of number: UInt32) -> DeviceAddress? { passes.first { $0.number == number }?.address }

    mutating func wait(_ connection: NewLink, for number: UInt32) {
        guard let index = passes.firstIndex(where: { $0.number == number }) else { return }
        passes[index].connections.append(connection)
    }

    mutating func wait(_ report: Scanner.Report, data: RawSpan, for number: UInt32) {
        guard let index = passes.firstIndex(where: { $0.number == number }),
            passes[index].reports.count < Self.reportLimit
        else { return }
        passes[index].reports.append((report, data.copied()))
    }

    /// Whether this link is known already, and its peer is being resolved.
    func resolves(_ connection: NewLink) -> Bool {
        passes.contains {
            $0.connections.contains { $0.handle == connection.handle && $0.peer == connection.peer }
        }
    }

    /// The link ended before its peer was known.
    /// - Returns: whether there was such a link.
    mutating func forget(_ handle: ConnectionHandle) -> Bool {
        for index in passes.indices {
            if let place = passes[index].connections.firstIndex(where: { $0.handle == handle }) {
                passes[index].connections.remove(at: place)
                return true
            }
        }
        return false
    }

    /// The controller was lost: nothing waits any longer.
    mutating func controllerLost() {
        for index in passes.indices {
            passes[index].connections = []
            passes[index].reports = []
        }
    }

    private mutating func remember(_ address: DeviceAddress, _ answer: Answer) {
        guard answers.updateValue(answer, forKey: address.value) == nil else { return }
        order.append(address.value)
        if order.count > Self.capacity, let oldest = order.popFirst() { answers[oldest] = nil }
    }
}

extension IdentityResolver.Answer {
    /// Decides between several identities with one key: the one that a client waits for, otherwise any that has not
    /// been refuted.
    func choosing(_ isAwaited: (DeviceAddress) -> Bool) -> IdentityResolver.Answer {
        guard case .several(let all, let refuted) = self else { return self }
        let identities = all.dropLast(refuted)
        guard let chosen = identities.first(where: { isAwaited($0) }) ?? identities.first else { return .stranger }
        return .identity(chosen)
    }

    fileprivate init(_ matches: [DeviceAddress]) {
        self =
            switch matches.count {
            case 0: .stranger
            case 1: .identity(matches[0])
            default: .several(matches, refuted: 0)
            }
    }
}

extension DeviceAddress {
    var isResolvablePrivate: Bool { kind == .random && randomKind == .resolvablePrivate }

    /// The random part and the hash of a resolvable private address, most significant octet first
    /// (Core 5.4, Vol 6, Part B, 1.3.2.2).
    var resolvableParts: (random: [UInt8], hash: [UInt8]) {
        let octets = [UInt8](self.octets.reversed())
        return ([UInt8](octets[..<3]), [UInt8](octets[3...]))
    }

    /// - Parameters:
    ///   - random: three octets; the two highest bits are set to the required value.
    ///   - hash: three octets.
    init?(resolvable random: [UInt8], hash: [UInt8]) {
        guard random.count == 3, hash.count == 3 else { return nil }
        var value: UInt64 = 0
        for octet in random + hash { value = value << 8 | UInt64(octet) }
        self.init(value: value & 0x3FFF_FFFF_FFFF | 0b01 << 46, kind: .random)
    }

    /// The same identity in the form that the controller uses for an address that it resolved.
    var asIdentity: DeviceAddress { DeviceAddress(value: value, kind: isRandom ? .randomIdentity : .publicIdentity) }
}
