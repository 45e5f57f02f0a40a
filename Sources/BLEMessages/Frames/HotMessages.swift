import BLEHost
import BLEPackets

/// A notification or indication of a device, of which there may be thousands a second: without the enumerations around
/// it.
public struct NotificationMessage: Message, Equatable, Sendable {
    /// The link over which it came.
    public var link: LinkID
    /// The handle of the characteristic value.
    public var handle: AttributeHandle
    /// What the device sent, at most 512 octets.
    public var value: [UInt8]
    /// Whether it came as an indication.
    public var isIndication: Bool

    public init(_ link: LinkID, _ handle: AttributeHandle, value: [UInt8], isIndication: Bool) {
        self.link = link
        self.handle = handle
        self.value = value
        self.isIndication = isIndication
    }

    public init(_ link: LinkID, _ notification: GATTNotification) {
        self.init(
            link, notification.handle, value: notification.value, isIndication: notification.isIndication)
    }

    public static var blank: Self { Self(.blank, .none, value: [], isIndication: false) }
    public static var schemaName: String { "Notification" }
    @inline(__always)
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "link", &it.link)
        try c.field(2, "handle", &it.handle)
        try c.field(3, "value", &it.value)
        try c.field(4, "is_indication", &it.isIndication)
    }

    /// The number in `FromDaemon`.
    static let number = 7

    /// Appends the notification as a frame for the socket.
    func appendFrame(to frames: inout [UInt8]) { FrameReader.append(Self.number, self, to: &frames) }

    /// The notification in a message of the daemon.
    /// - Returns: `nil` if the message is another one, or has another form than `appendFrame` writes.
    public init?(message: ArraySlice<UInt8>) {
        guard let it: Self = ProtoReader.content(of: Self.number, in: message), it.handle != .none else { return nil }
        self = it
    }
}

extension GATTNotification {
    public init(_ message: NotificationMessage, for client: ClientID) {
        self.init(
            handle: message.handle, value: message.value, isIndication: message.isIndication, clients: [client])
    }
}

/// A request for a write command, of which there may be thousands a second: without the enumerations around it.
public struct WriteCommandMessage: Message, Equatable, Sendable {
    /// The client's number for it.
    public var operation: OperationID
    /// The link over which it goes.
    public var link: LinkID
    /// The handle of the characteristic value.
    public var handle: AttributeHandle
    /// What is written, at most ATT_MTU − 3 octets.
    public var value: [UInt8]

    public init(_ operation: OperationID, _ link: LinkID, _ handle: AttributeHandle, value: [UInt8]) {
        self.operation = operation
        self.link = link
        self.handle = handle
        self.value = value
    }

    public static var blank: Self { Self(.blank, .blank, .none, value: []) }
    public static var schemaName: String { "Request" }
    @inline(__always)
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "operation", &it.operation)
        guard try c.hasField(7, "gatt", .optional, isSet: true) else { return }
        try c.nested(7, "gatt", "GATT") { c throws(MessageError) in
            try c.field(1, "link", &it.link)
            guard try c.hasField(16, "write_command", .optional, isSet: true) else { return }
            try c.nested(16, "write_command", "Value") { c throws(MessageError) in
                try c.field(1, "handle", &it.handle)
                try c.field(2, "value", &it.value)
            }
        }
    }

    /// The number in `FromClient`.
    static let number = 2

    /// The request as a frame for the socket.
    public func framed() -> [UInt8] { FrameReader.frame(Self.number, self) }

    /// The request in a message of a client.
    /// - Returns: `nil` if the message is another one, or has another form than `framed` writes.
    public init?(message: ArraySlice<UInt8>) {
        guard let it: Self = ProtoReader.content(of: Self.number, in: message), it.handle != .none else { return nil }
        self = it
    }
}

extension FrameReader {
    /// A frame with a message whose only field is this one.
    @inline(__always)
    static func frame<M: Message>(_ number: Int, _ message: M) -> [UInt8] {
        var frame: [UInt8] = []
        append(number, message, to: &frame)
        return frame
    }

    /// Appends a frame with a message whose only field is this one.
    @inline(__always)
    static func append<M: Message>(_ number: Int, _ message: M, to frames: inout [UInt8]) {
        let start = frames.count
        var (writer, copy) = (ProtoWriter(behind: frames.moved(), header: headerOctets), message)
        // Of what these messages have, the schema has everything.
        try? M.codeValue(number, "", &copy, &writer)
        setHeader(of: &writer.octets, at: start)
        // What the writer still had would be copied by the next one.
        swap(&frames, &writer.octets)
    }
}

extension [UInt8] {
    /// The octets, of which none are left here: so they can be changed without a copy.
    @inline(__always)
    mutating func moved() -> Self {
        var octets: Self = []
        swap(&octets, &self)
        return octets
    }
}

extension ProtoReader {
    /// The content of a message that has this field and no other.
    @inline(__always)
    static func content<M: Message>(of number: Int, in octets: ArraySlice<UInt8>) -> M? {
        var (reader, message) = (ProtoReader(octets), M.blank)
        do throws(MessageError) {
            try reader.advance()
            guard try reader.hasField(number, "", .optional, isSet: true) else { return nil }
            try M.codeValue(number, "", &message, &reader)
        } catch { return nil }
        return reader.isAtEnd ? message : nil
    }
}
