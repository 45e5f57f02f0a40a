import BLEPackets

/// Private addresses of this device (Core 5.4, Vol 3, Part C, 10.7).
extension Host {
    /// Asks for a new address.
    mutating func makePrivateAddress() {
        guard configuration.hasToolbox, security.identityResolvingKey != nil else { return }
        privacy.state = .beingMade
        desk.ask(.random(count: 3), for: .ownAddressRandom)
    }

    mutating func ownAddressRandomDrawn(_ result: ToolboxResult, at now: Instant) {
        guard privacy.isBeingMade, let key = security.identityResolvingKey else { return }
        guard case .octets(var random) = result, random.count == 3 else { return giveUpPrivateAddress(at: now) }
        random[0] = random[0] & 0x3F | 0x40
        desk.ask(
            SecurityFunction.ah(key: [UInt8](key.octets.reversed()), random: random).request,
            for: .ownAddressHash(random: random))
    }

    mutating func ownAddressMade(_ result: ToolboxResult, random: [UInt8], at now: Instant) {
        guard privacy.isBeingMade else { return }
        guard case .octets(let octets) = result, octets.count == 16,
            let address = DeviceAddress(resolvable: random, hash: [UInt8](octets.suffix(3)))
        else { return giveUpPrivateAddress(at: now) }
        switch phase {
        case .starting:
            // The start sets it in its turn.
            information.ownAddress = address
            privacy.state = .inUse(until: now.advanced(by: configuration.privateAddressLifetime))
            if commands.isIdle { continueStartup(at: now) }
        case .ready:
            privacy.state = .waiting(address)
            needsConvergence = true
        default: privacy.state = .none
        }
    }

    /// The toolbox does not do its work: the address stays as it is, and is tried again later.
    private mutating func giveUpPrivateAddress(at now: Instant) {
        privacy.state = .inUse(until: now.advanced(by: configuration.privateAddressLifetime))
        if case .starting = phase, commands.isIdle { continueStartup(at: now) }
    }

    mutating func advanceAddress(to now: Instant) {
        guard phase == .ready, let deadline = privacy.nextDeadline, deadline <= now else { return }
        makePrivateAddress()
    }

    /// Sets the new address once the radio is at rest.
    mutating func proceedWithAddress(at now: Instant) {
        guard case .waiting(let address) = privacy.state, phase == .ready, scanMachine.isIdle, initiator.isIdle,
            advertisingMachine.isIdle
        else { return }
        privacy.state = .beingSet(address)
        commands.append(LESetRandomAddress(address: address), purpose: .ownAddress)
    }

    mutating func addressChanged(_ status: HCIStatus, at now: Instant) {
        guard case .beingSet(let address) = privacy.state else { return }
        if status.isSuccess { information.ownAddress = address }
        privacy.state = .inUse(until: now.advanced(by: configuration.privateAddressLifetime))
        needsConvergence = true
    }
}
