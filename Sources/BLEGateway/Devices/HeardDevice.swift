import BLEHost
import BLEPackets
import BLESensors

/// The state of a device in the gateway.
struct HeardDevice {
    /// A value and the time when it was last received.
    struct Value {
        var field: SensorField
        var format: String
        var heard: Instant
    }

    /// The current address on the air.
    var address: DeviceAddress
    /// The index of its identity in the configuration.
    var identity: Int?
    /// The index of its settings in the configuration.
    var settings: Int?
    var isConnectable = false
    var advertisement: [UInt8] = []
    var scanResponse: [UInt8] = []
    var data = AdvertisingData()
    var reports: [SensorReport] = []
    /// The reports with events in the last packet, as received.
    var eventReports: [SensorReport] = []
    /// The last report with an event.
    var lastEvent: SensorReport?
    /// Each document with an event advances it by `eventPause`.
    private var eventTime = Instant.zero
    var values: [Value] = []
    var signals: [SignalTrack] = []
    var lastHeard: Instant
    /// When it was last received, in microseconds since 1970.
    var heardUnix: Int64 = 0
    var lastPublished: Instant?
    var publishedRSSI = 0.0
    /// The values of the last document, to compare with thresholds.
    var publishedValues: [String: SensorValue] = [:]
    var sequence: UInt64 = 0
    /// When the next document is due; `nil`: none waits.
    var due: Instant?
    /// Whether the list of devices whose documents wait has the slot.
    var isPending = false
    /// The values, and whether the presence, that Home Assistant knows.
    var announced: Set<String> = []
    var isPresenceAnnounced = false
    /// The topics that it knows of these.
    var announcedTopics: AnnouncedTopics?
    /// Whether the filter lets it pass, as last seen.
    var isShown = false
    /// Whether its content has changed since it was shown, and the time of the last packet that was shown.
    var hasNews = true
    var lastShown = Instant.zero
    /// Whether the slot is in use.
    var isInUse = true

    init(address: DeviceAddress, at now: Instant) {
        self.address = address
        lastHeard = now
    }

    /// The strongest signal among the adapters that still receive the device.
    func best(timeout: Microseconds) -> SignalTrack? {
        var best: SignalTrack?
        for signal in signals where signal.heard.advanced(by: timeout) >= lastHeard {
            if let known = best, known.smoothed >= signal.smoothed { continue }
            best = signal
        }
        return best ?? signals.first
    }

    mutating func forgetAnnouncements() {
        announced.removeAll()
        isPresenceAnnounced = false
    }

    /// Events are reported at once, but a sender that invents them must not get a document for each packet: this is the
    /// pause between them after the first few.
    private static let eventPause = Microseconds.milliseconds(500)
    /// Five without a pause.
    private static let eventBurst = Microseconds.seconds(2)

    /// When the next event may be reported.
    func nextEvent(at now: Instant) -> Instant {
        max(now, eventTime.advanced(by: .microseconds(-Self.eventBurst.rawValue)))
    }

    mutating func countEvent(at now: Instant) { eventTime = max(eventTime, now).advanced(by: Self.eventPause) }

    /// Whether one of its values is an event. Devices with several buttons also send that one was not pressed.
    var saysEvent: Bool {
        reports.contains { $0.fields.contains { isEvent($0.name) && $0.value != .text("none") } }
    }
}

/// Whether a value is an event: it belongs to a moment, and only one document contains it.
func isEvent(_ name: String) -> Bool {
    if name == "button_count" { return false }
    for event in ["button", "dimmer", "command", "lock_action"]
    where name == event || name.hasPrefix(event + "_") { return true }
    return false
}

/// Whether a value counts packets: its change is not news.
func isCounter(_ name: String) -> Bool { name == "packet_id" || name == "sequence" || name == "advertising_count" }
