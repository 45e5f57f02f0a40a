import BLEPackets

/// The keys that both sides distribute on the encrypted link: the responder first, the keys in a fixed order (Core 5.4,
/// Vol 3, Part H, 3.6.1). Only the features decide: even a peer that stores no bond waits for our keys.
extension PairingMachine {
    /// Octets of random data for a long term key, its EDIV and Rand, and a signing key.
    private static let drawnOctets = 16 + 2 + 8 + 16

    mutating func beginDistribution(_ agreement: Agreement, linkKey: Key128, _ now: Instant) {
        var outcome = PairingOutcome(agreement, capability: setup.options.ioCapability)
        if agreement.isSecureConnections {
            outcome.localKey = LongTermKey(key: linkKey)
            outcome.peerKey = outcome.localKey
        }
        let fromPeer = isInitiator ? agreement.keysOfResponder : agreement.keysOfInitiator
        var missing: [SMPOpcode] = []
        if fromPeer.contains(.encryption) { missing += [.encryptionInformation, .centralIdentification] }
        if fromPeer.contains(.identity) { missing += [.identityInformation, .identityAddressInformation] }
        if fromPeer.contains(.signing) { missing.append(.signingInformation) }
        let distribution = Distribution(agreement: agreement, outcome: outcome, missing: missing)
        if localKeys(agreement).isDisjoint(with: [.encryption, .signing]) {
            give(distribution, now)
        } else {
            ask(.random(count: Self.drawnOctets), for: .distribution(distribution))
        }
    }

    private func localKeys(_ agreement: Agreement) -> KeyDistribution {
        isInitiator ? agreement.keysOfInitiator : agreement.keysOfResponder
    }

    mutating func keysDrawn(_ octets: [UInt8], _ distribution: Distribution, _ now: Instant) {
        guard octets.count == Self.drawnOctets, let key = Key128(mostSignificantFirst: [UInt8](octets.prefix(16))),
            let signingKey = Key128(mostSignificantFirst: [UInt8](octets.suffix(16)))
        else { return cryptoFailed() }
        var distribution = distribution
        let keys = localKeys(distribution.agreement)
        if keys.contains(.encryption) {
            // If Rand and EDIV were zero, a link layer would take the key for one of Secure Connections.
            let diversifier = octets[16..<18].reduce(0 as UInt16) { $0 << 8 | UInt16($1) }
            let number = octets[18..<26].reduce(0 as UInt64) { $0 << 8 | UInt64($1) } | 1
            let short = key.shortened(to: distribution.agreement.keySize)
            distribution.outcome.localKey = LongTermKey(
                key: short, encryptedDiversifier: diversifier, randomNumber: number)
            distribution.unsent.append(.encryptionInformation(short))
            distribution.unsent.append(.centralIdentification(encryptedDiversifier: diversifier, randomNumber: number))
        }
        if keys.contains(.signing) { distribution.outcome.localSigningKey = SigningKey(key: signingKey) }
        give(distribution, now)
    }

    /// All keys of this side have been generated.
    private mutating func give(_ distribution: Distribution, _ now: Instant) {
        var distribution = distribution
        if localKeys(distribution.agreement).contains(.identity), let identity = setup.localIdentity {
            distribution.unsent.append(.identityInformation(identity.resolvingKey))
            distribution.unsent.append(.identityAddressInformation(identity.address))
        }
        if let key = distribution.outcome.localSigningKey { distribution.unsent.append(.signingInformation(key.key)) }
        if !isInitiator { send(&distribution.unsent, now) }
        proceed(distribution, now)
    }

    private mutating func send(_ keys: inout [SMPPacket], _ now: Instant) {
        for key in keys { send(key, at: now) }
        keys.removeAll()
    }

    private mutating func proceed(_ distribution: Distribution, _ now: Instant) {
        guard distribution.missing.isEmpty else { return expect(.key(distribution)) }
        var distribution = distribution
        send(&distribution.unsent, now)
        end(.finished(distribution.outcome))
    }

    mutating func keyReceived(_ packet: SMPPacket, _ distribution: Distribution, _ now: Instant) {
        var distribution = distribution
        guard packet.opcode == distribution.missing.first else { return pduOutOfTurn() }
        distribution.missing.removeFirst()
        switch packet {
        case .encryptionInformation(let key):
            // A key of zeros is known to everyone.
            guard key != .zero else { return fail(.keyRejected) }
            distribution.outcome.peerKey = LongTermKey(key: key)
        case .centralIdentification(let diversifier, let number):
            distribution.outcome.peerKey?.encryptedDiversifier = diversifier
            distribution.outcome.peerKey?.randomNumber = number
        case .identityInformation(let key):
            distribution.outcome.identityResolvingKey = key == .zero ? nil : key
        case .identityAddressInformation(let address):
            guard address.isPossibleIdentity else { return fail(.invalidParameters) }
            // A peer with our identity would get what belongs to us.
            guard address != setup.localIdentity?.address, address != localAddress.withoutIdentityMark else {
                return fail(.keyRejected)
            }
            distribution.outcome.identity = address
        // A key of zeros does not count as a key: any device can sign with it.
        case .signingInformation(let key):
            distribution.outcome.peerSigningKey = key == .zero ? nil : SigningKey(key: key)
        case .pairingRequest, .pairingResponse, .pairingConfirm, .pairingRandom, .pairingFailed, .securityRequest,
            .pairingPublicKey, .pairingDHKeyCheck, .keypressNotification:
            return pduOutOfTurn()
        }
        proceed(distribution, now)
    }
}

extension PairingMachine.Agreement {
    fileprivate var keysOfInitiator: KeyDistribution {
        keys(of: initiator.features.initiatorKeys.intersection(responder.features.initiatorKeys))
    }

    fileprivate var keysOfResponder: KeyDistribution {
        keys(of: initiator.features.responderKeys.intersection(responder.features.responderKeys))
    }

    /// The keys that exist, of those that both sides named.
    private func keys(of named: KeyDistribution) -> KeyDistribution {
        isSecureConnections ? named.subtracting([.link, .encryption]) : named.subtracting(.link)
    }
}

extension DeviceAddress {
    /// Whether a device can have this identity address: public or static random, and neither all zeros nor all ones
    /// (Core 5.4, Vol 6, Part B, 1.3).
    fileprivate var isPossibleIdentity: Bool {
        guard isRandom else { return value != 0 && value != 0xFFFF_FFFF_FFFF }
        return randomKind == .static && value != 0xC000_0000_0000 && value != 0xFFFF_FFFF_FFFF
    }
}
