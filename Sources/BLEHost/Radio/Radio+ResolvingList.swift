import BLEPackets

/// Privacy in the controller: its resolving list, and what the host may leave to it.
extension Radio {
    /// Brings the controller's list, if there is one, closer to the bonds.
    /// - Parameters:
    ///   - keys: the identity resolving keys of the bonds.
    ///   - revision: grows when they change.
    ///   - localKey: our identity resolving key, with which bonded peers resolve our private addresses.
    mutating func proceedWithResolvingList(
        _ keys: [ResolvingKey], revision: UInt64, localKey: Key128?, into effects: inout Effects
    ) {
        let localKey = showsPrivateAddresses ? localKey ?? .zero : .zero
        if resolvingListBasis?.revision != revision || resolvingListBasis?.localKey != localKey {
            resolvingListBasis = (revision, localKey)
            resolvingList.want(keys.map { .init(identity: $0.identity, peerKey: $0.key, localKey: localKey) })
        }
        guard isIdle, resolvingList.hasNextStep, let step = resolvingList.proceed() else { return }
        switch step {
        case .remove(let identity):
            effects.commands.append(
                LERemoveDeviceFromResolvingList(peerIdentityAddress: identity), purpose: .resolvingList)
        case .add(let entry):
            effects.commands.append(
                LEAddDeviceToResolvingList(
                    peerIdentityAddress: entry.identity, peerIdentityResolvingKey: entry.peerKey,
                    localIdentityResolvingKey: entry.localKey),
                purpose: .resolvingList)
        case .setDevicePrivacy(let identity):
            effects.commands.append(
                LESetPrivacyMode(peerIdentityAddress: identity, mode: .device), purpose: .resolvingList)
        case .setTimeout:
            let seconds = configuration.privateAddressLifetime.rawValue / 1_000_000
            effects.commands.append(
                LESetResolvablePrivateAddressTimeout(timeout: UInt16(min(max(seconds, 1), 3600))),
                purpose: .resolvingList)
        case .enable:
            effects.commands.append(LESetAddressResolutionEnable(isEnabled: true), purpose: .resolvingList)
        }
    }

    private var showsPrivateAddresses: Bool {
        if case .resolvable = configuration.ownAddress { true } else { false }
    }

    /// The controller answered a command about its list.
    mutating func resolvingListAnswered(_ status: HCIStatus, into effects: inout Effects) {
        effects.countRefusal(status)
        resolvingList.completed(status)
    }

    /// The controller did not answer.
    mutating func resolvingListTimedOut() {
        guard Features.pairing else { return }
        resolvingList.timedOut()
    }

    // MARK: Evidence

    /// The controller reported a device, by its identity address or by the address on the air.
    mutating func recordNaming(of address: DeviceAddress) {
        guard Features.pairing else { return }
        guard address.kind == .publicIdentity || address.kind == .randomIdentity else { return }
        if resolvingList.isFirstResolution(of: address) { resolvingList.evidence = .resolves }
    }

    /// The host resolved a private address that the controller had reported unresolved.
    mutating func recordOwnResolution(_ identity: DeviceAddress, revision: UInt32) {
        guard Features.pairing else { return }
        if resolvingList.wasLeftUnresolved(identity, revision: revision) { resolvingList.evidence = .doesNotResolve }
    }

    // MARK: What follows

    /// Peers whose private addresses only the host can resolve; connections to them use the address that was seen.
    ///
    /// Mutating, as `wantedScan`: a method that only reads is called with a copy of the radio, on the stack.
    mutating func peersFoundByHost(_ resolving: [ResolvingKey]) -> [DeviceAddress] {
        guard configuration.usesCryptoProvider else { return [] }
        return resolving.lazy.map { $0.identity }.filter { !resolvingList.finds($0) }
    }

    /// Whether a device has private addresses, so that a connection must use the address that was seen.
    func usesPrivateAddresses(_ peer: DeviceAddress, _ resolving: [ResolvingKey]) -> Bool {
        guard configuration.usesCryptoProvider, configuration.ownership == .exclusive else { return false }
        let peer = peer.withoutIdentityMark
        return resolving.contains { $0.identity == peer } && !resolvingList.finds(peer)
    }
}
