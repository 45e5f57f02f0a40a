import BLEPackets

/// The filter accept list (Core 5.4, Vol 4, Part E, 7.8.14 to 7.8.17).
extension SimulatedController {
    func leReadFilterAcceptListSize(
        _ command: LEReadFilterAcceptListSize
    ) -> LEReadFilterAcceptListSize.ReturnParameters {
        .init(size: configuration.acceptListSize)
    }

    func leClearFilterAcceptList(_ command: LEClearFilterAcceptList) -> HCIStatus {
        guard !isAcceptListInUse else { return .commandDisallowed }
        settings.acceptList = []
        settings.staleAcceptList = []
        return .success
    }

    func leAddDeviceToFilterAcceptList(_ command: LEAddDeviceToFilterAcceptList) -> HCIStatus {
        addToAcceptList(command.address)
    }

    func leRemoveDeviceFromFilterAcceptList(_ command: LERemoveDeviceFromFilterAcceptList) -> HCIStatus {
        guard !isAcceptListInUse else { return .commandDisallowed }
        settings.acceptList.removeAll {
            $0 == command.address || $0.kind == .anonymous && command.address.kind == .anonymous
        }
        return .success
    }

    private func addToAcceptList(_ address: ReportedAddress) -> HCIStatus {
        guard !isAcceptListInUse else { return .commandDisallowed }
        guard address.kind.rawValue <= 1 || address.kind == .anonymous else { return .invalidCommandParameters }
        settings.staleAcceptList.removeAll { $0 == address }
        guard !settings.acceptList.contains(address) else { return .success }
        guard settings.acceptList.count < Int(configuration.acceptListSize) else { return .memoryCapacityExceeded }
        settings.acceptList.append(address)
        return .success
    }

    private var isAcceptListInUse: Bool {
        settings.scan.isEnabled && settings.scan.usesAcceptList || settings.initiating?.usesAcceptList == true
            || allAdvertisingSets.contains { $0.isEnabled && $0.filterPolicy != .all }
    }

    /// Whether the controller scans, advertises and connects at all.
    var mayUseRadio: Bool { !faults.needsLEHostSupport || settings.isLEHostSupported }

    var isRadioBusy: Bool {
        settings.scan.isEnabled || settings.initiating != nil || settings.trainSearch != nil
            || allAdvertisingSets.contains(where: \.isEnabled)
    }
}
