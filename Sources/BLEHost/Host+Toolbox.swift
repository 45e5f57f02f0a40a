/// Cryptography that others do for the engine.
extension Host {
    /// The oldest request that nobody has taken yet; its answer comes by `answer(_:with:at:)`.
    public mutating func nextToolboxQuestion() -> ToolboxQuestion? { effects.desk.next() }

    /// What came of a request. An answer that nobody waits for is passed over.
    ///
    /// - Parameter question: `ToolboxQuestion.id`.
    public mutating func answer(_ question: UInt64, with result: ToolboxResult, at now: Instant) {
        guard let purpose = effects.desk.take(question) else { return }
        switch purpose {
        case .databaseHash(let revision):
            var octets: [UInt8]?
            if case .octets(let answer) = result, answer.count == 16 { octets = answer }
            gattServer.databaseHash(octets, revision: revision, at: now)
        case .pairing(let link, let machine): pairingAnswered(result, on: link, machine: machine, at: now)
        case .signature(let link, let operation, let client, let message, let counter):
            signatureMade(
                result, on: link, operation: operation, client: client, message: message, counter: counter, at: now)
        case .verification(let link, let pdu, let counter):
            signatureComputed(result, on: link, pdu: pdu, counter: counter, at: now)
        case .resolution(let pass, let identity): hashMade(result, pass: pass, identity: identity, at: now)
        case .ownAddressRandom: ownAddressRandomDrawn(result, at: now)
        case .ownAddressHash(let random): ownAddressMade(result, random: random, at: now)
        case .outOfBandKeyPair(let operation): bonds.outOfBand.keyPairMade(result, for: operation, into: &effects)
        case .outOfBandRandom(let operation, let privateKey, let publicKey):
            bonds.outOfBand.randomDrawn(
                result, for: operation, privateKey: privateKey, publicKey: publicKey, into: &effects)
        case .outOfBandConfirm(let operation, let random, let privateKey, let publicKey):
            bonds.outOfBand.confirmComputed(
                result, for: operation, random: random, privateKey: privateKey, publicKey: publicKey, into: &effects)
        }
        settle(at: now)
    }
}
