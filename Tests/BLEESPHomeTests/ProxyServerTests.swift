import BLEGateway
import BLEHost
import BLEMessages
import BLEPackets
import Testing

@testable import BLEESPHome

/// The clients of the proxy: what each asks, gets, and cannot do to others.
@Suite struct ProxyServerTests {
    private static let device: UInt64 = 0xC0DE_0000_0001
    private static let loopback = ClientAddress(address: [127, 0, 0, 1])

    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1e6)) }

    private func server(key: NoiseKey? = nil, limits: ProxyLimits = ProxyLimits()) -> ProxyServer {
        ProxyServer(
            ProxyDescription(
                name: "kitchen", address: 0x00AA_0100_0001, version: "1", key: key, allowsPairing: true),
            scanner: ScannerState(activity: .running, isActive: true, isConfiguredActive: true), limits: limits)
    }

    private func frame(_ type: UInt32, _ content: [UInt8] = []) -> [UInt8] {
        var layer = FrameLayer(nil)
        return layer.encode(type, content)!
    }

    private func frame(_ type: MessageType, _ message: some Message) throws -> [UInt8] {
        frame(type.rawValue, try message.encoded())
    }

    /// Takes all that waits for a client.
    private func messages(_ server: inout ProxyServer, _ id: ProxyServer.ID, at now: Instant) throws -> [Frame] {
        var layer = FrameLayer(nil)
        while !server.output(of: id).isEmpty {
            let octets = Array(server.output(of: id))
            layer.append(octets)
            server.wrote(octets.count, on: id, at: now)
        }
        var frames: [Frame] = []
        while let frame = try layer.next() { frames.append(frame) }
        return frames
    }

    private func types(_ frames: [Frame]) -> [MessageType?] { frames.map { MessageType(rawValue: $0.type) } }

    /// A client that has said Hello.
    private func client(
        _ server: inout ProxyServer, minor: UInt32 = 12, from peer: ClientAddress = Self.loopback, at now: Instant
    ) throws -> ProxyServer.ID {
        let id = server.accept(peer, ephemeral: [UInt8](repeating: 7, count: 32), at: now)
        server.received(try frame(.helloRequest, HelloRequest(client: "test", major: 1, minor: minor)), on: id, at: now)
        #expect(server.drainActions().contains(.opened(id, peer)))
        #expect(types(try messages(&server, id, at: now)) == [.helloResponse])
        return id
    }

    @Test func `nothing is answered before Hello, and a client that says none is sent away`() throws {
        var server = server()
        let id = server.accept(Self.loopback, ephemeral: [], at: at(0))
        server.received(frame(7) + frame(9) + frame(66), on: id, at: at(1))
        #expect(server.output(of: id).isEmpty && server.drainActions().isEmpty)
        #expect(server.nextDeadline == at(12))
        server.advance(to: at(12))
        #expect(server.drainActions() == [.close(id, lastOctets: [])])
    }

    @Test func `the first messages, in one piece or octet by octet`() throws {
        let hello = try frame(.helloRequest, HelloRequest(client: "test", major: 1, minor: 10))
        let octets = hello + frame(3) + frame(999, [1, 2, 3]) + frame(9) + frame(11) + frame(7) + frame(5)
        for step in [octets.count, 1] {
            var server = server()
            let id = server.accept(Self.loopback, ephemeral: [], at: at(0))
            for start in stride(from: 0, to: octets.count, by: step) {
                server.received(octets[start..<min(start + step, octets.count)], on: id, at: at(0))
            }
            let frames = try messages(&server, id, at: at(0))
            let expected: [MessageType?] = [
                .helloResponse, .authenticationResponse, .deviceInfoResponse, .listEntitiesDoneResponse, .pingResponse,
                .disconnectResponse,
            ]
            #expect(types(frames) == expected)
            let information = try DeviceInfoResponse(octets: frames[2].content)
            #expect(information.address == "00:AA:01:00:00:01" && information.proxyFeatures == 255)
            #expect(server.drainActions().last == .close(id, lastOctets: []))
        }
    }

    @Test func `advertisements come in batches, by count and by time, to those who want them`() throws {
        var server = server()
        let subscriber = try client(&server, at: at(0))
        let other = try client(&server, at: at(0))
        server.received(frame(66), on: subscriber, at: at(0))
        #expect(types(try messages(&server, subscriber, at: at(0))) == [.scannerStateResponse])
        for number in 0..<17 {
            server.heard(
                DeviceAddress(value: UInt64(number), kind: .random), rssi: -70, data: [2, 1, 6], at: at(1))
        }
        let full = try messages(&server, subscriber, at: at(1))
        #expect(types(full) == [.rawAdvertisementsResponse])
        let batch = try RawAdvertisementsResponse(octets: full[0].content).advertisements
        #expect(batch.count == 16)
        #expect(batch[3] == RawAdvertisement(address: 3, rssi: -70, addressType: 1, data: [2, 1, 6]))
        #expect(server.nextDeadline == at(1.1))
        server.advance(to: at(1.1))
        #expect(types(try messages(&server, subscriber, at: at(1.1))) == [.rawAdvertisementsResponse])
        #expect(server.output(of: other).isEmpty)
        server.received(frame(87), on: subscriber, at: at(2))
        for _ in 0..<20 { server.heard(DeviceAddress(value: 1, kind: .public), rssi: -70, data: [], at: at(2)) }
        #expect(server.output(of: subscriber).isEmpty && server.nextDeadline ?? at(9) > at(9))
    }

    @Test func `the scanner's mode changes for all, and goes back with the last subscriber`() throws {
        var server = server()
        let ids = [try client(&server, at: at(0)), try client(&server, at: at(0))]
        for id in ids {
            server.received(frame(66), on: id, at: at(0))
            _ = try messages(&server, id, at: at(0))
        }
        server.received(try frame(.scannerSetModeRequest, ScannerSetModeRequest(mode: 0)), on: ids[0], at: at(1))
        #expect(server.drainActions() == [.scan(isActive: false)])
        for id in ids {
            let state = try ScannerStateResponse(octets: try messages(&server, id, at: at(1))[0].content)
            #expect(state == ScannerStateResponse(state: 2, mode: 0, configuredMode: 1))
        }
        server.failed(ids[0], at: at(2))
        #expect(server.drainActions() == [.close(ids[0], lastOctets: [])])
        server.failed(ids[1], at: at(3))
        #expect(server.drainActions() == [.close(ids[1], lastOctets: []), .scan(isActive: nil)])
    }

    @Test func `a device is connected to, read, and lost`() throws {
        var server = server()
        let id = try client(&server, at: at(0))
        func send(_ type: MessageType, _ message: some Message) throws -> [ProxyServer.Action] {
            server.received(try frame(type, message), on: id, at: at(1))
            return server.drainActions()
        }
        func answer(_ event: LinkEvent) throws -> [Frame] {
            server.received(event, for: id, at: at(1))
            return try messages(&server, id, at: at(1))
        }
        let connect = DeviceRequest(address: Self.device, type: 5, hasAddressType: true, addressType: 1)
        let peer = DeviceAddress(value: Self.device, kind: .random)
        #expect(try send(.deviceRequest, connect) == [.link(.connect(peer), id)])
        let connected = try answer(.connected(Self.device, attMTU: 517))
        #expect(
            try DeviceConnectionResponse(octets: connected[0].content)
                == DeviceConnectionResponse(address: Self.device, isConnected: true, mtu: 517))
        let handle = AttributeHandle(rawValue: 20)
        #expect(
            try send(.readRequest, HandleMessage(address: Self.device, handle: 20))
                == [.link(.perform(.read(handle), on: Self.device, tag: 1), id)])
        let read = try answer(.ended(tag: 1, address: Self.device, .success(.value([87]))))
        #expect(types(read) == [.readResponse])
        let value = try ValueMessage(octets: read[0].content)
        #expect(value == ValueMessage(address: Self.device, handle: 20, content: [87]))
        // Answered once.
        #expect(try answer(.ended(tag: 1, address: Self.device, .success(.value([87])))).isEmpty)
        let failures: [(LinkFailure, Int64)] = [
            (.att(0x0A), 10), (.notConnected, -1), (.linkLost(8), -1), (.timedOut, 133),
        ]
        for (index, (failure, error)) in failures.enumerated() {
            _ = try send(.writeRequest, WriteRequest(address: Self.device, handle: 20, wantsResponse: true, data: [1]))
            let failed = try answer(.ended(tag: UInt64(index + 2), address: Self.device, .failure(failure)))
            #expect(
                try ErrorResponse(octets: failed[0].content)
                    == ErrorResponse(address: Self.device, handle: 20, content: error))
        }
        // No attribute has these handles.
        for number: UInt32 in [0, 0x1_0000, .max] {
            #expect(try send(.readRequest, HandleMessage(address: Self.device, handle: number)).isEmpty)
            #expect(types(try messages(&server, id, at: at(1))) == [.errorResponse])
        }
        let lost = try answer(.disconnected(Self.device, reason: 0x13))
        #expect(
            try DeviceConnectionResponse(octets: lost[0].content)
                == DeviceConnectionResponse(address: Self.device, error: 0x13))
    }

    @Test func `what cannot be connected to is answered`() throws {
        var server = server()
        let id = try client(&server, at: at(0))
        let wrong = [
            DeviceRequest(address: Self.device, type: 0, hasAddressType: true, addressType: 1),
            DeviceRequest(address: Self.device, type: 4), DeviceRequest(address: Self.device, type: 77),
            DeviceRequest(address: 1 << 48, type: 4, hasAddressType: true),
            DeviceRequest(address: 1, type: 4, hasAddressType: true, addressType: 4),
        ]
        for request in wrong {
            server.received(try frame(.deviceRequest, request), on: id, at: at(0))
            #expect(server.drainActions().isEmpty)
            let frames = try messages(&server, id, at: at(0))
            #expect(
                try DeviceConnectionResponse(octets: frames[0].content)
                    == DeviceConnectionResponse(address: request.address))
        }
        // Without an error of its own, so that the client waits for a slot.
        server.received(.connectionFailed(Self.device, .noSlot), for: id, at: at(0))
        let frames = try messages(&server, id, at: at(0))
        #expect(try DeviceConnectionResponse(octets: frames[0].content).error == 0)
    }

    @Test(arguments: [UInt32(10), 12])
    func `services have the forms that the client knows, in messages of a good length`(minor: UInt32) throws {
        let uuids = [BluetoothUUID(UInt16(0x180D)), BluetoothUUID("6A656C6C-696E-6700-8000-000000000001")!]
        let services = (0..<60).map { number in
            let first = UInt16(number * 10 + 1)
            return ServiceContents(
                service: DiscoveredService(
                    uuid: uuids[number % 2],
                    range: AttributeHandleRange(
                        AttributeHandle(rawValue: first), AttributeHandle(rawValue: first + 9)), isPrimary: true),
                characteristics: [
                    .init(
                        characteristic: DiscoveredCharacteristic(
                            handle: AttributeHandle(rawValue: first + 1),
                            valueHandle: AttributeHandle(rawValue: first + 2),
                            endHandle: AttributeHandle(rawValue: first + 3), properties: .notify,
                            uuid: uuids[number % 2]),
                        descriptors: [
                            DiscoveredDescriptor(
                                handle: AttributeHandle(rawValue: first + 3), uuid: BluetoothUUID(UInt16(0x2902)))
                        ])
                ])
        }
        var server = server()
        let id = try client(&server, minor: minor, at: at(0))
        server.received(try frame(.getServicesRequest, AddressMessage(address: Self.device)), on: id, at: at(0))
        server.received(.ended(tag: 1, address: Self.device, .success(.services(services))), for: id, at: at(0))
        let frames = try messages(&server, id, at: at(0))
        #expect(MessageType(rawValue: frames.last!.type) == .getServicesDoneResponse)
        let messages = try frames.dropLast().map { try GetServicesResponse(octets: $0.content) }
        #expect(frames.allSatisfy { $0.content.count <= 1360 } && messages.count > 1)
        let natives = messages.flatMap(\.services)
        #expect(natives.map(\.handle) == services.map { UInt32($0.service.range.first.rawValue) })
        #expect(natives[1].uuid.halves == [0x6A65_6C6C_696E_6700, 0x8000_0000_0000_0001])
        #expect(natives[0].uuid.short == (minor < 12 ? 0 : 0x180D))
        #expect(natives[0].uuid.halves == (minor < 12 ? [0x0000_180D_0000_1000, 0x8000_0080_5F9B_34FB] : []))
        #expect(natives[0].characteristics[0].handle == 3 && natives[0].characteristics[0].descriptors[0].handle == 4)
    }

    // MARK: Clients that mean harm, or are odd

    @Test func `one who does not read loses advertisements, then the connection, and nobody else does`() throws {
        var limits = ProxyLimits()
        limits.advertisementOctets = 1000
        var server = server(limits: limits)
        let (slow, good) = (try client(&server, at: at(0)), try client(&server, at: at(0)))
        for id in [slow, good] { server.received(frame(66), on: id, at: at(0)) }
        for step in 0..<400 {
            let now = at(Double(step) / 10)
            server.heard(
                DeviceAddress(value: 1, kind: .public), rssi: -1, data: [UInt8](repeating: 1, count: 62), at: now)
            server.advance(to: now)
            _ = try messages(&server, good, at: now)
            #expect(server.output(of: slow).count < 2000)
        }
        #expect(server.open == [good])
        #expect(server.counters.stalls == 1 && server.counters.droppedBatches > 100)
    }

    @Test func `one who asks and does not read is not read any more`() throws {
        var server = server()
        let id = try client(&server, at: at(0))
        let pings = Array([[UInt8]](repeating: frame(7), count: 5000).joined())
        for _ in 0..<100 where server.interest(of: id).reads { server.received(pings, on: id, at: at(0)) }
        #expect(!server.interest(of: id).reads && server.output(of: id).count < 512 << 10)
        server.advance(to: at(30))
        #expect(server.open.isEmpty && server.counters.stalls == 1)
    }

    @Test func `a silent client is asked, then sent away`() throws {
        var server = server()
        let id = try client(&server, at: at(0))
        server.advance(to: at(60))
        #expect(types(try messages(&server, id, at: at(60))) == [.pingRequest])
        server.received(frame(8), on: id, at: at(61))
        server.advance(to: at(121))
        #expect(types(try messages(&server, id, at: at(121))) == [.pingRequest])
        server.advance(to: at(210))
        #expect(server.open == [id])
        server.advance(to: at(211))
        #expect(server.drainActions().last == .close(id, lastOctets: []))
    }

    @Test func `many who do not say Hello take no place of those who have`() throws {
        var server = server()
        let used = try client(&server, at: at(0))
        server.received(frame(66), on: used, at: at(0))
        let other = ClientAddress(address: [10, 0, 0, 1])
        let patient = server.accept(other, ephemeral: [], at: at(0))
        for _ in 0..<1000 { _ = server.accept(Self.loopback, ephemeral: [], at: at(1)) }
        #expect(server.open.count <= 24 && server.open.contains(used) && server.open.contains(patient))
        // Also those who say it and then do nothing give way.
        for _ in 0..<1000 { _ = try? client(&server, at: at(1)) }
        #expect(server.open.count <= 24 && server.open.contains(used))
        let late = try client(&server, from: other, at: at(2))
        #expect(server.open.contains(late))
    }

    @Test func `clients of one address that are all in use leave places for other addresses`() throws {
        var server = server()
        var used: [ProxyServer.ID] = []
        for _ in 0..<24 {
            let id = server.accept(Self.loopback, ephemeral: [UInt8](repeating: 7, count: 32), at: at(0))
            let hello = try frame(.helloRequest, HelloRequest(client: "test", major: 1, minor: 12))
            server.received(hello + frame(66), on: id, at: at(0))
            if server.open.contains(id) { used.append(id) }
        }
        #expect(server.open == used && used.count == 12)
        let other = ClientAddress(address: [10, 0, 0, 1])
        for _ in 0..<12 {
            let late = try client(&server, from: other, at: at(1))
            server.received(frame(66), on: late, at: at(1))
        }
        #expect(server.open.count == 24 && server.open.starts(with: used))
    }

    @Test func `a hundred thousand broken frames end their connections only, in plain text and encrypted`() throws {
        var random = SystemRandomNumberGenerator()
        for key in [nil, NoiseKey(octets: [UInt8](repeating: 1, count: 32))] {
            var server = server(key: key)
            let good = key == nil ? try client(&server, at: at(0)) : nil
            var id = server.accept(Self.loopback, ephemeral: [UInt8](repeating: 1, count: 32), at: at(0))
            let hello = try frame(.helloRequest, HelloRequest(client: "test", major: 1, minor: 12))
            let samples: [[UInt8]] = try [
                hello, frame(.deviceRequest, DeviceRequest(address: 1, type: 4, hasAddressType: true, addressType: 1)),
                frame(.writeRequest, WriteRequest(address: 1, handle: 1, wantsResponse: true, data: [1, 2, 3])),
                frame(.setConnectionParametersRequest, SetConnectionParametersRequest(address: 1, minimumInterval: 6)),
                frame(66, [8, 1]), [1, 0, 0], [1, 0, 49, 0] + [UInt8](repeating: 9, count: 48),
            ]
            for _ in 0..<100_000 {
                if !server.open.contains(id) {
                    id = server.accept(Self.loopback, ephemeral: [UInt8](repeating: 1, count: 32), at: at(0))
                    if key == nil, Bool.random(using: &random) { server.received(hello, on: id, at: at(0)) }
                }
                var octets = samples.randomElement(using: &random)!
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let place = Int.random(in: octets.indices, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: octets[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                    case 1: octets[place] = UInt8.random(in: 0...255, using: &random)
                    case 2: octets.insert(UInt8.random(in: 0...255, using: &random), at: place)
                    default: if octets.count > 1 { octets.remove(at: place) }
                    }
                }
                server.received(octets, on: id, at: at(0))
                let waiting = server.output(of: id).count
                #expect(waiting < 1 << 20)
                server.wrote(waiting, on: id, at: at(0))
                _ = server.drainActions()
            }
            #expect(server.counters.violations + server.counters.wrongKeys > 1000)
            if let good {
                server.received(frame(7), on: good, at: at(0))
                #expect(types(try messages(&server, good, at: at(0))) == [.pingResponse])
            }
        }
    }

    @Test func `a client with another key, or none, is told so`() throws {
        let key = NoiseKey(octets: [UInt8](repeating: 1, count: 32))
        for (octets, text) in [
            ([1, 0, 0, 1, 0, 49, 0] + [UInt8](repeating: 9, count: 48), "Handshake MAC failure"),
            (frame(1), "This port encrypts"),
        ] {
            var server = server(key: key)
            let id = server.accept(Self.loopback, ephemeral: [UInt8](repeating: 1, count: 32), at: at(0))
            server.received(octets, on: id, at: at(0))
            let output = Array(server.output(of: id))
            #expect(output.first == 1 && String(decoding: output, as: UTF8.self).hasSuffix("\u{1}" + text))
            server.wrote(output.count, on: id, at: at(0))
            #expect(server.drainActions() == [.close(id, lastOctets: [])] && server.counters.wrongKeys == 1)
        }
    }
}
