import BLEPackets

/// The hosts' side of encryption (Core 5.4, Vol 4, Part E, 7.8.22 to 7.8.26).
extension SimulatedController {
    func leEncrypt(_ command: LEEncrypt) -> LEEncrypt.ReturnParameters {
        .init(ciphertext: BlockCipher.encrypt(command.plaintext, key: command.key))
    }

    func leRand(_ command: LERand) -> LERand.ReturnParameters { .init(randomNumber: generator.next()) }

    func leLongTermKeyRequestReply(_ command: LELongTermKeyRequestReply) -> LELongTermKeyRequestReply.ReturnParameters {
        .init(
            status: answerKeyRequest(on: command.connectionHandle, with: command.longTermKey),
            connectionHandle: command.connectionHandle)
    }

    func leLongTermKeyRequestNegativeReply(
        _ command: LELongTermKeyRequestNegativeReply
    ) -> LELongTermKeyRequestNegativeReply.ReturnParameters {
        .init(
            status: answerKeyRequest(on: command.connectionHandle, with: nil),
            connectionHandle: command.connectionHandle)
    }

    func leEnableEncryption(_ command: LEEnableEncryption) -> HCIStatus {
        guard let position = position(of: command.connectionHandle) else { return .unknownConnectionIdentifier }
        let end = ends[position]
        guard end.side == .central, end.link.encryption.attempt == nil else { return .commandDisallowed }
        air.encrypt(
            end.link, with: command.longTermKey, randomNumber: command.randomNumber,
            encryptedDiversifier: command.encryptedDiversifier)
        return .success
    }

    private func answerKeyRequest(on handle: ConnectionHandle, with key: Key128?) -> HCIStatus {
        guard let position = position(of: handle) else { return .unknownConnectionIdentifier }
        guard ends[position].isKeyRequested else { return .commandDisallowed }
        ends[position].isKeyRequested = false
        air.begin(.encryptionReply(key), on: ends[position].link)
        return .success
    }

    // MARK: Reports of the link layer

    func keyRequested(for attempt: LinkEncryption.Attempt, on link: AirLink) -> KeyAnswer {
        // A host that has masked the event cannot supply a key (Core 5.4, Vol 6, Part B, 5.1.3.1).
        guard let position = position(of: link), isOn(.leMeta), settings.leEventMask.contains(.longTermKeyRequest)
        else { return .missing }
        ends[position].isKeyRequested = true
        send(
            le: LELongTermKeyRequest(
                connectionHandle: ends[position].handle, randomNumber: attempt.randomNumber,
                encryptedDiversifier: attempt.encryptedDiversifier))
        return .later
    }

    func encryptionChanged(on link: AirLink, status: HCIStatus, isRefresh: Bool) {
        guard let position = position(of: link) else { return }
        let handle = ends[position].handle
        if settings.hasPageTwo, faults.pageTwoMutesEncryption { return }
        if isRefresh {
            guard isOn(.encryptionKeyRefreshComplete) else { return }
            send(event: EncryptionKeyRefreshComplete(status: status, connectionHandle: handle))
        } else if settings.eventMaskPage2.contains(.encryptionChangeV2) {
            // A controller does not know the effective size of a key.
            send(
                event: EncryptionChangeV2(
                    status: status, connectionHandle: handle, state: status.isSuccess ? .on : .off,
                    keySize: status.isSuccess ? 16 : 0))
        } else if isOn(.encryptionChange) {
            send(
                event: EncryptionChange(
                    status: status, connectionHandle: handle, state: status.isSuccess ? .on : .off))
        }
    }
}
