/// LE Directed Advertising Report: who advertised to a private address that may be ours
/// (Core 5.4, Vol 4, Part E, 7.7.65.11).
public struct LEDirectedAdvertisingReport: LEMetaEvent {
    public static let subevent = LESubeventCode.directedAdvertisingReport

    /// One advertisement.
    public struct Report: Hashable, Sendable {
        public var eventType: LegacyAdvertisingEventType
        public var address: DeviceAddress
        /// Whom it is for: a private address that the host shall resolve.
        public var directAddress: ReportedAddress
        /// dBm; 127 when it is not known.
        public var rssi: Int8

        public init(
            eventType: LegacyAdvertisingEventType = .connectableDirected, address: DeviceAddress,
            directAddress: ReportedAddress, rssi: Int8 = 127
        ) {
            self.eventType = eventType
            self.address = address
            self.directAddress = directAddress
            self.rssi = rssi
        }
    }

    /// As many as fit into 255 octets.
    public var reports: [Report]

    public init(reports: [Report]) { self.reports = reports }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        let count = Int(try reader.read(UInt8.self))
        reports = []
        for _ in 0..<count {
            reports.append(
                Report(
                    eventType: LegacyAdvertisingEventType(rawValue: try reader.read()),
                    address: try DeviceAddress(decodingWithKind: &reader),
                    directAddress: try ReportedAddress(decoding: &reader), rssi: try reader.read()))
        }
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(UInt8(truncatingIfNeeded: reports.count))
        for report in reports {
            packet.write(report.eventType.rawValue)
            report.address.encodeWithKind(into: &packet)
            report.directAddress.encode(into: &packet)
            packet.write(report.rssi)
        }
    }
}
