import BLEHost
import BLEPackets

extension WirePairingOptions {
    public init(_ options: PairingOptions) {
        self.init()
        ioCapability = UInt32(options.ioCapability.rawValue)
        isBonding = options.isBonding
        requiresAuthentication = options.requiresAuthentication
        prefersAuthentication = options.prefersAuthentication
        allowsSecureConnections = options.allowsSecureConnections
        requiresSecureConnections = options.requiresSecureConnections
        minimumKeySize = UInt32(options.minimumKeySize)
        maximumKeySize = UInt32(options.maximumKeySize)
        initiatorKeys = UInt32(options.initiatorKeys.rawValue)
        responderKeys = UInt32(options.responderKeys.rawValue)
        if let value = options.passkey { passkey = value }
        asksConsent = options.asksConsent
        replacesBond = options.replacesBond
    }
}

extension PairingOptions {
    /// The debug key is never accepted: it is only for tests on a controller that is not shared.
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WirePairingOptions) throws(WireError) {
        guard let capability = UInt8(exactly: wire.ioCapability).flatMap(IOCapability.init(rawValue:)),
            7...16 ~= wire.minimumKeySize, wire.minimumKeySize...16 ~= wire.maximumKeySize,
            let initiatorKeys = UInt8(exactly: wire.initiatorKeys),
            let responderKeys = UInt8(exactly: wire.responderKeys), !wire.hasPasskey || wire.passkey <= 999_999
        else { throw .invalidField }
        self.init(
            ioCapability: capability, isBonding: wire.isBonding, requiresAuthentication: wire.requiresAuthentication,
            allowsSecureConnections: wire.allowsSecureConnections,
            requiresSecureConnections: wire.requiresSecureConnections, minimumKeySize: UInt8(wire.minimumKeySize),
            maximumKeySize: UInt8(wire.maximumKeySize), passkey: wire.hasPasskey ? wire.passkey : nil,
            asksConsent: wire.asksConsent, prefersAuthentication: wire.prefersAuthentication,
            replacesBond: wire.replacesBond)
        self.initiatorKeys = KeyDistribution(rawValue: initiatorKeys)
        self.responderKeys = KeyDistribution(rawValue: responderKeys)
    }
}

extension WireAnswerPairing {
    init(_ question: PairingQuestionID, _ answer: PairingAnswer) {
        self.init()
        self.question = question.rawValue
        switch answer {
        case .passkey(let value): passkey = value
        case .confirm(let value): confirm = value
        case .cancel: cancel = WireNothing()
        }
    }

    var command: SecurityCommand {
        get throws(WireError) {
            let id = PairingQuestionID(rawValue: question)
            switch answer {
            case .passkey(let value):
                guard value <= 999_999 else { throw .invalidField }
                return .answerPairing(id, .passkey(value))
            case .confirm(let value): return .answerPairing(id, .confirm(value))
            case .cancel: return .answerPairing(id, .cancel)
            case nil: throw .invalidField
            }
        }
    }
}

extension WirePairingSummary {
    init(_ summary: PairingSummary) {
        self.init()
        identity = WireAddress(summary.identity)
        isSecureConnections = summary.isSecureConnections
        isAuthenticated = summary.isAuthenticated
        keySize = UInt32(summary.keySize)
        isBonded = summary.isBonded
        wasBonded = summary.wasBonded
    }
}

extension PairingSummary {
    init(_ wire: WirePairingSummary) throws(WireError) {
        self.init(
            identity: try DeviceAddress(wire.identity), isSecureConnections: wire.isSecureConnections,
            isAuthenticated: wire.isAuthenticated, keySize: UInt8(clamping: wire.keySize), isBonded: wire.isBonded,
            wasBonded: wire.wasBonded)
    }
}

extension WirePairingProgress {
    init(_ event: PairingEvent, on link: LinkID) {
        self.init()
        self.link = link.wire
        switch event {
        // What a client gets is for that client.
        case .started, .belongs: started = WireNothing()
        case .displayPasskey(let passkey): displayPasskey = passkey
        case .question(let asked):
            question.question = asked.id.rawValue
            switch asked.kind {
            case .enterPasskey: question.enterPasskey = WireNothing()
            case .compare(let number): question.compare = number
            case .consent: question.consent = WireNothing()
            case .replaceBond(let identity): question.replaceBond = WireAddress(identity)
            }
        case .paired(let summary): paired = WirePairingSummary(summary)
        case .failed(let failure): failed = WireFailure(.security(failure))
        case .passkeyLocked: passkeyLocked = WireNothing()
        case .securityRequested: securityRequested = WireNothing()
        }
    }

    /// The event that the client's own engine would have reported.
    var progress: PairingEvent {
        get throws(WireError) {
            switch event {
            case .started: return .started
            case .displayPasskey(let passkey): return .displayPasskey(passkey)
            case .question(let question):
                let id = PairingQuestionID(rawValue: question.question)
                switch question.kind {
                case .enterPasskey: return .question(PairingQuestion(id: id, kind: .enterPasskey))
                case .compare(let number): return .question(PairingQuestion(id: id, kind: .compare(number)))
                case .consent: return .question(PairingQuestion(id: id, kind: .consent))
                case .replaceBond(let identity):
                    return .question(PairingQuestion(id: id, kind: .replaceBond(try DeviceAddress(identity))))
                case nil: throw .invalidField
                }
            case .paired(let summary): return .paired(try PairingSummary(summary))
            case .failed(let failure):
                guard case .security(let reason) = try HostFailure(failure) else { throw .invalidField }
                return .failed(reason)
            case .passkeyLocked: return .passkeyLocked
            case .securityRequested: return .securityRequested
            case nil: throw .invalidField
            }
        }
    }
}

extension WireEncryptionChanged {
    init(_ security: LinkSecurity, on link: LinkID) {
        self.init()
        self.link = link.wire
        isEncrypted = security.isEncrypted
        isAuthenticated = security.isAuthenticated
        isSecureConnections = security.isSecureConnections
        keySize = UInt32(security.keySize)
        isBonded = security.isBonded
        identity = WireAddress(security.identity)
    }
}

extension LinkSecurity {
    init(_ wire: WireEncryptionChanged) throws(WireError) {
        self.init(
            isEncrypted: wire.isEncrypted, isAuthenticated: wire.isAuthenticated,
            isSecureConnections: wire.isSecureConnections, keySize: UInt8(clamping: wire.keySize),
            isBonded: wire.isBonded, identity: try DeviceAddress(wire.identity))
    }
}
