import BLE
import BLEDaemonProtocol
import Foundation
import Testing

@testable import BLEDaemon

@Suite("Hostile clients of a daemon harm themselves alone")
struct HostileClientTests {
    /// A client that was there before is served as before.
    private func expectServed(_ victim: RawClient, _ operation: UInt64) throws {
        victim.send {
            $0.request.operation = operation
            $0.request.cancel.operation = 1 << 40
        }
        #expect(try victim.end(of: operation) == .done(WireNothing()))
    }

    @Test("an unknown version, an unknown kind of session and a request before the greeting are refused")
    func badGreetings() throws {
        let stage = try DaemonStage()
        let newer = try stage.connect()
        newer.greet(version: 2)
        #expect(try newer.refusal() == .version)
        let app = try stage.connect()
        app.greet(session: .unspecified)
        #expect(try app.refusal() == .protocol)
        let hasty = try stage.connect()
        hasty.send { $0.request.operation = 1 }
        #expect(try hasty.refusal() == .protocol)
        let twice = try stage.connect()
        #expect(try twice.isWelcome())
        twice.greet()
        #expect(try twice.refusal() == .protocol)
    }

    @Test("a frame over the limit ends the connection before it is read, and a frame of garbage after it")
    func badFrames() throws {
        let stage = try DaemonStage()
        let victim = try stage.connect()
        #expect(try victim.isWelcome())
        let huge = try stage.connect()
        huge.send([0xFF, 0xFF, 0xFF, 0xFF])
        #expect(try huge.refusal() == .messageTooLong)
        let garbage = try stage.connect()
        garbage.send(FrameReader.frame([0xFF, 0xFF, 0xFF]))
        #expect(try garbage.refusal() == .protocol)
        let empty = try stage.connect()
        empty.send(FrameReader.frame([]))
        #expect(try empty.refusal() == .protocol)
        try expectServed(victim, 1)
    }

    @Test("half a frame and silence end the connection after the time for a greeting")
    func silence() throws {
        var limits = ClientLimits()
        limits.greetingMicroseconds = 200_000
        let stage = try DaemonStage(limits: limits)
        let half = try stage.connect()
        half.send([8, 0, 0, 0, 1])
        #expect(try half.refusal() == .silent)
    }

    @Test("a thousand connections: those beyond the limit are told so, and who was there is served")
    func crowd() throws {
        var limits = ClientLimits()
        limits.clientsOfUser = 8
        let stage = try DaemonStage(limits: limits)
        let victim = try stage.connect()
        #expect(try victim.isWelcome())
        var held: [RawClient] = []
        var refused = 0
        for number in 0..<1000 {
            let client = try stage.connect()
            if number < 7 {
                #expect(try client.isWelcome())
                held.append(client)
            } else if try client.refusal() == .tooManyClients {
                refused += 1
            }
        }
        #expect(refused == 993)
        try expectServed(victim, 1)
        held = []
        // Their places are free again.
        var next = try stage.connect()
        while try !next.isWelcome() {
            usleep(10_000)
            next = try stage.connect()
        }
        try expectServed(next, 1)
    }

    @Test("requests beyond those that may be under way fail, each once, and numbers may not be used twice")
    func flood() throws {
        var limits = ClientLimits()
        limits.requests = 16
        let stage = try DaemonStage(limits: limits)
        let client = try stage.connect()
        #expect(try client.isWelcome())
        for number in 1...64 as ClosedRange<UInt64> {
            client.send {
                $0.request.operation = number
                $0.request.connect.peer.value = 0xC0FF_EE00_0000 + number
                $0.request.connect.peer.kind = 1
            }
        }
        for number in 17...64 as ClosedRange<UInt64> {
            guard case .failure(let failure)? = try client.end(of: number) else {
                Issue.record("request \(number) was taken")
                continue
            }
            #expect(failure.reason == .limitReached)
        }
        client.send {
            $0.request.operation = 64
            $0.request.cancel.operation = 1
        }
        #expect(try client.refusal() == .protocol)
    }

    @Test("a request and its cancellation in one write: the cancellation finds the request")
    func oneWrite() throws {
        let stage = try DaemonStage()
        let client = try stage.connect()
        #expect(try client.isWelcome())
        var connect = WireFromClient()
        connect.request.operation = 1
        connect.request.connect.peer.value = 0xC0FF_EE00_0001
        connect.request.connect.peer.kind = 1
        var cancel = WireFromClient()
        cancel.request.operation = 2
        cancel.request.cancel.operation = 1
        client.send(connect.framed() + cancel.framed())
        guard case .failure(let failure)? = try client.end(of: 1) else {
            Issue.record("it goes on")
            return
        }
        #expect(failure.reason == .cancelled)
    }

    @Test("another client's operations and links are not there")
    func foreignNames() throws {
        let stage = try DaemonStage()
        let owner = try stage.connect()
        #expect(try owner.isWelcome())
        owner.send {
            $0.request.operation = 1
            $0.request.connect.peer.value = 0xC0DE_0000_0001
            $0.request.connect.peer.kind = 1
        }
        guard case .link(let link)? = try owner.end(of: 1) else {
            Issue.record("no link")
            return
        }
        let thief = try stage.connect()
        #expect(try thief.isWelcome())
        thief.send {
            $0.request.operation = 1
            $0.request.gatt.link = link
            $0.request.gatt.read = 3
        }
        guard case .failure(let failure)? = try thief.end(of: 1) else {
            Issue.record("a foreign link was read")
            return
        }
        #expect(failure.reason == .notConnected)
        thief.send {
            $0.request.operation = 2
            $0.request.disconnect.link = link
        }
        _ = try thief.end(of: 2)
        owner.send {
            $0.request.operation = 2
            $0.request.gatt.link = link
            $0.request.gatt.read = 3
        }
        guard case .value? = try owner.end(of: 2) else {
            Issue.record("the owner's link is gone")
            return
        }
    }

    @Test("another user is refused")
    func otherUser() throws {
        // Root always may.
        guard geteuid() != 0 else { return }
        let stage = try DaemonStage(users: [])
        #expect(try stage.connect().refusal() == .notAllowed)
    }

    @Test("20,000 frames of random octets and of mutated requests end in refusals or answers, never in a trap")
    func randomFrames() throws {
        var generator = Mutations(state: 7)
        var limits = ClientLimits()
        limits.messageOctets = 256
        for _ in 0..<2000 * Mutations.repetitions {
            var session = ToolSession(client: ClientID(rawValue: 1), limits: limits)
            var hello = WireFromClient()
            hello.hello.version = 1
            hello.hello.session = .tool
            session.receive(hello.framed().span.bytes)
            if session.nextOutput() != nil { Issue.record("a greeting was answered without a controller") }
            session.controllerIsReady(ControllerInformation())
            for number in 1...10 as ClosedRange<UInt64> {
                var message = WireFromClient()
                message.request.operation = number
                message.request.gatt.link = 1
                message.request.gatt.discoverCharacteristics.uuids = [Data([1, 2])]
                var frame = message.framed()
                for _ in 0..<generator.next(4) {
                    frame[generator.next(frame.count)] = UInt8(truncatingIfNeeded: generator.next(256))
                }
                session.receive(frame.span.bytes)
                var operation = number * 1000
                while let output = session.nextOutput() {
                    guard case .submit(_, let name) = output else { continue }
                    operation += 1
                    session.submitted(name, as: OperationID(rawValue: operation))
                }
            }
            _ = session.left()
        }
    }

    @Test("20,000 mutated requests of a tool that serves end in refusals or answers, never in a trap")
    func randomServers() throws {
        var generator = Mutations(state: 11)
        for _ in 0..<1000 {
            var session = ToolSession(client: ClientID(rawValue: 1), isOperator: true, limits: ClientLimits())
            var hello = WireFromClient()
            hello.hello.version = 1
            hello.hello.session = .tool
            session.receive(hello.framed().span.bytes)
            _ = session.nextOutput()
            session.controllerIsReady(ControllerInformation())
            var operation: UInt64 = 0
            for number in 1...20 as ClosedRange<UInt64> {
                var frame = Self.servingRequest(number, kind: generator.next(12)).framed()
                for _ in 0..<generator.next(3) {
                    frame[4 + generator.next(frame.count - 4)] = UInt8(truncatingIfNeeded: generator.next(256))
                }
                session.receive(frame.span.bytes)
                while let output = session.nextOutput() {
                    guard case .submit(let command, let name) = output else { continue }
                    operation += 1
                    session.submitted(name, as: OperationID(rawValue: operation))
                    // Services and channels come to be, so that later requests may be about them.
                    guard generator.next(3) > 0, let result = Self.result(of: command) else { continue }
                    session.hear(.completed(OperationID(rawValue: operation), .success(result)), waiting: 0)
                }
            }
            _ = session.left()
        }
    }

    private static func servingRequest(_ number: UInt64, kind: Int) -> WireFromClient {
        WireFromClient.with {
            $0.request.operation = number
            switch kind {
            case 0:
                $0.request.advertise.packed.localName = "A"
                $0.request.advertise.packed.services = [Data([0x18, 0x0F])]
            case 1, 2:
                $0.request.publish.uuid = Data([0x18, 0x0F])
                $0.request.publish.includedServices = kind == 1 ? [] : [1]
                $0.request.publish.characteristics = [
                    .with {
                        $0.uuid = Data([0x2A, 0x19])
                        $0.properties = 0x12
                        $0.permissions = 1
                        $0.descriptors = [.with { $0.uuid = Data([0x29, 0x01]) }]
                    }
                ]
            case 3: $0.request.removeService = 1
            case 4:
                $0.request.updateValue.handle = 3
                $0.request.updateValue.links.links = [1]
            case 5:
                $0.request.respond.question = 1
                $0.request.respond.error.code = 1
            case 6: $0.request.servePairing = WirePairingOptions(PairingOptions())
            case 7: $0.request.listen.settings.credits = 1
            case 8: $0.request.closeChannel.number = 1
            case 9: $0.request.nameBond.identity.value = 1
            case 10:
                $0.request.changeAdvertising.operation = 1
                $0.request.changeAdvertising.advertise.raw.advertisement = Data([2, 1, 6])
            default: $0.request.leave = WireNothing()
            }
        }
    }

    private static func result(of command: HostCommand) -> HostResult? {
        switch command {
        case .server(.publish(let service)):
            .published(
                GATTPublishedService(
                    uuid: service.uuid, isPrimary: true,
                    range: AttributeHandleRange(AttributeHandle(rawValue: 1), AttributeHandle(rawValue: 5)),
                    characteristics: [], owner: ClientID(rawValue: 1)))
        case .channel(.listen): .listening(spsm: 0x80)
        case .radio: nil
        default: .done
        }
    }
}
