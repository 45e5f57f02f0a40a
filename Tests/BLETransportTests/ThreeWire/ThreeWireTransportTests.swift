import Glibc
import Testing

@testable import BLETransport

@Suite("Three-wire transport", .timeLimit(.minutes(10)))
struct ThreeWireTransportTests {
    /// The side that is there first. It waits for the other one: on a busy machine that may take a while.
    private static func transport(
        _ descriptor: Int32, _ configuration: ThreeWireConfiguration = .init()
    ) -> sending ThreeWireTransport {
        let transport = ThreeWireTransport(
            descriptor: descriptor, isSocket: false, configuration: configuration, address: .unix(path: "@pair"))
        transport.waitsForPeer = true
        return transport
    }

    @Test("over a serial port packets pass in both directions, and the other side's reset is a loss of packets")
    func exchange() async throws {
        let terminal = PseudoTerminal()
        terminal.makeRaw()
        try await withLoop { loop in
            let (host, controller) = (TransportUser(loop: loop), TransportUser(loop: loop))
            try await controller.start(Self.transport(dup(terminal.controller)))
            try await host.start(
                try Transports.open(.serialPort(device: terminal.device, baud: 115_200, framing: .h5)))
            #expect(await host.nextEvents(1) == [.prepared])
            #expect(await controller.nextEvents(1) == [.prepared])
            try await host.send([Sample.reset])
            #expect(await controller.nextEvents(1) == [.packet(Sample.reset)])
            try await controller.send(Sample.packets)
            #expect(await host.nextEvents(3) == Sample.packets.map { .packet($0) })
            try await controller.close()
            let second = TransportUser(loop: loop)
            try await second.start(Self.transport(dup(terminal.controller)))
            #expect(await second.nextEvents(1) == [.prepared])
            #expect(await host.nextEvents(1) == [.lost])
            try await host.send([Sample.reset])
            #expect(await second.nextEvents(1) == [.packet(Sample.reset)])
            try await host.close()
            #expect(await host.eventsUntilClosed() == [.closed(nil)])
            try await second.close()
        }
    }

    @Test("an open link on which nothing happens causes no wake-up (DESIGN 7)")
    func idle() async throws {
        try await withLoop { loop in
            let pair = SocketPair()
            let (host, controller) = (TransportUser(loop: loop), TransportUser(loop: loop))
            try await host.start(Self.transport(pair.ours))
            try await controller.start(Self.transport(pair.peer))
            #expect(await host.nextEvents(1) == [.prepared])
            #expect(await controller.nextEvents(1) == [.prepared])
            try await host.send([Sample.reset])
            #expect(await controller.nextEvents(1) == [.packet(Sample.reset)])
            try await Task.sleep(for: .milliseconds(1_000))
            let before = loop.wakeUpCount
            try await Task.sleep(for: .milliseconds(300))
            #expect(loop.wakeUpCount <= before + 1)
            try await host.close()
            try await controller.close()
        }
    }

    @Test("over pseudo-terminals with 5 % of octets lost or changed nothing is lost, doubled or reordered above (A86)")
    func damaged() async throws {
        let line = DamagedTerminals(chance: 50)
        var configuration = ThreeWireConfiguration()
        configuration.retransmissionMicroseconds = 20_000
        configuration.messageMicroseconds = 20_000
        configuration.patienceMicroseconds = 1_000_000_000_000
        let patient = configuration
        try await withLoop { loop in
            let (host, controller) = (TransportUser(loop: loop), TransportUser(loop: loop))
            try await host.start(Self.transport(line.host, patient))
            try await controller.start(Self.transport(line.controller, patient))
            #expect(await host.nextEvents(1) == [.prepared])
            #expect(await controller.nextEvents(1) == [.prepared])
            let down = ThreeWireLinkTests.packets(150, length: 16, type: 1, seed: 11)
            let up = ThreeWireLinkTests.packets(150, length: 16, type: 4, seed: 12)
            try await host.send(down)
            try await controller.send(up)
            let atController = await controller.nextEvents(150)
            let atHost = await host.nextEvents(150)
            for (received, sent) in [(atController, down), (atHost, up)] {
                let wrong = zip(received, sent).enumerated().first { $0.element.0 != .packet($0.element.1) }
                #expect(wrong == nil && received.count == sent.count, "\(wrong.debugDescription)")
            }
            // What is sent again now comes to nobody a second time.
            try await Task.sleep(for: .milliseconds(300))
            try await host.close()
            try await controller.close()
            #expect(await host.eventsUntilClosed() == [.closed(nil)])
            #expect(await controller.eventsUntilClosed() == [.closed(nil)])
        }
        line.stop()
        let damage = line.damage
        #expect(damage.hurt * 1_000 > damage.passed * 40)
        #expect(damage.hurt > 200)
    }

    @Test("where nobody establishes the link, the transport ends with its reason after 5 s")
    func nobody() async throws {
        let terminal = PseudoTerminal()
        terminal.makeRaw()
        try await withLoop { loop in
            let host = TransportUser(loop: loop)
            try await host.start(
                try Transports.open(.serialPort(device: terminal.device, baud: 115_200, framing: .h5)))
            #expect(await host.eventsUntilClosed() == [.closed(.noThreeWirePeer)])
        }
    }
}
