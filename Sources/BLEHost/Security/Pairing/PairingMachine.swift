import BLEPackets

/// Pairing with one peer on one link, once: LE legacy and LE Secure Connections, as initiator or responder
/// (Core 5.4, Vol 3, Part H, 2.3).
///
///     start ──▶ features ──▶ legacy: passkey ─ random ─ confirm ─ random ────────┐
///                  │                                                             ├─▶ encryption ─▶ keys ─▶ over
///                  └───────▶ Secure Connections: public key ─ secret ─ passkey ──┤
///                            ─ confirm and random, once or twenty times ─ check ─┘
///
///     anywhere ── wrong PDU, wrong value, no, silence of 30 s ──▶ over
///
/// It has no clock, no link and no cipher. It waits for one thing at a time; `State` says for which, with everything
/// that is known by then:
///
///     peer                     a PDU of the peer
///     keyPair, octets, value   an answer of the crypto provider
///     user                     the user's decision, or a passkey
///     encryption               the encryption of the link
///
/// The owner fetches the actions with `nextAction` after each input. PDUs that arrive while the machine waits for the
/// crypto provider or the user are stored, up to a limit, and processed in order. A PDU out of order ends pairing.
struct PairingMachine {
    enum Role: Equatable { case initiator, responder }

    /// What is known before the first PDU.
    struct Setup {
        var role: Role
        var options: PairingOptions
        /// The addresses of the link in its connecting packet.
        var initiatorAddress: DeviceAddress
        var responderAddress: DeviceAddress
        /// The identity that the peer gets; `nil` if the identity is not distributed.
        var localIdentity: LocalIdentity?
        var outOfBand: OutOfBandData?
        /// The existing bond of this peer: a new pairing must not be weaker.
        var bond: Bond?
        /// Whether the user must agree before pairing continues.
        var needsConsent = false
        /// The bonded device that the peer claims to be and has not proved to be: without the user's consent the bond
        /// stays, and pairing ends.
        var unprovenIdentity: DeviceAddress?
        /// Why passkey entry is not allowed now; `nil` if it is.
        var passkeyRefusal: SecurityFailure?
        /// Whether others share the link, who could not pair on it after a timeout.
        var isShared = false
        /// Whether the peer wants this pairing, and this side does not.
        var isOfPeer = false
    }

    enum Action: Equatable {
        case send(SMPPacket)
        /// Ask the crypto provider; the answer goes to `cryptoAnswered`. At most one request is open at a time.
        case ask(CryptoRequest)
        case display(UInt32)
        /// Ask the user; the answer goes to `userAnswered`.
        case question(PairingQuestion.Kind)
        /// As the initiator, encrypt the link with this key; EDIV and Rand are zero.
        case encrypt(Key128, KeyProperties)
        indirect case finished(PairingOutcome)
        case failed(SecurityFailure)
    }

    /// How long each side may take for the next PDU (Core 5.4, Vol 3, Part H, 3.4).
    static let timeout = Microseconds.seconds(30)
    /// How much earlier a question to the user ends. The peer gets a reason while it still waits: after its timeout it
    /// would refuse to pair again on this link.
    private static let answerReserve = Microseconds.seconds(5)
    /// How many PDUs may arrive early: all keys of one side.
    static let inboxLimit = 6

    /// Behind a reference: it is large and never changes, and each step of the pairing copies the machine.
    private final class Shared {
        let setup: Setup
        init(_ setup: Setup) { self.setup = setup }
    }

    private let shared: Shared
    @inline(__always)
    var setup: Setup { shared.setup }
    /// The features that this side would send if nothing had been exchanged.
    var offer: PairingFeatures
    var state = State.start
    /// When the silence of the peer has lasted too long.
    private var silenceEnd: Instant?
    private var inbox = Queue<[UInt8]>()
    /// The first key that waits for the link to be encrypted.
    private var firstEarlyKey: EarlyKey?
    /// Whether a key has come before the report, and surely was encrypted: the controller reports events late.
    private(set) var hasProvenEarlyKey = false
    /// Whether the controllers are encrypting the link, so that the peer may know of it before this side does.
    private var isEncrypting = false
    private(set) var actions: [Action] = []
    private var taken = 0

    /// The association model; `nil` until both sides have sent their features.
    var model: AssociationModel?
    /// Whether this side has sent a value from which the peer may learn something about the passkey.
    private(set) var hasShownValue = false
    /// Whether the peer knows enough to find the passkey offline: in legacy pairing this is the initiator's random
    /// value, which is sent before the responder has proved anything.
    var hasDisclosedPasskey = false
    /// Whether the user has allowed the bond of `Setup.unprovenIdentity` to be replaced.
    private(set) var mayReplaceBond = false
    /// Whether the pairing ended because no user answered a question, or typed the passkey on the other device.
    private(set) var wasUnanswered = false
    /// Whether this side cancelled the pairing.
    private(set) var wasCancelled = false
    /// Whether only this side has ended the pairing, and others who share the link need not wait for it: no passkey was
    /// in use that the peer could have guessed.
    var wasGivenUp: Bool { setup.isShared && (wasUnanswered || wasCancelled) && model?.isPasskey != true }
    /// Whether the peer's next PDU waits for a user to type the passkey there.
    private var awaitsTyping = false

    init(_ setup: Setup) {
        shared = Shared(setup)
        offer = PairingFeatures(offeredBy: setup)
    }

    var deadline: Instant? {
        if case .user = state {} else if !awaitsTyping { return silenceEnd }
        return silenceEnd?.advanced(by: Microseconds(rawValue: -Self.answerReserve.rawValue))
    }

    var isInitiator: Bool { setup.role == .initiator }
    var localAddress: DeviceAddress { isInitiator ? setup.initiatorAddress : setup.responderAddress }
    var peerAddress: DeviceAddress { isInitiator ? setup.responderAddress : setup.initiatorAddress }

    var isOver: Bool {
        if case .over = state { true } else { false }
    }

    /// The key for the next encryption of the link: the short term key in legacy pairing, otherwise the long term key.
    var awaitedKey: (key: Key128, properties: KeyProperties)? {
        if case .encryption(let agreement, let key) = state { (key, agreement.keyProperties) } else { nil }
    }

    /// Whether the next expected step is the encryption of the link.
    var awaitsEncryption: Bool { awaitedKey != nil }

    /// Whether this pairing uses passkey entry, or may come to use it.
    var mayEnterPasskey: Bool { !isOver && model?.isPasskey ?? true }

    mutating func nextAction() -> Action? {
        guard taken < actions.count else {
            actions.removeAll(keepingCapacity: true)
            taken = 0
            return nil
        }
        taken += 1
        return actions[taken - 1]
    }

    // MARK: Inputs

    /// Receives a PDU of the peer; the first one of a responder is the Pairing Request.
    /// - Parameter interval: the connection interval of the link.
    mutating func receive(_ pdu: RawSpan, interval: Microseconds = EarlyKey.leastInterval, at now: Instant) {
        advance(to: now)
        if isOver { return }
        let packet: SMPPacket
        do throws(DecodingError) {
            packet = try SMPPacket(pdu)
        } catch {
            // Codes of later protocol versions are ignored.
            if case .invalidValue(_, .opcode) = error { return }
            return fail(.invalidParameters)
        }
        switch packet {
        case .pairingFailed(let reason): return end(.failed(.refusedByPeer(reason)))
        // These were not agreed on, so they do not restart the timeout.
        case .keypressNotification: return
        case .securityRequest where isInitiator: return
        case .securityRequest: return fail(.commandNotSupported)
        case .pairingRequest where isInitiator: return fail(.commandNotSupported)
        case .pairingRequest, .pairingResponse, .pairingConfirm, .pairingRandom, .encryptionInformation,
            .centralIdentification, .identityInformation, .identityAddressInformation, .signingInformation,
            .pairingPublicKey, .pairingDHKeyCheck:
            break
        }
        silenceEnd = now.advanced(by: Self.timeout)
        awaitsTyping = false
        switch state {
        case .over: break
        // Data may overtake events of the controller (Core 5.4, Vol 4, Part B, 2.1): the peer may already send its keys
        // on the encrypted link. Whether they came encrypted is known when the event comes (`encryptionChanged`).
        case .encryption where isEncrypting && packet.opcode.isOfKeyDistribution:
            firstEarlyKey = firstEarlyKey ?? EarlyKey(time: now, interval: interval)
            store(pdu)
        case .start, .peer, .encryption: process(packet, pdu, now)
        case .keyPair, .octets, .value, .user: store(pdu)
        }
        pump(now)
    }

    /// Keeps a PDU that has come early.
    private mutating func store(_ pdu: RawSpan) {
        guard inbox.count < Self.inboxLimit else { return pduOutOfTurn() }
        inbox.append(pdu.copied())
    }

    /// The answer to the last request to the crypto provider.
    mutating func cryptoAnswered(_ result: CryptoResult, at now: Instant) {
        advance(to: now)
        switch (state, result) {
        case (.start, _), (.peer, _), (.user, _), (.encryption, _), (.over, _): return
        case (_, .failure(.invalidPublicKey)): return fail(.invalidParameters)
        case (_, .failure(.unavailable)): return cryptoFailed()
        case (.keyPair(let step), .keyPair(let privateKey, let publicKey)):
            keyPairMade(KeyPair(privateKey: privateKey, publicKey: publicKey), step, now)
        case (.octets(let step, let function), .octets(let octets)):
            if let result = proceed(function, octets, { .octets(step, $0) }) { process(result, step, now) }
        case (.value(let step, let function), .octets(let octets)):
            if let result = proceed(function, octets, { .value(step, $0) }) { process(result, step, now) }
        case (.keyPair, .octets), (.octets, .keyPair), (.value, .keyPair): return cryptoFailed()
        }
        pump(now)
    }

    /// - Returns: the result, unless a function is in progress that needs another answer first.
    private mutating func proceed(
        _ function: SecurityFunction?, _ octets: [UInt8], _ next: (SecurityFunction) -> State
    ) -> [UInt8]? {
        guard var function else { return octets }
        switch function.receive(octets) {
        case .ask:
            state = next(function)
            actions.append(.ask(function.request))
            return nil
        case .done(let result): return result
        case .broken:
            cryptoFailed()
            return nil
        }
    }

    /// Passes on the user's answer; one that does not match the open question is ignored.
    /// - Returns: whether it matched.
    @discardableResult
    mutating func userAnswered(_ answer: PairingAnswer, at now: Instant) -> Bool {
        advance(to: now)
        guard case .user(let step) = state else { return false }
        switch (step, answer) {
        case (.enterPasskey(let use), .passkey(let number)) where number <= 999_999: passkeyKnown(number, use, now)
        case (.enterPasskey, .passkey), (.enterPasskey, .cancel): fail(.passkeyEntryFailed)
        case (.enterPasskey, .confirm): return false
        case (.compare(let nonces), .confirm(true)): deriveKeys(nonces)
        case (.compare, .confirm(false)), (.compare, .cancel): fail(.numericComparisonFailed)
        case (.beforeRequest(let question), .confirm(true)):
            agreed(to: question)
            sendRequest(now)
        case (.beforeResponse(let question, let agreement), .confirm(true)):
            agreed(to: question)
            sendResponse(agreement, now)
        case (.beforeRequest(let question), .confirm(false)), (.beforeRequest(let question), .cancel),
            (.beforeResponse(let question, _), .confirm(false)), (.beforeResponse(let question, _), .cancel):
            denied(question)
        case (.compare, .passkey), (.beforeRequest, .passkey), (.beforeResponse, .passkey): return false
        }
        pump(now)
        return true
    }

    private mutating func agreed(to question: PairingQuestion.Kind) {
        if case .replaceBond = question { mayReplaceBond = true }
    }

    private mutating func denied(_ question: PairingQuestion.Kind) {
        guard case .replaceBond = question else { return fail(.unspecifiedReason) }
        actions.append(.send(.pairingFailed(.unspecifiedReason)))
        end(.failed(.wouldReplaceBond))
    }

    /// The user has not answered, which means no.
    private mutating func unanswered(_ step: UserStep) {
        wasUnanswered = true
        switch step {
        case .beforeRequest(let question), .beforeResponse(let question, _): denied(question)
        case .enterPasskey: fail(.passkeyEntryFailed)
        // Nobody has said that the numbers differ.
        case .compare: fail(.unspecifiedReason)
        }
    }

    /// As the responder: the controller has got the key for an encryption that the initiator has begun.
    mutating func encryptionBegan() { if awaitsEncryption { isEncrypting = true } }

    /// The link was encrypted, or the encryption failed.
    /// - Parameters:
    ///   - interval: the connection interval of the link.
    ///   - mayBeLate: whether the controller is known to report this late, on a link that was not encrypted before.
    mutating func encryptionChanged(
        to isOn: Bool, status: HCIStatus = .success, interval: Microseconds = EarlyKey.leastInterval,
        mayBeLate: Bool = false, at now: Instant
    ) {
        advance(to: now)
        guard case .encryption(let agreement, let key) = state else { return }
        guard isOn, status.isSuccess else { return end(.failed(.encryptionFailed(status))) }
        if let key = firstEarlyKey {
            let isProven = !key.mayBeInTheClear(encryptedAt: now, interval: interval)
            let needsProof = !mayBeLate || agreement.model.isAuthenticated
            if !isProven, needsProof || key.isTooEarly(reportedAt: now, interval: interval) {
                return fail(.unspecifiedReason)
            }
            hasProvenEarlyKey = isProven
        }
        silenceEnd = now.advanced(by: Self.timeout)
        beginDistribution(agreement, linkKey: key, now)
        pump(now)
    }

    /// This side cancels pairing.
    mutating func cancel(_ reason: PairingFailedReason = .unspecifiedReason) {
        if isOver { return }
        wasCancelled = true
        fail(reason)
    }

    mutating func advance(to now: Instant) {
        guard let deadline, deadline <= now, !isOver else { return }
        if case .user(let step) = state { return unanswered(step) }
        if awaitsTyping {
            wasUnanswered = true
            return fail(.passkeyEntryFailed)
        }
        end(.failed(.timedOut))
    }

    // MARK: Steps

    /// Processes PDUs that arrived early, until something else is expected.
    private mutating func pump(_ now: Instant) {
        while case .peer = state, let pdu = inbox.popFirst() {
            // It was decoded when it came.
            guard let packet = try? SMPPacket(pdu.span.bytes) else { return fail(.invalidParameters) }
            process(packet, pdu.span.bytes, now)
        }
    }

    private mutating func process(_ packet: SMPPacket, _ pdu: RawSpan, _ now: Instant) {
        switch (state, packet) {
        case (.start, .pairingRequest(let features)) where !isInitiator:
            requested(Statement(features: features, octets: pdu.copied()), now)
        case (.peer(.response(let own)), .pairingResponse(let features)):
            responded(Statement(features: features, octets: pdu.copied()), to: own, now)
        case (.peer(.legacyConfirm(let exchange, let confirm)), .pairingConfirm(let value)):
            legacyConfirmReceived(value, exchange, confirm, now)
        case (.peer(.legacyRandom(let exchange, let confirm)), .pairingRandom(let value)):
            legacyRandomReceived(value, exchange, peerConfirm: confirm)
        case (.peer(.publicKey(let agreement)), .pairingPublicKey(let key)):
            publicKeyReceived(key, agreement, now)
        case (.peer(.publicKeyInReturn(let agreement, let pair)), .pairingPublicKey(let key)):
            publicKeyReceived(key, agreement, inReturnFor: pair)
        case (.peer(.confirm(let round, let nonce)), .pairingConfirm(let value)):
            confirmReceived(value, round, nonce, now)
        case (.peer(.confirmInReturn(let round, let nonce, let confirm)), .pairingConfirm(let value)):
            confirmReceived(value, round, nonce, inReturnFor: confirm, now)
        case (.peer(.random(let round, let nonce)), .pairingRandom(let value)):
            randomReceived(value, round, nonce, now)
        case (.peer(.committedRandom(let round, let nonce, let confirm)), .pairingRandom(let value)):
            randomReceived(value, round, nonce, committedBy: confirm)
        case (.peer(.check(let keys)), .pairingDHKeyCheck(let value)): checkReceived(value, keys)
        case (.peer(.key(let distribution)), _): keyReceived(packet, distribution, now)
        case (.start, _), (.peer, _), (.encryption, _), (.keyPair, _), (.octets, _), (.value, _), (.user, _),
            (.over, _):
            pduOutOfTurn()
        }
    }

    private mutating func process(_ octets: [UInt8], _ step: OctetsStep, _ now: Instant) {
        switch step {
        case .passkey(let use): passkeyDrawn(octets, use, now)
        case .secret(let agreement, let local, let peer):
            guard octets.count == 32 else { return cryptoFailed() }
            secretKnown(SharedSecret(agreement: agreement, local: local, peer: peer, secret: octets), now)
        case .number(let nonces): numberKnown(octets, nonces, now)
        case .keys(let nonces): keysKnown(octets, nonces)
        case .distribution(let distribution): keysDrawn(octets, distribution, now)
        }
    }

    private mutating func process(_ octets: [UInt8], _ step: ValueStep, _ now: Instant) {
        guard let value = Key128(mostSignificantFirst: octets) else { return cryptoFailed() }
        switch step {
        case .legacyRandom(let agreement, let key):
            legacyRandomDrawn(LegacyExchange(agreement: agreement, temporaryKey: key, random: value))
        case .legacyConfirm(let exchange): legacyConfirmKnown(value, exchange, now)
        case .legacyPeerConfirm(let exchange, let confirm, let random):
            legacyPeerConfirmKnown(value, exchange, peerConfirm: confirm, peerRandom: random)
        case .shortTermKey(let exchange): shortTermKeyKnown(value, exchange, now)
        case .outOfBandConfirm(let shared, let told): outOfBandConfirmKnown(value, shared, told: told)
        case .nonce(let round): nonceDrawn(value, round, now)
        case .confirm(let round, let nonce): confirmKnown(value, round, nonce, now)
        case .peerConfirm(let nonces, let confirm): peerConfirmKnown(value, nonces, peerConfirm: confirm, now)
        case .check(let keys): checkKnown(value, keys, now)
        case .peerCheck(let keys, let check): peerCheckKnown(value, keys, peerCheck: check)
        }
    }

    // MARK: Outputs

    mutating func send(_ packet: SMPPacket, at now: Instant) {
        silenceEnd = now.advanced(by: Self.timeout)
        if packet.opcode == .pairingConfirm || packet.opcode == .pairingRandom { hasShownValue = true }
        actions.append(.send(packet))
    }

    mutating func expect(_ step: PeerStep) { state = .peer(step) }

    mutating func askForKeyPair(_ step: KeyPairStep) {
        state = .keyPair(step)
        actions.append(.ask(.generateKeyPair))
    }

    mutating func ask(_ request: CryptoRequest, for step: OctetsStep) {
        state = .octets(step, nil)
        actions.append(.ask(request))
    }

    /// Requests a random value.
    mutating func draw(_ step: ValueStep) {
        state = .value(step, nil)
        actions.append(.ask(.random(count: 16)))
    }

    mutating func compute(_ function: SecurityFunction, for step: ValueStep) {
        state = .value(step, function)
        actions.append(.ask(function.request))
    }

    mutating func compute(_ function: SecurityFunction, for step: OctetsStep) {
        state = .octets(step, function)
        actions.append(.ask(function.request))
    }

    /// Asks the user, who has nearly as much time as the peer waits, or would wait if it had already received a PDU.
    mutating func askUser(_ question: PairingQuestion.Kind, _ step: UserStep, at now: Instant) {
        if silenceEnd == nil { silenceEnd = now.advanced(by: Self.timeout) }
        state = .user(step)
        actions.append(.question(question))
    }

    mutating func display(_ number: UInt32) {
        awaitsTyping = setup.isShared
        actions.append(.display(number))
    }

    mutating func encrypt(with key: Key128, _ agreement: Agreement) {
        // What came while the crypto provider worked came unencrypted: any device may have sent it.
        guard inbox.isEmpty else { return pduOutOfTurn() }
        state = .encryption(agreement, key: key)
        isEncrypting = isInitiator
        if isInitiator { actions.append(.encrypt(key, agreement.keyProperties)) }
    }

    /// This side ends pairing and sends the reason.
    mutating func fail(_ reason: PairingFailedReason) {
        actions.append(.send(.pairingFailed(reason)))
        end(.failed(.refusedByUs(reason)))
    }

    /// The peer violates the order of the protocol.
    mutating func pduOutOfTurn() { fail(.unspecifiedReason) }

    /// The crypto provider failed.
    mutating func cryptoFailed() { fail(.unspecifiedReason) }

    /// This side has had too many failures of passkey entry.
    mutating func refusePasskey(_ failure: SecurityFailure) {
        actions.append(.send(.pairingFailed(.repeatedAttempts)))
        end(.failed(failure))
    }

    /// Pairing is over; secrets are released with the state that contained them.
    mutating func end(_ action: Action) {
        state = .over
        silenceEnd = nil
        inbox.removeAll()
        actions.append(action)
    }
}

extension SMPOpcode {
    /// Whether the PDU distributes a key, which is only done on an encrypted link (Core 5.4, Vol 3, Part H, 3.6).
    fileprivate var isOfKeyDistribution: Bool { rawValue >= 0x06 && rawValue <= 0x0A }
}
