import BLEPackets

/// How a link is encrypted, and what that is worth.
extension LinkSecurityMachine {
    /// How long the controllers may take to change a key: their own limit is 40 s (Core 5.4, Vol 6, Part B, 5.2).
    private static let encryptionTimeout: Microseconds = .seconds(45)

    /// How a change of the key ended.
    struct EncryptionEnd: Equatable {
        var isGood: Bool
        /// Why it is not.
        var status: HCIStatus
        /// Whether the link was encrypted and is not any more: who took it for encrypted must not go on in the clear.
        var isInDoubt = false
    }

    /// The central encrypts the link, or changes its key.
    mutating func encrypt(
        with key: LongTermKey, _ properties: KeyProperties, at now: Instant, into effects: inout Effects
    ) {
        beginChange(to: properties, at: now)
        switch gate {
        case .closed: gate = .closed(nil)
        case .weak: gate = .weak(nil)
        case .open, .proven: break
        }
        effects.commands.append(
            LEEnableEncryption(
                connectionHandle: id.handle, randomNumber: key.randomNumber,
                encryptedDiversifier: key.encryptedDiversifier, longTermKey: key.key),
            purpose: .link(id, .encrypt))
    }

    private mutating func beginChange(to key: KeyProperties, at now: Instant) {
        encryption = .changing(key, deadline: now.advanced(by: Self.encryptionTimeout), from: lastKey)
    }

    /// The central encrypts the link and the peripheral's key is wanted (Core 5.4, Vol 4, Part E, 7.7.65.5).
    /// - Returns: whether there is one.
    mutating func answer(
        _ wanted: LELongTermKeyRequest, _ bonds: Bonds, at now: Instant, into effects: inout Effects
    ) -> Bool {
        guard let (key, properties) = key(for: wanted, bonds) else { return false }
        beginChange(to: properties, at: now)
        effects.commands.append(
            LELongTermKeyRequestReply(connectionHandle: id.handle, longTermKey: key),
            purpose: .link(id, .replyWithKey))
        return true
    }

    private func key(for wanted: LELongTermKeyRequest, _ bonds: Bonds) -> (Key128, KeyProperties)? {
        guard role == .peripheral else { return nil }
        if let awaited = machine?.awaitedKey {
            // What pairing leads to has neither diversifier nor random number.
            return wanted.randomNumber == 0 && wanted.encryptedDiversifier == 0 ? awaited : nil
        }
        guard let bond = bonds.bond(for: identity), let key = bond.localKey, key.answers(wanted) else { return nil }
        return (key.key, bond.keyProperties)
    }

    /// A central with a legacy bond names its key: where several bonds have its resolving key, that tells which it is.
    /// - Returns: who it is, where that was not known.
    mutating func adoptIdentity(namedBy wanted: LELongTermKeyRequest, _ bonds: Bonds) -> DeviceAddress? {
        guard role == .peripheral, !isPairing,
            let named = bonds.identity(naming: wanted, behind: peerAddress, takenFor: identity)
        else { return nil }
        identity = named
        return named
    }

    /// The controllers are done with a change, well or not.
    /// - Parameter hasBegun: whether the controllers were at it at all: a command that was refused leaves the old key.
    /// - Returns: `nil` where that changes nothing.
    mutating func encryptionEnded(
        isOn: Bool, status: HCIStatus, hasBegun: Bool, into effects: inout Effects
    ) -> EncryptionEnd? {
        // A success that leaves the link plain is none.
        var end = EncryptionEnd(
            isGood: isOn && status.isSuccess,
            status: isOn || !status.isSuccess ? status : .encryptionModeNotAcceptable)
        switch encryption {
        case .changing(let key, _, let old):
            // What the old key protected, as answers that were held meanwhile, is not for a weaker one.
            if let old, end.isGood, key.isWeaker(than: old) {
                end = EncryptionEnd(isGood: false, status: .insufficientSecurity)
            }
            let left = hasBegun ? nil : old
            encryption = end.isGood ? .on(key) : left.map { .on($0) } ?? .off
            end.isInDoubt = !end.isGood && old != nil && left == nil
        case .on where !end.isGood:
            encryption = .off
            end.isInDoubt = true
        // No key was given here: a link that claims to be encrypted all the same is treated as a plain one.
        case .on, .off:
            effects.counters.unexpectedEvents &+= 1
            return nil
        }
        if !end.isGood || isRequestMet { request = nil }
        return end
    }

    /// The key that encrypts the link is a bond's from now on.
    mutating func bondMade(_ new: DeviceAddress) {
        identity = new
        if case .on(var key) = encryption {
            key.isOfBond = true
            encryption = .on(key)
        }
        // A gate that a weak key has left closed opens as well.
        if case .weak(let failure) = gate { gate = .closed(failure) }
    }

    // MARK: Lost

    /// What an end of the link says of the proof that was under way; `nil` where there was none, or the link ended as
    /// any link may.
    func failure(ofProofEndedBy reason: DisconnectionReason) -> SecurityFailure? {
        guard isGated, isChanging, case .controller(let status) = reason else { return nil }
        return Self.failure(ofProofEndedBy: status)
    }

    /// What the end of a link says whose bond's key was being tried.
    static func failure(ofProofEndedBy status: HCIStatus) -> SecurityFailure? {
        switch status {
        // With another key the first encrypted packet is not understood.
        case .pinOrKeyMissing, .authenticationFailure, .connectionTerminatedDueToMICFailure: .keyMissingAtPeer
        case .connectionTimeout, .connectionTerminatedByLocalHost, .connectionFailedToBeEstablished: nil
        default: .encryptionFailed(status)
        }
    }
}
