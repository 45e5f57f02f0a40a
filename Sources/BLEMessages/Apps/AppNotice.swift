import BLEAppLifecycle
import BLEHost
import BLEPackets

/// What the daemon reports to an app beside the events of its managers.
public enum AppNotice: Choice, Hashable, Sendable {
    /// For the log of the app.
    case log(String)
    /// Its time in the background is nearly over.
    case expiring
    /// For the user.
    case alert(Alert)
    /// Whether the controller scans and connects with extended commands.
    case extended(Bool)
    /// How long the app may still run, in milliseconds, in the background; the greatest number: nothing limits it.
    case remaining(UInt32)
    /// A notice of a newer daemon, or an alert of a kind that this version does not know.
    case unknown

    public static var blank: Self { .unknown }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.choice(&it, else: .unknown)
    }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(1, "log", &it, Self.log) { if case .log(let line) = $0 { line } else { nil } }
        try c.option(2, "expiring", &it, .expiring)
        try c.option(
            3, "alert", &it, { (it: AppAlert) in it.isKnown ? .alert(it.alert) : .unknown },
            { if case .alert(let alert) = $0 { AppAlert(alert: alert) } else { nil } })
        try c.option(4, "extended", &it, Self.extended) { if case .extended(let isIt) = $0 { isIt } else { nil } }
        try c.option(5, "remaining", &it, Self.remaining) { if case .remaining(let span) = $0 { span } else { nil } }
    }
}

/// An alert without its identifier and its app.
struct AppAlert: Message {
    var alert: Alert
    /// Whether this version knows the kind. Otherwise a newer daemon has added it, and `alert` is one of a connection.
    var isKnown = true

    static var blank: Self { Self(alert: Alert(id: .blank, app: .blank, kind: .connection, peripheral: nil)) }
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        let kinds = Alert.Kind.allCases
        var kind = (kinds.firstIndex(of: it.alert.kind) ?? 0) + 1
        try c.field(1, "kind", &kind)
        var (peer, name) = (it.alert.peripheral?.identifier, it.alert.peripheral?.name)
        try c.field(2, "peer", emptyIsNil: &peer)
        try c.field(3, "name", &name)
        guard C.reads else { return }
        it.isKnown = 1...kinds.count ~= kind
        it.alert.kind = it.isKnown ? kinds[kind - 1] : .connection
        it.alert.peripheral = peer.map { PeripheralDescription(identifier: $0, name: name) }
    }
}

/// The progress of a pairing.
public struct AppPairing: Message, Equatable, Sendable {
    /// The device as the app knows it.
    public var peer: PeerIdentifier
    public var name: String?
    /// The daemon's name for the pairing.
    public var link: LinkID
    public var event: PairingEvent

    /// - Parameter peer: the device as the app knows it.
    public init(_ event: PairingEvent, on link: LinkID, with peer: PeripheralDescription) {
        (self.peer, name) = (peer.identifier, peer.name)
        self.link = link
        self.event = event
    }

    public static var blank: Self { Self(.blank, on: .blank, with: .blank) }
    public static var schemaName: String { "AppPairingProgress" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peer", &it.peer)
        try c.field(2, "name", &it.name)
        guard try c.hasField(3, "progress", .plain, isSet: true) else { return }
        try c.nested(3, "progress", "PairingProgress") { c throws(MessageError) in
            try c.field(1, "link", &it.link)
            try c.choice(&it.event)
        }
    }
}
