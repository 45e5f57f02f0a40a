import BLEHost
import BLEPackets

/// An event of the client's own services.
extension GATTServerEvent: Choice {
    public static var blank: Self { .readyToUpdate }
    public static var schemaName: String { "ServerEvent" }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(
            1, "read", as: "ReadQuestion", &it,
            { .read(GATTReadRequest(id: $0, link: $1, handle: $2, offset: $3, owner: .local)) }, "question",
            "link", "handle", "offset",
            from: {
                guard case .read(let request) = $0 else { return nil }
                return (request.id, request.link, request.handle, request.offset)
            })
        try c.option(
            2, "write", as: "WriteQuestion", &it,
            { .write(GATTWriteRequest(id: $0, link: $1, writes: $2, needsAnswer: $3, owner: .local)) },
            "question", "link", "writes", "needs_answer",
            from: {
                guard case .write(let request) = $0 else { return nil }
                return (request.id, request.link, request.writes, request.needsAnswer)
            })
        try c.option(3, "subscribed", &it, Self.subscribed) { if case .subscribed(let a) = $0 { a } else { nil } }
        try c.option(4, "unsubscribed", &it, Self.unsubscribed) { if case .unsubscribed(let a) = $0 { a } else { nil } }
        try c.option(5, "ready_to_update", &it, .readyToUpdate)
        try c.option(6, "stored", as: "Stored", &it, Self.stored, "link", "write") {
            if case .stored(let link, let write) = $0 { (link, write) } else { nil }
        }
        try c.option(7, "confirmed", as: "Confirmed", &it, Self.confirmed, "link", "handle") {
            if case .confirmed(let link, let handle) = $0 { (link, handle) } else { nil }
        }
        try c.option(8, "fell_behind", &it, Self.fellBehind) { if case .fellBehind(let a) = $0 { a } else { nil } }
        try c.option(
            9, "request_expired", as: "Expired", &it, Self.requestExpired, "question", "link"
        ) { if case .requestExpired(let id, let link) = $0 { (id, link) } else { nil } }
    }
}

extension GATTWrite: Message {
    public static var blank: Self { Self(handle: .none, offset: 0, value: []) }
    public static var schemaName: String { "WrittenValue" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "handle", &it.handle)
        try c.field(2, "offset", &it.offset)
        try c.field(3, "value", &it.value)
    }
}

extension GATTSubscription: Message {
    public static var blank: Self {
        Self(link: .blank, handle: .none, modes: [], maximumUpdateLength: 0, owner: .local)
    }
    public static var schemaName: String { "Subscription" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "link", &it.link)
        try c.field(2, "handle", &it.handle)
        try c.field(3, "modes", &it.modes)
        try c.field(4, "maximum_update_length", &it.maximumUpdateLength)
    }
}
