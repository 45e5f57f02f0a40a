import BLEAppLifecycle

/// A value that a device has sent or that was read, for a manager of an app, of which there may be thousands a second:
/// without the enumerations around it.
struct AppValueMessage: Message, Equatable, Sendable {
    var manager: ManagerID
    var peer: PeerIdentifier
    var characteristic: RemoteAttributeID
    var value: [UInt8]

    init(_ manager: ManagerID, _ peer: PeerIdentifier, _ characteristic: RemoteAttributeID, value: [UInt8]) {
        (self.manager, self.peer) = (manager, peer)
        (self.characteristic, self.value) = (characteristic, value)
    }

    /// - Returns: `nil` for another event.
    @inline(__always)
    init?(_ event: AppEvent) {
        guard case .peripheral(let peer, .valueUpdated(let characteristic, let value?, nil))? = event.event else {
            return nil
        }
        self.init(event.manager, peer, characteristic, value: value)
    }

    var event: AppEvent {
        AppEvent(.peripheral(peer, .valueUpdated(characteristic: characteristic, value, nil)), to: manager)
    }

    static var blank: Self { Self(.blank, .blank, .blank, value: []) }
    static var schemaName: String { "AppEvent" }
    @inline(__always)
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "manager", &it.manager)
        guard try c.hasField(13, "peripheral", .optional, isSet: true) else { throw .invalidField }
        try c.nested(13, "peripheral", "AppPeripheralEvent") { c throws(MessageError) in
            try c.field(1, "peer", &it.peer)
            // Without it, there is a value.
            guard try !c.hasField(2, "error", .optional, isSet: false),
                try c.hasField(7, "value_updated", .optional, isSet: true)
            else { throw .invalidField }
            try c.nested(7, "value_updated", "AppValue") { c throws(MessageError) in
                try c.field(1, "id", &it.characteristic)
                var value: [UInt8]? = it.value
                try c.field(2, "value", &value)
                guard let value else { throw .invalidField }
                it.value = value
            }
        }
    }

    /// The number in `FromDaemon`.
    static let number = 17

    /// Appends the value as a frame for the socket.
    func appendFrame(to frames: inout [UInt8]) { FrameReader.append(Self.number, self, to: &frames) }

    /// The value in a message of the daemon.
    /// - Returns: `nil` if the message is another one, or has another form than `appendFrame` writes.
    init?(message: ArraySlice<UInt8>) {
        guard let it: Self = ProtoReader.content(of: Self.number, in: message) else { return nil }
        self = it
    }
}
