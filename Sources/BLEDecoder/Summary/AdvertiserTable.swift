/// What each advertiser has sent: a hash table of bounded size.
struct AdvertiserTable {
    /// The most addresses that are counted separately: 16 MB.
    static let maximumCount = 700_000
    /// The most names that are kept.
    static let maximumNameCount = 65_536
    /// In how many of its first reports a device's name is looked for.
    private static let namedReports = 16

    struct Details {
        var reports: UInt32 = 0
        /// `DeviceAddress.Kind` and so on, as reports have it.
        var addressType: UInt8 = 0
        /// The strongest, in dBm; 127 where none was reported.
        var rssi: Int8 = 127
        var isConnectable = false
        var isNamed = false
    }

    private(set) var count = 0
    /// Whether there were more than `maximumCount`.
    private(set) var isFull = false
    /// Whether there were more names than `maximumNameCount`.
    private(set) var hasLostNames = false
    /// Open addressing; zero is an empty slot, so each address has a bit above it set.
    private var slots = [UInt64](repeating: 0, count: 256)
    private var details = [Details](repeating: Details(), count: 256)
    private var names: [UInt64: [UInt8]] = [:]

    /// - Parameter address: 48 bits.
    mutating func insert(_ address: UInt64) { _ = place(of: address) }

    /// Counts a report.
    @inline(__always)
    mutating func note(_ report: borrowing AdvertisingReportFields, subevent: UInt8) {
        guard let index = place(of: report.address) else { return }
        details[index].reports &+= 1
        let fields = report.fields
        let rssi: Int8
        switch subevent {
        case 0x0D:
            details[index].addressType = fields.octet(2)
            if fields.octet(0) & 1 != 0 { details[index].isConnectable = true }
            rssi = fields.byteCount > 13 ? Int8(bitPattern: fields.octet(13)) : 127
        default:
            details[index].addressType = fields.octet(1)
            if fields.octet(0) <= 1 { details[index].isConnectable = true }
            let place = subevent == 0x02 ? 9 + Int(fields.octet(8)) : 15
            rssi = fields.byteCount > place ? Int8(bitPattern: fields.octet(place)) : 127
        }
        if rssi != 127, details[index].rssi == 127 || rssi > details[index].rssi { details[index].rssi = rssi }
        if !details[index].isNamed, details[index].reports <= Self.namedReports {
            recordName(report.data, report.address, index)
        }
    }

    /// Counts a PDU of an advertiser that a sniffer received.
    mutating func note(
        _ address: UInt64, isRandom: Bool, isConnectable: Bool, strength: Int8?, data: RawSpan
    ) {
        guard let index = place(of: address) else { return }
        details[index].reports &+= 1
        details[index].addressType = isRandom ? 1 : 0
        if isConnectable { details[index].isConnectable = true }
        if let strength, details[index].rssi == 127 || strength > details[index].rssi { details[index].rssi = strength }
        if !details[index].isNamed, details[index].reports <= Self.namedReports { recordName(data, address, index) }
    }

    private mutating func recordName(_ data: RawSpan, _ address: UInt64, _ index: Int) {
        var position = 0
        while position + 1 < data.byteCount, data.octet(position) > 0 {
            let length = Int(data.octet(position))
            let type = data.octet(position + 1)
            if (type == 0x09 || type == 0x08) && length > 1 {
                guard names.count < Self.maximumNameCount || names[address] != nil else {
                    hasLostNames = true
                    return
                }
                let name = data.part(position + 2, length - 1)
                // Some devices fill a fixed field with zeros.
                var count = name.byteCount
                while count > 0, name.octet(count - 1) == 0 { count -= 1 }
                guard count > 0 else { return }
                names[address] = (0..<count).map { name.octet($0) }
                // A shortened name makes way for the whole one.
                details[index].isNamed = type == 0x09
                return
            }
            position += 1 + length
        }
    }

    /// The name that a device advertised.
    func name(of address: UInt64) -> String? { names[address].map { String(decoding: $0, as: UTF8.self) } }

    /// The advertisers in the order of their reports, the most first.
    func all() -> [CaptureSummary.Advertiser] {
        var found: [CaptureSummary.Advertiser] = []
        found.reserveCapacity(count)
        for index in slots.indices where slots[index] != 0 {
            let address = slots[index] & 0xFFFF_FFFF_FFFF
            let details = details[index]
            found.append(
                CaptureSummary.Advertiser(
                    address: address, addressType: details.addressType, reports: Int(details.reports),
                    strongestRSSI: details.rssi == 127 ? nil : details.rssi, isConnectable: details.isConnectable,
                    name: names[address].map { String(decoding: $0, as: UTF8.self) }))
        }
        found.sort { ($1.reports, $0.address) < ($0.reports, $1.address) }
        return found
    }

    /// - Returns: `nil` for a new address when the table is full.
    @inline(__always)
    private mutating func place(of address: UInt64) -> Int? {
        let key = address | 1 << 63
        let mask = slots.count - 1
        var index = Self.place(key, mask)
        while slots[index] != 0 {
            if slots[index] == key { return index }
            index = (index + 1) & mask
        }
        guard count < Self.maximumCount else {
            isFull = true
            return nil
        }
        slots[index] = key
        count += 1
        guard count * 3 > slots.count * 2 else { return index }
        grow()
        return place(of: address)
    }

    private mutating func grow() {
        let (old, oldDetails) = (slots, details)
        slots = [UInt64](repeating: 0, count: old.count * 2)
        details = [Details](repeating: Details(), count: old.count * 2)
        let mask = slots.count - 1
        for (place, key) in old.enumerated() where key != 0 {
            var index = Self.place(key, mask)
            while slots[index] != 0 { index = (index + 1) & mask }
            slots[index] = key
            details[index] = oldDetails[place]
        }
    }

    @inline(__always)
    private static func place(_ key: UInt64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    }
}

extension CaptureSummary {
    /// A device that advertised.
    public struct Advertiser: Equatable, Sendable {
        /// 48 bits.
        public var address: UInt64
        /// From the last report: 0 public, 1 random, 2 and 3 the same of a resolved identity, 0xFF anonymous.
        public var addressType: UInt8
        /// Advertising reports and scan responses.
        public var reports: Int
        /// The strongest signal, in dBm; `nil` where none was reported.
        public var strongestRSSI: Int8?
        /// Whether it ever accepted connections.
        public var isConnectable: Bool
        /// The local name; `nil` where its first reports have none.
        public var name: String?
    }

    /// The devices that advertised, those with the most reports first.
    public var advertisers: [Advertiser] { addresses.all() }

    /// The connections in the order in which they began.
    public var links: [LinkSummary] {
        connections.links.map { link in
            var link = link
            link.name = link.address.flatMap(addresses.name)
            return link
        }
    }
    /// Connections that were too many to be followed, at most `LinkSummaries.maximumCount` are.
    public var omittedLinkCount: Int { connections.omittedCount }
    /// Attempts to connect that failed and were followed by no connection to the device.
    public var failedAttemptCount: Int { connections.failedAttemptCount }
}
