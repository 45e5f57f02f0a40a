import BLEGateway

/// What a change of one key of the settings needs while the gateway runs. The keys of the file, what a reload does, what
/// it says, and what the guide says of it come from this table.
struct SettingsRule: Sendable {
    /// With a dot where a key within another one has a rule of its own.
    let key: String
    /// Whether a change needs a restart; otherwise it comes into force at once.
    let needsRestart: Bool
    let isChanged: @Sendable (GatewaySettings, GatewaySettings) -> Bool

    private init<Value: Equatable & SendableMetatype>(
        _ key: String, needsRestart: Bool = false, _ value: @escaping @Sendable (GatewaySettings) -> Value
    ) {
        self.key = key
        self.needsRestart = needsRestart
        isChanged = { value($0) != value($1) }
    }

    static let all: [SettingsRule] = [
        SettingsRule("name") { $0.gateway.name },
        SettingsRule("adapters") { $0.adapters },
        SettingsRule("mqtt") { $0.broker },
        SettingsRule("topics") { $0.gateway.topics },
        SettingsRule("queue") { $0.queue.limits },
        SettingsRule("queue.path", needsRestart: true) { $0.queue.path },
        SettingsRule("queue.memory", needsRestart: true) { $0.queue.isInMemory },
        SettingsRule("publish") { Publishing(pace: $0.gateway.pace, retains: $0.gateway.retainsDocuments) },
        SettingsRule("filters") { $0.gateway.filter },
        SettingsRule("presence") { $0.gateway.presence },
        SettingsRule("smoothing") { $0.gateway.smoothing },
        SettingsRule("devices") { $0.gateway.devices },
        SettingsRule("identities") { $0.gateway.identities },
        SettingsRule("bonds") { $0.bonds },
        SettingsRule("homeAssistant") { $0.gateway.homeAssistant },
        SettingsRule("http") { $0.http },
        SettingsRule("esphome", needsRestart: true) { $0.esphome },
        SettingsRule("matter", needsRestart: true) { $0.matter },
        SettingsRule("gatt", needsRestart: true) { Requests(gatt: $0.gatt, broker: $0.gateway.takesGATTRequests) },
        SettingsRule("watchdog") { $0.watchdog },
        SettingsRule("state", needsRestart: true) { $0.state },
    ]

    private struct Requests: Equatable {
        var gatt: GATTSettings?
        var broker: Bool
    }

    private struct Publishing: Equatable {
        var pace: ReportPace
        var retains: Bool
    }

    /// The keys of the file.
    static var fileKeys: [String] { all.map(\.key).filter { !$0.contains(".") } }

    /// The keys whose values differ.
    static func changedKeys(_ old: GatewaySettings, _ new: GatewaySettings, needingRestart: Bool) -> [String] {
        all.filter { $0.needsRestart == needingRestart && $0.isChanged(old, new) }.map(\.key)
    }

    /// Keys as a text; `nil`: there are none.
    static func text(of keys: [String]) -> String? {
        let keys = keys.map { "‘\($0)’" }
        guard let last = keys.last else { return nil }
        return keys.count == 1 ? last : keys.dropLast().joined(separator: ", ") + " and " + last
    }
}
