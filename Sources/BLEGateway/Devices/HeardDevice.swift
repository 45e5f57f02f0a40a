import BLEHost
import BLEPackets
import BLESensors

/// What the gateway knows of a device.
struct HeardDevice {
    /// A value and when it was said last.
    struct Value {
        var field: SensorField
        var format: String
        var heard: Instant
    }

    /// As it is on the air now.
    var address: DeviceAddress
    /// The place of its identity in the configuration.
    var identity: Int?
    /// The place of its settings in the configuration.
    var settings: Int?
    var isConnectable = false
    var advertisement: [UInt8] = []
    var scanResponse: [UInt8] = []
    var data = AdvertisingData()
    var reports: [SensorReport] = []
    var values: [Value] = []
    var signals: [SignalTrack] = []
    var lastHeard: Instant
    /// When it was heard, in microseconds since 1970.
    var heardUnix: Int64 = 0
    var isAllowed = true
    var lastPublished: Instant?
    var publishedRSSI = 0.0
    /// The values of the last document, to compare with thresholds.
    var publishedValues: [String: SensorValue] = [:]
    var sequence: UInt64 = 0
    /// When a document is due that waits.
    var due: Instant?
    /// Presence as it was reported; `nil`: never.
    var isPresent: Bool?
    /// When it was last heard as strong as presence asks for.
    var lastStrong: Instant?
    /// Entities that Home Assistant has been told of.
    var announced: Set<String> = []
    /// Whether the slot is in use.
    var isInUse = true

    init(address: DeviceAddress, at now: Instant) {
        self.address = address
        lastHeard = now
    }

    /// The strongest signal among the adapters that still hear it.
    func best(timeout: Microseconds) -> SignalTrack? {
        var best: SignalTrack?
        for signal in signals where signal.heard.advanced(by: timeout) >= lastHeard {
            if let known = best, known.smoothed >= signal.smoothed { continue }
            best = signal
        }
        return best ?? signals.first
    }

    /// Whether one of its values is an event, which happens and does not last.
    var saysEvent: Bool { reports.contains { $0.fields.contains { isEvent($0.name) } } }
}

/// Values that happen at a moment: they stand only in the document that reports them.
func isEvent(_ name: String) -> Bool {
    for event in ["button", "dimmer", "command", "lock_action"]
    where name == event || name.hasPrefix(event + "_") { return true }
    return false
}

/// Values that count packets: that they change says nothing.
func isCounter(_ name: String) -> Bool { name == "packet_id" || name == "sequence" || name == "advertising_count" }
