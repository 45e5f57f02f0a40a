import BLEPackets

/// Signed writes on their way between bonds, bearer and server.
extension Host {
    mutating func writeSigned(
        _ handle: AttributeHandle, _ value: [UInt8], link: Link, operation: OperationID, client: ClientID,
        at now: Instant
    ) {
        if link.security.keyInUse != nil || link.security.isGated {
            // On an encrypted link a signature is not to be used, and nothing goes to a bonded peer on another. There a
            // signature would be no help: it proves us to the peer, not the peer to us.
            return link.start(
                .writeCommand(handle, value: value), operation: operation, client: client, at: now, into: &effects)
        }
        let peer = link.security.identity
        guard bonds.canSign(for: peer) else {
            return effects.complete(operation, .failure(.gatt(.security(.noKey))))
        }
        let limit = Int(link.gatt.mtu) - GATTClient.signedOverhead
        guard value.count <= limit else {
            return effects.complete(operation, .failure(.gatt(.valueTooLong(limit: max(0, limit)))))
        }
        let failure = bonds.sign(
            handle, value, for: peer, on: link.id, operation: operation, client: client, into: &effects)
        if let failure { effects.complete(operation, .failure(.gatt(.security(failure)))) }
    }

    mutating func signatureMade(
        _ result: ToolboxResult, on link: LinkID, operation: OperationID, client: ClientID, message: [UInt8],
        counter: UInt32, at now: Instant
    ) {
        guard let link = links[link] else { return effects.complete(operation, .failure(.gatt(.notConnected))) }
        guard let pdu = bonds.signedPDU(message, counter: counter, result) else {
            return effects.complete(operation, .failure(.gatt(.security(.notAvailable))))
        }
        link.startSigned(pdu, operation: operation, client: client, at: now, into: &effects)
    }

    /// A signed write came; it goes to the server once its signature is proved.
    mutating func signedWriteReceived(_ pdu: [UInt8], link: Link) {
        guard link.security.keyInUse == nil,
            bonds.verify(pdu, from: link.security.identity, on: link.id, into: &effects)
        else { return gattServer.refuseSignedWrite() }
    }

    mutating func signatureComputed(
        _ result: ToolboxResult, on link: LinkID, pdu: [UInt8], counter: UInt32, at now: Instant
    ) {
        guard let link = links[link], bond(of: link)?.peerSigningKey != nil else { return }
        let peer = link.security.identity
        guard let command = bonds.verified(pdu, counter: counter, from: peer, result, into: &effects) else {
            return gattServer.refuseSignedWrite()
        }
        gattServer.receiveSigned(command.span.bytes, from: link.id)
    }
}
