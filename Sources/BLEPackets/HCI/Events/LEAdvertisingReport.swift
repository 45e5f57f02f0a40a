/// LE Advertising Report: reports of a legacy scan; one event may have several (Core 5.4, Vol 4, Part E, 7.7.65.2).
///
/// `LEAdvertisingReports` is faster: it reads the event in place.
public struct LEAdvertisingReport: LEMetaEvent {
    public static let subevent = LESubeventCode.advertisingReport

    /// One advertisement or scan response.
    public struct Report: Hashable, Sendable {
        public var eventType: LegacyAdvertisingEventType
        public var address: DeviceAddress
        /// Advertising data structures, at most 31 octets.
        public var data: [UInt8]
        /// dBm; 127 if unknown.
        public var rssi: Int8

        public init(eventType: LegacyAdvertisingEventType, address: DeviceAddress, data: [UInt8], rssi: Int8 = 127) {
            self.eventType = eventType
            self.address = address
            self.data = data
            self.rssi = rssi
        }
    }

    /// At most 255 octets in all.
    public var reports: [Report]

    public init(reports: [Report]) { self.reports = reports }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        let count = Int(try reader.read(UInt8.self))
        reports = []
        for _ in 0..<count {
            reports.append(try LEAdvertisingReportView(decoding: &reader).copied())
        }
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(UInt8(truncatingIfNeeded: reports.count))
        for report in reports {
            packet.write(report.eventType.rawValue)
            report.address.encodeWithKind(into: &packet)
            packet.write(counted: report.data)
            packet.write(report.rssi)
        }
    }
}
