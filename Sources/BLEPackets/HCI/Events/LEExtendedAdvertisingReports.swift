/// Reads an LE Extended Advertising Report event without copying it (Core 5.4, Vol 4, Part E, 7.7.65.13).
public struct LEExtendedAdvertisingReports: ~Escapable {
    @usableFromInline var reader: PacketReader
    @usableFromInline var remaining: Int

    /// The number of reports that have not been read; zero after an error.
    @inlinable public var remainingCount: Int { remaining }

    /// - Parameter parameters: the parameters after the subevent code.
    /// - Throws: `DecodingError.truncated` when the number of reports is missing.
    @inlinable @_lifetime(copy parameters)
    public init(decoding parameters: RawSpan) throws(DecodingError) {
        reader = PacketReader(parameters)
        remaining = Int(try reader.read(UInt8.self))
    }

    /// Reads the next report; `nil` after the last.
    ///
    /// After an error no further report can be found.
    /// - Throws: `DecodingError` when the report is incomplete or the advertiser's address type is undefined.
    @inlinable @_lifetime(copy self)
    public mutating func next() throws(DecodingError) -> LEExtendedAdvertisingReportView? {
        guard remaining > 0 else { return nil }
        let count = remaining
        remaining = 0
        let report = try LEExtendedAdvertisingReportView(decoding: &reader)
        remaining = count - 1
        return report
    }
}

/// One report of an LE Extended Advertising Report event, in place (Core 5.4, Vol 4, Part E, 7.7.65.13).
public struct LEExtendedAdvertisingReportView: ~Escapable {
    public let eventType: ExtendedAdvertisingEventType
    /// The advertiser's address as in the event; of kind anonymous for an anonymous advertiser.
    public let reportedAddress: ReportedAddress
    /// On the primary channels: LE 1M or LE Coded.
    public let primaryPHY: PHY
    /// `nil` if there was no packet on a secondary channel.
    public let secondaryPHY: PHY?
    /// The number of the advertising set, 0 to 15; 0xFF if there is none.
    public let advertisingSetIdentifier: UInt8
    /// dBm; 127 if unknown.
    public let transmitPower: Int8
    /// dBm; 127 if unknown.
    public let rssi: Int8
    /// Zero without periodic advertising.
    public let periodicAdvertisingInterval: PeriodicAdvertisingInterval
    /// Whom a directed advertisement is for; without meaning in others.
    public let directAddress: ReportedAddress
    /// Advertising data structures, or a part of them: see `ExtendedAdvertisingEventType.dataStatus`.
    public let data: RawSpan

    /// `nil` for an anonymous advertiser.
    @inlinable public var address: DeviceAddress? { reportedAddress.deviceAddress }

    @inlinable @_lifetime(copy reader)
    init(decoding reader: inout PacketReader) throws(DecodingError) {
        let fields = try reader.readBytes(24)
        eventType = ExtendedAdvertisingEventType(rawValue: fields.integer(at: 0))
        reportedAddress = ReportedAddress(octets: fields, at: 2)
        guard reportedAddress.kind.rawValue <= 0x03 || reportedAddress.kind.rawValue == 0xFF else {
            throw .invalidValue(UInt64(reportedAddress.kind.rawValue), field: .addressType)
        }
        primaryPHY = PHY(rawValue: fields.integer(at: 9))
        let secondary: UInt8 = fields.integer(at: 10)
        secondaryPHY = secondary == 0 ? nil : PHY(rawValue: secondary)
        advertisingSetIdentifier = fields.integer(at: 11)
        transmitPower = fields.integer(at: 12)
        rssi = fields.integer(at: 13)
        periodicAdvertisingInterval = PeriodicAdvertisingInterval(rawValue: fields.integer(at: 14))
        directAddress = ReportedAddress(octets: fields, at: 16)
        let count = Int(fields.integer(at: 23, as: UInt8.self))
        data = try reader.readBytes(count)
    }

    /// A copy that may outlive the packet.
    public func copied() -> LEExtendedAdvertisingReport.Report {
        LEExtendedAdvertisingReport.Report(
            eventType: eventType, reportedAddress: reportedAddress, primaryPHY: primaryPHY, secondaryPHY: secondaryPHY,
            advertisingSetIdentifier: advertisingSetIdentifier, transmitPower: transmitPower, rssi: rssi,
            periodicAdvertisingInterval: periodicAdvertisingInterval, directAddress: directAddress,
            data: data.copied())
    }
}
