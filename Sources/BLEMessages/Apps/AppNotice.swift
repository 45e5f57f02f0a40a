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
    /// A notice of a newer daemon.
    case unknown

    public static var blank: Self { .unknown }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.choice(&it, else: .unknown)
    }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(1, "log", &it, Self.log) { if case .log(let line) = $0 { line } else { nil } }
        try c.option(2, "expiring", &it, .expiring)
        try c.option(3, "alert", &it, Self.alert) { if case .alert(let alert) = $0 { alert } else { nil } }
        try c.option(4, "extended", &it, Self.extended) { if case .extended(let isIt) = $0 { isIt } else { nil } }
        try c.option(5, "remaining", &it, Self.remaining) { if case .remaining(let span) = $0 { span } else { nil } }
    }
}

/// Its identifier and its app are not part of the message.
extension Alert: Message {
    public static var blank: Self { Self(id: .blank, app: .blank, kind: .blank, peripheral: nil) }
    public static var schemaName: String { "AppAlert" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "kind", &it.kind)
        var (peer, name) = (it.peripheral?.identifier, it.peripheral?.name)
        try c.field(2, "peer", emptyIsNil: &peer)
        try c.field(3, "name", &name)
        if C.reads { it.peripheral = peer.map { PeripheralDescription(identifier: $0, name: name) } }
    }
}

/// From 1; one of a newer daemon is shown as a connection.
extension Alert.Kind: Scalar {
    public static var blank: Self { .connection }
    public static var type: ScalarType { .uint32 }
    public var bits: UInt64 { UInt64((Self.allCases.firstIndex(of: self) ?? 0) + 1) }
    public init?(bits: UInt64) { self = Self.allCases.first { $0.bits == bits } ?? .connection }
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
        guard try c.takes(3, "progress", .plain, isSet: true) else { return }
        try c.nested(3, "progress", "PairingProgress") { c throws(MessageError) in
            try c.field(1, "link", &it.link)
            try c.choice(&it.event)
        }
    }
}
