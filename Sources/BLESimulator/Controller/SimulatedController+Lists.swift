import BLEPackets

/// The filter accept list and the resolving list (Core 5.4, Vol 4, Part E, 7.8.14 to 7.8.17 and 7.8.38 to 7.8.46).
///
/// Entries of the resolving list are kept; addresses are not resolved.
extension SimulatedController {
    /// - Returns: Whether the command belongs here.
    func carryOutLists(_ opcode: HCIOpcode, _ parameters: RawSpan) -> Bool {
        switch opcode {
        case LEReadFilterAcceptListSize.opcode:
            query(LEReadFilterAcceptListSize.self, parameters) { _ in .init(size: configuration.acceptListSize) }
        case LEClearFilterAcceptList.opcode:
            perform(LEClearFilterAcceptList.self, parameters) { _ in
                guard !isAcceptListInUse else { return .commandDisallowed }
                settings.acceptList = []
                return .success
            }
        case LEAddDeviceToFilterAcceptList.opcode:
            perform(LEAddDeviceToFilterAcceptList.self, parameters) { addToAcceptList($0.address) }
        case LERemoveDeviceFromFilterAcceptList.opcode:
            perform(LERemoveDeviceFromFilterAcceptList.self, parameters) { command in
                guard !isAcceptListInUse else { return .commandDisallowed }
                settings.acceptList.removeAll {
                    $0 == command.address || $0.kind == .anonymous && command.address.kind == .anonymous
                }
                return .success
            }
        case LEReadResolvingListSize.opcode:
            query(LEReadResolvingListSize.self, parameters) { _ in .init(size: configuration.resolvingListSize) }
        case LEAddDeviceToResolvingList.opcode:
            perform(LEAddDeviceToResolvingList.self, parameters) { addToResolvingList($0.peerIdentityAddress) }
        case LERemoveDeviceFromResolvingList.opcode:
            perform(LERemoveDeviceFromResolvingList.self, parameters) { command in
                guard !isResolvingListInUse else { return .commandDisallowed }
                let address = command.peerIdentityAddress.withoutIdentityMark
                guard let position = settings.resolvingList.firstIndex(of: address) else {
                    return .unknownConnectionIdentifier
                }
                settings.resolvingList.remove(at: position)
                return .success
            }
        case LEClearResolvingList.opcode:
            perform(LEClearResolvingList.self, parameters) { _ in
                guard !isResolvingListInUse else { return .commandDisallowed }
                settings.resolvingList = []
                return .success
            }
        case LESetAddressResolutionEnable.opcode:
            perform(LESetAddressResolutionEnable.self, parameters) {
                guard !isRadioBusy else { return .commandDisallowed }
                settings.isAddressResolutionOn = $0.isEnabled
                return .success
            }
        case LESetResolvablePrivateAddressTimeout.opcode:
            perform(LESetResolvablePrivateAddressTimeout.self, parameters) {
                guard 1...3600 ~= $0.timeout else { return .invalidCommandParameters }
                settings.resolvablePrivateAddressTimeout = $0.timeout
                return .success
            }
        case LESetPrivacyMode.opcode:
            perform(LESetPrivacyMode.self, parameters) {
                guard !isResolvingListInUse else { return .commandDisallowed }
                guard $0.mode.rawValue <= 1 else { return .invalidCommandParameters }
                let address = $0.peerIdentityAddress.withoutIdentityMark
                return settings.resolvingList.contains(address) ? .success : .unknownConnectionIdentifier
            }
        default: return false
        }
        return true
    }

    private func addToAcceptList(_ address: ReportedAddress) -> HCIStatus {
        guard !isAcceptListInUse else { return .commandDisallowed }
        guard address.kind.rawValue <= 1 || address.kind == .anonymous else { return .invalidCommandParameters }
        guard !settings.acceptList.contains(address) else { return .success }
        guard settings.acceptList.count < Int(configuration.acceptListSize) else { return .memoryCapacityExceeded }
        settings.acceptList.append(address)
        return .success
    }

    private func addToResolvingList(_ address: DeviceAddress) -> HCIStatus {
        guard !isResolvingListInUse else { return .commandDisallowed }
        let address = address.withoutIdentityMark
        guard !settings.resolvingList.contains(address) else { return .invalidCommandParameters }
        guard settings.resolvingList.count < Int(configuration.resolvingListSize) else {
            return .memoryCapacityExceeded
        }
        settings.resolvingList.append(address)
        return .success
    }

    private var isAcceptListInUse: Bool {
        settings.scan.isEnabled && settings.scan.usesAcceptList || settings.initiating?.usesAcceptList == true
            || allAdvertisingSets.contains { $0.isEnabled && $0.filterPolicy != .all }
    }

    private var isRadioBusy: Bool {
        settings.scan.isEnabled || settings.initiating != nil || allAdvertisingSets.contains(where: \.isEnabled)
    }

    private var isResolvingListInUse: Bool { settings.isAddressResolutionOn && isRadioBusy }
}
