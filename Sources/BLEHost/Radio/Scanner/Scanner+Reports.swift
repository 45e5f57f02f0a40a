import BLEPackets

/// Makes a report from each kind of report event.
extension Scanner.Report {
    init(_ report: borrowing LEAdvertisingReportView) {
        let type = report.eventType
        self.init(
            address: report.address, isConnectable: type.isConnectable, isScannable: type.isScannable,
            isScanResponse: type.isScanResponse, isExtended: false, rssi: report.rssi)
    }

    init(_ report: LEDirectedAdvertisingReport.Report) {
        self.init(
            address: report.address, isConnectable: true, isScannable: false, isScanResponse: false,
            isExtended: false, rssi: report.rssi,
            unresolvedTarget: DeviceAddress(value: report.directAddress.value, kind: .random))
    }

    init(_ report: borrowing LEExtendedAdvertisingReportView) {
        let type = report.eventType
        let completeness: Completeness =
            switch type.dataStatus {
            case .complete: .complete
            case .incompleteMoreToCome: .moreToCome
            default: .truncated
            }
        self.init(
            address: report.address,
            advertisingSet: type.contains(.legacy) ? 0xFF : report.advertisingSetIdentifier,
            isConnectable: type.contains(.connectable), isScannable: type.contains(.scannable),
            isScanResponse: type.contains(.scanResponse), isExtended: !type.contains(.legacy),
            completeness: completeness, rssi: report.rssi, txPower: report.transmitPower,
            primaryPHY: report.primaryPHY, secondaryPHY: report.secondaryPHY,
            periodicInterval: report.periodicAdvertisingInterval,
            unresolvedTarget: type.contains(.directed) && report.directAddress.kind == .unresolved
                ? DeviceAddress(value: report.directAddress.value, kind: .random) : nil)
    }
}
