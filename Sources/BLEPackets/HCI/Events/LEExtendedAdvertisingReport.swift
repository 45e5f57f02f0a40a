/// LE Extended Advertising Report: reports of an extended scan; one event may have several (Core 5.4, Vol 4, Part E,
/// 7.7.65.13).
///
/// `LEExtendedAdvertisingReports` is faster: it reads the event in place.
public struct LEExtendedAdvertisingReport: LEMetaEvent {
    public static let subevent = LESubeventCode.extendedAdvertisingReport

    /// One advertisement or scan response, or a part of it.
    public struct Report: Hashable, Sendable {
        public var eventType: ExtendedAdvertisingEventType
        /// The advertiser's address as in the event; of kind anonymous for an anonymous advertiser.
        public var reportedAddress: ReportedAddress
        /// On the primary channels: LE 1M or LE Coded.
        public var primaryPHY: PHY
        /// `nil` if there was no packet on a secondary channel.
        public var secondaryPHY: PHY?
        /// The number of the advertising set, 0 to 15; 0xFF if there is none.
        public var advertisingSetIdentifier: UInt8
        /// dBm; 127 if unknown.
        public var transmitPower: Int8
        /// dBm; 127 if unknown.
        public var rssi: Int8
        /// Zero without periodic advertising.
        public var periodicAdvertisingInterval: PeriodicAdvertisingInterval
        /// Whom a directed advertisement is for; without meaning in others.
        public var directAddress: ReportedAddress
        /// Advertising data structures, or a part of them.
        public var data: [UInt8]

        /// `nil` for an anonymous advertiser.
        public var address: DeviceAddress? { reportedAddress.deviceAddress }

        public init(
            eventType: ExtendedAdvertisingEventType, reportedAddress: ReportedAddress, primaryPHY: PHY = .le1M,
            secondaryPHY: PHY? = nil, advertisingSetIdentifier: UInt8 = 0xFF, transmitPower: Int8 = 127,
            rssi: Int8 = 127,
            periodicAdvertisingInterval: PeriodicAdvertisingInterval = PeriodicAdvertisingInterval(rawValue: 0),
            directAddress: ReportedAddress = .zero, data: [UInt8]
        ) {
            self.eventType = eventType
            self.reportedAddress = reportedAddress
            self.primaryPHY = primaryPHY
            self.secondaryPHY = secondaryPHY
            self.advertisingSetIdentifier = advertisingSetIdentifier
            self.transmitPower = transmitPower
            self.rssi = rssi
            self.periodicAdvertisingInterval = periodicAdvertisingInterval
            self.directAddress = directAddress
            self.data = data
        }

        /// - Parameter address: `nil` for an anonymous advertiser.
        public init(
            eventType: ExtendedAdvertisingEventType, address: DeviceAddress?, primaryPHY: PHY = .le1M,
            secondaryPHY: PHY? = nil, advertisingSetIdentifier: UInt8 = 0xFF, transmitPower: Int8 = 127,
            rssi: Int8 = 127,
            periodicAdvertisingInterval: PeriodicAdvertisingInterval = PeriodicAdvertisingInterval(rawValue: 0),
            directAddress: ReportedAddress = .zero, data: [UInt8]
        ) {
            var reportedAddress = ReportedAddress.anonymous
            if let address { reportedAddress = ReportedAddress(address) }
            self.init(
                eventType: eventType, reportedAddress: reportedAddress, primaryPHY: primaryPHY,
                secondaryPHY: secondaryPHY, advertisingSetIdentifier: advertisingSetIdentifier,
                transmitPower: transmitPower, rssi: rssi, periodicAdvertisingInterval: periodicAdvertisingInterval,
                directAddress: directAddress, data: data)
        }
    }

    /// At most 255 octets in all.
    public var reports: [Report]

    public init(reports: [Report]) { self.reports = reports }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        let count = Int(try reader.read(UInt8.self))
        reports = []
        for _ in 0..<count {
            reports.append(try LEExtendedAdvertisingReportView(decoding: &reader).copied())
        }
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(UInt8(truncatingIfNeeded: reports.count))
        for report in reports {
            packet.write(report.eventType.rawValue)
            report.reportedAddress.encode(into: &packet)
            packet.write(report.primaryPHY.rawValue)
            packet.write(report.secondaryPHY?.rawValue ?? 0)
            packet.write(report.advertisingSetIdentifier)
            packet.write(report.transmitPower)
            packet.write(report.rssi)
            packet.write(report.periodicAdvertisingInterval.rawValue)
            report.directAddress.encode(into: &packet)
            packet.write(counted: report.data)
        }
    }
}
