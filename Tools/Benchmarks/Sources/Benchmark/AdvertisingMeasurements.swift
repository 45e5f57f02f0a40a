import BLEPackets

/// What a scanner does with every report.
enum AdvertisingMeasurements {
    static let all: [Measurement] = [
        Measurement("LE advertising report (H4, 31 B) to all AD structures", nanoseconds: 250, allocations: 0) {
            count in
            turns(count, over: Samples.advertisingReports) { packet in report(packet.span.bytes) }
        },
        Measurement("advertising data (31 B) to all AD structures", nanoseconds: 250, allocations: 0) { count in
            turns(count, over: Samples.advertisements) { bytes in walk(bytes.span.bytes) }
        },
        Measurement("content hash of advertising data (31 B)", allocations: 0) { count in
            turns(count, over: Samples.advertisements) { bytes in bytes.span.bytes.contentHash() }
        },
        Measurement("advertising data (31 B) to an owned summary") { count in
            turns(count, over: Samples.advertisements) { bytes in
                UInt64(AdvertisingData(advertisement: bytes.span.bytes).serviceUUIDs.count)
            }
        },
    ]

    /// From the packet type to the last structure of every report.
    @inline(__always)
    private static func report(_ packet: RawSpan) -> UInt64 {
        var checksum: UInt64 = 0
        do throws(DecodingError) {
            guard packet.byte(at: 0) == H4PacketType.event.rawValue else { return 0 }
            let event = try HCIEventPacketView(decoding: packet.extracting(droppingFirst: 1))
            guard event.subevent == .advertisingReport else { return 0 }
            var reports = try LEAdvertisingReports(decoding: event.eventParameters)
            while let report = try reports.next() {
                checksum &+= report.address.value &+ UInt64(report.eventType.rawValue)
                checksum &+= UInt64(bitPattern: Int64(report.rssi)) &+ walk(report.data)
            }
        } catch {
            return 0
        }
        return checksum
    }

    /// Understands every structure and touches what it holds.
    @inline(__always)
    private static func walk(_ bytes: RawSpan) -> UInt64 {
        var checksum: UInt64 = 0
        var reader = AdvertisingDataReader(bytes)
        do throws(DecodingError) {
            while let structure = try reader.next() {
                switch try structure.element() {
                case .flags(let flags): checksum &+= UInt64(flags.rawValue)
                case .serviceUUIDs(var list, isComplete: _), .solicitedServiceUUIDs(var list):
                    while let uuid = try list.next() { checksum &+= uuid.high ^ uuid.low }
                case .localName(let octets, let isComplete):
                    checksum &+= sum(octets) &+ (isComplete ? 1 : 0)
                case .txPowerLevel(let power): checksum &+= UInt64(bitPattern: Int64(power))
                case .appearance(let appearance): checksum &+= UInt64(appearance)
                case .manufacturerData(let company, let octets): checksum &+= UInt64(company) &+ sum(octets)
                case .serviceData(let uuid, let octets): checksum &+= uuid.high &+ sum(octets)
                case .other(let type, let octets): checksum &+= UInt64(type.rawValue) &+ sum(octets)
                default: checksum &+= 1
                }
            }
        } catch {
            return 0
        }
        return checksum
    }

    /// The first and the last octet: enough to need the span, too little to count as work.
    @inline(__always)
    private static func sum(_ octets: RawSpan) -> UInt64 {
        UInt64(octets.byte(at: 0) ?? 0) &+ UInt64(octets.byte(at: octets.byteCount - 1) ?? 0)
    }
}
