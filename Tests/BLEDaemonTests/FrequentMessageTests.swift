import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import Testing

@Suite("Messages of which there may be thousands a second")
struct FrequentMessageTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: 0x0123_4567)
    /// The field of the link.
    private static let linkField: [UInt8] = [0x09, 0x40, 0, 0x67, 0x45, 0x23, 0x01, 0, 0]
    private static let handles: [UInt16] = [1, 0x7F, 0x80, 0xFFFF]
    private static let lengths = [1, 20, 127, 128, 512]

    private static func value(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

    private static func write(_ operation: UInt64, _ handle: UInt16, _ value: [UInt8]) -> FromClient {
        .request(operation, .link(link, .gatt(.writeCommand(AttributeHandle(rawValue: handle), value: value))))
    }

    private static func written(_ operation: UInt64) -> FromDaemon {
        .completed(OperationID(rawValue: operation), .success(.gatt(.written)))
    }

    private static func notification(
        _ link: LinkID, _ handle: UInt16, _ value: [UInt8], isIndication: Bool
    ) -> FromDaemon {
        let notification = GATTNotification(
            handle: AttributeHandle(rawValue: handle), value: value, isIndication: isIndication, clients: [.local])
        return .event(.gatt(link, .notification(notification)))
    }

    private func expect(_ message: FromClient, _ octets: [UInt8]) throws {
        #expect(try message.framed() == FrameReader.frame(octets) && message.encoded() == octets)
        #expect(try FromClient(octets: octets[...]) == message)
    }

    private func expect(_ message: FromDaemon, _ octets: [UInt8]) throws {
        #expect(try message.framed() == FrameReader.frame(octets) && message.encoded() == octets)
        #expect(try FromDaemon(octets: octets[...]) == message)
    }

    @Test("a request for a write command has the octets of the schema, and is read back")
    func requests() throws {
        for operation: UInt64 in [1, 127, 128, 1 << 35, .max] {
            for handle in Self.handles {
                for value in Self.lengths.map(Self.value) {
                    let command = RawMessage.field(16, RawMessage.field(1, UInt64(handle)) + RawMessage.field(2, value))
                    let request = RawMessage.field(1, operation) + RawMessage.field(7, Self.linkField + command)
                    try expect(Self.write(operation, handle, value), RawMessage.field(2, request))
                }
            }
        }
    }

    @Test("the end of one has the octets of the schema, and is read back")
    func ends() throws {
        for operation: UInt64 in [1, 127, 128, 1 << 35] {
            let end = RawMessage.field(1, operation) + RawMessage.field(14, [UInt8]())
            try expect(Self.written(operation), RawMessage.field(3, end))
        }
    }

    @Test("a notification has the octets of the schema, and is read back")
    func notifications() throws {
        for handle in Self.handles {
            for value in Self.lengths.map(Self.value) {
                for isIndication in [false, true] {
                    let content = RawMessage.field(2, UInt64(handle)) + RawMessage.field(3, value)
                    try expect(
                        Self.notification(Self.link, handle, value, isIndication: isIndication),
                        RawMessage.field(7, Self.linkField + content + (isIndication ? RawMessage.field(4, 1) : [])))
                }
            }
        }
    }

    private static let peer = PeerIdentifier(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)

    private static func value(_ manager: UInt32, _ event: PeripheralEvent) -> FromDaemon {
        .appEvent(AppEvent(.peripheral(peer, event), to: ManagerID(rawValue: manager)))
    }

    @Test("a value for an app has the octets of the schema, and is read back")
    func values() throws {
        for manager: UInt32 in [1, 128] {
            for handle in Self.handles {
                for value in Self.lengths.map(Self.value) {
                    let content = RawMessage.field(1, UInt64(handle)) + RawMessage.field(2, value)
                    let event = RawMessage.field(1, (1...16).map { UInt8($0) }) + RawMessage.field(7, content)
                    let message = RawMessage.field(1, UInt64(manager)) + RawMessage.field(13, event)
                    try expect(
                        Self.value(
                            manager,
                            .valueUpdated(characteristic: RemoteAttributeID(rawValue: handle), value, nil)),
                        RawMessage.field(17, message))
                }
            }
        }
    }

    @Test("a value with an error, without a value or of a descriptor is no other message for that")
    func otherValues() throws {
        let id = RemoteAttributeID(rawValue: 7)
        let events: [PeripheralEvent] = [
            .valueUpdated(characteristic: id, nil, nil), .valueUpdated(characteristic: id, [], nil),
            .valueUpdated(characteristic: id, nil, .att(code: 5)),
            .valueUpdated(characteristic: id, [1], .coreBluetooth(.unknown)), .descriptorValueUpdated(id, [1], nil),
            .valueWritten(characteristic: id, nil),
        ]
        for event in events {
            let message = Self.value(1, event)
            let octets = try message.encoded()
            #expect(message.framed() == FrameReader.frame(octets))
            #expect(try FromDaemon(octets: octets[...]) == message)
        }
    }

    @Test("messages are appended to what is sent before them, each as the frame that it is by itself")
    func appended() {
        let messages = [
            Self.written(3), Self.value(1, .valueUpdated(characteristic: RemoteAttributeID(rawValue: 7), [1, 2], nil)),
            Self.notification(Self.link, 3, Self.value(300), isIndication: false), Self.value(2, .nameUpdated("Belt")),
        ]
        var octets: [UInt8] = []
        for message in messages { message.append(to: &octets) }
        #expect(octets == messages.flatMap { $0.framed() })
    }

    @Test("fields that are zero or empty are left out")
    func empty() throws {
        let none = LinkID(handle: ConnectionHandle(rawValue: 0), generation: 0)
        try expect(
            Self.notification(Self.link, 3, [], isIndication: true),
            RawMessage.field(7, Self.linkField + RawMessage.field(2, 3) + RawMessage.field(4, 1)))
        try expect(
            Self.notification(none, 3, [1], isIndication: false),
            RawMessage.field(7, RawMessage.field(2, 3) + RawMessage.field(3, [1])))
    }

    @Test("whatever octets are accepted mean a message that has octets of its own, which mean the same")
    func mutations() throws {
        var generator = Mutations(state: 5)
        var accepted = 0
        for round in 0..<20_000 * Mutations.repetitions {
            let (handle, value) = (Self.handles[generator.next(4)], Self.value(Self.lengths[generator.next(5)]))
            let isRequest = round % 4 == 0
            let id = RemoteAttributeID(rawValue: handle)
            let frame =
                switch round % 4 {
                case 0: Self.write(1 << UInt64(generator.next(40)), handle, value).framed()
                case 1: Self.written(1 << UInt64(generator.next(40))).framed()
                case 2: Self.value(1, .valueUpdated(characteristic: id, value, nil)).framed()
                default: Self.notification(Self.link, handle, value, isIndication: round % 8 == 3).framed()
                }
            var octets = Array(frame.dropFirst(FrameReader.headerOctets))
            for _ in 0...generator.next(2) {
                switch generator.next(3) {
                case 0: octets[generator.next(min(40, octets.count))] = UInt8(truncatingIfNeeded: generator.next(256))
                case 1: octets.removeLast(generator.next(min(4, octets.count)))
                default: octets.insert(UInt8(truncatingIfNeeded: generator.next(256)), at: generator.next(octets.count))
                }
            }
            if isRequest {
                guard let message = try? FromClient(octets: octets[...]) else { continue }
                #expect(try FromClient(octets: message.framed().dropFirst(FrameReader.headerOctets)) == message)
            } else {
                guard let message = try? FromDaemon(octets: octets[...]), message != .unknown else { continue }
                #expect(try FromDaemon(octets: message.framed().dropFirst(FrameReader.headerOctets)) == message)
            }
            accepted += 1
        }
        #expect(accepted > 1000)
    }
}
