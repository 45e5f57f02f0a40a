import BLEPackets

/// Privacy in the link layer: peers are recognised by their identity, and only they can recognise this device (Core
/// 5.4, Vol 6, Part B, 6; Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77).
extension SimulatedController {
    func leReadResolvingListSize(_ command: LEReadResolvingListSize) -> LEReadResolvingListSize.ReturnParameters {
        .init(size: configuration.resolvingListSize)
    }

    func leRemoveDeviceFromResolvingList(_ command: LERemoveDeviceFromResolvingList) -> HCIStatus {
        guard !isResolvingListInUse else { return .commandDisallowed }
        guard let position = entryPosition(of: command.peerIdentityAddress) else {
            return .unknownConnectionIdentifier
        }
        settings.resolvingList.remove(at: position)
        resolvingListChanged()
        return .success
    }

    func leClearResolvingList(_ command: LEClearResolvingList) -> HCIStatus {
        guard !isResolvingListInUse else { return .commandDisallowed }
        settings.resolvingList = []
        resolvingListChanged()
        return .success
    }

    func leSetAddressResolutionEnable(_ command: LESetAddressResolutionEnable) -> HCIStatus {
        guard !isRadioBusy else { return .commandDisallowed }
        settings.isAddressResolutionOn = command.isEnabled
        return .success
    }

    func leSetResolvablePrivateAddressTimeout(_ command: LESetResolvablePrivateAddressTimeout) -> HCIStatus {
        guard 1...3600 ~= command.timeout else { return .invalidCommandParameters }
        settings.resolvablePrivateAddressTimeout = command.timeout
        return .success
    }

    func leSetPrivacyMode(_ command: LESetPrivacyMode) -> HCIStatus {
        guard !isResolvingListInUse else { return .commandDisallowed }
        guard command.mode.rawValue <= 1 else { return .invalidCommandParameters }
        guard let position = entryPosition(of: command.peerIdentityAddress) else {
            return .unknownConnectionIdentifier
        }
        settings.resolvingList[position].mode = command.mode
        return .success
    }

    func leReadPeerResolvableAddress(
        _ command: LEReadPeerResolvableAddress
    ) -> LEReadPeerResolvableAddress.ReturnParameters {
        guard let position = entryPosition(of: command.peerIdentityAddress) else {
            return .init(status: .unknownConnectionIdentifier)
        }
        guard let address = settings.resolvingList[position].peerAddress else { return .init() }
        return .init(address: address)
    }

    func leReadLocalResolvableAddress(
        _ command: LEReadLocalResolvableAddress
    ) -> LEReadLocalResolvableAddress.ReturnParameters {
        guard let position = entryPosition(of: command.peerIdentityAddress) else {
            return .init(status: .unknownConnectionIdentifier)
        }
        guard let address = localAddress(at: position) else { return .init() }
        return .init(address: address)
    }

    func leAddDeviceToResolvingList(_ command: LEAddDeviceToResolvingList) -> HCIStatus {
        guard !isResolvingListInUse else { return .commandDisallowed }
        guard entryPosition(of: command.peerIdentityAddress) == nil else { return .invalidCommandParameters }
        guard settings.resolvingList.count < Int(configuration.resolvingListSize) else {
            return .memoryCapacityExceeded
        }
        settings.resolvingList.append(
            ResolvingEntry(
                identity: command.peerIdentityAddress.withoutIdentityMark,
                peerKey: command.peerIdentityResolvingKey, localKey: command.localIdentityResolvingKey))
        resolvingListChanged()
        return .success
    }

    private func resolvingListChanged() {
        if faults.forgetsAcceptedIdentities { settings.staleAcceptList = settings.acceptList }
    }

    private var isResolvingListInUse: Bool { settings.isAddressResolutionOn && isRadioBusy }

    private func entryPosition(of identity: DeviceAddress) -> Int? {
        let identity = identity.withoutIdentityMark
        return settings.resolvingList.firstIndex { $0.identity == identity }
    }

    // MARK: Peers' addresses

    /// The owner of an address on the air.
    enum Recognized {
        /// No device on the list, or resolution is off: the address itself.
        case stranger(DeviceAddress)
        /// A private address of a peer on the list: its identity, with the address type of resolved identities.
        case resolved(identity: DeviceAddress)
        /// A peer on the list that uses its identity although it has private addresses: it is ignored (Core 5.4, Vol 6,
        /// Part B, 4.7).
        case unmasked

        /// The address that the host gets; `nil` for no report.
        var reported: DeviceAddress? {
            switch self {
            case .stranger(let address): address
            case .resolved(let identity): identity
            case .unmasked: nil
            }
        }
    }

    func recognize(_ address: DeviceAddress) -> Recognized {
        guard settings.isAddressResolutionOn, !faults.resolvesNothing else { return .stranger(address) }
        if let position = settings.resolvingList.firstIndex(where: { address.resolves(with: $0.peerKey) }) {
            settings.resolvingList[position].peerAddress = address
            return .resolved(identity: settings.resolvingList[position].markedIdentity)
        }
        if let position = entryPosition(of: address), settings.resolvingList[position].peerKey != .zero,
            settings.resolvingList[position].mode == .network
        {
            return .unmasked
        }
        return .stranger(address)
    }

    /// The last private address of a peer; `nil` if it never used one.
    func peerResolvableAddress(of identity: DeviceAddress) -> DeviceAddress? {
        guard identity.kind == .publicIdentity || identity.kind == .randomIdentity else { return nil }
        return entryPosition(of: identity).flatMap { settings.resolvingList[$0].peerAddress }
    }

    // MARK: Our addresses

    /// The own address for a peer; `nil` if the controller has none of this type.
    /// - Parameter peer: an identity; `nil` for no particular peer.
    func ownAddress(_ type: OwnAddressType, towards peer: DeviceAddress?) -> DeviceAddress? {
        if let address = privateAddress(type, towards: peer) { return address }
        switch type {
        case .public, .resolvableOrPublic: return configuration.publicAddress
        case .random, .resolvableOrRandom: return settings.randomAddress
        }
    }

    /// The own private address for a peer; `nil` if the identity is used.
    func privateAddress(_ type: OwnAddressType, towards peer: DeviceAddress?) -> DeviceAddress? {
        guard type == .resolvableOrPublic || type == .resolvableOrRandom, let peer,
            let position = entryPosition(of: peer)
        else { return nil }
        return localAddress(at: position)
    }

    /// Whether directed advertising is for this controller.
    func isTarget(_ target: DeviceAddress, ownAddress: DeviceAddress) -> Bool {
        target == ownAddress
            || settings.isAddressResolutionOn && !faults.resolvesNothing
                && settings.resolvingList.contains { target.resolves(with: $0.localKey) }
    }

    private func localAddress(at position: Int) -> DeviceAddress? {
        let entry = settings.resolvingList[position]
        guard entry.localKey != .zero, !faults.resolvesNothing else { return nil }
        let age = air.nowMicroseconds - entry.localAddressTime
        if let address = entry.localAddress, age < Int64(settings.resolvablePrivateAddressTimeout) * 1_000_000 {
            return address
        }
        let address = DeviceAddress.resolvable(key: entry.localKey, random: generator.next())
        settings.resolvingList[position].localAddress = address
        settings.resolvingList[position].localAddressTime = air.nowMicroseconds
        return address
    }
}
