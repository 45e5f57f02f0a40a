import BLEPackets

/// Encryption of a link, and what it proves.
extension LinkSecurityMachine {
    /// How long the controllers may take to change a key: their own timeout is 40 s (Core 5.4, Vol 6, Part B, 5.2).
    private static let encryptionTimeout: Microseconds = .seconds(45)

    /// How a change of the key ended.
    struct EncryptionEnd: Equatable {
        var isGood: Bool
        /// Why the link is not encrypted with the new key.
        var status: HCIStatus
        /// Whether the link has lost its encryption: code that relied on it must not continue unencrypted.
        var isInDoubt = false
    }

    /// As the central, encrypts the link or changes its key.
    mutating func encrypt(with key: LongTermKey, _ properties: KeyProperties, into effects: inout Effects) {
        beginChange(to: properties, at: effects.now)
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

    /// The central encrypts the link, and the controller asks for the peripheral's key (Core 5.4, Vol 4, Part E,
    /// 7.7.65.5).
    /// - Returns: whether there is such a key.
    mutating func answer(_ wanted: LELongTermKeyRequest, _ bonds: Bonds, into effects: inout Effects) -> Bool {
        guard let (key, properties) = key(for: wanted, bonds) else { return false }
        beginChange(to: properties, at: effects.now)
        if Features.pairing { continuePairing { $0.encryptionBegan() } }
        effects.commands.append(
            LELongTermKeyRequestReply(connectionHandle: id.handle, longTermKey: key),
            purpose: .link(id, .replyWithKey))
        return true
    }

    private func key(for wanted: LELongTermKeyRequest, _ bonds: Bonds) -> (Key128, KeyProperties)? {
        guard role == .peripheral else { return nil }
        if let awaited = machine?.awaitedKey {
            // Keys of a pairing in progress have EDIV and Rand of zero.
            return wanted.randomNumber == 0 && wanted.encryptedDiversifier == 0 ? awaited : nil
        }
        guard let bond = bonds.bond(for: identity), let key = bond.localKey, key.answers(wanted) else { return nil }
        return (key.key, bond.keyProperties)
    }

    /// A central with a legacy bond names its key: if several bonds have its resolving key, the named key decides
    /// between them.
    /// - Returns: the identity, if it was not known before.
    mutating func adoptIdentity(namedBy wanted: LELongTermKeyRequest, _ bonds: Bonds) -> DeviceAddress? {
        guard role == .peripheral, !isPairing,
            let named = bonds.identity(naming: wanted, behind: peerAddress, takenFor: identity)
        else { return nil }
        identity = named
        return named
    }

    /// The controllers have completed a change, or failed to.
    /// - Parameter hasBegun: whether the controllers had started at all: after a refused command the old key remains in
    ///   use.
    /// - Returns: `nil` if nothing changes.
    mutating func encryptionEnded(
        isOn: Bool, status: HCIStatus, hasBegun: Bool, into effects: inout Effects
    ) -> EncryptionEnd? {
        // A success that leaves the link unencrypted counts as a failure.
        var end = EncryptionEnd(
            isGood: isOn && status.isSuccess,
            status: isOn || !status.isSuccess ? status : .encryptionModeNotAcceptable)
        switch encryption {
        case .changing(let key, _, let old):
            // What the old key protected, such as answers that were postponed, must not be sent under a weaker one.
            if let old, end.isGood, key.isWeaker(than: old) {
                end = EncryptionEnd(isGood: false, status: .insufficientSecurity)
            }
            let left = hasBegun ? nil : old
            encryption = end.isGood ? .on(key) : left.map { .on($0) } ?? .off
            end.isInDoubt = !end.isGood && old != nil && left == nil
        case .on where !end.isGood:
            encryption = .off
            end.isInDoubt = true
        // This side gave no key: a link that is reported as encrypted anyway is treated as unencrypted.
        case .on, .off:
            effects.counters.unexpectedEvents &+= 1
            return nil
        }
        if !end.isGood || isRequestMet { request = nil }
        return end
    }

    /// The key that encrypts the link now belongs to a bond.
    mutating func bondMade(_ new: DeviceAddress) {
        identity = new
        if case .on(var key) = encryption {
            key.isOfBond = true
            encryption = .on(key)
        }
        // This also opens a gate that was closed because of a weak key.
        if case .weak(let failure) = gate { gate = .closed(failure) }
    }

    // MARK: Lost

    /// What the end of the link says about the proof in progress; `nil` if there was none, or if the link ended for an
    /// ordinary reason.
    func failure(ofProofEndedBy reason: DisconnectionReason) -> SecurityFailure? {
        guard isGated, isChanging, case .controller(let status) = reason else { return nil }
        return Self.failure(ofProofEndedBy: status)
    }

    /// What the reason for the end of a link says about the bond's key that was being tried.
    static func failure(ofProofEndedBy status: HCIStatus) -> SecurityFailure? {
        switch status {
        // If the peer has another key, it cannot decrypt the first encrypted packet.
        case .pinOrKeyMissing, .authenticationFailure, .connectionTerminatedDueToMICFailure: .keyMissingAtPeer
        case .connectionTimeout, .connectionTerminatedByLocalHost, .connectionFailedToBeEstablished: nil
        default: .encryptionFailed(status)
        }
    }
}
