import BLEPackets
import Testing

@testable import BLEHost

@Suite("Credit-based channels (Core 5.4, Vol 3, Part A, 4.22 to 4.24)")
struct CreditBasedChannelTests {
    @Test("a short frame takes the memory of a short frame, however long the peer's MPS is")
    func frameMemory() {
        var channel = CreditBasedChannel(
            number: 1, client: .local, spsm: 0x80, local: L2CAPChannelIdentifier(rawValue: 0x40),
            settings: ChannelSettings(), state: .open)
        channel.open(L2CAPChannelIdentifier(rawValue: 0x40), sendMTU: 65535, sendMPS: 65533, credits: 1)
        channel.units.append(.init(operation: nil, octets: [7]))
        let frame = channel.nextFrame(limit: 1)
        #expect(frame == [1, 0, 7] && frame?.capacity ?? .max < 256)
    }

    private func unit(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    private func opened(
        _ settings: ChannelSettings = ChannelSettings(), accepting: ChannelSettings = ChannelSettings()
    ) throws -> ChannelPair {
        let pair = ChannelPair()
        pair.listen(accepting)
        let operation = pair.open(0x80, settings)
        _ = try #require(try pair.initiator.results[operation]?.get())
        return pair
    }

    @Test("a channel opens with the parameters of both sides, and each side is told once")
    func opens() throws {
        let pair = try opened(
            ChannelSettings(maximumTransmissionUnit: 100), accepting: ChannelSettings(maximumTransmissionUnit: 300))
        let answer = try #require(try pair.initiator.results[OperationID(rawValue: 1)]?.get())
        #expect(answer == .opened(.init(number: 1, spsm: 0x80, sendMTU: 300, receiveMTU: 100)))
        #expect(pair.acceptor.opened == [.init(number: 1, spsm: 0x80, sendMTU: 100, receiveMTU: 300)])
    }

    @Test("SDUs of every length arrive whole and in order, in frames no longer than agreed")
    func segments() throws {
        let pair = try opened(accepting: ChannelSettings(maximumPayloadSize: 23, credits: 3))
        var sent: [[UInt8]] = []
        for length in [0, 1, 20, 21, 22, 23, 43, 44, 45, 500, 2048] {
            sent.append(unit(length))
            let operation = pair.send(unit(length))
            #expect(pair.initiator.results[operation] == .success(.done), "\(length) octets")
            pair.consume(1)
        }
        #expect(pair.acceptor.received == sent)
        #expect(pair.initiator.sentFrames.allSatisfy { $0.count <= 23 })
        #expect(pair.initiator.doubleEnds == 0)
    }

    @Test("without credits nothing is sent, and queued data is sent when the peer's client reads")
    func backPressure() throws {
        let pair = try opened(accepting: ChannelSettings(credits: 2))
        let operations = (0..<5).map { pair.send([UInt8($0)]) }
        #expect(pair.acceptor.received == [[0], [1]])
        #expect(operations.map { pair.initiator.results[$0] != nil } == [true, true, false, false, false])
        pair.consume(2)
        #expect(pair.acceptor.received.count == 4)
        pair.consume(1)
        pair.consume(1)
        #expect(pair.acceptor.received == [[0], [1], [2], [3], [4]])
        #expect(operations.allSatisfy { pair.initiator.results[$0] == .success(.done) })
    }

    @Test("frames wait for the controller within a bound")
    func controllerBound() throws {
        let pair = try opened(accepting: ChannelSettings(credits: 100))
        pair.initiator.takesFrames = false
        for number in 0..<20 { pair.send([UInt8(number)]) }
        #expect(pair.initiator.postponedFrames.count == 8)
        while !pair.initiator.postponedFrames.isEmpty { pair.removePostponedFrames() }
        #expect(pair.acceptor.received == (0..<20).map { [UInt8($0)] })
    }

    @Test("an SDU too long, too many SDUs and an unknown channel are refused, each once")
    func refusesOwnMistakes() throws {
        let pair = try opened(accepting: ChannelSettings(maximumTransmissionUnit: 50, credits: 1))
        #expect(pair.initiator.results[pair.send(unit(51))] == .failure(.unitTooLong))
        #expect(pair.initiator.results[pair.send([1], number: 9)] == .failure(.notOpen))
        pair.send([0])
        for _ in 0..<CreditBasedChannels.unitLimit { pair.send([1]) }
        #expect(pair.initiator.results[pair.send([2])] == .failure(.noResources))
    }

    @Test(
        "a peer that breaks the rules loses the channel and nothing else",
        arguments: [
            ("more than the payload size", [[UInt8](repeating: 0, count: 248)]),
            ("a unit longer than the MTU", [[0x01, 0x08, 0]]),
            ("no whole length", [[5]]),
            ("more octets than the unit has", [[2, 0, 1, 2, 3]]),
            ("a continuation beyond the unit", [[3, 0, 1], [2, 3, 4]]),
            ("a frame without a credit", [[UInt8]](repeating: [1, 0, 9], count: 17)),
        ])
    func violations(_ name: String, _ frames: [[UInt8]]) throws {
        let pair = try opened()
        for frame in frames { pair.injectFrame(frame) }
        #expect(pair.acceptor.closed == [.protocolViolation], "\(name)")
        #expect(pair.initiator.closed == [.closedByPeer])
        // The same link serves the next channel.
        guard case .opened(let terms)? = try pair.initiator.results[pair.open()]?.get() else {
            Issue.record("no second channel")
            return
        }
        #expect(terms.number == 2)
    }

    @Test("credits above 65535 end the channel; credits for an unknown channel and zero credits are ignored")
    func credits() throws {
        let pair = try opened()
        let remote = L2CAPChannelIdentifier(rawValue: 0x40)
        pair.inject(.flowControlCreditIndication(.init(channelIdentifier: .init(rawValue: 0x55), credits: 65535)))
        pair.inject(.flowControlCreditIndication(.init(channelIdentifier: remote, credits: 0)))
        #expect(pair.acceptor.closed.isEmpty)
        pair.inject(.flowControlCreditIndication(.init(channelIdentifier: remote, credits: 65535)))
        #expect(pair.acceptor.closed == [.protocolViolation])
    }

    @Test(
        "a request that cannot be granted fails with the reason",
        arguments: [
            (UInt16(22), UInt16(23), UInt16(0x41), L2CAPCreditBasedConnectionResult.unacceptableParameters),
            (23, 22, 0x41, .unacceptableParameters), (23, 23, 0x3F, .invalidSourceChannelIdentifier),
            (23, 23, 0x40, .sourceChannelIdentifierAlreadyAllocated),
        ])
    func refusals(_ mtu: UInt16, _ mps: UInt16, _ source: UInt16, _ result: L2CAPCreditBasedConnectionResult) throws {
        let pair = try opened()
        var answers: [L2CAPCreditBasedConnectionResult] = []
        pair.signalMutator = { command in
            if case .leCreditBasedConnectionResponse(let response) = command { answers.append(response.result) }
            return nil
        }
        pair.inject(
            .leCreditBasedConnectionRequest(
                .init(
                    spsm: 0x80, source: .init(rawValue: source), maximumTransmissionUnit: mtu,
                    maximumPayloadSize: mps, initialCredits: 1)))
        #expect(answers == [result])
        #expect(pair.acceptor.opened.count == 1)
    }

    @Test("without a listener, or on a link that is not secure enough, the opener gets the peer's reason")
    func refused() {
        let pair = ChannelPair()
        #expect(pair.initiator.results[pair.open()] == .failure(.refused(.spsmNotSupported)))
        pair.acceptor.listener = .failure(.refused(.insufficientAuthentication))
        #expect(pair.initiator.results[pair.open()] == .failure(.refused(.insufficientAuthentication)))
    }

    @Test("channels are bounded: the 33rd is refused by both sides")
    func bounded() throws {
        let pair = ChannelPair()
        pair.listen()
        for _ in 0..<32 { pair.open() }
        #expect(pair.acceptor.opened.count == 32)
        #expect(pair.initiator.results[pair.open()] == .failure(.noResources))
    }

    @Test("an answer with impossible values is a failure", arguments: [UInt16(0), 0x3F])
    func invalidAnswer(_ destination: UInt16) {
        let pair = ChannelPair()
        pair.listen()
        pair.signalMutator = { command in
            guard case .leCreditBasedConnectionResponse(var response) = command else { return command }
            response.destinationChannelIdentifier = .init(rawValue: destination)
            return .leCreditBasedConnectionResponse(response)
        }
        #expect(pair.initiator.results[pair.open()] == .failure(.invalidAnswer))
    }

    @Test(
        "a channel that the peer takes for open, with sizes that cannot be, is closed at the peer (Core 5.4, Vol 3, Part A, 4.23)"
    )
    func closesInvalid() {
        let pair = ChannelPair()
        pair.listen()
        pair.signalMutator = { command in
            guard case .leCreditBasedConnectionResponse(var response) = command else { return command }
            response.maximumPayloadSize = 22
            return .leCreditBasedConnectionResponse(response)
        }
        let operation = pair.open()
        #expect(pair.initiator.results[operation] == .failure(.invalidAnswer))
        #expect(pair.acceptor.closed == [.closedByPeer] && pair.initiator.closed.isEmpty)
        #expect(pair.initiator.channels.channels.isEmpty && pair.initiator.doubleEnds == 0)
    }

    @Test(
        "the peer's end may have any identifier that no fixed channel has (Core 5.4, Vol 3, Part A, 4.22 and 4.23)",
        arguments: [UInt16(0x80), 0xFFFE])
    func highIdentifiers(_ identifier: UInt16) throws {
        let end = L2CAPChannelIdentifier(rawValue: identifier)
        let pair = ChannelPair()
        pair.listen()
        pair.inject(
            .leCreditBasedConnectionRequest(
                .init(
                    spsm: 0x80, source: end, maximumTransmissionUnit: 23, maximumPayloadSize: 23, initialCredits: 1)))
        #expect(pair.acceptor.opened.count == 1)
        pair.signalMutator = { command in
            guard case .leCreditBasedConnectionResponse(var response) = command else { return command }
            response.destinationChannelIdentifier = end
            return .leCreditBasedConnectionResponse(response)
        }
        let operation = pair.open()
        let answer = try #require(try pair.initiator.results[operation]?.get())
        #expect(answer == .opened(.init(number: 1, spsm: 0x80, sendMTU: 2048, receiveMTU: 2048)))
        #expect(pair.initiator.channels.channels.first?.remote == end)
    }

    @Test(
        "a request to close a channel with another other end is discarded, one for no channel rejected (Core 5.4, Vol 3, Part A, 4.6)"
    )
    func closesAnother() throws {
        let pair = try opened()
        var answers: [LESignallingCommand] = []
        pair.signalMutator = { command in
            answers.append(command)
            return nil
        }
        let end = L2CAPChannelIdentifier(rawValue: 0x40)
        pair.inject(.disconnectionRequest(.init(destination: end, source: .init(rawValue: 0x55))))
        #expect(answers.isEmpty && pair.acceptor.closed.isEmpty)
        let stray = L2CAPDisconnectionRequest(destination: .init(rawValue: 0x41), source: end)
        pair.inject(.disconnectionRequest(stray))
        #expect(answers == [.noSuchChannel(stray)] && pair.acceptor.closed.isEmpty)
    }

    @Test("a peer that never answers is given up after 30 s, opening and closing")
    func timeouts() throws {
        let silent = ChannelPair()
        silent.signalMutator = { _ in nil }
        let opening = silent.open()
        silent.advance(by: .seconds(29))
        #expect(silent.initiator.results[opening] == nil)
        silent.advance(by: .seconds(1))
        #expect(silent.initiator.results[opening] == .failure(.invalidAnswer))

        let pair = try opened()
        pair.signalMutator = { _ in nil }
        let closing = pair.close()
        #expect(pair.initiator.closed == [.closedLocally] && pair.initiator.results[closing] == nil)
        pair.advance(by: .seconds(30))
        #expect(pair.initiator.results[closing] == .success(.done))
    }

    @Test("data sent before closing arrives before it, and each side is told once (SPEC 2.3, 2.5)")
    func drains() throws {
        let pair = try opened(accepting: ChannelSettings(credits: 1))
        pair.initiator.takesFrames = false
        let sent = (1...3).map { pair.send([$0]) }
        let closing = pair.close()
        #expect(pair.initiator.closed == [.closedLocally])
        #expect(pair.initiator.results[pair.send([4])] == .failure(.notOpen))
        for unit in 1...3 {
            #expect(pair.acceptor.closed.isEmpty)
            pair.removePostponedFrames()
            #expect(sent.prefix(unit).allSatisfy { pair.initiator.results[$0] == .success(.done) })
            pair.consume(1)
        }
        #expect(pair.acceptor.received == [[1], [2], [3]])
        #expect(pair.initiator.results[closing] == .success(.done))
        #expect(pair.initiator.closed == [.closedLocally] && pair.acceptor.closed == [.closedByPeer])
        #expect(pair.initiator.doubleEnds == 0)
    }

    @Test("a peer that reads nothing more delays the end of a closed channel by 30 s")
    func drainsInVain() throws {
        let pair = try opened(accepting: ChannelSettings(credits: 1))
        let sent = pair.send([1])
        let waiting = pair.send([2])
        let closings = [pair.close(), pair.close()]
        pair.advance(by: .seconds(29))
        #expect(pair.initiator.results[sent] == .success(.done) && pair.initiator.results[waiting] == nil)
        pair.advance(by: .seconds(1))
        #expect(pair.initiator.results[waiting] == .failure(.notOpen))
        #expect(closings.allSatisfy { pair.initiator.results[$0] == .success(.done) })
        #expect(pair.initiator.closed == [.closedLocally] && pair.acceptor.closed == [.closedByPeer])
    }

    enum Interruption: CaseIterable { case peerCloses, peerBreaksRules, clientLeaves, linkLost }

    @Test("a draining channel ends once, whatever ends it", arguments: Interruption.allCases)
    func drainingEnds(_ interruption: Interruption) throws {
        let pair = try opened(accepting: ChannelSettings(credits: 1))
        pair.send([1])
        let waiting = pair.send([2])
        let closing = pair.close()
        switch interruption {
        case .peerCloses: pair.closeAcceptor()
        case .peerBreaksRules: pair.breakRules()
        case .clientLeaves: pair.leave()
        case .linkLost: pair.linkLost()
        }
        #expect(pair.initiator.results[waiting] == .failure(.notOpen))
        #expect(pair.initiator.results[closing] == .success(.done))
        #expect(pair.initiator.closed == [.closedLocally] && pair.initiator.doubleEnds == 0)
        #expect(pair.acceptor.closed.count == 1)
    }

    @Test("a lost link ends everything once")
    func ends() throws {
        let lost = try opened(accepting: ChannelSettings(credits: 1))
        lost.send([1])
        let stuck = lost.send([2])
        lost.linkLost()
        lost.linkLost()
        #expect(lost.initiator.results[stuck] == .failure(.notOpen) && lost.initiator.doubleEnds == 0)
        #expect(lost.initiator.closed == [.linkLost] && lost.acceptor.closed == [.linkLost])
    }

    @Test("a cancelled opening ends at once, and a channel that opens anyway is closed silently")
    func cancelled() {
        let pair = ChannelPair()
        pair.listen()
        var held: LESignallingCommand?
        pair.signalMutator = { command in
            guard case .leCreditBasedConnectionResponse = command else { return command }
            held = command
            return nil
        }
        let operation = pair.open()
        pair.cancel(operation)
        #expect(pair.initiator.results[operation] == .failure(.notOpen))
        pair.signalMutator = { $0 }
        if let held { pair.initiator.receive(held, identifier: 1, at: .zero) }
        pair.advance(by: .seconds(1))
        #expect(pair.acceptor.closed == [.closedByPeer] && pair.initiator.closed.isEmpty)
        #expect(pair.initiator.doubleEnds == 0)
    }

    @Test("who waits for the end of a channel can stop waiting; the channel still ends", arguments: [false, true])
    func cancelledClose(isDraining: Bool) throws {
        let pair = try opened(accepting: ChannelSettings(credits: 1))
        if isDraining {
            pair.send([1])
            pair.send([2])
        }
        pair.signalMutator = { command in
            if case .disconnectionResponse = command { nil } else { command }
        }
        let first = pair.close()
        let second = pair.close()
        #expect(pair.initiator.results[first] == nil && pair.initiator.results[second] == nil)
        pair.cancel(first)
        #expect(pair.initiator.results[first] == .failure(.notOpen) && pair.initiator.results[second] == nil)
        // The time to send what waits for credits, then that of the request.
        pair.advance(by: .seconds(31))
        pair.advance(by: .seconds(31))
        #expect(pair.initiator.results[second] == .success(.done))
        #expect(pair.initiator.closed == [.closedLocally] && pair.initiator.doubleEnds == 0)
    }

    @Test(
        "a Disconnection Response of its own identifier ends the channel that it names (Core 5.4, Vol 3, Part A, 4.7)",
        arguments: [(0x50, 0x41), (0x41, 0x50)] as [(UInt16, UInt16)])
    func strangeDisconnectionResponse(_ destination: UInt16, _ source: UInt16) throws {
        var channel = CreditBasedChannel(
            number: 1, client: .local, spsm: 0x80, local: L2CAPChannelIdentifier(rawValue: 0x41),
            settings: ChannelSettings(),
            state: .closing(operations: [OperationID(rawValue: 9)], identifier: 5, deadline: .zero))
        channel.remote = L2CAPChannelIdentifier(rawValue: 0x50)
        let pair = ChannelPair()
        pair.acceptor.channels.channels = [channel]
        let (one, other) = (L2CAPChannelIdentifier(rawValue: destination), L2CAPChannelIdentifier(rawValue: source))
        pair.inject(.disconnectionResponse(.init(destination: one, source: one)))
        #expect(pair.acceptor.channels.channels.count == 1)
        pair.inject(.disconnectionResponse(.init(destination: one, source: other)))
        #expect(pair.acceptor.channels.channels.isEmpty)
        #expect(pair.acceptor.results[OperationID(rawValue: 9)] == .success(.done))
    }

    @Test("a peer may use the identifier of a channel that is ending for its next one (Core 5.4, Vol 3, Part A, 4.7)")
    func identifierOfEndingChannel() throws {
        let pair = try opened()
        pair.signalMutator = { command in
            if case .disconnectionRequest = command { nil } else { command }
        }
        pair.closeAcceptor()
        // The initiator knows nothing of that yet; a peer that has answered would use the identifier again.
        let ending = try #require(pair.acceptor.channels.channels.first)
        #expect(ending.isClosing)
        pair.inject(
            .leCreditBasedConnectionRequest(
                .init(
                    spsm: 0x80, source: ending.remote, maximumTransmissionUnit: 100, maximumPayloadSize: 100,
                    initialCredits: 1)))
        #expect(pair.acceptor.channels.channels.count == 2)
        #expect(pair.acceptor.opened.count == 2)
    }
}
