import BLEPackets

/// Signed writes: a signature replaces encryption (Core 5.4, Vol 3, Part C, 10.4; Part H, 2.4.5).
extension Bonds {
    /// Octets of the authentication code in a signature; the four octets of the counter come before it.
    private static let codeLength = 8
    private static let counterLength = 4
    /// How many changed bonds may wait for the owner.
    private static let unkeptBondLimit = 1024

    // MARK: As a client

    /// Has the crypto provider sign a write to a bonded device.
    /// - Returns: `false` if there is no counter left to sign with.
    mutating func sign(
        _ handle: AttributeHandle, _ value: [UInt8], for identity: DeviceAddress, on link: LinkID,
        operation: OperationID, client: ClientID, into effects: inout Effects
    ) -> Bool {
        guard hasCryptoProvider, var bond = bond(for: identity), let key = bond.localSigningKey else { return false }
        if signingNumbers.setAside(in: &bond) { update(bond, into: &effects) }
        // The counter is used up whether or not the write is sent.
        guard let counter = signingNumbers.next(for: bond) else { return false }
        var message = PacketWriter()
        message.write(ATTOpcode.signedWriteCommand.rawValue)
        message.write(handle.rawValue)
        message.write(bytes: value)
        let function = SecurityFunction.signature(
            key: key.key.mostSignificantOctets, message: message.bytes, counter: counter)
        effects.cryptoRequests.ask(
            function.request,
            for: .signature(link, operation, client, message: message.bytes, counter: counter))
        return true
    }

    /// Whether writes to a device can be signed.
    func canSign(for identity: DeviceAddress) -> Bool {
        hasCryptoProvider && bond(for: identity)?.localSigningKey != nil
    }

    /// There is a link to a device that signed writes were sent to before: reserves the first counters of this run
    /// before clients get the event of the link, so that the store has them by then.
    mutating func setSigningNumbersAside(for identity: DeviceAddress, into effects: inout Effects) {
        guard hasCryptoProvider, var bond = bond(for: identity), let key = bond.localSigningKey, key.counter > 0,
            signingNumbers.setAside(in: &bond)
        else { return }
        update(bond, into: &effects)
    }

    /// - Returns: the PDU with its signature; `nil` if the crypto provider failed.
    func signedPDU(_ message: [UInt8], counter: UInt32, _ result: CryptoResult) -> [UInt8]? {
        guard case .octets(let code) = result, code.count == 16 else { return nil }
        var packet = PacketWriter()
        packet.write(bytes: message)
        packet.write(counter)
        packet.write(bytes: code.prefix(Self.codeLength).reversed())
        return packet.bytes
    }

    // MARK: As a server

    /// Has the crypto provider compute the expected signature of a write.
    /// - Returns: `false` if the write is refused without that.
    func verify(_ pdu: [UInt8], from identity: DeviceAddress, on link: LinkID, into effects: inout Effects) -> Bool {
        guard hasCryptoProvider, let key = bond(for: identity)?.peerSigningKey,
            pdu.count >= 3 + ATTSignedWriteCommand.signatureLength
        else { return false }
        let message = [UInt8](pdu.dropLast(ATTSignedWriteCommand.signatureLength))
        let counter = pdu.dropLast(Self.codeLength).suffix(Self.counterLength).reversed().reduce(0 as UInt32) {
            $0 << 8 | UInt32($1)
        }
        // A lower counter may be a replay of an overheard write.
        guard counter >= key.counter, counter < UInt32.max else { return false }
        // Each write is reported behind the bond change that forbids its counter a second time, and only after the
        // store has that change. The number of changes that wait for a slow store is limited.
        guard effects.events.changedBonds < Self.unkeptBondLimit else { return false }
        let function = SecurityFunction.signature(
            key: key.key.mostSignificantOctets, message: message, counter: counter)
        effects.cryptoRequests.ask(function.request, for: .verification(link, pdu: pdu, counter: counter))
        return true
    }

    /// Compares the expected signature of a write with the received one, and marks its counter as used.
    /// - Returns: the write as a command without signature; `nil` if the signature is not valid.
    mutating func verified(
        _ pdu: [UInt8], counter: UInt32, from identity: DeviceAddress, _ result: CryptoResult,
        into effects: inout Effects
    ) -> [UInt8]? {
        guard var bond = bond(for: identity), let key = bond.peerSigningKey, case .octets(let code) = result,
            code.count == 16, counter >= key.counter,
            isEqualInConstantTime(code.prefix(Self.codeLength).reversed(), [UInt8](pdu.suffix(Self.codeLength)))
        else { return nil }
        bond.peerSigningKey?.counter = counter + 1
        update(bond, into: &effects)
        var command = [UInt8](pdu.dropLast(ATTSignedWriteCommand.signatureLength))
        command[0] = ATTOpcode.writeCommand.rawValue
        return command
    }
}
