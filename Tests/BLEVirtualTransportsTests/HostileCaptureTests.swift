import BLECapture
import BLEPackets
import Testing

@testable import BLEVirtualTransports

/// What a capture makes of the machine that plays it: without the bounds, each of these takes longer than anybody
/// waits.
@Suite("Captures from anywhere are played in proportion to their length", .timeLimit(.minutes(10)))
struct HostileCaptureTests {
    private static let count = 100_000

    private func data(_ pdu: [UInt8], handle: UInt16 = 0x40) -> [UInt8] {
        [
            UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8) | 0x20, UInt8(pdu.count + 4), 0, UInt8(pdu.count), 0,
            4, 0,
        ]
            + pdu
    }

    @Test("responses without a request are no walk over all commands before them")
    func responses() {
        var collector = SessionCollector()
        let (command, response) = (data([0x52, 3, 0, 1]), data([0x0B, 1]))
        collector.handle(data: data([0x0A, 3, 0]).span.bytes, from: .hostToController, at: 0)
        collector.handle(data: response.span.bytes, from: .controllerToHost, at: 1)
        for _ in 0..<Self.count { collector.handle(data: command.span.bytes, from: .hostToController, at: 2) }
        for _ in 0..<Self.count { collector.handle(data: response.span.bytes, from: .controllerToHost, at: 3) }
        let sessions = collector.finish()
        #expect(sessions.count == 1)
        #expect(sessions.first?.exchanges.count == Self.count + 1)
        #expect(sessions.first?.exchanges.first?.response == [0x0B, 1])
    }

    @Test("of a hundred thousand devices a thousand are played, the first ones, and the others are counted")
    func devices() {
        var collector = SessionCollector()
        let request = data([0x0A, 3, 0])
        for number in 0..<Self.count {
            collector.handle(
                .leConnectionComplete(
                    .init(
                        status: .success, connectionHandle: ConnectionHandle(rawValue: 0x40), role: .central,
                        peerAddress: DeviceAddress(value: 0xC000_0000_0000 + UInt64(number), kind: .random),
                        interval: ConnectionInterval(rawValue: 24), latency: 0,
                        supervisionTimeout: SupervisionTimeout(rawValue: 100))))
            collector.handle(data: request.span.bytes, from: .hostToController, at: 0)
        }
        let sessions = collector.finish()
        #expect(sessions.count == SessionCollector.deviceLimit)
        #expect(sessions.last?.peer.value == 0xC000_0000_0000 + UInt64(SessionCollector.deviceLimit - 1))
        #expect(collector.omitted == Self.count - SessionCollector.deviceLimit)
    }

    @Test("a frame in many small pieces is not copied for each of them")
    func pieces() {
        var collector = SessionCollector()
        let start: [UInt8] = [0x40, 0x20, 5, 0, 0xFF, 0xFF, 4, 0, 0x0A]
        let piece: [UInt8] = [0x40, 0x10, 1, 0, 7]
        collector.handle(data: start.span.bytes, from: .hostToController, at: 0)
        for _ in 0..<0xFFFE { collector.handle(data: piece.span.bytes, from: .hostToController, at: 0) }
        #expect(collector.finish().first?.exchanges.first?.request.count == 0xFFFF)
    }

    @Test("a controller's log is no link that stood before; a connection that has its handle is one")
    func logs() {
        let log = data([0x1B, 3, 0, 1], handle: 0x0EDC)
        var collector = SessionCollector()
        collector.handle(data: log.span.bytes, from: .controllerToHost, at: 0)
        #expect(collector.finish().isEmpty)
        // Sent by a host it is data.
        var sent = SessionCollector()
        sent.handle(data: data([0x0A, 3, 0], handle: 0x0EDC).span.bytes, from: .hostToController, at: 0)
        #expect(sent.finish().count == 1)
        var connected = SessionCollector()
        connected.handle(
            .leConnectionComplete(
                .init(
                    status: .success, connectionHandle: ConnectionHandle(rawValue: 0x0EDC), role: .central,
                    peerAddress: DeviceAddress(value: 0xC000_0000_0001, kind: .random),
                    interval: ConnectionInterval(rawValue: 24), latency: 0,
                    supervisionTimeout: SupervisionTimeout(rawValue: 100))))
        connected.handle(data: log.span.bytes, from: .controllerToHost, at: 0)
        #expect(connected.finish().count == 1)
    }

    @Test("values at every handle get their configurations in one walk")
    func handles() {
        let later = (1...UInt16.max).map { (microseconds: Int64(0), pdu: [0x1B] + $0.octets + [1]) }
        let database = PlayedDatabase([.init(request: [], later: later, time: 0)])
        #expect(database.handles.count == 0xFFFF)
        #expect(!database.attributes.values.contains { $0.type == PlayedDatabase.configuration })
        let apart = PlayedDatabase([
            .init(request: [], later: [(0, [0x1B, 5, 0, 1]), (0, [0x1B, 6, 0, 1]), (0, [0x1B, 9, 0, 1])], time: 0)
        ])
        #expect(apart.attributes[7]?.type == PlayedDatabase.configuration)
        #expect(apart.attributes[10]?.type == PlayedDatabase.configuration)
    }
}
