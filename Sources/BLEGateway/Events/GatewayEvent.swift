import BLEJSON

/// Something that has happened, for those who watch the gateway while it does.
public struct GatewayEvent: Equatable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// A device was received, or is forgotten.
        case device
        /// The state of an adapter.
        case adapter
        /// The state of the queue and of the session with the broker.
        case queue
        /// A part of the answer to a request for GATT, or a value that a device has sent.
        case gatt
    }

    public var kind: Kind
    /// The device that it is about; empty for none.
    public var device: String
    /// A JSON object in one line.
    public var data: [UInt8]

    public init(_ kind: Kind, device: String = "", data: [UInt8]) {
        self.kind = kind
        self.device = device
        self.data = data
    }

    public init(_ kind: Kind, device: String = "", _ value: JSONValue) {
        var data: [UInt8] = []
        value.write(into: &data)
        self.init(kind, device: device, data: data)
    }

    /// As a server-sent event.
    public func serverSent(id: String) -> [UInt8] {
        Array("id: \(id)\nevent: \(kind.rawValue)\ndata: ".utf8) + data + [0x0A, 0x0A]
    }

    /// As a message of WebSocket.
    public func message(id: String) -> [UInt8] {
        let head = "{\"id\":\"\(id)\",\"event\":\"\(kind.rawValue)\",\"data\":"
        return WebSocketFrame.text(Array(head.utf8) + data + [UInt8(ascii: "}")])
    }
}

/// Which events somebody wants.
public struct EventFilter: Equatable, Sendable {
    /// Empty: all.
    public var kinds: Set<GatewayEvent.Kind> = []
    /// Addresses in capitals; empty: all devices.
    public var devices: Set<String> = []
    /// What the one who asks may see; everything else is left out.
    public var permitted = Set(GatewayEvent.Kind.allCases)

    public init() {}

    /// Whether nothing is asked for by name that the one who asks may not see.
    public var isPermitted: Bool { kinds.isSubset(of: permitted) }

    /// Reads `event` and `device` of a query; `nil` if an event is unknown.
    public init?(_ request: HTTPRequest) {
        for name in request.values("event") {
            guard let kind = GatewayEvent.Kind(rawValue: name) else { return nil }
            kinds.insert(kind)
        }
        devices = Set(request.values("device").map { $0.uppercased() })
    }

    /// Reads `{"event": […], "device": […]}`; `nil` if a text is something else.
    public init?(_ message: [UInt8]) {
        var limits = JSONReader.Limits()
        (limits.depth, limits.valueCount) = (3, 1000)
        guard let value = try? JSONReader.value(in: message, limits: limits), case .object(let members) = value else {
            return nil
        }
        for member in members {
            guard case .array(let items) = member.value else { return nil }
            for case let item in items {
                guard case .string(let text) = item else { return nil }
                switch member.key {
                case "event":
                    guard let kind = GatewayEvent.Kind(rawValue: text) else { return nil }
                    kinds.insert(kind)
                case "device": devices.insert(text.uppercased())
                default: return nil
                }
            }
        }
    }

    public func accepts(_ event: GatewayEvent) -> Bool {
        guard permitted.contains(event.kind), kinds.isEmpty || kinds.contains(event.kind) else { return false }
        return devices.isEmpty || event.device.isEmpty || devices.contains(event.device.uppercased())
    }
}
