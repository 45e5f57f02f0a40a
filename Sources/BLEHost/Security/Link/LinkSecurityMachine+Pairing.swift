import BLEPackets

/// The pairing of a link, and the requests that lead to it.
extension LinkSecurityMachine {
    /// How long a central may take to act on a Security Request.
    private static let requestTimeout: Microseconds = .seconds(30)
    /// How long the user may take to decide whether a bond is replaced, after the keys have been exchanged.
    private static let claimTimeout: Microseconds = .seconds(30)

    /// What to do about a request for more security.
    enum Step {
        /// Nothing: what is in progress may be enough, or nothing is needed.
        case none
        /// The request cannot be met.
        case fail(SecurityFailure)
        /// Encrypt the link with the bond's key first.
        case encrypt(LongTermKey, KeyProperties)
        case pair(PairingOptions)
    }

    /// The circumstances in which a pairing begins.
    struct Beginning {
        var options: PairingOptions
        /// Whether the user must agree before pairing continues.
        var needsConsent = false
        /// Whether the app asked for this pairing, not a device.
        var isCommanded = false
        /// Whether the peer wants this pairing, and this side does not.
        var isOfPeer = false
        var parties: PairingTerms.Parties?
        /// Whether the pairing may lead to a bond.
        var mayBond = true
        /// The identity that the peer gets; `nil` if the identity is not distributed.
        var localIdentity: LocalIdentity?
        /// Pairings in the same role on other links that are in passkey entry or may reach it, except those that other
        /// users cause.
        var passkeyEntriesUnderWay: Int
        /// The number of the user for whom a failure counts; `nil`: none causes the pairing.
        var countedUser: UInt32?
    }

    // MARK: Questions

    /// The state machine of the pairing in progress.
    var machine: PairingMachine? {
        guard Features.pairing else { return nil }
        return switch pairing {
        case .none: nil
        case .running(let machine, _, _), .unsettled(let machine, _, _, _): machine
        }
    }

    var isPairing: Bool {
        guard Features.pairing else { return false }
        return if case .none = pairing { false } else { true }
    }

    /// Whether this pairing uses passkey entry, or may come to use it.
    var mayEnterPasskey: Bool { machine?.mayEnterPasskey ?? false }

    /// Whether the pairing in progress waits for the link to be encrypted.
    var awaitsEncryption: Bool {
        @inline(never) get { machine?.awaitsEncryption ?? false }
    }

    var isUnsettled: Bool {
        if case .unsettled = pairing { true } else { false }
    }

    /// The question that the user has not answered yet.
    var question: PairingQuestion? {
        switch pairing {
        case .none: nil
        case .running(_, _, let question): question
        case .unsettled(_, _, let question, _): question
        }
    }

    /// The peer in the form for which failures are counted.
    private func guarded(_ user: UInt32?) -> PairingGuard.Peer {
        PairingGuard.Peer(address: identity, isProven: isProven, role: role, user: user)
    }

    /// How long the peer must wait because earlier attempts failed.
    /// - Parameters:
    ///   - user: the number of the user who causes the pairing; `nil`: none does.
    ///   - isOfPeer: whether the peer wants the pairing, and this side does not.
    func wait(of user: UInt32?, isOfPeer: Bool, _ attempts: PairingAttempts, at now: Instant) -> Microseconds? {
        attempts.failures.wait(of: guarded(user), isOfPeer: isOfPeer, at: now)
    }

    // MARK: Requests for security

    /// The next step towards pairing. A central that is asked to pair with a bonded device first encrypts the link with
    /// the bond's key: that proves the device, and pairing is only needed if more is asked for than the bond provides.
    /// - Returns: `none` if the link already has what is asked for.
    func step(toPairWith options: PairingOptions, _ bonds: Bonds, _ attempts: PairingAttempts) -> Step {
        guard !options.replacesBond, attempts.areAvailable, let bond = bonds.bond(for: identity), !isPairing else {
            return .pair(options)
        }
        if isProven {
            guard let key = keyInUse, key.isOfBond, key.satisfies(options) else { return .pair(options) }
            return .none
        }
        guard role == .central else { return .pair(options) }
        guard !isBondRefused else { return .fail(.keyMissingAtPeer) }
        // A bond without the peer's key proves nothing to a central: the peer is a stranger.
        return bond.peerKey.map { .encrypt($0, bond.keyProperties) } ?? .pair(options)
    }

    /// The peer refused an operation because the link is not secure enough (SPEC 2.3 automatic pairing).
    func step(onDemandOf error: ATTError, for client: ClientID, _ settings: SecuritySettings, _ bonds: Bonds) -> Step {
        if isBusy { return .none }
        guard !isBondRefused else { return .fail(.keyMissingAtPeer) }
        guard settings.pairsOnDemand else { return .fail(.noKey) }
        if role == .central, let bond = bondToProve(bonds), let key = bond.peerKey {
            return .encrypt(key, bond.keyProperties)
        }
        guard !settings.clientsWithoutPairing.contains(client) else { return .fail(.noKey) }
        var options = settings.pairing
        if let key = keyInUse {
            switch error {
            case .insufficientEncryptionKeySize where key.size < options.maximumKeySize: break
            case .insufficientAuthentication where !key.isAuthenticated && options.ioCapability != .noInputNoOutput:
                options.requiresAuthentication = true
            // The peer may require LE Secure Connections.
            case .insufficientAuthentication where !key.isSecureConnections && options.requiresSecureConnections: break
            // A new key would be no better than the one in use.
            default: return .fail(.noKey)
            }
        } else if error == .insufficientAuthentication, options.ioCapability != .noInputNoOutput {
            // The error does not say whether an unauthenticated key would do, and the operation is repeated only once.
            options.prefersAuthentication = true
            // Any device may answer so, and a fixed passkey can be computed from a single pairing of the legacy form.
            if !options.requiresAuthentication { options.passkey = nil }
        }
        return .pair(options)
    }

    /// The peripheral requests security (Core 5.4, Vol 3, Part H, 2.4.6).
    /// - Returns: `fail` if the app must get an event and the peer a refusal.
    mutating func step(
        requestedBy wanted: AuthenticationRequirements, _ settings: SecuritySettings, _ bonds: Bonds
    ) -> Step {
        if isBusy {
            if !isPairing { postpone(wanted, settings, bonds) }
            owesRequestAnswer = isChanging
            return .none
        }
        if let key = keyInUse {
            if key.satisfies(wanted) { return settings.followsSecurityRequests ? refresh(key, bonds) : .none }
            guard settings.followsSecurityRequests else { return .fail(.noKey) }
            guard mayPairForMore(settings, bonds) else { return refresh(key, bonds) }
        }
        guard settings.followsSecurityRequests, !isBondRefused else { return .fail(.noKey) }
        guard let bond = bondToProve(bonds), let key = bond.peerKey else {
            if keyInUse != nil { hasPairedForMore = true }
            return .pair(Self.options(for: wanted, settings))
        }
        postpone(wanted, settings, bonds)
        owesRequestAnswer = true
        return .encrypt(key, bond.keyProperties)
    }

    private static func options(
        for wanted: AuthenticationRequirements, _ settings: SecuritySettings
    ) -> PairingOptions {
        var options = settings.pairing
        // Its wish is no requirement of ours: many peripherals always ask for protection against a man in the middle,
        // even those that cannot provide it (Core 5.4, Vol 3, Part H, 2.3.5.1).
        if wanted.contains(.mitm), options.ioCapability != .noInputNoOutput { options.prefersAuthentication = true }
        return options
    }

    /// Encrypts an encrypted link once more: the only answer that a peripheral gets if another key would be no better.
    /// Without an answer it would give up after 30 s (Core 5.4, Vol 3, Part H, 2.4.6 and 3.4).
    private mutating func refresh(_ key: KeyProperties, _ bonds: Bonds) -> Step {
        // The link may have a better key than the bond.
        guard refreshesLeft > 0, key.isOfBond, let bond = bonds.bond(for: identity), let peerKey = bond.peerKey,
            !bond.keyProperties.isWeaker(than: key)
        else { return .none }
        refreshesLeft -= 1
        return .encrypt(peerKey, bond.keyProperties)
    }

    /// Whether a new pairing may give a key that is better than the bond's. A peripheral that asks on every link for
    /// what it cannot provide must not make us pair on every link.
    private func mayPairForMore(_ settings: SecuritySettings, _ bonds: Bonds) -> Bool {
        let capability = settings.pairing.ioCapability
        if let key = keyInUse, !key.satisfies(settings.pairing) { return true }
        return capability != .noInputNoOutput && !hasPairedForMore
            && bonds.bond(for: identity)?.insufficientCapability != capability
    }

    /// Keeps a peripheral's request for more than its bond provides, if a new pairing could provide it.
    private mutating func postpone(_ wanted: AuthenticationRequirements, _ settings: SecuritySettings, _ bonds: Bonds) {
        guard settings.followsSecurityRequests, settings.pairing.ioCapability != .noInputNoOutput,
            mayPairForMore(settings, bonds), let bond = bonds.bond(for: identity),
            !bond.keyProperties.satisfies(wanted)
        else { return }
        postponedRequest = wanted
    }

    /// The bond's key has encrypted the link, or has failed to.
    /// - Returns: the options for a pairing that meets the peripheral's request.
    mutating func removePostponedRequest(_ settings: SecuritySettings, _ bonds: Bonds) -> PairingOptions? {
        guard let wanted = postponedRequest else { return nil }
        postponedRequest = nil
        guard role == .central, !isBusy, !hasBondToProve(bonds) else { return nil }
        hasPairedForMore = true
        return Self.options(for: wanted, settings)
    }

    /// The bond's key has encrypted the link.
    /// - Returns: the options for a pairing, if more was asked for than the bond provides.
    mutating func removePostponedPairing() -> PairingOptions? {
        guard let options = postponedPairing else { return nil }
        postponedPairing = nil
        guard let key = keyInUse, !key.satisfies(options) else { return nil }
        return options
    }

    /// The peer requested security while its bond's key was tried, and the key did not match.
    /// - Returns: whether the peer must get an answer.
    mutating func removeOwedAnswer() -> Bool {
        defer { owesRequestAnswer = false }
        return owesRequestAnswer
    }

    /// Asks the central for security.
    /// - Parameter claim: whose pairing it is that the central may begin.
    /// - Returns: the Security Request to send.
    mutating func ask(
        for options: PairingOptions, _ claim: PairingClaim = PairingClaim(), at now: Instant
    ) -> SMPPacket {
        request = Request(options: options, claim: claim, deadline: now.advanced(by: Self.requestTimeout))
        return .securityRequest(options.authentication)
    }

    // MARK: Beginning

    /// Why this side cannot begin a pairing.
    /// - Parameters:
    ///   - user: whose bond it would make.
    ///   - isOfPeer: whether the peer wants the pairing, and this side does not.
    ///   - countedUser: the number of the user for whom a failure counts.
    func refusal(
        toBegin options: PairingOptions, isClosing: Bool, _ bonds: Bonds, _ attempts: PairingAttempts,
        of user: ClientUser?, isOfPeer: Bool = false, countedUser: UInt32? = nil, at now: Instant
    ) -> SecurityFailure? {
        guard attempts.areAvailable else { return .notAvailable }
        guard !isClosing else { return .linkLost }
        guard !isBlocked else { return .timedOut }
        guard !isBusy else { return .alreadyPairing }
        if let wait = wait(of: countedUser, isOfPeer: isOfPeer, attempts, at: now) {
            return .repeatedAttempts(retryAfter: wait)
        }
        return options.isBonding && !bonds.hasRoom(for: identity, of: user) ? .tooManyBonds : nil
    }

    mutating func begin(
        _ side: PairingMachine.Role, _ beginning: Beginning, _ bonds: Bonds, _ attempts: inout PairingAttempts,
        into effects: inout Effects
    ) {
        var options = beginning.options
        // If any device may pair without authentication, a fixed passkey protects nothing and is only revealed. A
        // central chooses its peer, and has a use for the passkey if it asks for authentication.
        let hasUse = options.requiresAuthentication || options.prefersAuthentication && side == .initiator
        if !beginning.isCommanded, !hasUse { options.passkey = nil }
        let isUnproven =
            beginning.mayBond && options.isBonding && !options.replacesBond && !isProven && !hasIdleBond(bonds)
        // Two pairings need not wait because strangers failed: those that the operator of a central asked for, and
        // those with a device that has proved an authenticated bond.
        let isTrusted = isProven && keyInUse?.isAuthenticated == true || beginning.isCommanded && role == .central
        let entry = PairingGuard.PasskeyEntry(
            role: role, fixed: options.passkey, waitsForOthers: !isTrusted,
            underWay: beginning.passkeyEntriesUnderWay, user: beginning.countedUser)
        let machine = PairingMachine(
            PairingMachine.Setup(
                role: side, options: options, initiatorAddress: side == .initiator ? localAddress : peerAddress,
                responderAddress: side == .initiator ? peerAddress : localAddress,
                localIdentity: beginning.localIdentity, outOfBand: attempts.outOfBand.data(for: identity),
                // The operator's permission also covers a weaker bond.
                bond: options.replacesBond ? nil : bonds.bond(for: identity), needsConsent: beginning.needsConsent,
                unprovenIdentity: isUnproven && bonds.hasBond(with: identity) ? identity.withoutIdentityMark : nil,
                passkeyRefusal: attempts.failures.refusal(of: entry, at: effects.now),
                isShared: beginning.parties != nil,
                isOfPeer: beginning.isOfPeer))
        pairing = .running(machine, number: attempts.nextNumber(), question: nil)
        parties = beginning.parties
        countedUser = beginning.countedUser
        began = effects.now
        if let asked = parties?.asked ?? parties?.owner { effects.events.append(.pairing(id, .belongs(to: asked))) }
        effects.events.append(.pairing(id, .started))
    }

    // MARK: In progress

    /// Gives an input to the state machine of the pairing in progress.
    /// - Parameter number: of the pairing machine that is meant; `nil` for any.
    /// - Returns: `nil` if there is no such pairing.
    @discardableResult
    mutating func continuePairing<Result>(number: UInt32? = nil, _ input: (inout PairingMachine) -> Result) -> Result? {
        guard case .running(var machine, let running, let question) = pairing, number ?? running == running else {
            return nil
        }
        let result = input(&machine)
        pairing = .running(machine, number: running, question: question)
        return result
    }

    /// A PDU of the peer for the pairing.
    /// - Parameter interval: the connection interval of the link.
    mutating func received(_ pdu: RawSpan, interval: Microseconds = EarlyKey.leastInterval, at now: Instant) {
        guard case .running(var machine, let number, let question) = pairing else { return }
        machine.receive(pdu, interval: interval, at: now)
        pairing = .running(machine, number: number, question: question)
    }

    /// What the link must do for a pairing.
    enum PairingTask: Equatable {
        case send(SMPPacket)
        case encrypt(Key128, KeyProperties)
        indirect case finish(PairingOutcome)
        case fail(SecurityFailure)
    }

    /// The next task of the pairing; requests to the crypto provider and the user are made at once.
    mutating func nextPairingTask(_ attempts: inout PairingAttempts, into effects: inout Effects) -> PairingTask? {
        while case .running(var machine, let number, let question) = pairing {
            let action = machine.nextAction()
            // This is needed even without an action: the machine has then cleared its actions, and the secrets in them.
            pairing = .running(machine, number: number, question: question)
            guard let action else { return nil }
            switch action {
            case .ask(let request): effects.cryptoRequests.ask(request, for: .pairing(id, number))
            case .display(let passkey): effects.events.append(.pairing(id, .displayPasskey(passkey)))
            case .question(let kind):
                let question = attempts.nextQuestion(kind, for: parties)
                pairing = .running(machine, number: number, question: question)
                effects.events.append(.pairing(id, .question(question)))
            case .send(let packet): return .send(packet)
            case .encrypt(let key, let properties): return .encrypt(key, properties)
            case .finished(let outcome): return .finish(outcome)
            case .failed(let failure): return .fail(failure)
            }
        }
        return nil
    }

    /// Passes on the user's answer to the question of the pairing.
    /// - Returns: whether it answers that question.
    mutating func userAnswered(_ answer: PairingAnswer, at now: Instant) -> Bool {
        guard case .running(var machine, let number, let question) = pairing else { return false }
        let isTaken = machine.userAnswered(answer, at: now)
        pairing = .running(machine, number: number, question: isTaken ? nil : question)
        return isTaken
    }

    /// The keys have been exchanged; asks the user whether they may replace a bond.
    mutating func askToReplace(
        _ identity: DeviceAddress, _ outcome: PairingOutcome, _ attempts: inout PairingAttempts,
        into effects: inout Effects
    ) {
        guard let machine else { return }
        let question = attempts.nextQuestion(.replaceBond(identity), for: parties)
        pairing = .unsettled(
            machine, outcome, question: question, deadline: effects.now.advanced(by: Self.claimTimeout))
        effects.events.append(.pairing(id, .question(question)))
    }

    // MARK: Ends

    /// Pairing succeeded.
    @inline(never)
    mutating func pairingEnded(_ outcome: PairingOutcome, peer: DeviceAddress, _ attempts: inout PairingAttempts) {
        pairing = .none
        isBondRefused = false
        lastKeys = .queued
        // In pairing without a question to the user, any device succeeds.
        guard outcome.isAuthenticated else { return }
        attempts.failures.succeeded(peer.withoutIdentityMark, of: countedUser)
        attempts.failures.succeeded(identity, of: countedUser)
    }

    /// Pairing failed, or ended with its link.
    /// - Parameters:
    ///   - isTry: whether the peer may have tried to guess the passkey.
    ///   - isByPeer: whether the peer, or the radio, ended it.
    @inline(never)
    mutating func pairingEnded(
        with failure: SecurityFailure, isTry: Bool = true, isByPeer: Bool = true, _ attempts: inout PairingAttempts,
        into effects: inout Effects
    ) {
        if failure == .timedOut { isBlocked = true }
        if let machine, machine.setup.isOfPeer, isByPeer, !machine.wasCancelled, !machine.wasGivenUp {
            attempts.failures.requestFailed(guarded(countedUser), at: effects.now)
        }
        recordTry(isTry ? machine : nil, failure, &attempts, into: &effects)
        pairing = .none
        effects.events.append(.pairing(id, .failed(failure)))
    }

    /// Pairing ends with its link, or because the link is about to end; operations that wait for it end with the link.
    /// - Parameter isByPeer: whether the peer, or the radio, ended the link.
    mutating func pairingLost(isByPeer: Bool, _ attempts: inout PairingAttempts, into effects: inout Effects) {
        guard Features.pairing else { return }
        guard isPairing else { return }
        pairingEnded(with: .linkLost, isByPeer: isByPeer, &attempts, into: &effects)
    }

    /// Makes the peer wait if it may know more about the passkey than before. Our value reveals one bit of a fixed
    /// passkey. If a peer could break off, disconnect or stay silent after it without a wait, it would learn the other
    /// bits in as many attempts (Core 5.4, Vol 3, Part H, 2.3.6).
    private func recordTry(
        _ machine: PairingMachine?, _ failure: SecurityFailure, _ attempts: inout PairingAttempts,
        into effects: inout Effects
    ) {
        guard failure.isSuspicious || machine?.hasShownValue ?? false else { return }
        // Without a pairing, no user has caused one.
        let user = machine == nil ? nil : countedUser
        var entry: PairingGuard.FailedEntry?
        if let machine, machine.model?.isPasskey == true {
            entry = PairingGuard.FailedEntry(
                role: role, fixed: machine.setup.options.passkey, isDisclosed: machine.hasDisclosedPasskey,
                user: user)
        }
        if attempts.failures.guessFailed(guarded(user), entry, at: effects.now) {
            effects.events.append(.pairing(id, .passkeyLocked))
        }
    }
}
