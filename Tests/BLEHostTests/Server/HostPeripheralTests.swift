import BLEPackets
import Testing

@testable import BLEHost

@Suite("Host as a peripheral")
struct HostPeripheralTests {
    private let batteryLevel = BluetoothUUID(UInt16(0x2A19))

    private func started(extended: Bool = false) -> HostRig {
        let rig = HostRig()
        if extended { rig.features = [.extendedAdvertising] }
        rig.start()
        rig.forget()
        return rig
    }

    private var lamp: AdvertiseRequest {
        AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [BluetoothUUID(UInt16(0x180F))]))
    }

    private func centralConnects(_ rig: HostRig, handle: UInt16 = 0x40) {
        rig.receive(
            LEConnectionComplete(
                connectionHandle: ConnectionHandle(rawValue: handle), role: .peripheral, peerAddress: HostRig.peer,
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000)))
    }

    private func publishBattery(_ rig: HostRig) -> GATTPublishedCharacteristic? {
        let operation = rig.submit(
            .server(
                .publish(
                    GATTServiceDefinition(
                        uuid: BluetoothUUID(UInt16(0x180F)),
                        characteristics: [
                            GATTCharacteristicDefinition(
                                uuid: batteryLevel, properties: [.read, .notify], permissions: .readable)
                        ]))))
        guard case .success(.published(let service))? = rig.results(of: operation).first else { return nil }
        return service.characteristics.first
    }

    private func questions(_ rig: HostRig) -> [GATTRequestID] {
        rig.events.compactMap { if case .server(.read(let request)) = $0 { request.id } else { nil } }
    }

    /// The ATT PDUs that went out, without their headers.
    private func pdus(_ rig: HostRig) -> [[UInt8]] { rig.data.map { Array($0.dropFirst(8)) } }

    @Test(
        "name and services are advertised in one PDU, until the request is cancelled (SPEC PER-8, PER-9, PER-12)"
    )
    func advertises() {
        let rig = started()
        let operation = rig.submit(.radio(.advertise(lamp)))
        #expect(
            rig.commands.map(\.opcode) == [
                LESetAdvertisingParameters.opcode, LESetAdvertisingData.opcode, LESetScanResponseData.opcode,
                LESetAdvertisingEnable.opcode,
            ])
        #expect(rig.commands[1].parameters.starts(with: [13, 2, 1, 6, 3, 3, 0x0F, 0x18, 5, 9] + Array("Lamp".utf8)))
        #expect(rig.events.contains(.advertisingChanged(isAdvertising: true)))
        rig.submit(.cancel(operation))
        #expect(rig.commands.last == .init(opcode: LESetAdvertisingEnable.opcode, parameters: [0]))
        #expect(rig.results(of: operation) == [.failure(.cancelled)])
    }

    @Test("an extended controller advertises legacy PDUs by extended commands")
    func extended() {
        let rig = started(extended: true)
        rig.submit(.radio(.advertise(lamp)))
        #expect(rig.commands.first?.opcode == LESetExtendedAdvertisingParameters.opcode)
        #expect(rig.count(of: LESetExtendedAdvertisingEnable.opcode) == 1)
        #expect(rig.count(of: LESetAdvertisingEnable.opcode) == 0)
    }

    @Test("in the background neither name nor service is visible (SPEC ADV-4, BGP-3, BGP-4)")
    func background() throws {
        let rig = started()
        var request = lamp
        request.isInBackground = true
        rig.submit(.radio(.advertise(request)))
        let data = try #require(rig.commands.first { $0.opcode == LESetAdvertisingData.opcode })
        #expect(data.parameters.starts(with: [3, 2, 1, 6, 0]))
    }

    @Test("the foreground's interval grows after a while, the background's is longer (SPEC BGP-5)")
    func pace() {
        let rig = started()
        rig.submit(.radio(.advertise(lamp)))
        rig.advance(by: .seconds(31))
        let intervals = rig.commands.filter { $0.opcode == LESetAdvertisingParameters.opcode }.map {
            UInt16($0.parameters[0]) | UInt16($0.parameters[1]) << 8
        }
        #expect(intervals.count == 2)
        #expect(intervals.first ?? 0 < intervals.last ?? 0)
        #expect(Timing.gateway.backgroundAdvertising.initial > Timing.gateway.foregroundAdvertising.initial)
    }

    @Test("advertising goes on after a connection, or ends with it, as requested", arguments: [true, false])
    func connection(resumes: Bool) {
        let rig = started()
        var request = lamp
        request.resumesAfterConnection = resumes
        let operation = rig.submit(.radio(.advertise(request)))
        rig.forget()
        centralConnects(rig)
        #expect(rig.count(of: LESetAdvertisingEnable.opcode) == (resumes ? 1 : 0))
        #expect(rig.results(of: operation) == (resumes ? [] : [.success(.done)]))
        #expect(rig.events.contains { if case .centralConnected = $0 { true } else { false } })
    }

    @Test("the app is asked for a dynamic value, and its answer is sent (SPEC PER-13, PER-15)")
    func reads() throws {
        let rig = started()
        let level = try #require(publishBattery(rig))
        centralConnects(rig)
        rig.forget()
        rig.receive(frame: [0x0A, UInt8(level.valueHandle.rawValue), 0], handle: 0x40)
        let question = try #require(questions(rig).first)
        let answer = rig.submit(.server(.respond(question, .value([87]))))
        #expect(rig.results(of: answer) == [.success(.accepted(true))])
        #expect(pdus(rig) == [[0x0B, 87]])
        let second = rig.submit(.server(.respond(question, .value([88]))))
        #expect(rig.results(of: second) == [.success(.accepted(false))])
        #expect(pdus(rig).count == 1)
    }

    @Test("an answer that comes after the disconnection is dropped (SPEC PER-16)")
    func lateAnswer() throws {
        let rig = started()
        let level = try #require(publishBattery(rig))
        centralConnects(rig)
        rig.receive(frame: [0x0A, UInt8(level.valueHandle.rawValue), 0], handle: 0x40)
        let question = try #require(questions(rig).first)
        rig.receive(
            DisconnectionComplete(connectionHandle: ConnectionHandle(rawValue: 0x40), reason: .connectionTimeout))
        rig.forget()
        let answer = rig.submit(.server(.respond(question, .value([87]))))
        #expect(rig.results(of: answer) == [.success(.accepted(false))])
        #expect(rig.data.isEmpty)
    }

    @Test("both roles on one link: the central's request is served while we read its database")
    func bothRoles() throws {
        let rig = started()
        centralConnects(rig)
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        guard case .success(.connected(let link))? = rig.results(of: connect).first else {
            Issue.record("a link that stands is shared")
            return
        }
        rig.forget()
        let read = rig.submit(.link(link, .gatt(.read(AttributeHandle(rawValue: 3)))))
        rig.receive(frame: [0x0A, 0x03, 0x00], handle: 0x40)
        #expect(pdus(rig) == [[0x0A, 3, 0], [0x0B] + Array("Jelling".utf8)])
        rig.receive(frame: [0x0B, 1, 2], handle: 0x40)
        #expect(rig.results(of: read) == [.success(.gatt(.value([1, 2])))])
        let disconnect = rig.submit(.link(link, .disconnect))
        #expect(rig.results(of: disconnect) == [.success(.done)])
        #expect(rig.count(of: Disconnect.opcode) == 0, "the link is the central's to end")
    }

    @Test("updates wait for the controller's room, then the app hears of it once (SPEC PER-21, PER-22)")
    func backPressure() throws {
        let rig = started()
        let level = try #require(publishBattery(rig))
        centralConnects(rig)
        rig.receive(frame: [0x12, UInt8(level.configuration.rawValue), 0, 1, 0], handle: 0x40)
        rig.forget()
        rig.confirmsData = false
        var taken = 0
        for value in 0..<100 {
            let update = rig.submit(.server(.updateValue(level.valueHandle, value: [UInt8(value)], links: nil)))
            guard rig.results(of: update) == [.success(.accepted(true))] else { break }
            taken += 1
        }
        #expect(taken > 4 && taken < 100)
        rig.confirmsData = true
        rig.receive(
            NumberOfCompletedPackets(links: [.init(connectionHandle: ConnectionHandle(rawValue: 0x40), count: 4)]))
        #expect(rig.events.count { $0 == .server(.readyToUpdate) } == 1)
        #expect(pdus(rig) == (0..<taken).map { [0x1B, UInt8(level.valueHandle.rawValue), 0, UInt8($0)] })
    }

    @Test(
        "the database hash comes from the crypto provider, and its reader waits for it (SPEC 2.4; Core 5.4, Vol 3, Part G, 7.3)"
    )
    func databaseHash() throws {
        var configuration = HostConfiguration()
        configuration.hasCryptoProvider = true
        let rig = HostRig(configuration: configuration)
        rig.start()
        centralConnects(rig)
        rig.forget()
        rig.receive(frame: [0x08, 0x01, 0x00, 0xFF, 0xFF, 0x2A, 0x2B], handle: 0x40)
        #expect(pdus(rig).isEmpty)
        let question = try #require(rig.nextCryptoRequest())
        guard case .authenticationCode(let key, let message) = question.request else {
            Issue.record("asked for \(question.request)")
            return
        }
        #expect(key == [UInt8](repeating: 0, count: 16) && message.starts(with: [1, 0, 0x00, 0x28, 0x00, 0x18]))
        rig.apply(.cryptoProvider(question.id &+ 1, .octets([])))
        #expect(pdus(rig).isEmpty, "nobody asked that")
        rig.apply(.cryptoProvider(question.id, .octets(Array(0..<16))))
        let answer = try #require(pdus(rig).last)
        #expect(answer.starts(with: [0x09, 18]) && answer.suffix(16) == Array((0..<16).reversed()))
        rig.apply(.cryptoProvider(question.id, .octets(Array(0..<16))))
        #expect(pdus(rig).count == 1, "answered twice")
    }

    @Test(
        "a crypto provider that cannot make the database hash costs its reader an error, not a wait of 30 s (SPEC 2.4)")
    func databaseHashFails() throws {
        for result in [CryptoResult.failure(.unavailable), .octets([1, 2, 3])] {
            var configuration = HostConfiguration()
            configuration.hasCryptoProvider = true
            let rig = HostRig(configuration: configuration)
            rig.start()
            centralConnects(rig)
            rig.forget()
            rig.receive(frame: [0x08, 0x01, 0x00, 0xFF, 0xFF, 0x2A, 0x2B], handle: 0x40)
            rig.apply(.cryptoProvider(try #require(rig.nextCryptoRequest()).id, result))
            let answer = try #require(pdus(rig).last)
            #expect(answer.starts(with: [0x01, 0x08]) && answer.last == 0x0E)
        }
    }

    // MARK: Pains of issue 3

    @Test("the local peripheral reports its state once, before anything else happens to it (SPEC PER-1)")
    func tellsState() {
        let rig = HostRig()
        let early = rig.submit(.radio(.advertise(lamp)))
        #expect(rig.events.isEmpty && rig.commands.isEmpty)
        rig.start()
        #expect(
            rig.events.first
                == .ready(rig.events.compactMap { if case .ready(let known) = $0 { known } else { nil } }[0]))
        #expect(rig.events.count { if case .ready = $0 { true } else { false } } == 1)
        #expect(rig.events.contains(.advertisingChanged(isAdvertising: true)))
        #expect(rig.results(of: early).isEmpty)
    }

    @Test(
        "MTU requests that are repeated, smaller or too small are answered alike, and the MTU never shrinks (pain 9)"
    )
    func repeatedMTU() {
        let rig = started()
        centralConnects(rig)
        rig.forget()
        let value = GATTCharacteristicDefinition.cached(0x2A24, (0..<200).map { UInt8($0) })
        guard
            case .success(.published(let service))? = rig.results(
                of: rig.submit(.server(.publish(.of(0x180A, [value]))))
            ).first
        else {
            Issue.record("not published")
            return
        }
        let handle = UInt8(service.characteristics[0].valueHandle.rawValue)
        for (asked, read) in [(10, 22), (0, 22), (23, 22), (100, 99), (50, 99), (22, 99), (180, 179), (517, 200)]
            as [(UInt16, Int)]
        {
            rig.forget()
            rig.receive(frame: [0x02, UInt8(asked & 0xFF), UInt8(asked >> 8)], handle: 0x40)
            rig.receive(frame: [0x0A, handle, 0], handle: 0x40)
            // Fragments that begin a packet tell the length of the whole PDU.
            let starts = rig.data.filter { $0[1] & 0x30 == 0 }
            #expect(Array(starts[0].dropFirst(8)) == [0x03, 0x05, 0x02], "asked for \(asked)")
            #expect(Int(starts[1][4]) | Int(starts[1][5]) << 8 == 1 + read, "asked for \(asked)")
        }
        rig.forget()
        rig.receive(frame: [0x02, 23], handle: 0x40)
        #expect(pdus(rig) == [[0x01, 0x02, 0, 0, 0x04]])
    }

    @Test("a client that floods is disconnected, and uses bounded memory until then (pain 17)")
    func flood() throws {
        let rig = started()
        let level = try #require(publishBattery(rig))
        centralConnects(rig)
        for _ in 0..<1000 { rig.receive(frame: [0x0A, UInt8(level.valueHandle.rawValue), 0], handle: 0x40) }
        #expect(questions(rig).count == 1)
        #expect(rig.count(of: Disconnect.opcode) == 1)
        #expect(pdus(rig).isEmpty)
    }

    @Test("what two clients advertise is one advertisement: the latest in the foreground first (SPEC 3.5 step 7)")
    func contributors() throws {
        let rig = started()
        func advertised() throws -> String {
            let data = try #require(rig.commands.last { $0.opcode == LESetAdvertisingData.opcode }).parameters
            return hex(Array(data[1...Int(data[0])]))
        }
        let first = ClientID(rawValue: 5)
        rig.submit(
            .radio(
                .advertise(
                    AdvertiseRequest(.packed(localName: "One", serviceUUIDs: [BluetoothUUID(UInt16(0x180F))])))),
            from: first)
        #expect(try advertised() == "02010603030f1804094f6e65")
        let second = rig.submit(
            .radio(
                .advertise(
                    AdvertiseRequest(
                        .packed(
                            localName: "Two",
                            serviceUUIDs: [BluetoothUUID(UInt16(0x180D)), BluetoothUUID(UInt16(0x180F))]))
                )),
            from: ClientID(rawValue: 6))
        #expect(try advertised() == "02010605030d180f18" + "040954776f")
        var hidden = AdvertiseRequest(.packed(localName: "Hidden", serviceUUIDs: [BluetoothUUID(UInt16(0x180A))]))
        hidden.isInBackground = true
        let third = rig.submit(.radio(.advertise(hidden)), from: ClientID(rawValue: 7))
        #expect(try advertised() == "02010605020d180f18" + "040954776f", "an app in the background takes no room")
        rig.submit(.cancel(second))
        #expect(try advertised() == "02010603020f1804094f6e65")
        rig.submit(.cancel(third))
        #expect(try advertised() == "02010603030f1804094f6e65")
    }

    @Test("a client that comes to the foreground later starts at the fast interval again (SPEC 4)")
    func paceOfTheLatest() throws {
        let rig = started()
        rig.submit(.radio(.advertise(lamp)))
        rig.advance(by: .seconds(60))
        func interval() throws -> UInt16 {
            let parameters = try #require(rig.commands.last { $0.opcode == LESetAdvertisingParameters.opcode })
                .parameters
            return UInt16(parameters[0]) | UInt16(parameters[1]) << 8
        }
        #expect(try interval() == 244)
        rig.submit(.radio(.advertise(lamp)), from: ClientID(rawValue: 6))
        #expect(try interval() == 48)
        rig.advance(by: .seconds(31))
        #expect(try interval() == 244)
    }
}
