import BLEPackets

/// Pairing with one peer on one link, once: LE legacy and LE Secure Connections, as initiator or responder
/// (Core 5.4, Vol 3, Part H, 2.3).
///
///     features ──▶ legacy: passkey ─ confirm ─ random ──────────────────┐
///        │                                                              ├──▶ encryption ──▶ keys ──▶ finished
///        └───────▶ Secure Connections: public key ─ confirm and random, ─┘
///                  once or twenty times ─ check
///
///     anywhere ── wrong PDU, wrong value, no, silence of 30 s ──▶ failed
///
/// It knows no clock, no link and no cipher: it waits for one thing at a time (the peer, the toolbox, the user, or the
/// encryption of the link) and what is to be done is fetched with `nextAction` after each input. PDUs that come while it
/// waits for toolbox or user are kept, within a bound, and taken in their order.
struct PairingMachine {
    enum Role: Equatable { case initiator, responder }

    /// What is known before the first PDU.
    struct Setup {
        var role: Role
        var options: PairingOptions
        /// The addresses under which the link was made, in its connecting packet.
        var initiatorAddress: DeviceAddress
        var responderAddress: DeviceAddress
        /// What the peer is told of us; without it the identity is not distributed.
        var localIdentity: LocalIdentity?
        var outOfBand: OutOfBandData?
        /// What is kept of this peer: a new pairing must not be weaker.
        var bond: Bond?
        /// Whether the user is to be asked at all before pairing goes on.
        var needsConsent = false
        /// The bonded device that the peer says it is and has not proven to be: without the user's yes the bond stays, and
        /// pairing ends.
        var unprovenIdentity: DeviceAddress?
        /// Why there may be no passkey entry now.
        var passkeyRefusal: SecurityFailure?
    }

    enum Action: Equatable {
        case send(SMPPacket)
        /// The answer goes to `toolboxAnswered`; one request is open at a time.
        case ask(ToolboxRequest)
        case display(UInt32)
        /// The answer goes to `userAnswered`.
        case question(PairingQuestion.Kind)
        /// The initiator encrypts the link with this key, diversifier and random number being zero.
        case encrypt(Key128)
        case finished(PairingOutcome)
        case failed(SecurityFailure)
    }

    enum Expectation: Equatable { case response, publicKey, confirm, random, check, key }

    /// What an answer of the toolbox is for.
    enum Work: Equatable {
        case passkey
        case legacyRandom, legacyConfirm, legacyPeerConfirm, shortTermKey
        case keyPair, secret, nonce, confirm, peerConfirm, number, outOfBandConfirm, keys, check, peerCheck
        case distribution
    }

    enum Waiting {
        case start
        case peer(Expectation)
        case toolbox(Work, SecurityFunction?)
        case user(PairingQuestion.Kind)
        case encryption
        case over
    }

    /// How long both sides may take for the next PDU (Core 5.4, Vol 3, Part H, 3.4).
    static let patience = Microseconds.seconds(30)
    /// PDUs that may come before they are wanted: all keys of one side.
    static let inboxLimit = 6

    let setup: Setup
    var waiting = Waiting.start
    private(set) var deadline: Instant?
    private var inbox = Queue<[UInt8]>()
    private var actions: [Action] = []
    private var taken = 0

    // The features, as values and as they stood in the PDUs.
    var initiatorFeatures: PairingFeatures?
    var responderFeatures: PairingFeatures?
    var requestOctets: [UInt8] = []
    var responseOctets: [UInt8] = []
    var isSecureConnections = false
    var model = AssociationModel.justWorks
    var keySize: UInt8 = 16

    /// The passkey, or the temporary key of legacy pairing.
    var passkey = Key128.zero
    var localRandom = Key128.zero
    var localConfirm = Key128.zero
    var peerRandom = Key128.zero
    var peerConfirm = Key128.zero

    // Secure Connections.
    var privateKey: [UInt8] = []
    var localPublicKey = P256PublicKey(x: [], y: [])
    var peerPublicKey = P256PublicKey(x: [], y: [])
    var secret: [UInt8] = []
    var macKey = Key128.zero
    var peerCheck = Key128.zero
    /// Whether the peer has had a value from which it may learn something of the passkey.
    private(set) var hasShownValue = false
    /// Whether the peer has had enough to find the passkey by itself, at leisure: in legacy pairing the initiator's
    /// random value, which goes out before the responder has proven anything.
    private(set) var hasDisclosedPasskey = false
    /// Rounds of passkey entry that are over, of twenty.
    var round = 0

    /// The key of the link, once it is agreed on: a short term key in legacy pairing, else the long term key.
    var linkKey: Key128?
    var isEncrypted = false
    /// Whether the user has said that the bond of `Setup.unprovenIdentity` may be replaced.
    private(set) var mayReplaceBond = false
    var sentKeys: [SMPPacket] = []
    /// What the peer still has to send, in order.
    var missingKeys: [SMPOpcode] = []
    var outcome = PairingOutcome()

    init(_ setup: Setup) { self.setup = setup }

    var isInitiator: Bool { setup.role == .initiator }
    var localAddress: DeviceAddress { isInitiator ? setup.initiatorAddress : setup.responderAddress }
    var peerAddress: DeviceAddress { isInitiator ? setup.responderAddress : setup.initiatorAddress }

    var isOver: Bool {
        if case .over = waiting { true } else { false }
    }

    /// Whether the next thing that has to come is the encryption of the link.
    var awaitsEncryption: Bool {
        if case .encryption = waiting { true } else { false }
    }

    /// Whether this pairing is one by passkey, or may become one.
    var mayEnterPasskey: Bool { !isOver && (responderFeatures == nil || model.isPasskey) }

    /// Whether the link is encrypted with a key that protects against a man in the middle.
    var isAuthenticated: Bool { model.isAuthenticated }

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

    /// One PDU of the peer; the first of a responder is the Pairing Request.
    mutating func receive(_ pdu: RawSpan, at now: Instant) {
        advance(to: now)
        if isOver { return }
        let packet: SMPPacket
        do throws(DecodingError) {
            packet = try SMPPacket(pdu)
        } catch {
            // Codes of the future are passed over.
            if case .invalidValue(_, .opcode) = error { return }
            return fail(.invalidParameters)
        }
        switch packet {
        case .pairingFailed(let reason): return end(.failed(.refusedByPeer(reason)))
        // Neither was agreed on, so that neither keeps the time from running.
        case .keypressNotification: return
        case .securityRequest where isInitiator: return
        case .securityRequest: return fail(.commandNotSupported)
        case .pairingRequest where isInitiator: return fail(.commandNotSupported)
        default: break
        }
        deadline = now.advanced(by: Self.patience)
        switch waiting {
        case .over: break
        case .toolbox, .user:
            guard inbox.count < Self.inboxLimit else { return fail(.unspecifiedReason) }
            inbox.append(pdu.copied())
        case .start, .peer, .encryption: take(packet, pdu, now)
        }
        pump(now)
    }

    /// The answer to the request that was asked last.
    mutating func toolboxAnswered(_ result: ToolboxResult, at now: Instant) {
        advance(to: now)
        guard case .toolbox(let work, let begun) = waiting else { return }
        switch result {
        case .failure(.invalidPublicKey): return fail(.invalidParameters)
        case .failure(.unavailable): return fail(.unspecifiedReason)
        case .keyPair(let privateKey, let publicKey):
            guard work == .keyPair else { return fail(.unspecifiedReason) }
            keyPairMade(privateKey, publicKey, now)
        case .octets(let octets):
            guard var function = begun else {
                worked(work, octets, now)
                break
            }
            switch function.take(octets) {
            case .ask:
                waiting = .toolbox(work, function)
                actions.append(.ask(function.request))
            case .done(let result): worked(work, result, now)
            case .broken: return fail(.unspecifiedReason)
            }
        }
        pump(now)
    }

    /// The user's answer; one that does not answer the question that is open is passed over.
    /// - Returns: whether it did.
    @discardableResult
    mutating func userAnswered(_ answer: PairingAnswer, at now: Instant) -> Bool {
        advance(to: now)
        guard case .user(let question) = waiting else { return false }
        switch (question, answer) {
        case (.enterPasskey, .passkey(let number)) where number <= 999_999: passkeyKnown(number, now)
        case (.enterPasskey, .passkey), (.enterPasskey, .cancel): fail(.passkeyEntryFailed)
        case (.compare, .confirm(true)): deriveKeys(now)
        case (.compare, .confirm(false)), (.compare, .cancel): fail(.numericComparisonFailed)
        case (.consent, .confirm(true)): consented(now)
        case (.consent, .confirm(false)), (.consent, .cancel): fail(.unspecifiedReason)
        case (.replaceBond, .confirm(true)):
            mayReplaceBond = true
            consented(now)
        case (.replaceBond, .confirm(false)), (.replaceBond, .cancel):
            actions.append(.send(.pairingFailed(.unspecifiedReason)))
            end(.failed(.wouldReplaceBond))
        default: return false
        }
        pump(now)
        return true
    }

    /// The link was encrypted, or could not be.
    mutating func encryptionChanged(to isOn: Bool, status: HCIStatus = .success, at now: Instant) {
        advance(to: now)
        guard awaitsEncryption else { return }
        guard isOn, status.isSuccess else { return end(.failed(.encryptionFailed(status))) }
        isEncrypted = true
        deadline = now.advanced(by: Self.patience)
        beginDistribution(now)
        pump(now)
    }

    /// This side gives up.
    mutating func cancel(_ reason: PairingFailedReason = .unspecifiedReason) {
        if !isOver { fail(reason) }
    }

    mutating func advance(to now: Instant) {
        guard let deadline, deadline <= now, !isOver else { return }
        // The peer has heard nothing yet: it is our user who was silent, and that means no.
        if requestOctets.isEmpty { return fail(.unspecifiedReason) }
        end(.failed(.timedOut))
    }

    // MARK: Steps

    /// Takes what came too early, until something else is waited for.
    private mutating func pump(_ now: Instant) {
        while case .peer = waiting, let pdu = inbox.popFirst() {
            // It was decoded when it came.
            guard let packet = try? SMPPacket(pdu.span.bytes) else { return fail(.invalidParameters) }
            take(packet, pdu.span.bytes, now)
        }
    }

    private mutating func take(_ packet: SMPPacket, _ pdu: RawSpan, _ now: Instant) {
        switch (waiting, packet) {
        case (.start, .pairingRequest(let features)) where !isInitiator: requested(features, pdu, now)
        case (.peer(.response), .pairingResponse(let features)): responded(features, pdu, now)
        case (.peer(.publicKey), .pairingPublicKey(let key)): publicKeyReceived(key, now)
        case (.peer(.confirm), .pairingConfirm(let value)):
            if isSecureConnections { confirmReceived(value, now) } else { legacyConfirmReceived(value, now) }
        case (.peer(.random), .pairingRandom(let value)):
            if isSecureConnections { randomReceived(value, now) } else { legacyRandomReceived(value, now) }
        case (.peer(.check), .pairingDHKeyCheck(let value)): checkReceived(value, now)
        case (.peer(.key), _): keyReceived(packet, now)
        default: fail(.unspecifiedReason)
        }
    }

    private mutating func worked(_ work: Work, _ octets: [UInt8], _ now: Instant) {
        switch work {
        case .keyPair: fail(.unspecifiedReason)
        case .passkey: passkeyDrawn(octets, now)
        case .secret:
            guard octets.count == 32 else { return fail(.unspecifiedReason) }
            secretKnown(octets, now)
        case .number: numberKnown(octets, now)
        case .keys: keysKnown(octets, now)
        case .distribution: keysDrawn(octets, now)
        default:
            guard let value = Key128(mostSignificantFirst: octets) else { return fail(.unspecifiedReason) }
            worked(work, value, now)
        }
    }

    private mutating func worked(_ work: Work, _ value: Key128, _ now: Instant) {
        switch work {
        case .legacyRandom: legacyRandomDrawn(value, now)
        case .legacyConfirm: legacyConfirmKnown(value, now)
        case .legacyPeerConfirm: legacyPeerConfirmKnown(value, now)
        case .shortTermKey: shortTermKeyKnown(value, now)
        case .nonce: nonceDrawn(value, now)
        case .confirm: confirmKnown(value, now)
        case .peerConfirm: peerConfirmKnown(value, now)
        case .outOfBandConfirm: outOfBandConfirmKnown(value, now)
        case .check: checkKnown(value, now)
        case .peerCheck: peerCheckKnown(value, now)
        default: fail(.unspecifiedReason)
        }
    }

    // MARK: Outputs

    mutating func send(_ packet: SMPPacket, at now: Instant) {
        deadline = now.advanced(by: Self.patience)
        if packet.opcode == .pairingConfirm || packet.opcode == .pairingRandom { hasShownValue = true }
        if packet.opcode == .pairingRandom, isInitiator, !isSecureConnections { hasDisclosedPasskey = true }
        actions.append(.send(packet))
    }

    mutating func expect(_ expectation: Expectation) { waiting = .peer(expectation) }

    mutating func ask(_ request: ToolboxRequest, for work: Work) {
        waiting = .toolbox(work, nil)
        actions.append(.ask(request))
    }

    mutating func compute(_ function: SecurityFunction, for work: Work) {
        waiting = .toolbox(work, function)
        actions.append(.ask(function.request))
    }

    /// The user has as long as the peer waits, or as it would wait where it is not asked yet.
    mutating func askUser(_ question: PairingQuestion.Kind, at now: Instant) {
        if deadline == nil { deadline = now.advanced(by: Self.patience) }
        waiting = .user(question)
        actions.append(.question(question))
    }

    mutating func display(_ number: UInt32) { actions.append(.display(number)) }

    mutating func encrypt(with key: Key128) {
        linkKey = key
        waiting = .encryption
        if isInitiator { actions.append(.encrypt(key)) }
    }

    /// This side gives pairing up and says why.
    mutating func fail(_ reason: PairingFailedReason) {
        actions.append(.send(.pairingFailed(reason)))
        end(.failed(.refusedByUs(reason)))
    }

    /// This side has had too many failures of passkey entry.
    mutating func refusePasskey(_ failure: SecurityFailure) {
        actions.append(.send(.pairingFailed(.repeatedAttempts)))
        end(.failed(failure))
    }

    /// Nothing more happens; secrets are forgotten.
    mutating func end(_ action: Action) {
        waiting = .over
        deadline = nil
        inbox.removeAll()
        actions.append(action)
        linkKey = nil
        secret = []
        privateKey = []
        macKey = .zero
        passkey = .zero
    }
}
