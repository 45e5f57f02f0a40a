import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// The room of bonds alone: no host, no link.
@Suite("Bonds")
struct BondsTests {
    private static let alice = address(1)
    private static let bob = address(2)
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: 1)
    private static let operation = OperationID(rawValue: 7)

    private static func address(_ number: UInt64) -> DeviceAddress {
        DeviceAddress(value: 0xC0FF_EE00_0000 | number, kind: .random)
    }

    private func bonds(_ change: (inout HostConfiguration) -> Void = { _ in }) -> Bonds {
        var configuration = HostConfiguration()
        configuration.hasCryptoProvider = true
        change(&configuration)
        return Bonds(configuration: configuration)
    }

    private func events(_ effects: inout Effects) -> [HostEvent] {
        var events: [HostEvent] = []
        while let event = effects.events.popFirst() { events.append(event) }
        return events
    }

    /// Answers what was asked, in order, and says for what.
    private func answers(_ effects: inout Effects) -> [(purpose: CryptoRequests.Purpose, result: CryptoResult)] {
        var answers: [(CryptoRequests.Purpose, CryptoResult)] = []
        while let question = effects.cryptoRequests.next() {
            guard let purpose = effects.cryptoRequests.removePurpose(of: question.id) else { continue }
            answers.append((purpose, SwiftCryptoProvider().answer(question.request)))
        }
        return answers
    }

    // MARK: Limits

    @Test("Of bonds that nobody asked for, the least recently used is dropped first, and connected ones last")
    func room() {
        var effects = Effects()
        var bonds = bonds { $0.limits.unaskedBonds = 2 }
        func keep(_ number: UInt64, connected: [UInt64] = []) -> Bool {
            let identity = Self.address(number)
            return bonds.store(
                Bond(identity: identity), inPlaceOf: identity, isAskedFor: false,
                connected: connected.map(Self.address), into: &effects)
        }
        #expect(keep(1) && keep(2))
        _ = bonds.use(Self.address(1))
        #expect(keep(3))
        #expect(bonds.bond(for: Self.address(2)) == nil, "never used after its pairing")
        _ = bonds.use(Self.address(3))
        _ = bonds.use(Self.address(1))
        #expect(keep(4, connected: [3]))
        #expect(bonds.bond(for: Self.address(3)) != nil && bonds.bond(for: Self.address(1)) == nil)
        #expect(events(&effects).contains(.bondRemoved(Self.address(2))))
    }

    @Test("Bonds that were asked for or authenticated are never dropped: a full table accepts no more")
    func fullTable() {
        var effects = Effects()
        var bonds = bonds { $0.limits.bonds = 2 }
        #expect(
            bonds.store(
                Bond(identity: Self.alice), inPlaceOf: Self.alice, isAskedFor: true, connected: [], into: &effects))
        #expect(
            bonds.store(
                Bond(identity: Self.bob, isAuthenticated: true), inPlaceOf: Self.bob, isAskedFor: false, connected: [],
                into: &effects))
        let stranger = Self.address(3)
        #expect(!bonds.hasRoom(for: stranger))
        #expect(bonds.hasRoom(for: Self.alice), "a bond that is there needs no room")
        #expect(
            !bonds.store(
                Bond(identity: stranger), inPlaceOf: stranger, isAskedFor: false, connected: [], into: &effects))
        #expect(bonds.table.all.map { $0.identity } == [Self.alice, Self.bob])
    }

    @Test("A device that sends a new identity leaves no bond under its old one")
    func otherIdentity() {
        var effects = Effects()
        var bonds = bonds()
        bonds.restore([Bond(identity: Self.alice)])
        #expect(
            bonds.store(
                Bond(identity: Self.bob), inPlaceOf: Self.alice, isAskedFor: true, connected: [], into: &effects))
        #expect(bonds.table.all.map { $0.identity } == [Self.bob])
        let told = events(&effects)
        #expect(told.first == .bondRemoved(Self.alice) && told.count == 2)
    }

    @Test("A name longer than a device can have is not kept, and the same name changes nothing")
    func names() {
        var effects = Effects()
        var bonds = bonds()
        bonds.restore([Bond(identity: Self.alice)])
        #expect(bonds.name(Self.alice, "Lock", into: &effects))
        #expect(bonds.name(Self.alice, "Lock", into: &effects))
        #expect(events(&effects).count == 1)
        #expect(!bonds.name(Self.alice, String(repeating: "x", count: 249), into: &effects))
        #expect(!bonds.name(Self.bob, "Lock", into: &effects))
        #expect(bonds.bond(for: Self.alice)?.name == "Lock")
    }

    // MARK: Claims

    @Test("A bond is not replaced by a weaker one, unless the operator says so for this device")
    func weaker() {
        var bonds = bonds()
        bonds.restore([Bond(identity: Self.alice, isSecureConnections: true, isAuthenticated: true)])
        let new = Bond(identity: Self.alice, isSecureConnections: true)
        let refusal = SecurityFailure.refusedByUs(.authenticationRequirements)
        #expect(bonds.refusal(of: new, address: Self.alice, own: nil, isByWord: false) == refusal)
        #expect(bonds.refusal(of: new, address: Self.alice, own: nil, isByWord: true) == nil)
        #expect(bonds.refusal(of: new, address: Self.bob, own: nil, isByWord: true) == refusal)
    }

    @Test("No peer becomes this device itself")
    func ownIdentity() {
        let bonds = bonds()
        let new = Bond(identity: Self.alice)
        #expect(
            bonds.refusal(of: new, address: Self.bob, own: Self.alice.asIdentity, isByWord: false)
                == .refusedByUs(.keyRejected))
    }

    @Test("A claim to be another bonded device is unproven, whatever the link's own device has proven")
    func claims() {
        var bonds = bonds()
        bonds.restore([Bond(identity: Self.alice), Bond(identity: Self.bob)])
        let new = Bond(identity: Self.alice)
        #expect(bonds.unprovenClaim(of: new, address: Self.bob, isAllowed: true) == Self.alice)
        #expect(bonds.unprovenClaim(of: new, address: Self.alice, isAllowed: false) == Self.alice)
        #expect(bonds.unprovenClaim(of: new, address: Self.alice, isAllowed: true) == nil)
        let stranger = Bond(identity: Self.address(3))
        #expect(bonds.unprovenClaim(of: stranger, address: Self.address(3), isAllowed: false) == nil)
    }

    // MARK: Identities

    @Test("Of two devices with one key, the awaited one is chosen, and the other once that is disproved")
    func sharedKey() throws {
        var effects = Effects()
        var bonds = bonds()
        let key = Key128(rawValue: 0x42)
        bonds.restore([
            Bond(identity: Self.alice, identityResolvingKey: key), Bond(identity: Self.bob, identityResolvingKey: key),
        ])
        let random: [UInt8] = [0x41, 2, 3]
        guard
            case .octets(let code) = SwiftCryptoProvider().answer(
                SecurityFunction.ah(key: key.mostSignificantOctets, random: random).request)
        else {
            Issue.record("no hash")
            return
        }
        let address = try #require(DeviceAddress(resolvable: random, hash: [UInt8](code.suffix(3))))
        guard case .pending(let pass) = bonds.identity(behind: address, into: &effects) else {
            Issue.record("known already")
            return
        }
        var done: IdentityResolver.Pass?
        for (purpose, result) in answers(&effects) {
            guard case .resolution(pass, let identity) = purpose else { continue }
            done = bonds.hashMade(result, pass: pass, identity: identity, into: &effects)
        }
        #expect(done?.matches == [Self.alice, Self.bob])
        #expect(events(&effects) == [.ambiguousIdentity(address, [Self.alice, Self.bob])])
        let known = bonds.identity(behind: address, into: &effects)
        #expect(known.choosing { $0 == Self.bob } == .identity(Self.bob))
        #expect(known.choosing { _ in false } == .identity(Self.alice))
        bonds.resolver.refute(Self.alice, behind: address)
        #expect(bonds.identity(behind: address, into: &effects).choosing { _ in false } == .identity(Self.bob))
    }

    @Test("Without resolving keys or without a crypto provider every private address is a stranger's")
    func strangers() {
        var effects = Effects()
        let address = DeviceAddress(value: 0x4102_0300_0000, kind: .random)
        var none = bonds()
        #expect(none.identity(behind: address, into: &effects) == .stranger)
        var helpless = bonds { $0.hasCryptoProvider = false }
        helpless.restore([Bond(identity: Self.alice, identityResolvingKey: Key128(rawValue: 1))])
        #expect(helpless.identity(behind: address, into: &effects) == .stranger)
        #expect(answers(&effects).isEmpty)
    }

    // MARK: Signatures

    @Test("A signature that this side makes is valid, once")
    func signatures() throws {
        var effects = Effects()
        var (sender, receiver) = (bonds(), bonds())
        let key = SigningKey(key: Key128(rawValue: 0x99))
        sender.restore([Bond(identity: Self.bob, localSigningKey: key)])
        receiver.restore([Bond(identity: Self.alice, peerSigningKey: key)])
        let handle = AttributeHandle(rawValue: 3)
        #expect(
            sender.sign(
                handle, [1, 2], for: Self.bob, on: Self.link, operation: Self.operation, client: .local,
                into: &effects))
        guard case .bondChanged(let changed)? = events(&effects).first else {
            Issue.record("the number was not set aside first")
            return
        }
        #expect(changed.localSigningKey?.counter == SigningNumbers.block)
        let made = try #require(answers(&effects).first)
        guard case .signature(_, _, _, let message, let counter) = made.purpose else {
            Issue.record("\(made.purpose)")
            return
        }
        let pdu = try #require(sender.signedPDU(message, counter: counter, made.result))
        #expect(receiver.verify(pdu, from: Self.alice, on: Self.link, into: &effects))
        let proof = try #require(answers(&effects).first)
        var forged = pdu
        forged[3] ^= 1
        #expect(
            receiver.verified(
                forged, counter: counter, from: Self.alice, .octets([UInt8](repeating: 0, count: 16)), into: &effects)
                == nil)
        #expect(
            receiver.verified(pdu, counter: counter, from: Self.alice, proof.result, into: &effects)
                == [ATTOpcode.writeCommand.rawValue, 3, 0, 1, 2])
        #expect(!receiver.verify(pdu, from: Self.alice, on: Self.link, into: &effects), "it was sent before")
    }

    @Test("Without a key nothing is signed, and no signature is valid")
    func noSigningKey() {
        var effects = Effects()
        var bonds = bonds()
        bonds.restore([Bond(identity: Self.alice)])
        #expect(
            !bonds.sign(
                AttributeHandle(rawValue: 3), [], for: Self.alice, on: Self.link, operation: Self.operation,
                client: .local, into: &effects))
        #expect(
            !bonds.verify([0xD2] + [UInt8](repeating: 0, count: 14), from: Self.alice, on: Self.link, into: &effects))
        #expect(answers(&effects).isEmpty && events(&effects).isEmpty)
    }

    // MARK: Out of band

    @Test("Out-of-band values fit together: the confirm value is made of the key and the random value")
    func outOfBand() throws {
        var effects = Effects()
        let table = OutOfBandTable()
        table.create(for: Self.operation, into: &effects)
        for _ in 0..<3 {
            for (purpose, result) in answers(&effects) {
                switch purpose {
                case .outOfBandKeyPair(let operation):
                    table.keyPairMade(result, for: operation, into: &effects)
                case .outOfBandRandom(let operation, let privateKey, let publicKey):
                    table.randomDrawn(
                        result, for: operation, privateKey: privateKey, publicKey: publicKey, into: &effects)
                case .outOfBandConfirm(let operation, let random, let privateKey, let publicKey):
                    table.confirmComputed(
                        result, for: operation, random: random, privateKey: privateKey, publicKey: publicKey,
                        into: &effects)
                default: Issue.record("\(purpose)")
                }
            }
        }
        guard case .completed(Self.operation, .success(.outOfBandData(let data)))? = events(&effects).first else {
            Issue.record("not completed")
            return
        }
        let function = SecurityFunction.f4(
            data.publicKey.x, data.publicKey.x, key: data.random.mostSignificantOctets, 0)
        #expect(SwiftCryptoProvider().answer(function.request) == .octets(data.confirm.mostSignificantOctets))
    }

    @Test("A crypto provider that fails ends the operation")
    func outOfBandFailure() {
        var effects = Effects()
        OutOfBandTable().keyPairMade(.failure(.unavailable), for: Self.operation, into: &effects)
        #expect(events(&effects) == [.completed(Self.operation, .failure(.security(.notAvailable)))])
    }

    @Test("Out-of-band data applies only to its device, and the latest applies")
    func outOfBandTable() {
        var table = OutOfBandTable()
        table.set(OutOfBandData(temporaryKey: Key128(rawValue: 1)), for: Self.alice)
        table.set(OutOfBandData(temporaryKey: Key128(rawValue: 2)), for: Self.alice.asIdentity)
        #expect(table.data(for: Self.alice)?.temporaryKey == Key128(rawValue: 2))
        #expect(table.data(for: Self.bob) == nil)
        table.set(nil, for: Self.alice)
        #expect(table.data(for: Self.alice) == nil)
    }
}
