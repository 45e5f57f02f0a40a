import BLEPackets

/// Signed writes: a signature takes the place of encryption (Core 5.4, Vol 3, Part C, 10.4; Part H, 2.4.5).
extension Bonds {
    /// Octets of the code in a signature, behind four of its counter.
    private static let codeLength = 8
    private static let counterLength = 4
    /// Changes of bonds that may wait for the owner.
    private static let unkeptBondLimit = 1024

    // MARK: As a client

    /// Has the toolbox sign a write to a bonded device.
    /// - Returns: `false` where no number is left to sign with.
    mutating func sign(
        _ handle: AttributeHandle, _ value: [UInt8], for identity: DeviceAddress, on link: LinkID,
        operation: OperationID, client: ClientID, into effects: inout Effects
    ) -> Bool {
        guard hasToolbox, var bond = bond(for: identity), let key = bond.localSigningKey else { return false }
        if signingNumbers.setAside(in: &bond) { update(bond, into: &effects) }
        // It is spent whether the write goes out or not.
        guard let counter = signingNumbers.take(from: bond) else { return false }
        var message = PacketWriter()
        message.write(ATTOpcode.signedWriteCommand.rawValue)
        message.write(handle.rawValue)
        message.write(bytes: value)
        let function = SecurityFunction.signature(
            key: key.key.mostSignificantOctets, message: message.bytes, counter: counter)
        effects.desk.ask(
            function.request,
            for: .signature(link, operation, client, message: message.bytes, counter: counter))
        return true
    }

    /// Whether writes to a device can be signed.
    func canSign(for identity: DeviceAddress) -> Bool { hasToolbox && bond(for: identity)?.localSigningKey != nil }

    /// A link to a device to which signed writes went before: the first numbers of this run are set aside before
    /// clients hear of the link, so that the store has them by then.
    mutating func setSigningNumbersAside(for identity: DeviceAddress, into effects: inout Effects) {
        guard hasToolbox, var bond = bond(for: identity), let key = bond.localSigningKey, key.counter > 0,
            signingNumbers.setAside(in: &bond)
        else { return }
        update(bond, into: &effects)
    }

    /// - Returns: the PDU with its signature; `nil` where the toolbox does not do its work.
    func signedPDU(_ message: [UInt8], counter: UInt32, _ result: ToolboxResult) -> [UInt8]? {
        guard case .octets(let code) = result, code.count == 16 else { return nil }
        var packet = PacketWriter()
        packet.write(bytes: message)
        packet.write(counter)
        packet.write(bytes: code.prefix(Self.codeLength).reversed())
        return packet.bytes
    }

    // MARK: As a server

    /// Has the toolbox compute what the signature of a write should be.
    /// - Returns: `false` for a write that is refused without.
    func verify(
        _ pdu: [UInt8], from identity: DeviceAddress, on link: LinkID, into effects: inout Effects
    ) -> Bool {
        guard hasToolbox, let key = bond(for: identity)?.peerSigningKey,
            pdu.count >= 3 + ATTSignedWriteCommand.signatureLength
        else { return false }
        let message = [UInt8](pdu.dropLast(ATTSignedWriteCommand.signatureLength))
        let counter = pdu.dropLast(Self.codeLength).suffix(Self.counterLength).reversed().reduce(0 as UInt32) {
            $0 << 8 | UInt32($1)
        }
        // What was sent before may have been overheard.
        guard counter >= key.counter, counter < UInt32.max else { return false }
        // Each is told behind the number that forbids it a second time, and none before the store has that. A store
        // that does not come forward is not waited for without end.
        guard effects.events.changedBonds < Self.unkeptBondLimit else { return false }
        let function = SecurityFunction.signature(
            key: key.key.mostSignificantOctets, message: message, counter: counter)
        effects.desk.ask(function.request, for: .verification(link, pdu: pdu, counter: counter))
        return true
    }

    /// Compares what the signature of a write should be with what it is, and spends its number.
    /// - Returns: the write as a command without signature; `nil` where that is not believed.
    mutating func verified(
        _ pdu: [UInt8], counter: UInt32, from identity: DeviceAddress, _ result: ToolboxResult,
        into effects: inout Effects
    ) -> [UInt8]? {
        guard var bond = bond(for: identity), let key = bond.peerSigningKey, case .octets(let code) = result,
            code.count == 16, counter >= key.counter,
            isEqualInConstantTime(
                code.prefix(Self.codeLength).reversed(), [UInt8](pdu.suffix(Self.codeLength)))
        else { return nil }
        bond.peerSigningKey?.counter = counter + 1
        update(bond, into: &effects)
        var command = [UInt8](pdu.dropLast(ATTSignedWriteCommand.signatureLength))
        command[0] = ATTOpcode.writeCommand.rawValue
        return command
    }
}
