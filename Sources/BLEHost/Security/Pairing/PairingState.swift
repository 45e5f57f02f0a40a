import BLEPackets

/// The states of a pairing, each with everything that is needed to continue from there.
extension PairingMachine {
    /// What the pairing waits for, one thing at a time. It is indirect, so that a state is moved and not copied part by
    /// part.
    indirect enum State {
        /// Neither side has sent anything.
        case start
        /// A PDU of the peer.
        case peer(PeerStep)
        /// A key pair from the crypto provider.
        case keyPair(KeyPairStep)
        /// Octets from the crypto provider, of a length that the step knows; the result of the function, if one is in
        /// progress.
        case octets(OctetsStep, SecurityFunction?)
        /// The same with 16 octets.
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
        /// The initiator's public key, which comes first.
        case publicKey(Agreement)
        /// The responder's public key, in answer to ours.
        case publicKeyInReturn(Agreement, KeyPair)
        /// The confirm value of a responder, if only the responder sends one.
        case confirm(Round, nonce: Key128)
        /// The peer's confirm value, if both sides send one.
        case confirmInReturn(Round, nonce: Key128, confirm: Key128)
        /// The nonce of a peer that sent no confirm value.
        case random(Round, nonce: Key128)
        case committedRandom(Round, nonce: Key128, peerConfirm: Key128)
        case check(DerivedKeys)
        case key(Distribution)
    }

    enum KeyPairStep {
        /// The key pair of the initiator, which sends its public key first.
        case initiator(Agreement)
        /// The key pair of the responder, which answers with its public key.
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

    /// The features that one side sent: as a value, and as in the PDU.
    struct Statement {
        var features: PairingFeatures
        var octets: [UInt8]
    }

    /// What follows from the features of both sides.
    struct Agreement {
        var initiator: Statement
        var responder: Statement
        var isSecureConnections: Bool
        var model: AssociationModel
        /// Size of the key in octets.
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

        /// The properties of the key that encrypts the link.
        var keyProperties: KeyProperties {
            KeyProperties(
                isAuthenticated: model.isAuthenticated, isSecureConnections: isSecureConnections, size: keySize)
        }
    }

    /// What a passkey is used for.
    enum PasskeyUse {
        case legacy(Agreement)
        case secureConnections(SharedSecret)
    }

    /// Legacy pairing after this side has generated its random value.
    struct LegacyExchange {
        var agreement: Agreement
        /// From the passkey, from out-of-band data, or zero.
        var temporaryKey: Key128
        var random: Key128
    }

    struct KeyPair {
        /// 32 octets, most significant first.
        var privateKey: [UInt8]
        var publicKey: P256PublicKey
    }

    /// Secure Connections after the Diffie-Hellman key has been computed.
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

    /// How a man in the middle is detected.
    enum Proof {
        case none
        case comparison
        case outOfBand
        /// Twenty rounds, one for each bit; `round` of them are complete.
        case passkey(Key128, round: Int)
    }

    /// The nonces of both sides.
    struct Nonces {
        var round: Round
        var local: Key128
        var peer: Key128
    }

    /// The keys that are derived from the nonces and the secret.
    struct DerivedKeys {
        var nonces: Nonces
        var macKey: Key128
        var longTermKey: Key128
    }

    /// The keys that both sides distribute on the encrypted link.
    struct Distribution {
        var agreement: Agreement
        var outcome: PairingOutcome
        /// The PDUs that this side must still send.
        var unsent: [SMPPacket] = []
        /// The PDUs that the peer must still send, in order.
        var missing: [SMPOpcode]
    }
}
