import BLEPackets

/// Out-of-band data sent to and received from peers, and the creation of values to send (Core 5.4, Vol 3, Part H,
/// 2.3.5.6.4).
///
///     create ──▶ key pair ──▶ random value ──▶ confirm value ──▶ operation ends with all three
struct OutOfBandTable {
    private var entries: [(peer: DeviceAddress, data: OutOfBandData)] = []

    func data(for peer: DeviceAddress) -> OutOfBandData? { entries.first { $0.peer == peer.withoutIdentityMark }?.data }

    /// - Parameter data: `nil` if there is no data any more, or if it has been used.
    mutating func set(_ data: OutOfBandData?, for peer: DeviceAddress) {
        let peer = peer.withoutIdentityMark
        entries.removeAll { $0.peer == peer }
        if let data { entries.append((peer, data)) }
    }

    // MARK: Making

    func create(for operation: OperationID, into effects: inout Effects) {
        effects.cryptoRequests.ask(.generateKeyPair, for: .outOfBandKeyPair(operation))
    }

    func keyPairMade(_ result: CryptoResult, for operation: OperationID, into effects: inout Effects) {
        guard case .keyPair(let privateKey, let publicKey) = result else {
            return effects.complete(operation, .failure(.security(.notAvailable)))
        }
        effects.cryptoRequests.ask(
            .random(count: 16), for: .outOfBandRandom(operation, privateKey: privateKey, publicKey: publicKey))
    }

    func randomDrawn(
        _ result: CryptoResult, for operation: OperationID, privateKey: [UInt8], publicKey: P256PublicKey,
        into effects: inout Effects
    ) {
        guard case .octets(let octets) = result, let random = Key128(mostSignificantFirst: octets) else {
            return effects.complete(operation, .failure(.security(.notAvailable)))
        }
        effects.cryptoRequests.ask(
            SecurityFunction.f4(publicKey.x, publicKey.x, key: octets, 0).request,
            for: .outOfBandConfirm(operation, random: random, privateKey: privateKey, publicKey: publicKey))
    }

    func confirmComputed(
        _ result: CryptoResult, for operation: OperationID, random: Key128, privateKey: [UInt8],
        publicKey: P256PublicKey, into effects: inout Effects
    ) {
        guard case .octets(let octets) = result, let confirm = Key128(mostSignificantFirst: octets) else {
            return effects.complete(operation, .failure(.security(.notAvailable)))
        }
        let data = LocalOutOfBandData(random: random, confirm: confirm, privateKey: privateKey, publicKey: publicKey)
        effects.complete(operation, .success(.outOfBandData(data)))
    }
}
