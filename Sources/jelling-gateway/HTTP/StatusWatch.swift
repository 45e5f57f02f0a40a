import BLEGateway
import BLEJSON

/// Looks once a second at what has changed, as long as somebody watches and shortly after, so that one whose connection
/// was lost misses nothing.
struct StatusWatch {
    private var lastWatched: ContinuousClock.Instant?
    private var lastLook: ContinuousClock.Instant?
    private var lastTexts: [String: String] = [:]

    private static let pause = ContinuousClock.Duration.milliseconds(950)
    private static let patience = ContinuousClock.Duration.seconds(60)

    /// Whether it has to look.
    var isNeeded: Bool { lastWatched.map { ContinuousClock.now - $0 < Self.patience } ?? false }

    mutating func someoneWatches() { lastWatched = .now }

    /// What has changed since the last look, if it is time for one.
    mutating func events(_ report: StatusReport) -> [GatewayEvent] {
        guard isNeeded else {
            lastTexts = [:]
            return []
        }
        if let lastLook, ContinuousClock.now - lastLook < Self.pause { return [] }
        lastLook = .now
        var events = report.deviceEvents()
        for adapter in report.adapterStates {
            guard case .string(let transport)? = adapter["transport"] else { continue }
            if isNews(transport, adapter) { events.append(GatewayEvent(.adapter, adapter)) }
        }
        let queue = report.queueState
        if isNews("", queue) { events.append(GatewayEvent(.queue, queue)) }
        return events
    }

    private mutating func isNews(_ key: String, _ value: JSONValue) -> Bool {
        let text = value.text
        defer { lastTexts[key] = text }
        return lastTexts[key] != text
    }
}
