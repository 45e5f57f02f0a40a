import BLEPackets

/// Signed writes: a signature takes the place of encryption (Core 5.4, Vol 3, Part C, 10.4; Part H, 2.4.5).
extension Host {
    // MARK: As a client

    mutating func writeSigned(
        _ handle: AttributeHandle, _ value: [UInt8], link: Link, operation: OperationID, client: ClientID,
        at now: Instant
    ) {
        if link.security.keyInUse != nil || link.security.isGated {
            // On an encrypted link a signature is not to be used, and nothing goes to a bonded peer on another. There a
            // signature would be no help: it proves us to the peer, not the peer to us.
            link.gatt.start(.writeCommand(handle, value: value), id: operation, client: client, at: now)
            return drainGATT(link, at: now)
        }
        guard configuration.hasToolbox, var bond = bond(of: link), let key = bond.localSigningKey else {
            return effects.complete(operation, .failure(.gatt(.security(.noKey))))
        }
        let limit = Int(link.gatt.mtu) - GATTClient.signedOverhead
        guard value.count <= limit else {
            return effects.complete(operation, .failure(.gatt(.valueTooLong(limit: max(0, limit)))))
        }
        if signingNumbers.setAside(in: &bond) { update(bond) }
        // It is spent whether the write goes out or not.
        guard let counter = signingNumbers.take(from: bond) else {
            return effects.complete(operation, .failure(.gatt(.security(.noKey))))
        }
        var message = PacketWriter()
        message.write(ATTOpcode.signedWriteCommand.rawValue)
        message.write(handle.rawValue)
        message.write(bytes: value)
        let function = SecurityFunction.signature(
            key: key.key.mostSignificantOctets, message: message.bytes, counter: counter)
        effects.desk.ask(
            function.request,
            for: .signature(link.id, operation, client, message: message.bytes, counter: counter))
    }

    /// A link to a device to which signed writes went before: the first numbers of this run are set aside before anybody
    /// hears of the link, so that the store has them by then.
    mutating func setSigningNumbersAside(_ link: Link) {
        guard configuration.hasToolbox, var bond = bond(of: link), let key = bond.localSigningKey, key.counter > 0,
            signingNumbers.setAside(in: &bond)
        else { return }
        update(bond)
    }

    mutating func signatureMade(
        _ result: ToolboxResult, on link: LinkID, operation: OperationID, client: ClientID, message: [UInt8],
        counter: UInt32, at now: Instant
    ) {
        guard let link = links[link] else { return effects.complete(operation, .failure(.gatt(.notConnected))) }
        guard case .octets(let code) = result, code.count == 16 else {
            return effects.complete(operation, .failure(.gatt(.security(.notAvailable))))
        }
        var packet = PacketWriter()
        packet.write(bytes: message)
        packet.write(counter)
        packet.write(bytes: code.prefix(8).reversed())
        link.gatt.startSigned(packet.bytes, id: operation, client: client, at: now)
        drainGATT(link, at: now)
    }

    // MARK: As a server

    /// Changes of bonds that may wait for the owner.
    private static let unkeptBondLimit = 1024

    /// A signed write came; it goes to the server once its signature is proved.
    mutating func signedWriteReceived(_ pdu: [UInt8], link: Link) {
        let codeLength = 8
        let counterOctets = 4
        guard configuration.hasToolbox, link.security.keyInUse == nil, let bond = bond(of: link),
            let key = bond.peerSigningKey, pdu.count >= 3 + ATTSignedWriteCommand.signatureLength
        else { return gattServer.refuseSignedWrite() }
        let message = [UInt8](pdu.dropLast(ATTSignedWriteCommand.signatureLength))
        let counter = pdu.dropLast(codeLength).suffix(counterOctets).reversed().reduce(0 as UInt32) {
            $0 << 8 | UInt32($1)
        }
        // What was sent before, somebody may have heard.
        guard counter >= key.counter, counter < UInt32.max else { return gattServer.refuseSignedWrite() }
        // Each is told behind the number that forbids it a second time, and none before the store has that. A store that
        // does not come forward is not waited for without end.
        guard effects.events.changedBonds < Self.unkeptBondLimit else { return gattServer.refuseSignedWrite() }
        let function = SecurityFunction.signature(
            key: key.key.mostSignificantOctets, message: message, counter: counter)
        effects.desk.ask(function.request, for: .verification(link.id, pdu: pdu, counter: counter))
    }

    mutating func signatureComputed(
        _ result: ToolboxResult, on link: LinkID, pdu: [UInt8], counter: UInt32, at now: Instant
    ) {
        guard let link = links[link], var bond = bond(of: link), let key = bond.peerSigningKey else { return }
        guard case .octets(let code) = result, code.count == 16, counter >= key.counter,
            isEqualInConstantTime(code.prefix(8).reversed(), [UInt8](pdu.suffix(8)))
        else { return gattServer.refuseSignedWrite() }
        bond.peerSigningKey?.counter = counter + 1
        update(bond)
        var command = [UInt8](pdu.dropLast(ATTSignedWriteCommand.signatureLength))
        command[0] = ATTOpcode.writeCommand.rawValue
        gattServer.receiveSigned(command.span.bytes, from: link.id)
        drainServer(at: now)
    }

    // MARK: Out-of-band data

    mutating func outOfBandKeyPairMade(_ result: ToolboxResult, for operation: OperationID) {
        guard case .keyPair(let privateKey, let publicKey) = result else {
            return effects.complete(operation, .failure(.security(.notAvailable)))
        }
        effects.desk.ask(
            .random(count: 16), for: .outOfBandRandom(operation, privateKey: privateKey, publicKey: publicKey))
    }

    mutating func outOfBandRandomDrawn(
        _ result: ToolboxResult, for operation: OperationID, privateKey: [UInt8], publicKey: P256PublicKey
    ) {
        guard case .octets(let octets) = result, let random = Key128(mostSignificantFirst: octets) else {
            return effects.complete(operation, .failure(.security(.notAvailable)))
        }
        let data = LocalOutOfBandData(random: random, confirm: .zero, privateKey: privateKey, publicKey: publicKey)
        effects.desk.ask(
            SecurityFunction.f4(publicKey.x, publicKey.x, key: octets, 0).request,
            for: .outOfBandConfirm(operation, data))
    }

    mutating func outOfBandConfirmComputed(
        _ result: ToolboxResult, for operation: OperationID, _ data: LocalOutOfBandData
    ) {
        guard case .octets(let octets) = result, let confirm = Key128(mostSignificantFirst: octets) else {
            return effects.complete(operation, .failure(.security(.notAvailable)))
        }
        var data = data
        data.confirm = confirm
        effects.complete(operation, .success(.outOfBandData(data)))
    }
}
