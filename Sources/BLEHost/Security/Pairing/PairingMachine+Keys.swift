import BLEPackets

/// What both sides give each other on the encrypted link: the responder first, each key in its turn
/// (Core 5.4, Vol 3, Part H, 3.6.1). The features alone decide: a peer that keeps no bond waits for our keys all the same.
extension PairingMachine {
    private var initiatorGives: KeyDistribution { agreed { $0.initiatorKeys } }
    private var responderGives: KeyDistribution { agreed { $0.responderKeys } }
    private var localGives: KeyDistribution { isInitiator ? initiatorGives : responderGives }
    private var peerGives: KeyDistribution { isInitiator ? responderGives : initiatorGives }

    /// Keys that both sides named, and that there are.
    private func agreed(_ keys: (PairingFeatures) -> KeyDistribution) -> KeyDistribution {
        guard let initiator = initiatorFeatures, let responder = responderFeatures else { return [] }
        var both = keys(initiator).intersection(keys(responder))
        both.remove(.link)
        if isSecureConnections { both.remove(.encryption) }
        return both
    }

    mutating func beginDistribution(_ now: Instant) {
        if isSecureConnections, let linkKey {
            outcome.localKey = LongTermKey(key: linkKey)
            outcome.peerKey = outcome.localKey
        }
        if peerGives.contains(.encryption) { missingKeys += [.encryptionInformation, .centralIdentification] }
        if peerGives.contains(.identity) { missingKeys += [.identityInformation, .identityAddressInformation] }
        if peerGives.contains(.signing) { missingKeys.append(.signingInformation) }
        if localGives.isDisjoint(with: [.encryption, .signing]) {
            keysDrawn([], now)
        } else {
            ask(.random(count: Self.drawnOctets), for: .distribution)
        }
    }

    /// A long term key, its diversifier and random number, a signing key.
    private static let drawnOctets = 16 + 2 + 8 + 16

    mutating func keysDrawn(_ octets: [UInt8], _ now: Instant) {
        if !octets.isEmpty {
            guard octets.count == Self.drawnOctets, let key = Key128(mostSignificantFirst: [UInt8](octets.prefix(16))),
                let signingKey = Key128(mostSignificantFirst: [UInt8](octets.suffix(16)))
            else { return fail(.unspecifiedReason) }
            if localGives.contains(.encryption) {
                // With Rand and EDIV of zero a link layer takes the key for one of Secure Connections.
                let diversifier = octets[16..<18].reduce(0 as UInt16) { $0 << 8 | UInt16($1) }
                let number = octets[18..<26].reduce(0 as UInt64) { $0 << 8 | UInt64($1) } | 1
                let short = key.shortened(to: keySize)
                outcome.localKey = LongTermKey(key: short, encryptedDiversifier: diversifier, randomNumber: number)
                sentKeys.append(.encryptionInformation(short))
                sentKeys.append(.centralIdentification(encryptedDiversifier: diversifier, randomNumber: number))
            }
            if localGives.contains(.signing) { outcome.localSigningKey = SigningKey(key: signingKey) }
        }
        if localGives.contains(.identity), let identity = setup.localIdentity {
            sentKeys.append(.identityInformation(identity.resolvingKey))
            sentKeys.append(.identityAddressInformation(identity.address))
        }
        if let key = outcome.localSigningKey { sentKeys.append(.signingInformation(key.key)) }
        if !isInitiator { sendKeys(now) }
        continueDistribution(now)
    }

    private mutating func sendKeys(_ now: Instant) {
        for key in sentKeys { send(key, at: now) }
        sentKeys.removeAll()
    }

    private mutating func continueDistribution(_ now: Instant) {
        guard missingKeys.isEmpty else { return expect(.key) }
        sendKeys(now)
        end(.finished(outcome))
    }

    mutating func keyReceived(_ packet: SMPPacket, _ now: Instant) {
        guard packet.opcode == missingKeys.first else { return fail(.unspecifiedReason) }
        missingKeys.removeFirst()
        switch packet {
        case .encryptionInformation(let key):
            // Everybody knows a key of zeros.
            guard key != .zero else { return fail(.keyRejected) }
            outcome.peerKey = LongTermKey(key: key)
        case .centralIdentification(let diversifier, let number):
            outcome.peerKey?.encryptedDiversifier = diversifier
            outcome.peerKey?.randomNumber = number
        case .identityInformation(let key):
            outcome.identityResolvingKey = key == .zero ? nil : key
        case .identityAddressInformation(let address):
            guard address.isPossibleIdentity else { return fail(.invalidParameters) }
            // Whoever says that it is us would have what we are trusted with.
            guard address != setup.localIdentity?.address, address != localAddress.withoutIdentityMark else {
                return fail(.keyRejected)
            }
            outcome.identity = address
        // Anybody can sign with a key of zeros: it is no key.
        case .signingInformation(let key): outcome.peerSigningKey = key == .zero ? nil : SigningKey(key: key)
        default: break
        }
        continueDistribution(now)
    }
}

extension DeviceAddress {
    /// Whether a device can have it for its identity: public or static random, and neither all zeros nor all ones
    /// (Core 5.4, Vol 6, Part B, 1.3).
    fileprivate var isPossibleIdentity: Bool {
        guard isRandom else { return value != 0 && value != 0xFFFF_FFFF_FFFF }
        return randomKind == .static && value != 0xC000_0000_0000 && value != 0xFFFF_FFFF_FFFF
    }
}
