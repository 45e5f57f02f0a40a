import BLEPackets

/// Encryption of a link: the keys of both hosts are compared (Core 5.4, Vol 6, Part B, 5.1.3).
extension SimulatedAir {
    /// How long a control procedure may take (Core 5.4, Vol 6, Part B, 5.2).
    private static let procedureTimeout: Int64 = 40_000_000

    /// Starts the encryption of a link, or changes its key.
    func encrypt(_ link: AirLink, with key: Key128, randomNumber: UInt64, encryptedDiversifier: UInt16) {
        link.encryption.attempts &+= 1
        let number = link.encryption.attempts
        link.encryption.attempt = .init(
            key: key, randomNumber: randomNumber, encryptedDiversifier: encryptedDiversifier, number: number)
        begin(.encryptionRequest, on: link)
        after(Self.procedureTimeout) { [unowned self] in
            guard link.isOpen, link.encryption.attempt?.number == number else { return }
            close(link, reason: .llResponseTimeout, peerReason: .llResponseTimeout, by: .central)
        }
    }

    func requestKey(for link: AirLink, of peripheral: any AirStation) {
        guard let attempt = link.encryption.attempt, let central = station(link.central) else { return }
        guard peripheral.capabilities.features.contains(.encryption) else {
            link.encryption.attempt = nil
            central.encryptionChanged(on: link, status: .unsupportedRemoteFeature, isRefresh: false)
            return
        }
        switch peripheral.keyRequested(for: attempt, on: link) {
        case .key(let key): begin(.encryptionReply(key), on: link)
        case .missing: begin(.encryptionReply(nil), on: link)
        case .later: break
        }
    }

    func settleEncryption(of link: AirLink, key: Key128?) {
        guard let attempt = link.encryption.attempt, let central = station(link.central),
            let peripheral = station(link.peripheral)
        else { return }
        let isRefresh = link.encryption.key != nil
        guard let key else {
            // A link whose encryption was paused does not continue without encryption.
            guard !isRefresh else {
                return close(link, reason: .pinOrKeyMissing, peerReason: .pinOrKeyMissing, by: .peripheral)
            }
            link.encryption.attempt = nil
            central.encryptionChanged(on: link, status: .pinOrKeyMissing, isRefresh: false)
            return
        }
        guard key == attempt.key else {
            let reason = HCIStatus.connectionTerminatedDueToMICFailure
            return close(link, reason: reason, peerReason: reason, by: .peripheral)
        }
        link.encryption.attempt = nil
        link.encryption.key = key
        central.encryptionChanged(on: link, status: .success, isRefresh: isRefresh)
        peripheral.encryptionChanged(on: link, status: .success, isRefresh: isRefresh)
    }
}
