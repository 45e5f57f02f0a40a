import BLEPackets

/// Signed writes on their way between bonds, bearer and server (Core 5.4, Vol 3, Part C, 10.4).
extension Link {
    // MARK: As a client

    func writeSigned(
        _ handle: AttributeHandle, _ value: [UInt8], operation: OperationID, client: ClientID,
        _ bonds: inout Bonds, into effects: inout Effects
    ) {
        if security.lastKey != nil || security.isGated || gatt.subscriptions.isConfiguration(handle) {
            // On an encrypted link signatures must not be used. On an unencrypted link nothing goes to a bonded peer,
            // and a signature would not help: it proves us to the peer, not the peer to us. What clients share is
            // written by requests.
            return start(.writeCommand(handle, value: value), operation: operation, client: client, into: &effects)
        }
        let peer = security.identity
        guard bonds.canSign(for: peer) else {
            return effects.complete(operation, .failure(.gatt(.security(.noKey))))
        }
        let limit = Int(gatt.mtu) - GATTClient.signedOverhead
        guard value.count <= limit else {
            return effects.complete(operation, .failure(.gatt(.valueTooLong(limit: max(0, limit)))))
        }
        let isAsked = bonds.sign(handle, value, for: peer, on: id, operation: operation, client: client, into: &effects)
        if !isAsked { effects.complete(operation, .failure(.gatt(.security(.noKey)))) }
    }

    /// The crypto provider has signed a write, or failed to.
    func signatureMade(
        _ result: CryptoResult, operation: OperationID, client: ClientID, message: [UInt8], counter: UInt32,
        _ bonds: inout Bonds, into effects: inout Effects
    ) {
        guard let pdu = bonds.signedPDU(message, counter: counter, result) else {
            return effects.complete(operation, .failure(.gatt(.security(.notAvailable))))
        }
        // Meanwhile another client may have subscribed by this attribute.
        if message.count >= 3 {
            let handle = AttributeHandle(rawValue: UInt16(message[1]) | UInt16(message[2]) << 8)
            if gatt.subscriptions.isConfiguration(handle) {
                let command = GATTOperation.writeCommand(handle, value: Array(message[3...]))
                return start(command, operation: operation, client: client, into: &effects)
            }
        }
        let user = effects.commands.users.number(of: client)
        gatt.startSigned(pdu, id: operation, client: client, user: user, at: effects.now)
        performClientActions(into: &effects)
    }

    // MARK: As a server

    /// A signed write arrived; it goes to the server once its signature is verified.
    func signedWriteReceived(_ pdu: [UInt8], _ rooms: inout Rooms, into effects: inout Effects) {
        guard security.lastKey == nil, rooms.pairings.bonds.verify(pdu, from: security.identity, on: id, into: &effects)
        else {
            return rooms.server.refuseSignedWrite()
        }
    }

    /// The crypto provider has computed the expected signature of a write, or failed to.
    func signatureComputed(
        _ result: CryptoResult, of pdu: [UInt8], counter: UInt32, _ rooms: inout Rooms, into effects: inout Effects
    ) {
        let peer = security.identity
        guard rooms.pairings.bonds.bond(for: peer)?.peerSigningKey != nil else { return }
        guard let command = rooms.pairings.bonds.verified(pdu, counter: counter, from: peer, result, into: &effects)
        else {
            return rooms.server.refuseSignedWrite()
        }
        rooms.server.receiveSigned(command.span.bytes, from: id)
    }
}
