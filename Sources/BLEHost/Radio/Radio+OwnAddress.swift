import BLEPackets

/// Private addresses of this device (Core 5.4, Vol 3, Part C, 10.7).
extension Radio {
    /// Asks for a new address.
    /// - Parameter key: our identity resolving key, with which bonded peers resolve our private addresses; without it
    ///   there are none.
    mutating func makePrivateAddress(with key: Key128?, into effects: inout Effects) {
        guard configuration.usesCryptoProvider, key != nil else { return }
        privateAddress.state = .beingMade
        effects.cryptoRequests.ask(.random(count: 3), for: .ownAddressRandom)
    }

    /// - Returns: `false` if there will be no new address this time.
    mutating func addressRandomDrawn(_ result: CryptoResult, key: Key128?, into effects: inout Effects) -> Bool {
        guard privateAddress.isBeingMade, let key else { return true }
        guard case .octets(var random) = result, random.count == 3 else {
            extendAddress(at: effects.now)
            return false
        }
        random[0] = random[0] & 0x3F | 0x40
        effects.cryptoRequests.ask(
            SecurityFunction.ah(key: [UInt8](key.octets.reversed()), random: random).request,
            for: .ownAddressHash(random: random))
        return true
    }

    /// - Returns: the address; `nil` if the crypto provider failed.
    func address(from result: CryptoResult, random: [UInt8]) -> DeviceAddress? {
        guard case .octets(let octets) = result, octets.count == 16 else { return nil }
        return DeviceAddress(resolvable: random, hash: [UInt8](octets.suffix(3)))
    }

    /// Keeps the address; the next one is generated when its lifetime is over.
    mutating func extendAddress(at now: Instant) {
        privateAddress.state = .inUse(until: now.advanced(by: configuration.privateAddressLifetime))
    }

    /// Sets the new address once the radio is idle.
    mutating func proceedWithAddress(into effects: inout Effects) {
        guard Features.pairing else { return }
        guard case .waiting(let address) = privateAddress.state, isIdle else { return }
        privateAddress.state = .beingSet(address)
        effects.commands.append(LESetRandomAddress(address: address), purpose: .ownAddress)
    }

    /// The controller answered the command that sets the new address.
    mutating func addressAnswered(_ status: HCIStatus, at now: Instant) {
        guard Features.pairing else { return }
        guard case .beingSet(let address) = privateAddress.state else { return }
        if status.isSuccess { ownAddress = address }
        extendAddress(at: now)
    }

    // MARK: Its kind

    /// The type of the address that the host has chosen or generated.
    var hostAddressType: OwnAddressType { ownAddress?.isRandom ?? false ? .random : .public }

    /// The type of our address for scanning and initiating. If the controller generates private addresses for bonded
    /// peers, all other devices see the host's address.
    var ownAddressType: OwnAddressType { resolvingList.makesAddresses ? .resolvableOrRandom : hostAddressType }

    /// The type of our address in directed advertising. If the controller generates it, the target address is a private
    /// address, too (Core 5.4, Vol 6, Part B, 6.2.2).
    func ownAddressType(towards peer: DeviceAddress) -> OwnAddressType {
        resolvingList.makesAddress(towards: peer) ? .resolvableOrRandom : hostAddressType
    }
}
