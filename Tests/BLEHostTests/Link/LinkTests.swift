import BLEPackets
import Testing

@testable import BLEHost

@Suite("Links")
struct LinkTests {
    private func started() -> HostRig {
        let rig = HostRig()
        rig.start()
        rig.forget()
        return rig
    }

    private func disconnected(_ handle: UInt16, reason: HCIStatus) -> DisconnectionComplete {
        DisconnectionComplete(connectionHandle: ConnectionHandle(rawValue: handle), reason: reason)
    }

    @Test("ATT_MTU is exchanged before the client gets the link (SPEC 2.3 connect)")
    func exchangesMTU() {
        let rig = started()
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        #expect(rig.data == [[0x40, 0, 7, 0, 3, 0, 4, 0, 0x02, 0x05, 0x02]])
        #expect(rig.links.isEmpty)
        rig.receive(frame: [0x03, 0xF7, 0x00], handle: 0x40)
        #expect(rig.links.first?.attMTU == 247)
        #expect(rig.results(of: connect).count == 1)
    }

    @Test("a peer that knows no MTU exchange, or never answers it, is usable at 23 (pain 9)", arguments: [true, false])
    func withoutMTU(answers: Bool) {
        let rig = started()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        if answers {
            rig.receive(frame: [0x01, 0x02, 0x00, 0x00, 0x06], handle: 0x40)
        } else {
            rig.advance(by: .seconds(6))
        }
        #expect(rig.links.first?.attMTU == 23)
    }

    @Test("a frame is fragmented to the controller's packets, one credit each, and none is sent without credit")
    func fragments() {
        let rig = HostRig()
        rig.aclLength = 27
        rig.aclCount = 2
        rig.start()
        let link = rig.connect(mtu: 247)
        rig.confirmsData = false
        rig.submit(.link(link, .gatt(.write(AttributeHandle(rawValue: 3), value: [UInt8](repeating: 9, count: 100)))))
        #expect(rig.data.map(\.count) == [31, 31])
        #expect(rig.data[0][1] & 0x30 == 0x00)
        #expect(rig.data[1][1] & 0x30 == 0x10)
        rig.receive(NumberOfCompletedPackets(links: [.init(connectionHandle: link.handle, count: 2)]))
        #expect(rig.data.count == 4)
        rig.receive(NumberOfCompletedPackets(links: [.init(connectionHandle: link.handle, count: 200)]))
        #expect(rig.data.dropFirst(4).isEmpty, "104 octets are four packets of at most 27")
        let whole = rig.data.flatMap { $0.dropFirst(4) }
        #expect(whole.count == 4 + 3 + 100)
    }

    @Test("credits of a link that ends are reclaimed (pain 11)")
    func reclaimsCredits() {
        let rig = HostRig()
        rig.aclCount = 2
        rig.start()
        let first = rig.connect(HostRig.peer(1), handle: 0x40, mtu: 247)
        let second = rig.connect(HostRig.peer(2), handle: 0x41, mtu: 247)
        rig.confirmsData = false
        rig.submit(.link(first, .gatt(.write(AttributeHandle(rawValue: 3), value: [UInt8](repeating: 9, count: 100)))))
        rig.submit(.link(second, .gatt(.write(AttributeHandle(rawValue: 3), value: [UInt8](repeating: 8, count: 100)))))
        #expect(rig.data.map(\.first) == [0x40, 0x41])
        rig.receive(disconnected(0x40, reason: .connectionTimeout))
        #expect(rig.data.map(\.first) == [0x40, 0x41, 0x41])
    }

    @Test("two links share the controller's buffers in turn")
    func fairness() {
        let rig = HostRig()
        rig.aclCount = 1
        rig.start()
        let first = rig.connect(HostRig.peer(1), handle: 0x40, mtu: 247)
        let second = rig.connect(HostRig.peer(2), handle: 0x41, mtu: 247)
        rig.confirmsData = false
        rig.submit(.link(first, .gatt(.write(AttributeHandle(rawValue: 3), value: [UInt8](repeating: 1, count: 100)))))
        rig.submit(.link(second, .gatt(.write(AttributeHandle(rawValue: 3), value: [UInt8](repeating: 2, count: 100)))))
        for _ in 0..<8 {
            let handle = ConnectionHandle(rawValue: UInt16(rig.data.last?.first ?? 0))
            rig.receive(NumberOfCompletedPackets(links: [.init(connectionHandle: handle, count: 1)]))
        }
        #expect(rig.data.dropFirst().prefix(4).map { $0[0] } == [0x40, 0x41, 0x40, 0x41])
    }

    @Test("fragments from the controller are reassembled, wherever they are split", arguments: 1..<30)
    func reassembles(split: Int) {
        let rig = started()
        let link = rig.connect(mtu: 247)
        let read = rig.submit(.link(link, .gatt(.read(AttributeHandle(rawValue: 3)))))
        let frame = HostRig.frame([0x0B] + [UInt8](repeating: 5, count: 26))
        rig.receive(HostRig.acl(Array(frame[..<split]), handle: 0x40, isStart: true))
        rig.receive(HostRig.acl(Array(frame[split...]), handle: 0x40, isStart: false))
        #expect(rig.results(of: read) == [.success(.gatt(.value([UInt8](repeating: 5, count: 26))))])
    }

    @Test("a frame longer than any allowed, and a continuation without a start, are dropped without growth")
    func hostileFragments() {
        let rig = started()
        let link = rig.connect()
        rig.receive(HostRig.acl([0xFF, 0xFF, 4, 0, 1, 2, 3], handle: 0x40, isStart: true))
        for _ in 0..<1000 { rig.receive(HostRig.acl([UInt8](repeating: 0, count: 251), handle: 0x40, isStart: false)) }
        rig.receive(HostRig.acl([0x05], handle: 0x40, isStart: true))
        rig.receive(HostRig.acl([0x05, 0x00, 0x04, 0x00, 0x0B], handle: 0x40, isStart: true))
        #expect(rig.counters.oversizedFrames > 0)
        let read = rig.submit(.link(link, .gatt(.read(AttributeHandle(rawValue: 3)))))
        rig.receive(frame: [0x0B, 7], handle: 0x40)
        #expect(rig.results(of: read) == [.success(.gatt(.value([7])))])
    }

    @Test("data that precede the Connection Complete are parked and then delivered (pain 11)")
    func parks() {
        let rig = started()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(frame: [0x02, 0x00, 0x02], handle: 0x40)
        #expect(rig.counters.parkedPackets == 1)
        rig.receive(rig.connectionComplete())
        let answers = rig.data.filter { $0.dropFirst(8).first == 0x03 }
        #expect(answers.count == 1, "the peer's MTU request was answered")
    }

    @Test("data for no link are bounded, and late data of a closed link never reaches the next (pain 11)")
    func strays() {
        let rig = started()
        for _ in 0..<100 { rig.receive(frame: [0x02, 0x00, 0x02], handle: 0x77) }
        #expect(rig.counters.parkedPackets == 16)
        #expect(rig.counters.strayPackets == 84)
        _ = rig.connect()
        rig.receive(disconnected(0x40, reason: .connectionTimeout))
        rig.receive(frame: [0x1B, 3, 0, 1], handle: 0x40)
        rig.forget()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        #expect(!rig.events.contains { if case .gatt = $0 { true } else { false } })
    }

    @Test("late events and commands for forty old links never reach the newer link on the same handle")
    func generations() {
        let rig = started()
        var old: [LinkID] = []
        for _ in 0..<40 {
            old.append(rig.connect())
            rig.receive(disconnected(0x40, reason: .remoteUserTerminatedConnection))
        }
        let link = rig.connect()
        for id in old {
            #expect(id != link)
            let read = rig.submit(.link(id, .gatt(.read(AttributeHandle(rawValue: 3)))))
            #expect(rig.results(of: read) == [.failure(.notConnected)])
            let disconnect = rig.submit(.link(id, .disconnect))
            #expect(rig.results(of: disconnect) == [.failure(.notConnected)])
        }
        #expect(rig.data.isEmpty)
        #expect(rig.count(of: Disconnect.opcode) == 0)
    }

    @Test("a disconnection during an operation ends it once, with the reason (pain 4)")
    func disconnectsDuringOperation() {
        let rig = started()
        let link = rig.connect()
        let operations = [
            rig.submit(.link(link, .gatt(.discoverServices(uuids: [])))),
            rig.submit(.link(link, .gatt(.read(AttributeHandle(rawValue: 3))))),
            rig.submit(.link(link, .procedure(.readRemoteVersion))),
            rig.submit(
                .link(
                    link,
                    .procedure(
                        .updateParameters(
                            ConnectionParameterRequest(
                                interval: .milliseconds(30)...ConnectionInterval.milliseconds(30), peripheralLatency: 0,
                                supervisionTimeout: .milliseconds(2000)))))),
        ]
        rig.receive(disconnected(0x40, reason: .connectionTimeout))
        rig.receive(disconnected(0x40, reason: .connectionTimeout))
        rig.advance(by: .seconds(120))
        for operation in operations { #expect(rig.results(of: operation).count == 1) }
        #expect(rig.results(of: operations[0]) == [.failure(.gatt(.disconnected(.connectionTimeout)))])
        #expect(rig.disconnections == [.controller(.connectionTimeout)])
    }

    @Test(
        "the link ends when its last holder leaves, and each holder is told of its own end (SPEC CEN-23, appendix B 10)"
    )
    func sharedLink() {
        let rig = started()
        let first = ClientID(rawValue: 1)
        let second = ClientID(rawValue: 2)
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))), from: first)
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))), from: second)
        rig.receive(rig.connectionComplete())
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        let link = rig.links[0].id
        rig.forget()
        rig.submit(.link(link, .disconnect), from: first)
        #expect(rig.count(of: Disconnect.opcode) == 0)
        #expect(rig.disconnections == [.releasedByClient])
        rig.submit(.link(link, .disconnect), from: second)
        #expect(rig.commands.last == .init(opcode: Disconnect.opcode, parameters: [0x40, 0, 0x13]))
    }

    @Test(
        "a client that leaves does not wait: its operations end at once, and later answers are dropped (SPEC CEN-22)"
    )
    func leavesWithRequests() {
        let rig = started()
        let first = ClientID(rawValue: 1)
        let second = ClientID(rawValue: 2)
        for client in [first, second] { rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))), from: client) }
        rig.receive(rig.connectionComplete())
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        let link = rig.links[0].id
        let reads = (0..<3).map { _ in rig.submit(.link(link, .gatt(.read(AttributeHandle(rawValue: 3)))), from: first)
        }
        let other = rig.submit(.link(link, .gatt(.read(AttributeHandle(rawValue: 3)))), from: second)
        rig.submit(.link(link, .disconnect), from: first)
        for read in reads { #expect(rig.results(of: read) == [.failure(.gatt(.cancelled))]) }
        for octet in [1, 2] as [UInt8] { rig.receive(frame: [0x0B, octet], handle: 0x40) }
        for read in reads { #expect(rig.results(of: read).count == 1) }
        #expect(rig.results(of: other) == [.success(.gatt(.value([2])))])
    }

    @Test("a transaction that is never answered ends after 30 s, and the link with it")
    func transactionTimeout() {
        let rig = started()
        let link = rig.connect()
        let read = rig.submit(.link(link, .gatt(.read(AttributeHandle(rawValue: 3)))))
        rig.advance(by: .seconds(31))
        #expect(rig.results(of: read) == [.failure(.gatt(.transactionTimeout))])
        #expect(rig.count(of: Disconnect.opcode) == 1)
    }

    @Test(
        "a peripheral's parameter request is granted when the specification allows it, else refused",
        arguments: [true, false])
    func parameterRequest(isValid: Bool) {
        let rig = started()
        _ = rig.connect()
        let timeout: UInt16 = isValid ? 200 : 5
        var request = PacketWriter()
        LESignallingCommand.connectionParameterUpdateRequest(
            .init(minimumInterval: 24, maximumInterval: 40, latency: 0, supervisionTimeout: timeout)
        ).encodePacket(identifier: 7, into: &request)
        rig.receive(frame: request.bytes, channel: 5, handle: 0x40)
        let answer = rig.data.first.map { Array($0.dropFirst(8)) }
        #expect(answer == [0x13, 7, 2, 0, isValid ? 0 : 1, 0])
        #expect(rig.count(of: LEConnectionUpdate.opcode) == (isValid ? 1 : 0))
    }

    @Test("the link layer's parameter request is answered either way", arguments: [true, false])
    func remoteParameterRequest(isValid: Bool) {
        let rig = started()
        let link = rig.connect()
        rig.receive(
            LERemoteConnectionParameterRequest(
                connectionHandle: link.handle, minimumInterval: .milliseconds(30), maximumInterval: .milliseconds(50),
                latency: isValid ? 0 : 499, supervisionTimeout: .milliseconds(2000)))
        let expected =
            isValid
            ? LERemoteConnectionParameterRequestReply.opcode : LERemoteConnectionParameterRequestNegativeReply.opcode
        #expect(rig.commands.map(\.opcode) == [expected])
    }

    @Test("the policy for peripherals' wishes does not bind this side as a peripheral", arguments: [true, false])
    func parameterPolicy(isCentral: Bool) {
        var configuration = HostConfiguration()
        configuration.timing.parameterPolicy = .reject
        let rig = HostRig(configuration: configuration)
        rig.start()
        if isCentral { _ = rig.connect() } else { rig.receive(IdentityTests.peripheralLink(HostRig.peer)) }
        rig.forget()
        rig.receive(
            LERemoteConnectionParameterRequest(
                connectionHandle: ConnectionHandle(rawValue: 0x40), minimumInterval: .milliseconds(30),
                maximumInterval: .milliseconds(50), latency: 0, supervisionTimeout: .milliseconds(2000)))
        let expected =
            isCentral
            ? LERemoteConnectionParameterRequestNegativeReply.opcode : LERemoteConnectionParameterRequestReply.opcode
        #expect(rig.commands.map(\.opcode) == [expected])
    }

    @Test("our own update of the parameters ends with what is in force, or with the refusal")
    func updatesParameters() {
        let rig = started()
        let link = rig.connect()
        let wished = ConnectionParameterRequest(
            interval: .milliseconds(30)...ConnectionInterval.milliseconds(50), peripheralLatency: 2,
            supervisionTimeout: .milliseconds(2000))
        let update = rig.submit(.link(link, .procedure(.updateParameters(wished))))
        rig.receive(
            LEConnectionUpdateComplete(
                connectionHandle: link.handle, interval: .milliseconds(45), latency: 2,
                supervisionTimeout: .milliseconds(2000)))
        #expect(rig.results(of: update).count == 1)
        let second = rig.submit(.link(link, .procedure(.updateParameters(wished))))
        rig.receive(
            LEConnectionUpdateComplete(
                status: .unacceptableConnectionParameters, connectionHandle: link.handle, interval: .milliseconds(45),
                latency: 2, supervisionTimeout: .milliseconds(2000)))
        #expect(rig.results(of: second) == [.failure(.rejectedByPeer)])
    }

    @Test("RSSI, PHY and data length that the controller does not know fail as such, and the link stays up")
    func missingCommands() {
        let rig = started()
        let link = rig.connect()
        for opcode in [ReadRSSI.opcode, LESetDataLength.opcode, LESetPHY.opcode, LEReadPHY.opcode] {
            rig.answers[opcode] = .status(.unknownCommand)
        }
        let operations = [
            (rig.submit(.link(link, .procedure(.readRSSI))), ReadRSSI.opcode),
            (
                rig.submit(.link(link, .procedure(.setDataLength(octets: 251, microseconds: 2120)))),
                LESetDataLength.opcode
            ),
            (rig.submit(.link(link, .procedure(.setPHY(transmit: .le2M, receive: .le2M)))), LESetPHY.opcode),
            (rig.submit(.link(link, .procedure(.readPHY))), LEReadPHY.opcode),
        ]
        for (operation, opcode) in operations {
            #expect(rig.results(of: operation) == [.failure(.controller(.unknownCommand, opcode))])
        }
        let rssi = rig.submit(.link(link, .procedure(.readRSSI)))
        #expect(rig.results(of: rssi).count == 1)
        #expect(rig.disconnections.isEmpty)
    }

    @Test("pairing is refused and an unknown signalling request rejected")
    func refusals() {
        let rig = started()
        _ = rig.connect()
        rig.receive(frame: [0x0B, 0x01], channel: 6, handle: 0x40)
        #expect(rig.data.last.map { Array($0.dropFirst(4)) } == [2, 0, 6, 0, 0x05, 0x05])
        rig.receive(frame: [0x7E, 0x09, 0x01, 0x00, 0xAA], channel: 5, handle: 0x40)
        #expect(rig.data.last.map { Array($0.dropFirst(8)) } == [0x01, 0x09, 2, 0, 0, 0])
    }

    @Test("a malformed signalling request is rejected; a malformed response is not (Core 5.4, Vol 3, Part A, 4.1)")
    func malformedSignalling() {
        let rig = started()
        _ = rig.connect()
        for request in [[0x14, 9, 2, 0, 1, 2], [0x12, 9, 8, 0, 1]] as [[UInt8]] {
            rig.forget()
            rig.receive(frame: request, channel: 5, handle: 0x40)
            #expect(rig.data.last.map { Array($0.dropFirst(8)) } == [0x01, 9, 2, 0, 0, 0])
        }
        rig.forget()
        for ignored in [[0x15, 9, 2, 0, 1, 2], [0x16, 9, 1, 0, 1], [0x14, 0, 0, 0], [0x14, 9]] as [[UInt8]] {
            rig.receive(frame: ignored, channel: 5, handle: 0x40)
        }
        #expect(rig.data.isEmpty && rig.counters.malformedPackets == 6)
    }

    @Test("a cancelled link operation ends at once, and its late answer is not taken for the next one's")
    func cancelsLinkOperation() {
        let rig = started()
        let link = rig.connect()
        let first = rig.submit(.link(link, .procedure(.setPHY(transmit: .le2M, receive: .le2M))))
        let second = rig.submit(.link(link, .procedure(.setPHY(transmit: .le1M, receive: .le1M))))
        rig.submit(.cancel(first))
        #expect(rig.results(of: first) == [.failure(.cancelled)])
        rig.receive(LEPHYUpdateComplete(connectionHandle: link.handle, transmitPHY: .le2M, receivePHY: .le2M))
        #expect(rig.results(of: second).isEmpty)
        rig.receive(LEPHYUpdateComplete(connectionHandle: link.handle, transmitPHY: .le1M, receivePHY: .le1M))
        #expect(rig.results(of: first).count == 1)
        #expect(rig.results(of: second) == [.success(.phy(transmit: .le1M, receive: .le1M))])
    }

    @Test("what the link layer has reported once is not requested again")
    func remembersVersion() {
        let rig = started()
        let link = rig.connect()
        let operations = [
            rig.submit(.link(link, .procedure(.readRemoteVersion))),
            rig.submit(.link(link, .procedure(.readRemoteVersion))),
        ]
        rig.receive(
            ReadRemoteVersionInformationComplete(
                status: .success, connectionHandle: link.handle, version: .init(rawValue: 9),
                manufacturer: .init(rawValue: 2), subversion: 3))
        let version = RemoteVersion(version: 9, companyIdentifier: 2, subversion: 3)
        for operation in operations { #expect(rig.results(of: operation) == [.success(.remoteVersion(version))]) }
        #expect(rig.count(of: ReadRemoteVersionInformation.opcode) == 1)
    }
}
