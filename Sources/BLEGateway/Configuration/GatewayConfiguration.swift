import BLEHost
import BLEPackets

/// What a gateway reports, of whom, how often and under which topics. Durations are in microseconds of the engine's clock.
public struct GatewayConfiguration: Equatable, Sendable {
    /// The gateway's name, in topics and documents.
    public var name: String
    /// Where messages go.
    public var topics = GatewayTopics()
    /// Which devices are reported.
    public var filter = DeviceFilter()
    /// When a device is reported again.
    public var pace = ReportPace()
    /// How signal strength is smoothed.
    public var smoothing = SignalSmoothing()
    /// When known devices count as present; `nil`: presence is not reported.
    public var presence: PresenceRule?
    /// Devices that have settings of their own.
    public var devices: [KnownDevice] = []
    /// Identities behind private addresses.
    public var identities: [KnownIdentity] = []
    /// Discovery for Home Assistant; `nil`: none.
    public var homeAssistant: HomeAssistantSettings?
    /// Whether documents of devices are retained by the broker.
    public var retainsDocuments = false
    /// The devices that are remembered; beyond that the ones that were silent longest are forgotten.
    public var deviceLimit = 16384
    /// How long a silent device is remembered.
    public var memory: Microseconds = .seconds(3600)

    public init(name: String) { self.name = name }
}

/// When a device is reported again.
public struct ReportPace: Equatable, Sendable {
    /// The shortest time between two documents of a device; events such as presses of buttons do not wait.
    public var interval: Microseconds = .seconds(1)
    /// A device that is heard, but says nothing new, is reported again after this time.
    public var refresh: Microseconds = .seconds(60)
    /// How far the smoothed signal strength has to move to be news, in dB; `nil`: it never is.
    public var rssiChange: Double?
    /// How far a value has to move to be news, by its name; any change of other values is.
    public var thresholds: [String: Double] = [:]
    /// How long a value that a device does not repeat stays in its document.
    public var valueLifetime: Microseconds = .seconds(600)

    public init() {}
}

/// How signal strength is smoothed: a first-order low-pass, separately for each device and adapter.
public struct SignalSmoothing: Equatable, Sendable {
    /// Of a packet that comes `t` after the one before it, the share `t / (t + timeConstant)` enters the smoothed value.
    public var timeConstant: Microseconds = .seconds(5)
    /// How long an adapter that does not hear a device any more counts when the best one is chosen.
    public var adapterTimeout: Microseconds = .seconds(10)

    public init() {}
}

/// When a known device counts as present.
public struct PresenceRule: Equatable, Sendable {
    /// A device is absent when it has been silent, or too weak, for this time.
    public var timeout: Microseconds = .seconds(60)
    /// An absent device becomes present with this smoothed strength, in dBm.
    public var enter: Double = -127
    /// A present device has to be heard with this smoothed strength to stay so, in dBm.
    public var leave: Double = -127

    public init() {}
}

/// A device that has settings of its own.
public struct KnownDevice: Equatable, Sendable {
    /// Its address; a public and a random one with the same digits are the same here.
    public var address: UInt64
    /// What it is called in documents, instead of the name that it sends.
    public var name: String?
    /// The bind key with which it encrypts, 12 or 16 octets.
    public var key: [UInt8]?
    /// The shortest time between two of its documents; `nil`: that of all.
    public var interval: Microseconds?

    public init(address: UInt64) { self.address = address }
}

/// An identity that is recognized behind private addresses.
public struct KnownIdentity: Equatable, Sendable {
    /// What it is called.
    public var name: String
    /// The identity resolving key, most significant octet first.
    public var irk: [UInt8]
    /// The identity address, where it is known.
    public var address: UInt64?

    public init(name: String, irk: [UInt8]) {
        self.name = name
        self.irk = irk
    }
}

/// How Home Assistant learns about devices.
public struct HomeAssistantSettings: Equatable, Sendable {
    /// The first part of the topics of discovery.
    public var prefix = "homeassistant"
    /// After how many seconds without a document a value counts as unavailable; 0: never.
    public var expireAfter = 300

    public init() {}
}
