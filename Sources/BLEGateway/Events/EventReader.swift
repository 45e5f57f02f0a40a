/// One who reads the events: how far it is, and what it wants.
public struct EventReader: Sendable {
    public var filter: EventFilter
    public let usesWebSocket: Bool
    private var position: UInt64
    private var hasMissed: Bool

    /// What is written at once, in octets: whoever reads slowly must not make this program keep copies.
    private static let portion = 65_536

    /// - Parameter lastEventID: the last event that it has had; `nil`: it begins with the next one.
    public init(_ filter: EventFilter, usesWebSocket: Bool, lastEventID: String?, _ log: EventLog) {
        self.filter = filter
        self.usesWebSocket = usesWebSocket
        position = lastEventID.flatMap { log.number(behind: $0) } ?? log.next
        hasMissed = lastEventID != nil && lastEventID.flatMap { log.number(behind: $0) } == nil
    }

    /// The octets that come next, at most about 64 kB; `nil` if it reads so slowly that events are no longer kept.
    public mutating func next(_ log: EventLog) -> [UInt8]? {
        guard position >= log.first else { return nil }
        var octets: [UInt8] = []
        if hasMissed {
            hasMissed = false
            // With the latest number, so that the same is not said again at the next connection.
            let id = log.id(log.next - 1)
            octets +=
                usesWebSocket
                ? WebSocketFrame.text(Array("{\"id\":\"\(id)\",\"event\":\"missed\",\"data\":{}}".utf8))
                : Array("id: \(id)\nevent: missed\ndata: {}\n\n".utf8)
        }
        while position < log.next, octets.count < Self.portion {
            if let event = log[position], filter.accepts(event) {
                let id = log.id(position)
                octets += usesWebSocket ? event.message(id: id) : event.serverSent(id: id)
            }
            position += 1
        }
        return octets
    }

    /// Whether `next` has something to look at.
    public func isBehind(_ log: EventLog) -> Bool { hasMissed || position < log.next }
}
