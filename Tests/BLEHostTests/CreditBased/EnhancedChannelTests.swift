import BLEPackets
import Testing

@testable import BLEHost

@Suite("Enhanced credit-based channels (Core 5.4, Vol 3, Part A, 4.25 to 4.28)")
struct EnhancedChannelTests {
    private func several(_ pair: ChannelPair, _ operation: OperationID) throws -> [CreditBasedChannels.Terms] {
        guard case .openedSeveral(let terms) = try #require(try pair.initiator.results[operation]?.get()) else {
            Issue.record("\(String(describing: pair.initiator.results[operation]))")
            return []
        }
        return terms
    }

    /// The response to our requests as it leaves the acceptor, changed.
    private func change(
        _ pair: ChannelPair, _ change: @escaping (inout L2CAPCreditBasedConnectionResponse) -> Void
    ) {
        pair.signalMutator = {
            guard case .creditBasedConnectionResponse(var response) = $0 else { return $0 }
            change(&response)
            return .creditBasedConnectionResponse(response)
        }
    }

    @Test("one request opens one to five channels, which carry data each by its own credits", arguments: 1...5)
    func opens(count: Int) throws {
        let pair = ChannelPair()
        pair.listen(ChannelSettings(maximumTransmissionUnit: 500, credits: 1))
        let terms = try several(pair, pair.openEnhanced(count, ChannelSettings(maximumTransmissionUnit: 300)))
        #expect(terms.map(\.number) == (1...UInt32(count)).map { $0 })
        #expect(terms.allSatisfy { $0.sendMTU == 500 && $0.receiveMTU == 300 && $0.spsm == 0x80 })
        #expect(pair.acceptor.opened.count == count)
        let sent = terms.map { pair.send([UInt8($0.number)], number: $0.number) }
        #expect(pair.acceptor.received == terms.map { [UInt8($0.number)] })
        #expect(sent.allSatisfy { pair.initiator.results[$0] == .success(.done) })
        #expect(pair.initiator.doubleEnds == 0)
    }

    @Test("sizes below 64 are raised, counts outside 1 to 5 become the nearest")
    func limits() throws {
        let pair = ChannelPair()
        pair.listen(ChannelSettings(maximumTransmissionUnit: 23, maximumPayloadSize: 23))
        let small = ChannelSettings(maximumTransmissionUnit: 23, maximumPayloadSize: 23)
        #expect(try several(pair, pair.openEnhanced(0, small)).map(\.sendMTU) == [64])
        #expect(try several(pair, pair.openEnhanced(9, small)).count == 5)
    }

    @Test("the peer accepts what it has room for: the 33rd channel of a link is refused, the others open")
    func partly() throws {
        let pair = ChannelPair()
        pair.listen()
        for _ in 0..<6 { #expect(try several(pair, pair.openEnhanced(5)).count == 5) }
        // This side has room for two more and asks for no more than that.
        let more = pair.openEnhanced(3)
        #expect(pair.initiator.results[more] == .failure(.noResources))
        #expect(try several(pair, pair.openEnhanced(2)).count == 2)
    }

    @Test("channels that the peer refuses are gone, and the operation ends with the others")
    func someRefused() throws {
        let pair = ChannelPair()
        pair.listen()
        change(pair) {
            $0.result = .noResourcesAvailable
            $0.destinationChannelIdentifiers[1] = .null
        }
        let terms = try several(pair, pair.openEnhanced(3))
        #expect(terms.map(\.number) == [1, 3])
        change(pair) {
            $0.result = .insufficientEncryption
            for place in $0.destinationChannelIdentifiers.indices { $0.destinationChannelIdentifiers[place] = .null }
        }
        let none = pair.openEnhanced(2)
        #expect(pair.initiator.results[none] == .failure(.refused(.insufficientEncryption)))
        #expect(pair.initiator.doubleEnds == 0)
    }

    @Test("nobody listens: one failure for all channels")
    func nobody() {
        let pair = ChannelPair()
        let operation = pair.openEnhanced(5)
        #expect(pair.initiator.results[operation] == .failure(.refused(.spsmNotSupported)))
    }

    @Test("an identifier that the peer gives twice, or that cannot be one, opens nothing")
    func invalidAnswers() {
        func failure(count: Int, _ alter: @escaping (inout L2CAPCreditBasedConnectionResponse) -> Void) -> Bool {
            let pair = ChannelPair()
            pair.listen()
            change(pair, alter)
            let operation = pair.openEnhanced(count)
            return pair.initiator.results[operation] == .failure(.invalidAnswer) && pair.initiator.doubleEnds == 0
        }
        #expect(failure(count: 2) { $0.destinationChannelIdentifiers[1] = $0.destinationChannelIdentifiers[0] })
        #expect(failure(count: 1) { $0.destinationChannelIdentifiers = [.attributeProtocol] })
        #expect(failure(count: 1) { $0.maximumPayloadSize = 63 })
        #expect(failure(count: 1) { $0.destinationChannelIdentifiers += $0.destinationChannelIdentifiers })
    }

    @Test("channels with the same identifier are closed at the peer, and the client never hears of them")
    func sameIdentifier() throws {
        let pair = ChannelPair()
        pair.listen()
        change(pair) { $0.destinationChannelIdentifiers[1] = $0.destinationChannelIdentifiers[0] }
        let terms = try several(pair, pair.openEnhanced(3))
        #expect(terms.map(\.number) == [3])
        #expect(pair.initiator.closed.isEmpty && pair.acceptor.closed == [.closedByPeer])
        // An open channel whose identifier the peer gives to another is no longer usable either.
        change(pair) { $0.destinationChannelIdentifiers = [L2CAPChannelIdentifier(rawValue: 0x42)] }
        let other = pair.openEnhanced(1)
        #expect(pair.initiator.results[other] == .failure(.invalidAnswer))
        #expect(pair.initiator.closed == [.protocolViolation] && pair.initiator.doubleEnds == 0)
    }

    @Test("a channel that the peer takes for open, with sizes that cannot be, is closed at the peer")
    func closesInvalid() {
        let pair = ChannelPair()
        pair.listen()
        change(pair) { $0.maximumPayloadSize = 63 }
        pair.openEnhanced(5)
        #expect(pair.acceptor.closed.count == 5)
    }

    @Test("the peer's ends may have any identifier that no fixed channel has (Core 5.4, Vol 3, Part A, 4.25 and 4.26)")
    func highIdentifiers() throws {
        let ends = [L2CAPChannelIdentifier(rawValue: 0x80), L2CAPChannelIdentifier(rawValue: 0xFFFE)]
        let pair = ChannelPair()
        pair.listen()
        pair.inject(
            .creditBasedConnectionRequest(
                .init(
                    spsm: 0x80, maximumTransmissionUnit: 64, maximumPayloadSize: 64, initialCredits: 1, sources: ends)))
        #expect(pair.acceptor.opened.count == 2)
        change(pair) { $0.destinationChannelIdentifiers = ends }
        #expect(try several(pair, pair.openEnhanced(2)).count == 2)
    }

    @Test("a response for now leaves the request waiting, at most as long as any")
    func pending() throws {
        let pair = ChannelPair()
        pair.listen()
        change(pair) { $0.result = .authorizationPending }
        let operation = pair.openEnhanced(2)
        #expect(pair.initiator.results[operation] == nil)
        pair.advance(by: .seconds(31))
        #expect(pair.initiator.results[operation] == .failure(.invalidAnswer))
        #expect(pair.initiator.doubleEnds == 0)
    }

    @Test("cancelled or lost, a request for five ends once")
    func ends() {
        for isCancelled in [true, false] {
            let pair = ChannelPair()
            pair.listen()
            pair.signalMutator = { _ in nil }
            let operation = pair.openEnhanced(5)
            if isCancelled { pair.cancel(operation) } else { pair.linkLost() }
            #expect(
                pair.initiator.results[operation] == .failure(isCancelled ? .notOpen : .invalidAnswer))
            pair.advance(by: .seconds(31))
            #expect(pair.initiator.doubleEnds == 0 && pair.initiator.channels.nextDeadline == nil)
        }
    }

    @Test("requests that break the rules are refused with the specification's result")
    func hostileRequests() {
        func result(of sources: [UInt16], mtu: UInt16 = 64, credits: UInt16 = 1) -> (UInt16, Int)? {
            let pair = ChannelPair()
            pair.listen()
            var answer: L2CAPCreditBasedConnectionResponse?
            pair.signalMutator = {
                if case .creditBasedConnectionResponse(let response) = $0 { answer = response }
                return $0
            }
            pair.inject(
                .creditBasedConnectionRequest(
                    .init(
                        spsm: 0x80, maximumTransmissionUnit: mtu, maximumPayloadSize: 64, initialCredits: credits,
                        sources: sources.map { .init(rawValue: $0) })))
            return answer.map {
                ($0.result.rawValue, $0.destinationChannelIdentifiers.count { $0 != .null })
            }
        }
        #expect(result(of: [0x40, 0x41])! == (0, 2))
        #expect(result(of: [0x40, 0x40])! == (0x000A, 1))
        #expect(result(of: [0x04, 0x41])! == (0x0009, 1))
        #expect(result(of: [0x40], mtu: 63)! == (0x000C, 0))
        #expect(result(of: [0x40], credits: 0)! == (0x000C, 0))
    }

    @Test("sizes are changed for the peer's next units; what was sent before still fits")
    func reconfigures() throws {
        let pair = ChannelPair()
        pair.listen()
        let terms = try several(pair, pair.openEnhanced(2, ChannelSettings(maximumTransmissionUnit: 100)))
        let numbers = terms.map(\.number)
        let operation = pair.reconfigure(numbers, mtu: 4000, mps: 300)
        #expect(pair.initiator.results[operation] == .success(.done))
        #expect(pair.acceptor.reconfigured.map(\.sendMTU) == [4000, 4000])
        let smaller = pair.reconfigure(numbers, mtu: 3999, mps: 300)
        #expect(pair.initiator.results[smaller] == .failure(.notReconfigurable(.unacceptableParameters)))
        let missing = pair.reconfigure([1, 99], mtu: 5000, mps: 300)
        #expect(pair.initiator.results[missing] == .failure(.notOpen))
        // A single channel may get a smaller MPS.
        let single = pair.reconfigure([1], mtu: 4000, mps: 64)
        #expect(pair.initiator.results[single] == .success(.done))
    }

    @Test("a peer that refuses or does not answer a reconfiguration ends it once, and the old sizes hold")
    func refusedReconfiguration() throws {
        let pair = ChannelPair()
        pair.listen()
        _ = try several(pair, pair.openEnhanced(1, ChannelSettings(maximumTransmissionUnit: 100)))
        pair.signalMutator = {
            if case .creditBasedReconfigureResponse = $0 {
                return .creditBasedReconfigureResponse(.init(result: .unacceptableParameters))
            }
            return $0
        }
        let refused = pair.reconfigure([1], mtu: 200, mps: 100)
        #expect(pair.initiator.results[refused] == .failure(.notReconfigurable(.unacceptableParameters)))
        pair.signalMutator = { if case .creditBasedReconfigureResponse = $0 { nil } else { $0 } }
        let silent = pair.reconfigure([1], mtu: 200, mps: 100)
        let second = pair.reconfigure([1], mtu: 300, mps: 100)
        #expect(pair.initiator.results[second] == .failure(.noResources))
        pair.advance(by: .seconds(31))
        #expect(pair.initiator.results[silent] == .failure(.notReconfigurable(.unacceptableParameters)))
        let lost = pair.reconfigure([1], mtu: 200, mps: 100)
        pair.linkLost()
        #expect(pair.initiator.results[lost] == .failure(.notOpen))
        #expect(pair.initiator.doubleEnds == 0)
    }

    @Test("a peer's reconfiguration is answered with the specification's result")
    func hostileReconfigurations() throws {
        let pair = ChannelPair()
        pair.listen()
        _ = try several(pair, pair.openEnhanced(2, ChannelSettings(maximumTransmissionUnit: 500)))
        var answers: [UInt16] = []
        pair.signalMutator = {
            if case .creditBasedReconfigureResponse(let response) = $0 { answers.append(response.result.rawValue) }
            return $0
        }
        func ask(_ ends: [UInt16], mtu: UInt16, mps: UInt16) {
            pair.inject(
                .creditBasedReconfigureRequest(
                    .init(
                        maximumTransmissionUnit: mtu, maximumPayloadSize: mps,
                        destinations: ends.map { .init(rawValue: $0) })))
        }
        ask([0x40], mtu: 499, mps: 247)
        ask([0x40, 0x41], mtu: 500, mps: 100)
        ask([0x40, 0x7F], mtu: 500, mps: 247)
        ask([0x40, 0x40], mtu: 500, mps: 247)
        ask([0x40], mtu: 500, mps: 63)
        ask([0x40], mtu: 500, mps: 64)
        #expect(answers == [1, 2, 3, 3, 4, 0])
    }
}
