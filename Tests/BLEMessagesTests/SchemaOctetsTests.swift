import BLEAppLifecycle
import BLEDaemonProtocol
import BLEHost
import BLEMessages
import SwiftProtobuf
import Testing

@Suite("Messages have the octets that swift-protobuf makes of the schema")
struct SchemaOctetsTests {
    private static let rounds = 3000

    /// Values that `Message.drawn` makes of pseudorandom octets.
    private static func drawn<M: BLEMessages.Message>(_: M.Type) -> [M] {
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

    /// Encodes with one description, decodes and encodes with the other, and decodes again.
    private func expectSame<M: BLEMessages.Message, W: SwiftProtobuf.Message>(_: M.Type, _: W.Type) throws {
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        var count = 0
        for message in Self.drawn(M.self) {
            guard let octets = try? message.encoded() else { continue }
            let wire = try W(serializedBytes: octets, options: options)
            let again: [UInt8] = try wire.serializedBytes()
            guard again == octets else {
                Issue.record("\(message): \(octets), \(again)")
                return
            }
            let read = try M(octets: again[...])
            #expect(try read.encoded() == octets, "\(message)")
            count += 1
        }
        #expect(count > Self.rounds / 3, "\(M.self)")
    }

    @Test("messages of programs")
    func programs() throws {
        try expectSame(FromClient.self, WireFromClient.self)
        try expectSame(Greeting.self, WireHello.self)
        try expectSame(ToolRequest.self, WireRequest.self)
        try expectSame(AppRequest.self, WireAppRequest.self)
        try expectSame(OperatorRequest.self, WireOperatorRequest.self)
    }

    @Test("messages of the daemon")
    func daemon() throws {
        try expectSame(FromDaemon.self, WireFromDaemon.self)
        try expectSame(Welcome.self, WireWelcome.self)
        try expectSame(AppEvent.self, WireAppEvent.self)
        try expectSame(AppNotice.self, WireAppNotice.self)
        try expectSame(AppPairing.self, WireAppPairingProgress.self)
        try expectSame(OperatorAnswer.self, WireOperatorAnswer.self)
        try expectSame(OperatorAlert.self, WireOperatorAlert.self)
        try expectSame(DaemonStatus.self, WireStatus.self)
        try expectSame(DaemonStatus.Adapter.self, WireAdapterStatus.self)
        try expectSame(DaemonStatus.Wanted.self, WireWantedOfRadio.self)
        try expectSame(AppStatus.self, WireInstalledApp.self)
    }

    @Test("what apps ask for and are told means the same as before")
    func apps() throws {
        for message in Self.drawn(AppRequest.self) {
            let wire = WireAppRequest(message.request, from: message.manager, number: message.number)
            let octets: [UInt8] = try wire.serializedBytes()
            #expect(try message.encoded() == octets, "\(message)")
            // It clamps what a connection waits for, and has no list of more than 512 UUIDs.
            guard let request = try? ClientRequest(wire) else { continue }
            #expect(try AppRequest(octets: octets[...]).request == request, "\(message)")
        }
        for message in Self.drawn(AppEvent.self) {
            guard let event = message.event else { continue }
            let octets: [UInt8] = try WireAppEvent(event, to: message.manager).serializedBytes()
            #expect(try message.encoded() == octets, "\(message)")
            #expect(try ClientEvent(WireAppEvent(serializedBytes: octets)) == event, "\(message)")
        }
    }
}
