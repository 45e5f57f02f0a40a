/// Reads an LE Advertising Report event without copying it (Core 5.4, Vol 4, Part E, 7.7.65.2).
///
/// Controllers write the reports one after the other, each with all its fields, and they are read in this form.
public struct LEAdvertisingReports: ~Escapable {
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
    /// - Throws: `DecodingError` when the report is incomplete or its address type is undefined.
    @inlinable @_lifetime(copy self)
    public mutating func next() throws(DecodingError) -> LEAdvertisingReportView? {
        guard remaining > 0 else { return nil }
        let count = remaining
        remaining = 0
        let report = try LEAdvertisingReportView(decoding: &reader)
        remaining = count - 1
        return report
    }
}

/// One report of an LE Advertising Report event, in place (Core 5.4, Vol 4, Part E, 7.7.65.2).
public struct LEAdvertisingReportView: ~Escapable {
    public let eventType: LegacyAdvertisingEventType
    public let address: DeviceAddress
    /// Advertising data structures, at most 31 octets.
    public let data: RawSpan
    /// dBm; 127 if unknown.
    public let rssi: Int8

    @inlinable @_lifetime(copy reader)
    init(decoding reader: inout PacketReader) throws(DecodingError) {
        let fields = try reader.readBytes(9)
        eventType = LegacyAdvertisingEventType(rawValue: fields.integer(at: 0))
        let kind: UInt8 = fields.integer(at: 1)
        guard let kind = DeviceAddress.Kind(rawValue: kind) else {
            throw .invalidValue(UInt64(kind), field: .addressType)
        }
        let low: UInt32 = fields.integer(at: 2)
        let high: UInt16 = fields.integer(at: 6)
        address = DeviceAddress(value: UInt64(low) | UInt64(high) << 32, kind: kind)
        let count = Int(fields.integer(at: 8, as: UInt8.self))
        data = try reader.readBytes(count)
        rssi = try reader.read()
    }

    /// A copy that may outlive the packet.
    public func copied() -> LEAdvertisingReport.Report {
        LEAdvertisingReport.Report(eventType: eventType, address: address, data: data.copied(), rssi: rssi)
    }
}
