import BLE
import BLEMessages
import Foundation
import Testing

@testable import BLEDaemon

@Suite("Hostile clients of a daemon harm themselves alone")
struct HostileClientTests {
    /// A client that was there before is served as before.
    private func expectServed(_ victim: RawClient, _ operation: UInt64) throws {
        victim.request(operation, .cancel(OperationID(rawValue: 1 << 40)))
        #expect(try victim.end(of: operation) == .success(.done))
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
        hasty.request(1, .cancel(OperationID(rawValue: 1)))
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
            client.request(number, Self.connect(0xC0FF_EE00_0000 + number))
        }
        for number in 17...64 as ClosedRange<UInt64> {
            #expect(try client.end(of: number) == .failure(.limitReached), "request \(number)")
        }
        client.request(64, .cancel(OperationID(rawValue: 1)))
        #expect(try client.refusal() == .protocol)
    }

    @Test("a request and its cancellation in one write: the cancellation finds the request")
    func oneWrite() throws {
        let stage = try DaemonStage()
        let client = try stage.connect()
        #expect(try client.isWelcome())
        let connect = FromClient.request(1, Self.connect(0xC0FF_EE00_0001))
        client.send(connect.framed() + FromClient.request(2, .cancel(OperationID(rawValue: 1))).framed())
        #expect(try client.end(of: 1) == .failure(.cancelled))
    }

    private static func connect(_ address: UInt64) -> HostCommand {
        .radio(.connect(ConnectRequest(peer: DeviceAddress(value: address, kind: .random))))
    }

    @Test("another client's operations and links are not there")
    func foreignNames() throws {
        let stage = try DaemonStage()
        let owner = try stage.connect()
        #expect(try owner.isWelcome())
        owner.request(1, Self.connect(0xC0DE_0000_0001))
        guard case .success(.connected(let link)) = try owner.end(of: 1) else {
            Issue.record("no link")
            return
        }
        let thief = try stage.connect()
        #expect(try thief.isWelcome())
        let read = HostCommand.link(link, .gatt(.read(AttributeHandle(rawValue: 3))))
        thief.request(1, read)
        #expect(try thief.end(of: 1) == .failure(.notConnected))
        thief.request(2, .link(link, .disconnect))
        _ = try thief.end(of: 2)
        owner.request(2, read)
        guard case .success(.gatt(.value)) = try owner.end(of: 2) else {
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
            session.receive(FromClient.hello(Greeting(.tool)).framed().span.bytes)
            if session.nextOutput() != nil { Issue.record("a greeting was answered without a controller") }
            session.controllerIsReady(ControllerInformation())
            for number in 1...10 as ClosedRange<UInt64> {
                let discover = GATTOperation.discoverCharacteristics(.all, uuids: [BluetoothUUID(0x0102 as UInt16)])
                var frame = FromClient.request(number, .link(Self.link, .gatt(discover))).framed()
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
            session.receive(FromClient.hello(Greeting(.tool)).framed().span.bytes)
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

    private static let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 0)

    private static func servingRequest(_ number: UInt64, kind: Int) -> FromClient {
        let battery = BluetoothUUID(0x180F as UInt16)
        let one = OperationID(rawValue: 1)
        let handle = AttributeHandle(rawValue: 3)
        let level = GATTCharacteristicDefinition(
            uuid: "2A19", properties: [.read, .notify], permissions: .readable,
            descriptors: [GATTDescriptorDefinition(uuid: "2901", permissions: [], value: nil)])
        let command: HostCommand
        switch kind {
        case 0: command = .radio(.advertise(AdvertiseRequest(.packed(localName: "A", serviceUUIDs: [battery]))))
        case 1, 2:
            let included = kind == 1 ? [] : [AttributeHandle(rawValue: 1)]
            command = .server(
                .publish(
                    GATTServiceDefinition(uuid: battery, includedServices: included, characteristics: [level])))
        case 3: command = .server(.removeService(AttributeHandle(rawValue: 1)))
        case 4: command = .server(.updateValue(handle, value: [], links: [link]))
        case 5: command = .server(.respond(GATTRequestID(rawValue: 1), .failure(.invalidHandle)))
        case 6: return .request(ToolRequest(OperationID(rawValue: number), .servePairing(PairingOptions())))
        case 7: command = .channel(.listen(spsm: nil, ChannelSettings(), requiresEncryption: false))
        case 8: command = .channel(.close(ChannelID(link: link, number: 1)))
        case 9: command = .security(.nameBond(DeviceAddress(value: 1, kind: .public), ""))
        case 10:
            command = .radio(
                .changeAdvertising(one, AdvertiseRequest(.raw(advertisement: [2, 1, 6], scanResponse: []))))
        default: return .request(ToolRequest(OperationID(rawValue: number), .leave))
        }
        return .request(number, command)
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
