import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// A crypto provider that never answers a request: what waits for the answer ends nevertheless, and ends once.
@Suite("Requests to the crypto provider that are not answered")
struct UnansweredQuestionTests {
    private static let creation = HostCommand.security(.createOutOfBandData)

    private static func rig() -> HostRig {
        let rig = HostRig(configuration: HostConfiguration(hasCryptoProvider: true))
        rig.start()
        return rig
    }

    /// Answers this many requests of an operation, and takes the next.
    private static func answer(_ count: Int, of rig: HostRig) -> PendingCryptoRequest? {
        for _ in 0..<count {
            guard let question = rig.nextCryptoRequest() else { return nil }
            rig.apply(.cryptoProvider(question.id, SwiftCryptoProvider().answer(question.request)))
        }
        return rig.nextCryptoRequest()
    }

    @Test("creating out-of-band data fails 20 s after the request that stays open", arguments: 0..<3)
    func outOfBandData(answered: Int) throws {
        let rig = Self.rig()
        let operation = rig.submit(Self.creation)
        rig.advance(by: .seconds(1))
        let question = try #require(Self.answer(answered, of: rig))
        rig.advance(by: .seconds(18))
        #expect(rig.results(of: operation) == [])
        rig.advance(by: .seconds(2))
        #expect(rig.results(of: operation) == [.failure(.security(.notAvailable))])
        #expect(rig.counters.cryptoTimeouts == 1)
        rig.apply(.cryptoProvider(question.id, SwiftCryptoProvider().answer(question.request)))
        rig.advance(by: .seconds(60))
        #expect(rig.results(of: operation).count == 1)
        #expect(rig.nextCryptoRequest() == nil)
        rig.cryptoProvider = SwiftCryptoProvider()
        let next = rig.submit(Self.creation)
        guard case .success(.outOfBandData)? = rig.results(of: next).first else {
            Issue.record("the next creation failed")
            return
        }
    }

    @Test("cancelling, stopping and closing the transport end the creation of out-of-band data at once")
    func ended() throws {
        let ends: [(HostFailure, (HostRig, OperationID) -> Void)] = [
            (.cancelled, { rig, operation in rig.submit(.cancel(operation)) }),
            (.cancelled, { rig, _ in rig.submit(.stop) }),
            (.controllerLost, { rig, _ in rig.closeTransport() }),
        ]
        for (failure, end) in ends {
            let rig = Self.rig()
            let operation = rig.submit(Self.creation)
            let question = try #require(rig.nextCryptoRequest())
            end(rig, operation)
            #expect(rig.results(of: operation) == [.failure(failure)])
            rig.apply(.cryptoProvider(question.id, SwiftCryptoProvider().answer(question.request)))
            rig.advance(by: .seconds(60))
            #expect(rig.results(of: operation).count == 1)
            #expect(rig.counters.cryptoTimeouts == 0)
        }
    }

    @Test("each of several requests has its own time, and an answer to one leaves the others their time")
    func several() throws {
        let rig = Self.rig()
        let first = rig.submit(Self.creation)
        rig.advance(by: .seconds(5))
        let second = rig.submit(Self.creation)
        rig.advance(by: .seconds(5))
        let third = rig.submit(Self.creation)
        rig.submit(.cancel(second))
        rig.advance(by: .seconds(9))
        #expect(rig.results(of: first) == [])
        rig.advance(by: .seconds(1))
        #expect(rig.results(of: first) == [.failure(.security(.notAvailable))])
        rig.advance(by: .seconds(9))
        #expect(rig.results(of: third) == [])
        rig.advance(by: .seconds(1))
        #expect(rig.results(of: third) == [.failure(.security(.notAvailable))])
        #expect(rig.results(of: second) == [.failure(.cancelled)])
    }

    @Test("a controller starts without a private address if the crypto provider makes none")
    func ownAddress() {
        let rig = PrivateAddressTests.rig(cryptoProvider: nil)
        rig.advance(by: .seconds(19))
        #expect(!rig.isReady)
        rig.advance(by: .seconds(2))
        #expect(rig.isReady)
        #expect(PrivateAddressTests.addresses(rig).isEmpty)
    }

    @Test("a client that reads the database hash gets an error, and its link stays")
    func databaseHash() {
        let two = TwoHosts()
        two.connect()
        two.engine(.peripheral).cryptoProvider = nil
        guard case .failure(.gatt(.att(.unlikelyError, _)))? = two.gatt(.readUsingUUID(.databaseHash, .all)) else {
            Issue.record("the read did not end with the error")
            return
        }
        two.engine(.peripheral).cryptoProvider = SwiftCryptoProvider()
        guard case .success(.gatt(.attributeValues(let values)))? = two.gatt(.readUsingUUID(.databaseHash, .all)) else {
            Issue.record("the second read did not end with the hash")
            return
        }
        #expect(values.first?.value.count == 16)
    }

    @Test("a signed write fails, and can be cancelled while it waits")
    func signature() throws {
        var settings = TwoHosts.Settings()
        settings.central.encryptsAtConnection = false
        let two = TwoHosts(settings)
        two.connect()
        _ = two.pair()
        two.run(for: .seconds(2))
        two.disconnect()
        // A central that could encrypt would do so instead of signing.
        var bond = try #require(two.bonds(.central).first)
        bond.peerKey = nil
        two.submit(.security(.restoreBonds([bond])), by: .central)
        two.connect()
        two.engine(.central).cryptoProvider = nil
        let link = try #require(two.link(.central))
        let write = HostCommand.link(link, .gatt(.writeSigned(two.handle(5), value: [1])))
        #expect(two.result(of: write, by: .central) == .failure(.gatt(.security(.notAvailable))))
        let cancelled = two.submit(write, by: .central)
        two.submit(.cancel(cancelled), by: .central)
        #expect(two.engine(.central).results(of: cancelled) == [.failure(.gatt(.cancelled))])
        two.run(for: .seconds(60))
        #expect(two.engine(.central).results(of: cancelled).count == 1)
    }

    @Test("a pairing fails on both sides, whichever side does not compute", arguments: TwoHosts.Side.allCases)
    func pairing(silent: TwoHosts.Side) throws {
        let two = TwoHosts()
        two.connect()
        two.engine(silent).cryptoProvider = nil
        let link = try #require(two.link(.central))
        let pairing = two.submit(.security(.pair(link, nil)), by: .central)
        two.run(for: .seconds(25))
        guard case .failure(.security)? = two.result(of: pairing, .central) else {
            Issue.record("the pairing did not fail")
            return
        }
        #expect(two.failures(.central).count == 1)
        #expect(two.failures(.peripheral).count == 1)
        two.run(for: .seconds(60))
        #expect(two.engine(.central).results(of: pairing).count == 1)
    }
}
