import BLEHost

/// The configuration of a gateway: what it reports, about which devices, how often and under which topics. Durations
/// are in microseconds of the engine's clock.
public struct GatewayConfiguration: Equatable, Sendable {
    /// The gateway's name in topics and documents.
    public var name: String
    /// The topics of messages.
    public var topics = GatewayTopics()
    /// The devices to report.
    public var filter = DeviceFilter()
    /// How often a device is reported.
    public var pace = ReportPace()
    /// How signal strength is smoothed.
    public var smoothing = SignalSmoothing()
    /// When known devices count as present; `nil`: presence is not reported.
    public var presence: PresenceRule?
    /// Devices with individual settings.
    public var devices: [KnownDevice] = []
    /// Identities for private addresses.
    public var identities: [KnownIdentity] = []
    /// Discovery for Home Assistant; `nil`: none.
    public var homeAssistant: HomeAssistantSettings?
    /// Whether requests for GATT are taken from the broker.
    public var takesGATTRequests = false
    /// Whether the broker retains documents of devices.
    public var retainsDocuments = false
    /// The maximum number of remembered devices; beyond it, those that were silent longest are forgotten.
    public var deviceLimit = 16384
    /// How long a silent device is remembered.
    public var memory: Microseconds = .seconds(3600)

    public init(name: String) { self.name = name }
}

/// How often a device is reported.
public struct ReportPace: Equatable, Sendable {
    /// The shortest time between two documents of a device; events such as button presses do not wait.
    public var interval: Microseconds = .seconds(1)
    /// A device whose data does not change is reported again after this time.
    public var refresh: Microseconds = .seconds(60)
    /// The change of the smoothed signal strength that causes a document, in dB; `nil`: none does.
    public var rssiChange: Double?
    /// The change that causes a document, by the name of the value; for other values, any change does.
    public var thresholds: [String: Double] = [:]
    /// How long a value stays in the documents if the device does not repeat it.
    public var valueLifetime: Microseconds = .seconds(600)

    public init() {}
}

/// How signal strength is smoothed: a first-order low-pass, separately for each device and adapter.
public struct SignalSmoothing: Equatable, Sendable {
    /// The weight of a packet that arrives `t` after the previous one is `t / (t + timeConstant)`.
    public var timeConstant: Microseconds = .seconds(5)
    /// How long an adapter that no longer receives a device is considered when the best adapter is chosen.
    public var adapterTimeout: Microseconds = .seconds(10)

    public init() {}
}

/// When a known device counts as present.
public struct PresenceRule: Equatable, Sendable {
    /// A device becomes absent after it has been silent, or too weak, for this time.
    public var timeout: Microseconds = .seconds(60)
    /// The smoothed signal strength with which an absent device becomes present, in dBm.
    public var enter: Double = -127
    /// The smoothed signal strength below which a present device counts as silent, in dBm.
    public var leave: Double = -127

    public init() {}
}

/// A device with individual settings.
public struct KnownDevice: Equatable, Sendable {
    /// Its address, or that of its identity; public and random addresses with the same digits are not distinguished.
    public var address: UInt64
    /// Its name in documents, instead of the one that it sends; `nil`: that one.
    public var name: String?
    /// Where it is, for metrics and the live page; `nil`: not known.
    public var location: String?
    /// The bind key of its encrypted data, 12 or 16 octets.
    public var key: [UInt8]?
    /// The shortest time between two of its documents; `nil`: `ReportPace.interval`.
    public var interval: Microseconds?
    /// The changes that cause a document, by the names of values; for other values, those of `ReportPace.thresholds`.
    public var thresholds: [String: Double] = [:]

    public init(address: UInt64) { self.address = address }
}

/// A device that is recognised under any of its addresses.
public struct KnownIdentity: Equatable, Sendable {
    /// Its name in documents; `nil`: the one that it sends.
    public var name: String?
    /// The identity resolving key, most significant octet first; `nil`: it is recognised by `address` only.
    public var irk: [UInt8]?
    /// The identity address, if known; public and random addresses with the same digits are not distinguished.
    public var address: UInt64?

    public init(name: String?, irk: [UInt8]?) {
        self.name = name
        self.irk = irk
    }
}

/// The settings for Home Assistant's MQTT discovery.
public struct HomeAssistantSettings: Equatable, Sendable {
    /// The first level of the discovery topics.
    public var prefix = "homeassistant"
    /// The number of seconds without a document after which a value counts as unavailable; 0: never.
    public var expireAfter = 300
    /// The maximum number of devices without settings and identity that are announced.
    public var deviceLimit = 1000

    public init() {}
}
