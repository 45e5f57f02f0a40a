import BLEPackets

/// The filter accept list (Core 5.4, Vol 4, Part E, 7.8.14 to 7.8.17).
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

    private var isAcceptListInUse: Bool {
        settings.scan.isEnabled && settings.scan.usesAcceptList || settings.initiating?.usesAcceptList == true
            || allAdvertisingSets.contains { $0.isEnabled && $0.filterPolicy != .all }
    }

    var isRadioBusy: Bool {
        settings.scan.isEnabled || settings.initiating != nil || allAdvertisingSets.contains(where: \.isEnabled)
    }
}
