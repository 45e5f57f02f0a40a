import BLEPackets

/// The identities behind private addresses: resolved here, whether or not the controller resolves them too.
extension Bonds {
    /// The identity behind an address on the air; if it is unknown, the crypto provider is asked.
    mutating func identity(behind address: DeviceAddress, into effects: inout Effects) -> IdentityResolver.Answer {
        guard hasCryptoProvider, address.isResolvablePrivate, !table.resolving.isEmpty else { return .stranger }
        if let known = resolver.answer(for: address, revision: table.resolvingRevision) { return known }
        let pass = resolver.begin(address, keys: table.resolving.count)
        let random = address.resolvableParts.random
        for entry in table.resolving {
            effects.cryptoRequests.ask(
                SecurityFunction.ah(key: entry.key.mostSignificantOctets, random: random).request,
                for: .resolution(pass: pass, identity: entry.identity))
        }
        return .pending(pass: pass)
    }

    /// The crypto provider has computed the hash of an address with one bond's key.
    /// - Returns: the pass, if that was the last key: what waits in it can continue.
    mutating func hashMade(
        _ result: CryptoResult, pass: UInt32, identity: DeviceAddress, into effects: inout Effects
    ) -> IdentityResolver.Pass? {
        var hash: [UInt8] = []
        if case .octets(let octets) = result, octets.count == 16 { hash = [UInt8](octets.suffix(3)) }
        guard let address = resolver.address(of: pass) else { return nil }
        let isMatch = hash == address.resolvableParts.hash
        guard let done = resolver.tried(identity, matches: isMatch, in: pass) else { return nil }
        if done.matches.count > 1 { effects.events.append(.ambiguousIdentity(done.address, done.matches)) }
        return done
    }

    /// The device behind a central that names its key: if several bonds have the resolving key of an address, the named
    /// key decides between them.
    /// - Returns: `nil` if the key belongs to `identity`, or is unknown.
    func identity(
        naming request: LELongTermKeyRequest, behind address: DeviceAddress, takenFor identity: DeviceAddress
    ) -> DeviceAddress? {
        guard request.randomNumber != 0 || request.encryptedDiversifier != 0,
            !(bond(for: identity)?.localKey?.answers(request) ?? false)
        else { return nil }
        return resolver.identities(behind: address).first { bond(for: $0)?.localKey?.answers(request) ?? false }
    }
}

extension LongTermKey {
    /// Whether this is the key that a central asks for.
    func answers(_ request: LELongTermKeyRequest) -> Bool {
        randomNumber == request.randomNumber && encryptedDiversifier == request.encryptedDiversifier
    }
}
