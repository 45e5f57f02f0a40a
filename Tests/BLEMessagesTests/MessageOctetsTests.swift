import BLEAppLifecycle
import BLEHost
import BLEMessages
import Testing

@Suite("Messages and their octets")
struct MessageOctetsTests {
    private static let rounds = 500

    /// Values that `Message.drawn` makes of pseudorandom octets.
    private static func drawn<M: Message>(_: M.Type) -> [M] {
        var state: UInt64 = 1
        var messages: [M] = []
        for round in 0..<rounds {
            let octets = (0..<(100 + round % 900)).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
            if let message = try? M.drawn(from: octets[...]) { messages.append(message) }
        }
        return messages
    }

    /// The octets of each field, with its key.
    private static func fields(_ octets: [UInt8]) -> [[UInt8]] {
        var (fields, at): ([[UInt8]], Int) = ([], 0)
        func varint() -> Int {
            var (number, shift) = (0, 0)
            repeat {
                number |= Int(octets[at] & 0x7F) << shift
                shift += 7
                at += 1
            } while octets[at - 1] > 0x7F
            return number
        }
        while at < octets.count {
            let begin = at
            switch varint() & 7 {
            case 1: at += 8
            case 2:
                let count = varint()
                at += count
            default: _ = varint()
            }
            fields.append(Array(octets[begin..<at]))
        }
        return fields
    }

    /// - Parameter isOneChoice: whether the message is nothing but a choice.
    private func expectSame<M: Message>(_: M.Type) throws {
        var count = 0
        for message in Self.drawn(M.self) {
            guard let octets = try? message.encoded() else { continue }
            #expect(try M(octets: octets[...]).encoded() == octets, "\(message)")
            // Fields of a newer version are skipped, wherever they are; and the order is free.
            let unknown: [[UInt8]] = [[0xC0, 0xBB, 0x01, 0x05], [0xCA, 0xBB, 0x01, 0x02, 0x01, 0x02]]
            let fields = Self.fields(octets)
            #expect(try M(octets: (fields + unknown).flatMap(\.self)[...]).encoded() == octets, "\(message)")
            // Of a list the order means something.
            if Set(fields.map { $0.first }).count == fields.count {
                let turned = (unknown + fields).reversed().flatMap(\.self)
                #expect(try M(octets: turned[...]).encoded() == octets, "\(message)")
            }
            for length in stride(from: 0, to: octets.count, by: 1 + octets.count / 40) {
                // It ends between two fields, or is refused.
                guard let cut = try? M(octets: octets[..<length]) else { continue }
                _ = try? cut.encoded()
            }
            count += 1
        }
        #expect(count > Self.rounds / 3, "\(M.self)")
    }

    @Test("those of programs are read as they were written, with unknown fields, in any order, and cut anywhere")
    func programs() throws {
        try expectSame(FromClient.self)
        try expectSame(Greeting.self)
        try expectSame(ToolRequest.self)
        try expectSame(AppRequest.self)
        try expectSame(OperatorRequest.self)
    }

    @Test("those of the daemon are read as they were written, with unknown fields, in any order, and cut anywhere")
    func daemon() throws {
        try expectSame(FromDaemon.self)
        try expectSame(Welcome.self)
        try expectSame(AppEvent.self)
        try expectSame(AppNotice.self)
        try expectSame(AppPairing.self)
        try expectSame(Completion.self)
        try expectSame(OperatorAnswer.self)
        try expectSame(OperatorAlert.self)
        try expectSame(DaemonStatus.self)
        try expectSame(DaemonStatus.Adapter.self)
        try expectSame(DaemonStatus.Wanted.self)
        try expectSame(AppStatus.self)
    }

    @Test("what a newer version says is skipped where it may be, and refused where it means something")
    func newer() throws {
        let unknown: [UInt8] = [0xC2, 0xBB, 0x01, 0x00]
        #expect(try FromDaemon(octets: unknown[...]) == .unknown)
        #expect(try AppNotice(octets: unknown[...]) == .unknown)
        #expect(try OperatorRequest(octets: unknown[...]) == .unknown)
        #expect(throws: MessageError.invalidField) { try FromClient(octets: unknown[...]) }
        let event = try AppEvent(octets: ([0x08, 0x07] + unknown)[...])
        #expect(event == AppEvent(nil, to: ManagerID(rawValue: 7)))
        // Of a peripheral, and of a channel.
        let peer: [UInt8] = [0x0A, 16] + [UInt8](repeating: 1, count: 16)
        for content in [[0x6A, 22] + peer + unknown, [0xCA, 0x01, 6, 0x08, 0x01] + unknown] as [[UInt8]] {
            #expect(try AppEvent(octets: ([0x08, 0x07] + content)[...]) == event)
        }
        // Work of a newer daemon is left out.
        let wanted = try DaemonStatus.Adapter(octets: ([0x3A, 4] + unknown + [0x48, 3])[...])
        #expect(wanted.wanted.isEmpty && wanted.bonds == 3)
    }
}
