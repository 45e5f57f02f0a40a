import BLEHost
import BLEPackets

/// Steps about pairing, bonds and encryption, on two links: one on which the engine is the central, and one on which it
/// is the peripheral.
extension FuzzedHost {
    mutating func securityStep(_ input: inout FuzzInput) {
        switch input.byte() % 16 {
        case 0, 1: receive(Self.data(input.counted(), channel: 6, handle: Self.centralHandle))
        case 2: receive(Self.data(input.counted(), channel: 6, handle: Self.peripheralHandle))
        case 3, 4, 5:
            let code = input.byte()
            let handle = code & 0x80 == 0 ? Self.centralHandle : Self.peripheralHandle
            receive(Self.data(pairingPDU(code & 0x0F, &input), channel: 6, handle: handle))
        case 6: encryption(&input)
        case 7: pair(&input)
        case 8: answerPairing(&input)
        case 9: submit(.security(.setSecurity(Self.settings(&input))))
        case 10: answerCryptoProvider(&input)
        case 11: submitSecurityCommand(&input)
        case 12: advance(by: Int64(input.word()) * 1000)
        default: step(&input, .central)
        }
    }

    private func home(_ flags: UInt8) -> UInt16 { flags & 1 == 0 ? Self.centralHandle : Self.peripheralHandle }

    /// A PDU with this code, as long as it has to be, and with the values that the crypto provider computes.
    private func pairingPDU(_ code: UInt8, _ input: inout FuzzInput) -> [UInt8] {
        switch code {
        case 0x01, 0x02:
            let (io, flags, size) = (input.byte() % 5, input.byte(), input.byte())
            return [code, io, flags >> 7, flags & 0x3F, 7 + size % 10, input.byte(), input.byte()]
        case 0x03, 0x04, 0x06, 0x08, 0x0A, 0x0D: return [code] + [UInt8](repeating: cryptoProvider.octet, count: 16)
        case 0x05, 0x0B, 0x0E: return [code, input.byte()]
        case 0x07: return [code] + [UInt8](repeating: cryptoProvider.octet, count: 10)
        case 0x09: return [code, 0x01] + Self.peer(Int(input.byte() % 4)).octets
        // Another key than the engine's own.
        case 0x0C: return [code] + [UInt8](repeating: cryptoProvider.octet &+ 1, count: 64)
        default: return [code] + input.counted()
        }
    }

    private mutating func encryption(_ input: inout FuzzInput) {
        let flags = input.byte()
        let handle = ConnectionHandle(rawValue: home(flags))
        let status = HCIStatus(rawValue: flags & 2 == 0 ? 0 : input.byte())
        switch flags >> 2 & 3 {
        case 0:
            receive(
                FuzzedController.packet(
                    LELongTermKeyRequest(connectionHandle: handle, randomNumber: 0, encryptedDiversifier: 0)))
        case 1:
            // The numbers of a key that the crypto provider made.
            let octet = UInt64(cryptoProvider.octet)
            receive(
                FuzzedController.packet(
                    LELongTermKeyRequest(
                        connectionHandle: handle, randomNumber: octet &* 0x0101_0101_0101_0101,
                        encryptedDiversifier: UInt16(octet) &* 0x0101)))
        case 2:
            let isOn = flags & 0x10 == 0
            controller.encryptionChanged(handle.rawValue, isOn: isOn && status.isSuccess)
            receive(
                FuzzedController.packet(
                    EncryptionChange(
                        status: status, connectionHandle: handle, state: EncryptionState(rawValue: isOn ? 1 : 0))))
        default:
            controller.encryptionChanged(handle.rawValue, isOn: status.isSuccess)
            receive(
                FuzzedController.packet(EncryptionKeyRefreshComplete(status: status, connectionHandle: handle)))
        }
    }

    private mutating func pair(_ input: inout FuzzInput) {
        let choice = input.byte()
        guard let link = pick(links, choice >> 4) else { return }
        let handle = AttributeHandle(rawValue: UInt16(choice & 0x1F))
        switch choice % 6 {
        case 0: submit(.security(.pair(link, nil)))
        case 1, 2: submit(.security(.pair(link, Self.options(&input))))
        case 3: submit(.security(.encrypt(link)))
        case 4: submit(.link(link, .gatt(.read(handle))))
        default: submit(.link(link, .gatt(.writeSigned(handle, value: input.counted()))))
        }
    }

    private mutating func answerPairing(_ input: inout FuzzInput) {
        let choice = input.byte()
        guard let question = pick(pairingQuestions, choice >> 4) else { return }
        switch choice % 4 {
        case 0: submit(.security(.answerPairing(question, .confirm(true))))
        case 1: submit(.security(.answerPairing(question, .confirm(false))))
        case 2: submit(.security(.answerPairing(question, .passkey(UInt32(input.word()) * 16))))
        default: submit(.security(.answerPairing(question, .cancel)))
        }
    }

    /// How the crypto provider works from now on, or the answer to a question that was delayed.
    private mutating func answerCryptoProvider(_ input: inout FuzzInput) {
        let choice = input.byte()
        switch choice % 6 {
        case 0: cryptoProvider.isHeld = true
        case 1: answerHeldQuestions()
        case 2: cryptoProvider.octet = input.byte()
        default:
            guard !heldQuestions.isEmpty else { return }
            let question = heldQuestions.remove(at: heldQuestions.count - 1 - Int(choice >> 4) % heldQuestions.count)
            let result: CryptoResult =
                switch choice % 6 {
                case 3: cryptoProvider.answer(question.request)
                case 4: .octets(input.counted())
                default: .failure(choice & 0x80 == 0 ? .unavailable : .invalidPublicKey)
                }
            apply { $0.answer(question.id, with: result, at: $1) }
        }
    }

    private static func options(_ input: inout FuzzInput) -> PairingOptions {
        let flags = input.byte()
        var options = PairingOptions(
            ioCapability: IOCapability(rawValue: input.byte() % 5) ?? .noInputNoOutput, isBonding: flags & 1 == 0,
            requiresAuthentication: flags & 2 != 0, allowsSecureConnections: flags & 4 == 0,
            requiresSecureConnections: flags & 8 != 0, passkey: flags & 16 == 0 ? nil : 123_456,
            asksConsent: flags & 32 != 0)
        if flags & 64 != 0 {
            options.minimumKeySize = input.byte()
            options.maximumKeySize = input.byte()
            options.initiatorKeys = KeyDistribution(rawValue: input.byte())
            options.responderKeys = KeyDistribution(rawValue: input.byte())
        }
        return options
    }

    private static func settings(_ input: inout FuzzInput) -> SecuritySettings {
        let flags = input.byte()
        var settings = SecuritySettings()
        settings.pairing = options(&input)
        settings.pairsOnDemand = flags & 1 == 0
        settings.encryptsAtConnection = flags & 2 == 0
        settings.requestsSecurity = flags & 4 != 0
        settings.acceptsPairing = flags & 8 == 0
        settings.followsSecurityRequests = flags & 16 == 0
        if flags & 32 != 0 { settings.identityResolvingKey = Key128(rawValue: UInt128(flags)) }
        return settings
    }
}
