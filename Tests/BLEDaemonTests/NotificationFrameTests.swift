import BLEDaemonProtocol
import BLEHost
import BLEPackets
import Testing

@Suite("Notifications are encoded by hand")
struct NotificationFrameTests {
    private static let frames: [NotificationFrame] = {
        var frames: [NotificationFrame] = []
        for handle: UInt16 in [1, 0x7F, 0x80, 0xFFFF] {
            for count in [1, 20, 127, 128, 512] {
                for isIndication in [false, true] {
                    frames.append(
                        NotificationFrame(
                            LinkID(wire: 0x0123_4567_0040), AttributeHandle(rawValue: handle),
                            value: (0..<count).map { UInt8(truncatingIfNeeded: $0) }, isIndication: isIndication))
                }
            }
        }
        return frames
    }()

    private func message(_ frame: NotificationFrame) throws -> ArraySlice<UInt8> {
        var octets: [UInt8] = []
        frame.append(to: &octets)
        var reader = FrameReader(limit: BledProtocol.eventLimit)
        reader.append(octets.span.bytes)
        let message = try #require(try reader.next())
        #expect(reader.waitingOctets == 0)
        return message
    }

    private func wire(_ frame: NotificationFrame) throws -> WireFromDaemon {
        try #require(
            WireFromDaemon(
                .gatt(
                    frame.link,
                    .notification(
                        GATTNotification(
                            handle: frame.handle, value: frame.value, isIndication: frame.isIndication, clients: [])))))
    }

    @Test("one is what the schema's own encoder makes, and is read back")
    func notifications() throws {
        for frame in Self.frames {
            let message = try message(frame)
            #expect(FrameReader.frame(Array(message)) == (try wire(frame)).framed())
            #expect(NotificationFrame(message: message) == frame)
        }
    }

    @Test("fields that are zero or empty are left out, and such a message is left to the other decoder")
    func empty() throws {
        let (link, handle) = (LinkID(wire: 0x40), AttributeHandle(rawValue: 3))
        for frame in [
            NotificationFrame(link, handle, value: [], isIndication: true),
            NotificationFrame(LinkID(wire: 0), handle, value: [1], isIndication: false),
        ] {
            let message = try message(frame)
            #expect(FrameReader.frame(Array(message)) == (try wire(frame)).framed())
            #expect(NotificationFrame(message: message) == nil)
        }
    }

    @Test("whatever octets it accepts mean the same to the schema's own decoder")
    func mutations() throws {
        var generator = Mutations(state: 7)
        var accepted = 0
        for _ in 0..<20_000 * Mutations.repetitions {
            var octets = Array(try message(Self.frames[generator.next(Self.frames.count)]))
            for _ in 0...generator.next(2) {
                switch generator.next(3) {
                case 0:
                    // The head, or the end.
                    let place = generator.next(min(40, octets.count))
                    octets[generator.next(2) == 0 ? place : octets.count - 1 - place] =
                        UInt8(truncatingIfNeeded: generator.next(256))
                case 1: octets.removeLast(generator.next(min(4, octets.count)))
                default: octets.insert(UInt8(truncatingIfNeeded: generator.next(256)), at: generator.next(octets.count))
                }
            }
            guard let own = NotificationFrame(message: octets[...]) else { continue }
            var decoded = try WireFromDaemon(octets: octets[...])
            // Links have fewer bits than their field.
            decoded.notification.link = LinkID(wire: decoded.notification.link).wire
            #expect(decoded == (try wire(own)))
            accepted += 1
        }
        #expect(accepted > 1000)
    }
}
