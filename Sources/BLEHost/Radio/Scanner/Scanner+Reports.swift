import BLEPackets

/// Makes a report from each kind of report event.
extension Scanner.Report {
    init(_ report: borrowing LEAdvertisingReportView) {
        let type = report.eventType
        self.init(
            address: report.address, isConnectable: type.isConnectable, isScannable: type.isScannable,
            isScanResponse: type.isScanResponse, isExtended: false, rssi: Self.known(report.rssi))
    }

    init(_ report: LEDirectedAdvertisingReport.Report) {
        self.init(
            address: report.address, isConnectable: true, isScannable: false, isScanResponse: false,
            isExtended: false, rssi: Self.known(report.rssi),
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
            completeness: completeness, rssi: Self.known(report.rssi), txPower: report.transmitPower,
            primaryPHY: Self.phy(report.primaryPHY) ?? .le1M, secondaryPHY: report.secondaryPHY.flatMap(Self.phy),
            periodicInterval: report.periodicAdvertisingInterval,
            unresolvedTarget: type.contains(.directed) && report.directAddress.kind == .unresolved
                ? DeviceAddress(value: report.directAddress.value, kind: .random) : nil)
    }

    /// What a controller measures is between -127 and 20 dBm (Core 5.4, Vol 4, Part E, 7.7.65.2); anything else would
    /// make a device the nearest.
    private static func known(_ rssi: Int8) -> Int8 { -127...20 ~= rssi ? rssi : 127 }

    /// Some controllers set bits above those that number the PHY (bluetooth-next#607).
    private static func phy(_ reported: PHY) -> PHY? {
        switch PHY(rawValue: reported.rawValue & 0x1F) {
        case .le1M: .le1M
        case .le2M: .le2M
        // 4: LE Coded with the coding S=2 (Core 5.4, Vol 4, Part E, 7.7.65.13).
        case .leCoded, PHY(rawValue: 4): .leCoded
        default: nil
        }
    }
}
