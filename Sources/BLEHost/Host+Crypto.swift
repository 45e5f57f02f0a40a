/// Cryptography that the owner does for the engine.
extension Host {
    /// Removes and returns the oldest request; pass its result to `answer(_:with:at:)`.
    public mutating func nextCryptoRequest() -> PendingCryptoRequest? { effects.cryptoRequests.next() }

    /// Takes the result of a request. An answer to a question that is unknown, answered or older than 20 s is ignored.
    ///
    /// - Parameter question: `PendingCryptoRequest.id`.
    public mutating func answer(_ question: UInt64, with result: CryptoResult, at now: Instant) {
        effects.now = now
        guard Features.pairing else { return }
        guard let purpose = effects.cryptoRequests.removePurpose(of: question) else { return }
        answered(purpose, with: result)
        settle()
    }

    /// Requests that the owner did not answer in time have failed.
    mutating func advanceCryptoRequests() {
        guard Features.pairing else { return }
        while let purpose = effects.cryptoRequests.removeExpired(at: effects.now) {
            effects.counters.cryptoTimeouts &+= 1
            answered(purpose, with: .failure(.unavailable))
        }
    }

    // Not inlined: it is large and called from two places.
    @inline(never)
    private mutating func answered(_ purpose: CryptoRequests.Purpose, with result: CryptoResult) {
        switch purpose {
        case .databaseHash(let revision):
            var octets: [UInt8]?
            if case .octets(let answer) = result, answer.count == 16 { octets = answer }
            rooms.server.databaseHash(octets, revision: revision, at: effects.now)
        case .pairing(let link, let machine):
            let now = effects.now
            rooms.links[link]?.continuePairing(number: machine, into: &effects) {
                $0.cryptoAnswered(result, at: now)
            }
        case .signature(let link, let operation, let client, let message, let counter):
            guard let link = rooms.links[link] else {
                effects.complete(operation, .failure(.gatt(.notConnected)))
                break
            }
            link.signatureMade(
                result, operation: operation, client: client, message: message, counter: counter, &rooms.pairings.bonds,
                into: &effects)
        case .verification(let link, let pdu, let counter):
            rooms.links[link]?.signatureComputed(result, of: pdu, counter: counter, &rooms, into: &effects)
        case .resolution(let pass, let identity): hashMade(result, pass: pass, identity: identity)
        case .ownAddressRandom: ownAddressRandomDrawn(result)
        case .ownAddressHash(let random): ownAddressMade(result, random: random)
        case .outOfBandKeyPair(let operation):
            rooms.pairings.attempts.outOfBand.keyPairMade(result, for: operation, into: &effects)
        case .outOfBandRandom(let operation, let privateKey, let publicKey):
            rooms.pairings.attempts.outOfBand.randomDrawn(
                result, for: operation, privateKey: privateKey, publicKey: publicKey, into: &effects)
        case .outOfBandConfirm(let operation, let random, let privateKey, let publicKey):
            rooms.pairings.attempts.outOfBand.confirmComputed(
                result, for: operation, random: random, privateKey: privateKey, publicKey: publicKey, into: &effects)
        }
    }
}
