import BLEHost
import BLEPackets

extension SecurityCommand: Choice {
    public static var blank: Self { .createOutOfBandData }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(9, "pair", as: "Pair", &it, Self.pair, "link", "options") {
            if case .pair(let link, let options) = $0 { (link, options) } else { nil }
        }
        try c.option(
            10, "answer_pairing", as: "AnswerPairing", &it, Self.answerPairing, "question",
            rest: { if case .answerPairing(let question, let answer) = $0 { (question, answer) } else { nil } })
        try c.option(11, "encrypt", as: "Encrypt", &it, Self.encrypt, "link") {
            if case .encrypt(let link) = $0 { link } else { nil }
        }
        try c.option(21, "remove_bond", &it, Self.removeBond) { if case .removeBond(let a) = $0 { a } else { nil } }
        try c.option(22, "name_bond", as: "NameBond", &it, Self.nameBond, "identity", "name") {
            if case .nameBond(let identity, let name) = $0 { (identity, name) } else { nil }
        }
        try c.since(2) { c throws(MessageError) in
            try c.option(41, "create_out_of_band", &it, .createOutOfBandData)
            try c.option(
                42, "set_out_of_band", as: "SetOutOfBand", &it,
                {
                    .setOutOfBandData($0, $1 == OutOfBandData() ? nil : $1)
                }, "peer",
                rest: {
                    if case .setOutOfBandData(let peer, let data) = $0 { (peer, data ?? OutOfBandData()) } else { nil }
                })
            try c.option(43, "unlock_passkey", &it, .unlockPasskey)
        }
        try c.recorded { c throws(MessageError) in
            try c.option(
                103, "set_security", &it, Self.setSecurity, { if case .setSecurity(let a) = $0 { a } else { nil } })
            try c.option(104, "restore_bonds", as: "Bonds", &it, Self.restoreBonds, "bonds") {
                if case .restoreBonds(let bonds) = $0 { bonds } else { nil }
            }
        }
    }
}

extension PairingOptions: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "io_capability", &it.ioCapability)
        try c.field(2, "is_bonding", &it.isBonding)
        try c.field(3, "requires_authentication", &it.requiresAuthentication)
        try c.field(4, "prefers_authentication", &it.prefersAuthentication)
        try c.field(5, "allows_secure_connections", &it.allowsSecureConnections)
        try c.field(6, "requires_secure_connections", &it.requiresSecureConnections)
        try c.field(7, "minimum_key_size", &it.minimumKeySize)
        try c.field(8, "maximum_key_size", &it.maximumKeySize)
        try c.field(9, "initiator_keys", &it.initiatorKeys)
        try c.field(10, "responder_keys", &it.responderKeys)
        try c.field(11, "passkey", &it.passkey)
        try c.field(12, "asks_consent", &it.asksConsent)
        try c.field(13, "replaces_bond", &it.replacesBond)
        try c.recorded { c throws(MessageError) in try c.field(100, "accepts_debug_keys", &it.acceptsDebugKeys) }
        guard C.reads, !c.isRecording else { return }
        guard 7...16 ~= it.minimumKeySize, it.minimumKeySize...16 ~= it.maximumKeySize, it.passkey ?? 0 <= 999_999
        else { throw .invalidField }
    }
}

/// The part of `SetOutOfBand` behind the peer.
extension OutOfBandData: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        var key = it.temporaryKey?.messageOctets ?? []
        try c.field(2, "temporary_key", &key)
        if C.reads { it.temporaryKey = Key128(messageOctets: key[...]) }
        guard key.isEmpty || it.temporaryKey != nil else { throw .invalidField }
        try c.field(3, "of_peer", &it.peer)
        try c.field(4, "of_client", &it.local)
    }
}

extension OutOfBandData.SecureConnectionsData: Message {
    public static var blank: Self { Self(random: .zero, confirm: .zero) }
    public static var schemaName: String { "OutOfBandValues" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "random", &it.random)
        try c.field(2, "confirm", &it.confirm)
    }
}

extension LocalOutOfBandData: Message {
    public static var blank: Self { Self(random: .zero, confirm: .zero, privateKey: [], publicKey: .zero) }
    public static var schemaName: String { "OutOfBandValues" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "random", &it.random)
        try c.field(2, "confirm", &it.confirm)
        try c.recorded { c throws(MessageError) in
            try c.field(100, "private_key", &it.privateKey)
            try c.field(101, "public_key", &it.publicKey)
        }
    }
}

/// The part of `AnswerPairing` behind the question.
extension PairingAnswer: Choice {
    public static var blank: Self { .cancel }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "passkey", &it, Self.valid) { if case .passkey(let passkey) = $0 { passkey } else { nil } }
        try c.option(3, "confirm", &it, Self.confirm) { if case .confirm(let isEqual) = $0 { isEqual } else { nil } }
        try c.option(4, "cancel", &it, .cancel)
    }

    private static func valid(_ passkey: UInt32) throws(MessageError) -> Self {
        guard passkey <= 999_999 else { throw .invalidField }
        return .passkey(passkey)
    }
}

/// The part of `PairingProgress` behind the link.
extension PairingEvent: Choice {
    public static var blank: Self { .started }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        // What a client gets is for that client.
        try c.option(2, "started", &it, .started) {
            switch $0 {
            case .started, .belongs: true
            default: false
            }
        }
        try c.option(
            3, "display_passkey", &it, Self.displayPasskey, { if case .displayPasskey(let a) = $0 { a } else { nil } })
        try c.option(4, "question", &it, Self.question) { if case .question(let asked) = $0 { asked } else { nil } }
        try c.option(5, "paired", &it, Self.paired) { if case .paired(let summary) = $0 { summary } else { nil } }
        try c.option(6, "failed", &it, Self.failed) { (event) -> HostFailure? in
            if case .failed(let failure) = event { .security(failure) } else { nil }
        }
        try c.option(7, "passkey_locked", &it, .passkeyLocked)
        try c.option(8, "security_requested", &it, .securityRequested)
    }

    /// Every failure of a pairing is one of security; a reason of a newer daemon is not.
    private static func failed(_ failure: HostFailure) -> Self {
        if case .security(let reason) = failure { .failed(reason) } else { .failed(.notAvailable) }
    }
}

extension PairingQuestion: Message {
    public static var blank: Self { Self(id: .blank, kind: .consent) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "question", &it.id)
        try c.choice(&it.kind)
        if C.reads { it.client = nil }
    }
}

extension PairingQuestion.Kind: Choice {
    public static var blank: Self { .consent }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "enter_passkey", &it, .enterPasskey)
        try c.option(3, "compare", &it, Self.compare) { if case .compare(let number) = $0 { number } else { nil } }
        try c.option(4, "consent", &it, .consent)
        try c.option(5, "replace_bond", &it, Self.replaceBond) { if case .replaceBond(let a) = $0 { a } else { nil } }
    }
}

extension PairingSummary: Message {
    public static var blank: Self {
        Self(identity: .blank, isSecureConnections: false, isAuthenticated: false, keySize: 0, isBonded: false)
    }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "identity", &it.identity)
        try c.field(2, "is_secure_connections", &it.isSecureConnections)
        try c.field(3, "is_authenticated", &it.isAuthenticated)
        try c.field(4, "key_size", &it.keySize)
        try c.field(5, "is_bonded", &it.isBonded)
        try c.field(6, "was_bonded", &it.wasBonded)
    }
}

/// The part of `EncryptionChanged` behind the link.
extension LinkSecurity: Message {
    public static var blank: Self {
        Self(
            isEncrypted: false, isAuthenticated: false, isSecureConnections: false, keySize: 0, isBonded: false,
            identity: .blank)
    }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(2, "is_encrypted", &it.isEncrypted)
        try c.field(3, "is_authenticated", &it.isAuthenticated)
        try c.field(4, "is_secure_connections", &it.isSecureConnections)
        try c.field(5, "key_size", &it.keySize)
        try c.field(6, "is_bonded", &it.isBonded)
        try c.field(7, "identity", &it.identity)
    }
}
