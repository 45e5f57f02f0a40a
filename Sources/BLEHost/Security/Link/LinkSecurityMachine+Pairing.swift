import BLEPackets

/// The pairing of a link, and what leads to one.
extension LinkSecurityMachine {
    /// How long a central may take to act on a Security Request.
    private static let requestTimeout: Microseconds = .seconds(30)
    /// How long the user may take to say whether a bond is replaced, when the keys are there already.
    private static let claimTimeout: Microseconds = .seconds(30)

    /// How a wish for more security is met.
    enum Step {
        /// What is under way may be enough, or nothing is to be done.
        case none
        /// It cannot be.
        case fail(SecurityFailure)
        /// The bond's key encrypts the link first.
        case encrypt(LongTermKey, KeyProperties)
        case pair(PairingOptions)
    }

    /// How a pairing that is about to begin came about.
    struct Beginning {
        var options: PairingOptions
        /// Whether the user is asked before pairing goes on.
        var needsConsent = false
        /// Whether the app asked for this pairing, and no device.
        var isCommanded = false
        /// Whether it may lead to a bond.
        var mayBond = true
        /// What the peer is told of us; without it the identity is not distributed.
        var localIdentity: LocalIdentity?
        /// Pairings of the same role on other links that may come to passkey entry, or are at it.
        var passkeyEntriesUnderWay: Int
    }

    // MARK: Questions

    /// The machine of the pairing that is under way.
    var machine: PairingMachine? {
        switch pairing {
        case .none: nil
        case .running(let machine, _, _), .unsettled(let machine, _, _, _): machine
        }
    }

    var isPairing: Bool {
        if case .none = pairing { false } else { true }
    }

    /// Whether this pairing is one by passkey, or may become one.
    var mayEnterPasskey: Bool { machine?.mayEnterPasskey ?? false }

    var isUnsettled: Bool {
        if case .unsettled = pairing { true } else { false }
    }

    /// What the user has not answered yet.
    var question: PairingQuestion? {
        switch pairing {
        case .none: nil
        case .running(_, _, let question): question
        case .unsettled(_, _, let question, _): question
        }
    }

    /// The peer as failures count for it.
    private var guarded: PairingGuard.Peer { PairingGuard.Peer(address: identity, isProven: isProven) }

    /// How long the peer has to wait, because earlier tries failed.
    func wait(_ attempts: PairingAttempts, at now: Instant) -> Microseconds? {
        attempts.failures.wait(of: guarded, at: now)
    }

    // MARK: Wishes

    /// A central that is asked to pair with a bonded device has the bond encrypt the link first: the device is who it
    /// was then, and pairing is needed where more is asked for than the bond gives.
    /// - Returns: `none` where the bond gives what is asked for already.
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
        return bond.peerKey.map { .encrypt($0, bond.keyProperties) } ?? .fail(.wouldReplaceBond)
    }

    /// The peer refused something because the link is not secure enough (SPEC 2.3 automatic pairing).
    func step(onDemandOf error: ATTError, _ settings: SecuritySettings, _ bonds: Bonds) -> Step {
        if isBusy { return .none }
        guard !isBondRefused else { return .fail(.keyMissingAtPeer) }
        guard settings.pairsOnDemand else { return .fail(.noKey) }
        if role == .central, let bond = bondToProve(bonds) {
            return bond.peerKey.map { .encrypt($0, bond.keyProperties) } ?? .fail(.noKey)
        }
        var options = settings.pairing
        if let key = keyInUse {
            switch error {
            case .insufficientEncryptionKeySize where key.size < options.maximumKeySize: break
            case .insufficientAuthentication where !key.isAuthenticated && options.ioCapability != .noInputNoOutput:
                options.requiresAuthentication = true
            // What is wanted may be LE Secure Connections.
            case .insufficientAuthentication where !key.isSecureConnections && options.requiresSecureConnections: break
            // A new key would be no better than the one in use.
            default: return .fail(.noKey)
            }
        }
        return .pair(options)
    }

    /// The peripheral wants security (Core 5.4, Vol 3, Part H, 2.4.6).
    /// - Returns: `fail` where the app is told and the peer refused.
    mutating func step(
        requestedBy wanted: AuthenticationRequirements, _ settings: SecuritySettings, _ bonds: Bonds
    ) -> Step {
        if isBusy {
            if !isPairing { hold(wanted, settings, bonds) }
            owesRequestAnswer = isChanging
            return .none
        }
        if let key = keyInUse, key.satisfies(wanted) { return .none }
        guard settings.followsSecurityRequests, !isBondRefused else { return .fail(.noKey) }
        guard let bond = bondToProve(bonds) else { return .pair(Self.options(for: wanted, settings)) }
        guard let key = bond.peerKey else { return .fail(.noKey) }
        hold(wanted, settings, bonds)
        owesRequestAnswer = true
        return .encrypt(key, bond.keyProperties)
    }

    private static func options(
        for wanted: AuthenticationRequirements, _ settings: SecuritySettings
    ) -> PairingOptions {
        var options = settings.pairing
        if wanted.contains(.mitm), options.ioCapability != .noInputNoOutput { options.requiresAuthentication = true }
        return options
    }

    /// Keeps a peripheral's wish for more than its bond gives, where a new pairing could give it.
    private mutating func hold(_ wanted: AuthenticationRequirements, _ settings: SecuritySettings, _ bonds: Bonds) {
        guard settings.followsSecurityRequests, settings.pairing.ioCapability != .noInputNoOutput,
            let bond = bonds.bond(for: identity), !bond.keyProperties.satisfies(wanted)
        else { return }
        heldRequest = wanted
    }

    /// The bond's key has encrypted the link, or has not.
    /// - Returns: with what to pair for what the peripheral had asked for.
    mutating func takeHeldRequest(_ settings: SecuritySettings, _ bonds: Bonds) -> PairingOptions? {
        guard let wanted = heldRequest else { return nil }
        heldRequest = nil
        guard role == .central, !isBusy, bondToProve(bonds) == nil else { return nil }
        return Self.options(for: wanted, settings)
    }

    /// The bond's key has encrypted the link.
    /// - Returns: what was asked for beyond it, to be paired for now.
    mutating func takeHeldPairing() -> PairingOptions? {
        guard let options = heldPairing else { return nil }
        heldPairing = nil
        guard let key = keyInUse, !key.satisfies(options) else { return nil }
        return options
    }

    /// The peer asked for security while its bond's key was tried, and the key did not fit.
    /// - Returns: whether it has an answer to come.
    mutating func takeOwedAnswer() -> Bool {
        defer { owesRequestAnswer = false }
        return owesRequestAnswer
    }

    /// Asks the central for security.
    /// - Returns: the PDU.
    mutating func ask(for options: PairingOptions, at now: Instant) -> SMPPacket {
        request = Request(options: options, deadline: now.advanced(by: Self.requestTimeout))
        return .securityRequest(options.authentication)
    }

    // MARK: Beginning

    /// Why no pairing of ours can begin.
    func refusal(
        toBegin options: PairingOptions, isClosing: Bool, _ bonds: Bonds, _ attempts: PairingAttempts, at now: Instant
    ) -> SecurityFailure? {
        guard attempts.areAvailable else { return .notAvailable }
        guard !isClosing else { return .linkLost }
        guard !isBlocked else { return .timedOut }
        guard !isBusy else { return .alreadyPairing }
        if let wait = wait(attempts, at: now) { return .repeatedAttempts(retryAfter: wait) }
        return options.isBonding && !bonds.hasRoom(for: identity) ? .tooManyBonds : nil
    }

    mutating func begin(
        _ side: PairingMachine.Role, _ beginning: Beginning, _ bonds: Bonds, _ attempts: inout PairingAttempts,
        at now: Instant, into effects: inout Effects
    ) {
        var options = beginning.options
        // Where any device may pair without it, a passkey that stays the same protects nothing, and is only given away.
        if !beginning.isCommanded, !options.requiresAuthentication { options.passkey = nil }
        let bond = bonds.bond(for: identity)
        let isUnproven = beginning.mayBond && options.isBonding && !options.replacesBond && !isProven
        // Neither what the operator of a central asked for nor a device that has proven an authenticated bond waits
        // because strangers failed.
        let isTrusted = isProven && keyInUse?.isAuthenticated == true || beginning.isCommanded && role == .central
        let entry = PairingGuard.PasskeyEntry(
            role: role, fixed: options.passkey, waitsForOthers: !isTrusted,
            underWay: beginning.passkeyEntriesUnderWay)
        let machine = PairingMachine(
            PairingMachine.Setup(
                role: side, options: options, initiatorAddress: side == .initiator ? localAddress : peerAddress,
                responderAddress: side == .initiator ? peerAddress : localAddress,
                localIdentity: beginning.localIdentity, outOfBand: attempts.outOfBand.data(for: identity),
                // The operator's word holds for a weaker bond as well.
                bond: options.replacesBond ? nil : bond, needsConsent: beginning.needsConsent,
                unprovenIdentity: isUnproven ? bond?.identity : nil,
                passkeyRefusal: attempts.failures.refusal(of: entry, at: now)))
        pairing = .running(machine, number: attempts.nextNumber(), question: nil)
        effects.events.append(.pairing(id, .started))
    }

    // MARK: Under way

    /// Gives the machine of the pairing that is running an input.
    /// - Parameter number: of the machine that is meant; `nil` for any.
    /// - Returns: `nil` where there is no such pairing.
    @discardableResult
    mutating func continuePairing<Result>(
        number: UInt32? = nil, _ input: (inout PairingMachine) -> Result
    ) -> Result? {
        guard case .running(var machine, let running, let question) = pairing, number ?? running == running else {
            return nil
        }
        let result = input(&machine)
        pairing = .running(machine, number: running, question: question)
        return result
    }

    /// A PDU of the peer for the pairing.
    mutating func received(_ pdu: RawSpan, at now: Instant) {
        guard case .running(var machine, let number, let question) = pairing else { return }
        machine.receive(pdu, at: now)
        pairing = .running(machine, number: number, question: question)
    }

    /// What a pairing leaves to its link.
    enum PairingTask: Equatable {
        case send(SMPPacket)
        case encrypt(Key128, KeyProperties)
        case finish(PairingOutcome)
        case fail(SecurityFailure)
    }

    /// What the pairing wants done; toolbox and user are asked at once.
    mutating func nextPairingTask(
        _ attempts: inout PairingAttempts, into effects: inout Effects
    ) -> PairingTask? {
        while case .running(var machine, let number, let question) = pairing {
            let action = machine.nextAction()
            // Also without one: the machine has then forgotten its actions, and the secrets in them.
            pairing = .running(machine, number: number, question: question)
            guard let action else { return nil }
            switch action {
            case .ask(let request): effects.desk.ask(request, for: .pairing(id, number))
            case .display(let passkey): effects.events.append(.pairing(id, .displayPasskey(passkey)))
            case .question(let kind):
                let question = attempts.nextQuestion(kind)
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

    /// The user's answer to the machine's question.
    /// - Returns: whether it is one to it.
    mutating func userAnswered(_ answer: PairingAnswer, at now: Instant) -> Bool {
        guard case .running(var machine, let number, let question) = pairing else { return false }
        let isTaken = machine.userAnswered(answer, at: now)
        pairing = .running(machine, number: number, question: isTaken ? nil : question)
        return isTaken
    }

    /// The keys are there; the user is asked whether they may replace a bond.
    mutating func askToReplace(
        _ identity: DeviceAddress, _ outcome: PairingOutcome, _ attempts: inout PairingAttempts, at now: Instant,
        into effects: inout Effects
    ) {
        guard let machine else { return }
        let question = attempts.nextQuestion(.replaceBond(identity))
        pairing = .unsettled(
            machine, outcome, question: question, deadline: now.advanced(by: Self.claimTimeout))
        effects.events.append(.pairing(id, .question(question)))
    }

    // MARK: Ends

    /// Pairing ended well.
    mutating func pairingEnded(
        _ outcome: PairingOutcome, peer: DeviceAddress, _ attempts: inout PairingAttempts
    ) {
        pairing = .none
        isBondRefused = false
        hasGivenKeys = true
        // Without a question any device succeeds.
        guard outcome.isAuthenticated else { return }
        attempts.failures.succeeded(peer.withoutIdentityMark)
        attempts.failures.succeeded(identity)
    }

    /// Pairing failed, or ended with its link.
    /// - Parameter isTry: whether the peer may have tried to guess.
    mutating func pairingEnded(
        with failure: SecurityFailure, isTry: Bool = true, _ attempts: inout PairingAttempts, at now: Instant,
        into effects: inout Effects
    ) {
        if failure == .timedOut { isBlocked = true }
        noteTry(isTry ? machine : nil, failure, &attempts, at: now, into: &effects)
        pairing = .none
        effects.events.append(.pairing(id, .failed(failure)))
    }

    /// Pairing ends with its link, or with the wish to end that; what waits for it ends with the link.
    mutating func pairingLost(_ attempts: inout PairingAttempts, at now: Instant, into effects: inout Effects) {
        guard isPairing else { return }
        pairingEnded(with: .linkLost, &attempts, at: now, into: &effects)
    }

    /// Makes the peer wait where it may know more of the passkey than before. Who breaks off, goes away or says nothing
    /// after our value, which tells one bit of a passkey that stays the same, would have the rest of it in as many
    /// tries (Core 5.4, Vol 3, Part H, 2.3.6).
    private func noteTry(
        _ machine: PairingMachine?, _ failure: SecurityFailure, _ attempts: inout PairingAttempts, at now: Instant,
        into effects: inout Effects
    ) {
        guard failure.isSuspicious || machine?.hasShownValue ?? false else { return }
        var entry: PairingGuard.FailedEntry?
        if let machine, machine.model?.isPasskey == true {
            entry = PairingGuard.FailedEntry(
                role: role, fixed: machine.setup.options.passkey, isDisclosed: machine.hasDisclosedPasskey)
        }
        if attempts.failures.failed(guarded, entry, at: now) { effects.events.append(.pairing(id, .passkeyLocked)) }
    }
}
