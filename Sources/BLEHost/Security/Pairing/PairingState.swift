import BLEPackets

/// The states of a pairing, each with all that is needed to go on from there.
extension PairingMachine {
    /// What is waited for: one thing at a time. In a box, so that a state is moved and not copied part by part.
    indirect enum State {
        /// Neither side has sent anything.
        case start
        /// A PDU.
        case peer(PeerStep)
        /// A key pair from the toolbox.
        case keyPair(KeyPairStep)
        /// Octets from the toolbox, of a length that the step knows; at the end of a function where one is under way.
        case octets(OctetsStep, SecurityFunction?)
        /// Likewise 16 octets.
        case value(ValueStep, SecurityFunction?)
        case user(UserStep)
        /// The encryption of the link with this key.
        case encryption(Agreement, key: Key128)
        case over
    }

    enum PeerStep {
        case response(Statement)
        case legacyConfirm(LegacyExchange, confirm: Key128)
        case legacyRandom(LegacyExchange, peerConfirm: Key128)
        /// Of the initiator, whose key comes first.
        case publicKey(Agreement)
        /// Of the responder, for ours.
        case publicKeyInReturn(Agreement, KeyPair)
        /// Of a responder that commits itself alone.
        case confirm(Round, nonce: Key128)
        /// Where both commit themselves.
        case confirmInReturn(Round, nonce: Key128, confirm: Key128)
        /// Of a peer that has not committed itself.
        case random(Round, nonce: Key128)
        case committedRandom(Round, nonce: Key128, peerConfirm: Key128)
        case check(DerivedKeys)
        case key(Distribution)
    }

    enum KeyPairStep {
        /// To be shown first.
        case initiator(Agreement)
        /// In return for the peer's.
        case responder(Agreement, peerKey: P256PublicKey)
    }

    enum OctetsStep {
        case passkey(PasskeyUse)
        case secret(Agreement, local: P256PublicKey, peer: P256PublicKey)
        case number(Nonces)
        case keys(Nonces)
        case distribution(Distribution)
    }

    enum ValueStep {
        case legacyRandom(Agreement, temporaryKey: Key128)
        case legacyConfirm(LegacyExchange)
        case legacyPeerConfirm(LegacyExchange, peerConfirm: Key128, peerRandom: Key128)
        case shortTermKey(LegacyExchange)
        case outOfBandConfirm(SharedSecret, told: Key128)
        case nonce(Round)
        case confirm(Round, nonce: Key128)
        case peerConfirm(Nonces, peerConfirm: Key128)
        case check(DerivedKeys)
        case peerCheck(DerivedKeys, peerCheck: Key128)
    }

    enum UserStep {
        /// Before the Pairing Request.
        case beforeRequest(PairingQuestion.Kind)
        /// Before the Pairing Response.
        case beforeResponse(PairingQuestion.Kind, Agreement)
        case enterPasskey(PasskeyUse)
        case compare(Nonces)
    }

    // MARK: What is known

    /// What one side said of itself: as a value, and as it stood in the PDU.
    struct Statement {
        var features: PairingFeatures
        var octets: [UInt8]
    }

    /// What the statements of both sides lead to.
    struct Agreement {
        var initiator: Statement
        var responder: Statement
        var isSecureConnections: Bool
        var model: AssociationModel
        /// Octets.
        var keySize: UInt8

        init(initiator: Statement, responder: Statement) {
            self.initiator = initiator
            self.responder = responder
            isSecureConnections =
                initiator.features.authentication.contains(.secureConnections)
                && responder.features.authentication.contains(.secureConnections)
            model = AssociationModel(
                initiator: initiator.features, responder: responder.features, isSecureConnections: isSecureConnections)
            keySize = min(initiator.features.maximumKeySize, responder.features.maximumKeySize)
        }

        /// Of the key that the link is encrypted with.
        var keyProperties: KeyProperties {
            KeyProperties(
                isAuthenticated: model.isAuthenticated, isSecureConnections: isSecureConnections, size: keySize)
        }
    }

    /// Where a passkey goes.
    enum PasskeyUse {
        case legacy(Agreement)
        case secureConnections(SharedSecret)
    }

    /// Legacy pairing, once this side has drawn its random value.
    struct LegacyExchange {
        var agreement: Agreement
        /// Made of the passkey, told out of band, or zero.
        var temporaryKey: Key128
        var random: Key128
    }

    struct KeyPair {
        /// 32 octets, most significant first.
        var privateKey: [UInt8]
        var publicKey: P256PublicKey
    }

    /// Secure Connections, once the Diffie-Hellman key is known.
    struct SharedSecret {
        var agreement: Agreement
        var local: P256PublicKey
        var peer: P256PublicKey
        /// 32 octets, most significant first.
        var secret: [UInt8]
    }

    /// One exchange of nonces.
    struct Round {
        var shared: SharedSecret
        var proof: Proof
    }

    /// By what a man in the middle is found out.
    enum Proof {
        case none
        case comparison
        case outOfBand
        /// Twenty rounds, one for each bit; so many are over.
        case passkey(Key128, round: Int)
    }

    /// The nonces of both sides.
    struct Nonces {
        var round: Round
        var local: Key128
        var peer: Key128
    }

    /// What the nonces and the secret lead to.
    struct DerivedKeys {
        var nonces: Nonces
        var macKey: Key128
        var longTermKey: Key128
    }

    /// Keys that both sides give each other on the encrypted link.
    struct Distribution {
        var agreement: Agreement
        var outcome: PairingOutcome
        /// What this side still has to send.
        var unsent: [SMPPacket] = []
        /// What the peer still has to send, in order.
        var missing: [SMPOpcode]
    }
}
