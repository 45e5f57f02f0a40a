import BLEHost
import BLEPackets

/// A monitor of a client (`AdvertisementMonitor1`): which advertisements it wants to know of.
struct AdvertisementMonitor {
    /// A piece of an advertising-data structure.
    struct Pattern: Equatable {
        /// In the data of the structure.
        var offset: Int
        var type: UInt8
        var octets: [UInt8]
    }

    let path: String
    var patterns: [Pattern] = []
    /// In dBm; `nil`: however weak.
    var highThreshold: Int16?
    var lowThreshold: Int16?
    var highTimeout = Microseconds.seconds(10)
    var lowTimeout = Microseconds.seconds(5)
    /// Devices that were reported to the client, with when they were received last. Only for lookup.
    var found: [String: Instant] = [:]
    /// Since when devices are received strongly enough. Only for lookup.
    var candidates: [String: Instant] = [:]

    /// - Returns: `nil` for a monitor of another type, without patterns, or with thresholds that contradict each other.
    init?(path: String, _ properties: [String: BusValue]) {
        self.path = path
        guard properties["Type"]?.text == "or_patterns",
            case .array("(yyay)", let values) = properties["Patterns"], !values.isEmpty, values.count <= 64
        else { return nil }
        for value in values {
            guard case .structure(let parts) = value, parts.count == 3, case .byte(let offset) = parts[0],
                case .byte(let type) = parts[1], case .octets(let octets) = parts[2], !octets.isEmpty,
                Int(offset) + octets.count <= 255
            else { return nil }
            patterns.append(Pattern(offset: Int(offset), type: type, octets: octets))
        }
        if case .int16(let value) = properties["RSSIHighThreshold"], (-127...20).contains(value) {
            highThreshold = value
        }
        if case .int16(let value) = properties["RSSILowThreshold"], (-127...20).contains(value) {
            lowThreshold = value
        }
        if let seconds = properties["RSSIHighTimeout"]?.uint16, seconds > 0 { highTimeout = .seconds(Int32(seconds)) }
        if let seconds = properties["RSSILowTimeout"]?.uint16, seconds > 0 { lowTimeout = .seconds(Int32(seconds)) }
        if let highThreshold, let lowThreshold, lowThreshold >= highThreshold { return nil }
    }

    /// Whether one of the patterns is in the data.
    func matches(_ advertisement: [UInt8], _ scanResponse: [UInt8]) -> Bool {
        [advertisement, scanResponse].contains { octets in
            var reader = AdvertisingDataReader(octets.span.bytes)
            while let structure = try? reader.next() {
                let data = structure.data.copied()
                for pattern in patterns where pattern.type == structure.type.rawValue {
                    let end = pattern.offset + pattern.octets.count
                    if end <= data.count, data[pattern.offset..<end].elementsEqual(pattern.octets) { return true }
                }
            }
            return false
        }
    }
}

/// A client's root of monitors.
struct MonitorApplication: Registration {
    static let method = "RegisterMonitor"
    static let limits = RegistrationLimits(all: 64, client: 16, user: 32)
    static let isFull = BusError.notPermitted("Too many monitors")

    let number: Int
    let client: String
    let path: String
    var call: BusCall?
    var isActive = false
    /// In the order of their paths.
    var monitors: [AdvertisementMonitor] = []

    init(number: Int, call: BusCall) {
        self.number = number
        client = call.sender
        path = call.text(at: 0)
        self.call = call
    }
}
