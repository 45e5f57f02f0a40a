import BLEPackets
import BLESensors
import BLEText

/// What beacons and sensors say in their advertising data, as text.
///
/// Devices repeat their data: what was read lately is kept, in bounded memory, because reading it takes longer than the
/// rest of a packet.
struct SensorTexts {
    /// So many that dozens of devices seldom meet in one place; at most some 300 kB.
    private static let count = 512
    /// So many characters of a text are shown.
    private static let limit = 512

    private struct Known {
        var data: [UInt8] = []
        var lines: [[UInt8]] = []
        var measures: [Measure] = []
    }

    private var known: [Known] = []

    /// A line of UTF-8 for each format that is in well-formed advertising data, without characters that could harm a
    /// terminal.
    mutating func lines(for data: RawSpan) -> [[UInt8]] {
        let place = place(of: data)
        return known[place].lines
    }

    /// The numbers with units in well-formed advertising data.
    mutating func measures(for data: RawSpan) -> [Measure] {
        let place = place(of: data)
        return known[place].measures
    }

    private mutating func place(of data: RawSpan) -> Int {
        if known.isEmpty { known = Array(repeating: Known(), count: Self.count) }
        let place = Int(Self.hash(data) % UInt64(Self.count))
        if !Self.areSame(known[place].data, data) {
            let octets = data.copied()
            let reports = SensorReport.reports(in: AdvertisingData(advertisement: data))
            known[place] = Known(
                data: octets, lines: reports.map { Array($0.description.printable(limit: Self.limit).utf8) },
                measures: reports.flatMap { Measure.measures(in: $0.fields) })
        }
        return place
    }

    /// Whether a structure of this type may contain data of beacons and sensors.
    @inline(__always)
    static func mayBe(in type: UInt8) -> Bool { type == 0xFF || type == 0x16 || type == 0x20 || type == 0x21 }

    /// FNV-1a.
    static func hash(_ data: RawSpan, from start: UInt64 = 0) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ start
        for index in 0..<data.byteCount { hash = (hash ^ UInt64(data.octet(index))) &* 0x100_0000_01B3 }
        return hash ^ hash >> 32
    }

    static func areSame(_ octets: [UInt8], _ data: RawSpan) -> Bool {
        guard octets.count == data.byteCount else { return false }
        for index in octets.indices where octets[index] != data.octet(index) { return false }
        return true
    }
}
