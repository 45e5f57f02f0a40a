import BLEPackets

/// Privacy in the controller: its resolving list, and what may be left to it.
extension Host {
    /// Whether the radio has to pause: the controller takes a new address, or another list, only while it does nothing.
    var isRadioPaused: Bool { privacy.isChanging || resolvingList.needsRadio }

    private var isRadioIdle: Bool { scanMachine.isIdle && initiator.isIdle && advertisingMachine.isIdle }

    /// The controller is ready, its list empty.
    mutating func beginResolvingList() {
        let isUsed = configuration.usesControllerResolution && configuration.ownership == .exclusive
        resolvingList = ControllerResolvingList(capacity: isUsed ? information.resolvingListSize : 0)
        resolvingListBasis = nil
    }

    /// Brings the list nearer to the bonds.
    mutating func proceedWithResolvingList(at now: Instant) {
        guard phase == .ready, resolvingList.capacity > 0 else { return }
        let localKey = localResolvingKey
        if resolvingListBasis?.revision != bonds.resolvingRevision || resolvingListBasis?.localKey != localKey {
            resolvingListBasis = (bonds.resolvingRevision, localKey)
            resolvingList.want(
                bonds.resolving.map { .init(identity: $0.identity, peerKey: $0.key, localKey: localKey) })
            if resolvingList.needsRadio { needsConvergence = true }
        }
        guard isRadioIdle, let step = resolvingList.proceed() else { return }
        switch step {
        case .remove(let identity):
            commands.append(LERemoveDeviceFromResolvingList(peerIdentityAddress: identity), purpose: .resolvingList)
        case .add(let entry):
            commands.append(
                LEAddDeviceToResolvingList(
                    peerIdentityAddress: entry.identity, peerIdentityResolvingKey: entry.peerKey,
                    localIdentityResolvingKey: entry.localKey),
                purpose: .resolvingList)
        case .setDevicePrivacy(let identity):
            commands.append(LESetPrivacyMode(peerIdentityAddress: identity, mode: .device), purpose: .resolvingList)
        case .setTimeout:
            let seconds = configuration.privateAddressLifetime.rawValue / 1_000_000
            commands.append(
                LESetResolvablePrivateAddressTimeout(timeout: UInt16(min(max(seconds, 1), 3600))),
                purpose: .resolvingList)
        case .enable:
            commands.append(LESetAddressResolutionEnable(isEnabled: true), purpose: .resolvingList)
        }
    }

    mutating func resolvingListAnswered(_ status: HCIStatus) {
        if status == .commandDisallowed { counters.desynchronisations &+= 1 }
        resolvingList.completed(status)
        needsConvergence = true
    }

    mutating func resolvingListTimedOut() {
        resolvingList.timedOut()
        needsConvergence = true
    }

    /// With what peers know our private addresses; zero where we have none.
    private var localResolvingKey: Key128 {
        guard case .resolvable = configuration.ownAddress else { return .zero }
        return security.identityResolvingKey ?? .zero
    }

    // MARK: Evidence

    /// The controller named somebody, by an identity or as heard.
    mutating func noteNaming(of address: DeviceAddress) {
        guard address.kind == .publicIdentity || address.kind == .randomIdentity else { return }
        if resolvingList.resolved(address) { needsConvergence = true }
    }

    /// The host found an identity where the controller had shown a private address.
    mutating func noteOwnResolution(_ identity: DeviceAddress, revision: UInt32) {
        if resolvingList.leftUnresolved(identity, revision: revision) { needsConvergence = true }
    }

    // MARK: What follows

    /// Peers whose private addresses only the host can tell: they are connected to under the one that was heard.
    var peersFoundByHost: [DeviceAddress] {
        guard configuration.hasToolbox else { return [] }
        return bonds.resolving.lazy.map { $0.identity }.filter { !resolvingList.finds($0) }
    }

    /// The kind of our address in directed advertising. Where the controller makes it, it names the peer by a private
    /// address too (Core 5.4, Vol 6, Part B, 6.2.2).
    func ownAddressType(towards peer: DeviceAddress) -> OwnAddressType {
        resolvingList.makesAddress(towards: peer) ? .resolvableOrRandom : hostAddressType
    }

    /// The kind of the address that the host has chosen or made.
    var hostAddressType: OwnAddressType { information.ownAddress?.isRandom ?? false ? .random : .public }
}
