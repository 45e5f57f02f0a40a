import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// Devices that show private addresses, and are known by their keys all the same.
@Suite("Identities behind private addresses")
struct IdentityTests {
    static let identity = DeviceAddress(value: 0x0011_2233_0001, kind: .public)
    static let otherIdentity = DeviceAddress(value: 0xC011_2233_0002, kind: .random)
    /// The specification's own sample (Core 5.4, Vol 3, Part H, D.7).
    static let key = Key128(rawValue: 0xec02_34a3_57c8_ad05_3410_10a6_0a39_7d9b)
    static let address = DeviceAddress(value: 0x7081_940d_fbaa, kind: .random)
    static let stranger = DeviceAddress(value: 0x7081_940d_fbab, kind: .random)

    static func bond(_ identity: DeviceAddress = identity, key: Key128? = key) -> Bond {
        let key128 = Key128(rawValue: 0x1111)
        return Bond(
            identity: identity, identityResolvingKey: key, isSecureConnections: true,
            localKey: LongTermKey(key: key128), peerKey: LongTermKey(key: key128))
    }

    /// Another private address of the same device.
    static func privateAddress(_ random: [UInt8], key: Key128 = key) -> DeviceAddress {
        let function = SecurityFunction.ah(key: [UInt8](key.octets.reversed()), random: random)
        guard case .octets(let octets) = SwiftCryptoProvider().answer(function.request),
            let address = DeviceAddress(resolvable: random, hash: [UInt8](octets.suffix(3)))
        else { fatalError("no hash") }
        return address
    }

    static func rig(
        _ bonds: [Bond] = [bond()], cryptoProvider: (any CryptoProvider)? = SwiftCryptoProvider()
    ) -> HostRig {
        let rig = HostRig(configuration: HostConfiguration(hasCryptoProvider: true))
        rig.cryptoProvider = cryptoProvider
        rig.submit(.security(.restoreBonds(bonds)))
        rig.start()
        rig.forget()
        return rig
    }

    static func peripheralLink(_ peer: DeviceAddress, handle: UInt16 = 0x40) -> LEConnectionComplete {
        LEConnectionComplete(
            status: .success, connectionHandle: ConnectionHandle(rawValue: handle), role: .peripheral,
            peerAddress: peer, interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000))
    }

    @Test("a bonded device is discovered by its identity, once, however often its address changes (DESIGN 2)")
    func discovery() {
        let rig = Self.rig()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        rig.receive(HostRig.report(Self.address))
        rig.receive(HostRig.report(Self.privateAddress([0x41, 2, 3])))
        #expect(rig.discoveries.map(\.address) == [Self.identity.asIdentity])
    }

    @Test("a stranger's private address stays as it is")
    func stranger() {
        let rig = Self.rig()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        rig.receive(HostRig.report(Self.stranger))
        #expect(rig.discoveries.map(\.address) == [Self.stranger])
    }

    @Test("an address is tried against each bond once: known ones and strangers cost nothing again")
    func onePass() {
        let rig = Self.rig([Self.bond(), Self.bond(Self.otherIdentity, key: Key128(rawValue: 5))], cryptoProvider: nil)
        rig.submit(.radio(.scan(ScanRequest(isActive: false, allowsDuplicates: true))))
        rig.receive(HostRig.report(Self.stranger))
        var questions: [PendingCryptoRequest] = []
        while let question = rig.nextCryptoRequest() { questions.append(question) }
        #expect(questions.count == 2)
        rig.receive(HostRig.report(Self.stranger))
        #expect(rig.nextCryptoRequest() == nil)
        #expect(rig.discoveries.isEmpty)
        for question in questions {
            rig.apply(.cryptoProvider(question.id, SwiftCryptoProvider().answer(question.request)))
        }
        #expect(rig.discoveries.count == 2)
        rig.receive(HostRig.report(Self.stranger))
        #expect(rig.nextCryptoRequest() == nil)
        #expect(rig.discoveries.count == 3)
    }

    @Test("a new bond is tried against addresses that were strangers' before")
    func newBond() {
        let rig = Self.rig([Self.bond(Self.otherIdentity, key: Key128(rawValue: 5))])
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        rig.receive(HostRig.report(Self.address))
        rig.submit(.security(.restoreBonds([Self.bond()])))
        rig.receive(HostRig.report(Self.address))
        #expect(rig.discoveries.map(\.address) == [Self.address, Self.identity.asIdentity])
    }

    @Test("an address that two bonds resolve is reported; one is tried, and the other if its bond does not encrypt")
    func ambiguous() {
        let rig = Self.rig([Self.bond(), Self.bond(Self.otherIdentity)])
        let handle = ConnectionHandle(rawValue: 0x40)
        for identity in [Self.identity, Self.otherIdentity, Self.identity] {
            rig.forget()
            rig.receive(Self.peripheralLink(Self.address))
            #expect(rig.centrals.map(\.peer) == [identity.asIdentity])
            rig.receive(LELongTermKeyRequest(connectionHandle: handle, randomNumber: 0, encryptedDiversifier: 0))
            rig.receive(
                DisconnectionComplete(
                    status: .success, connectionHandle: handle, reason: .connectionTerminatedDueToMICFailure))
        }
    }

    @Test(
        "of the devices with one key, the requested one is connected to, unless its bond has not encrypted there")
    func ambiguousCall() throws {
        let rig = Self.rig([Self.bond(), Self.bond(Self.otherIdentity)])
        rig.submit(.radio(.connect(ConnectRequest(peer: Self.otherIdentity))))
        rig.receive(HostRig.report(Self.address, type: .connectableUndirected))
        let create = try #require(rig.commands.last { $0.opcode == LECreateConnection.opcode })
        #expect(Array(create.parameters[6..<12]) == Self.address.octets)
        rig.receive(rig.connectionComplete(Self.address))
        #expect(rig.count(of: LEEnableEncryption.opcode) == 1)
        rig.receive(
            DisconnectionComplete(
                status: .success, connectionHandle: ConnectionHandle(rawValue: 0x40),
                reason: .connectionTerminatedDueToMICFailure))
        rig.forget()
        // It was the other one.
        rig.submit(.radio(.connect(ConnectRequest(peer: Self.otherIdentity))))
        rig.receive(HostRig.report(Self.address, type: .connectableUndirected))
        #expect(rig.count(of: LECreateConnection.opcode) == 0)
    }

    @Test("a central that names its legacy key is identified among those with the same resolving key")
    func ambiguousLegacy() {
        var bonds = [Self.bond(), Self.bond(Self.otherIdentity)]
        for index in bonds.indices {
            bonds[index].isSecureConnections = false
            bonds[index].localKey = LongTermKey(
                key: Key128(rawValue: 0x100 + UInt128(index)), encryptedDiversifier: UInt16(index),
                randomNumber: 7)
        }
        let rig = Self.rig(bonds)
        let handle = ConnectionHandle(rawValue: 0x40)
        rig.receive(Self.peripheralLink(Self.address))
        rig.receive(LELongTermKeyRequest(connectionHandle: handle, randomNumber: 7, encryptedDiversifier: 1))
        #expect(rig.count(of: LELongTermKeyRequestReply.opcode) == 1)
        rig.receive(EncryptionChange(connectionHandle: handle, state: .on))
        let security = rig.events.lazy.compactMap {
            if case .encryptionChanged(_, let security) = $0 { security } else { nil }
        }.last
        #expect(security?.identity == Self.otherIdentity && security?.isBonded == true)
    }

    @Test("a crowd of changing addresses costs bounded memory (pain 15)")
    func crowd() {
        var resolver = IdentityResolver()
        for number in 0..<UInt64(3 * IdentityResolver.capacity) {
            let address = DeviceAddress(value: 0x4000_0000_0000 | number, kind: .random)
            #expect(resolver.answer(for: address, revision: 1) == nil)
            let pass = resolver.begin(address, keys: 1)
            _ = resolver.tried(Self.identity, matches: false, in: pass)
        }
        let last = DeviceAddress(value: 0x4000_0000_0000 | UInt64(3 * IdentityResolver.capacity - 1), kind: .random)
        #expect(resolver.answer(for: last, revision: 1) == .stranger)
        #expect(resolver.answer(for: DeviceAddress(value: 0x4000_0000_0000, kind: .random), revision: 1) == nil)
        // Passes that nobody answers are few, too.
        for number in 0..<UInt64(IdentityResolver.passLimit) {
            _ = resolver.begin(DeviceAddress(value: 0x4100_0000_0000 | number, kind: .random), keys: 1)
        }
        #expect(resolver.answer(for: DeviceAddress(value: 0x4200_0000_0000, kind: .random), revision: 1) == .stranger)
    }

    @Test("a central under a private address is reported by its identity")
    func central() {
        let rig = Self.rig()
        rig.receive(Self.peripheralLink(Self.address))
        #expect(rig.centrals.map(\.peer) == [Self.identity.asIdentity])
    }

    @Test("data from a central whose identity is still being resolved is neither lost nor reordered")
    func packetsMeanwhile() {
        let rig = Self.rig(cryptoProvider: nil)
        rig.receive(Self.peripheralLink(Self.address))
        rig.receive(frame: [0x02, 100, 0], handle: 0x40)
        rig.receive(frame: [0x0A, 3, 0], handle: 0x40)
        #expect(rig.centrals.isEmpty && rig.data.isEmpty)
        while let question = rig.nextCryptoRequest() {
            rig.apply(.cryptoProvider(question.id, SwiftCryptoProvider().answer(question.request)))
        }
        #expect(rig.centrals.map(\.peer) == [Self.identity.asIdentity])
        #expect(rig.data.map { $0[8] } == [0x03, 0x0B])
    }

    @Test("a link that ends before its peer is identified leaves nothing behind")
    func endedMeanwhile() {
        let rig = Self.rig(cryptoProvider: nil)
        rig.receive(Self.peripheralLink(Self.address))
        rig.receive(
            DisconnectionComplete(
                status: .success, connectionHandle: ConnectionHandle(rawValue: 0x40),
                reason: .remoteUserTerminatedConnection))
        while let question = rig.nextCryptoRequest() {
            rig.apply(.cryptoProvider(question.id, SwiftCryptoProvider().answer(question.request)))
        }
        #expect(rig.centrals.isEmpty)
    }

    @Test("connecting to an identity waits for its private address and encrypts with its bond")
    func connect() throws {
        let rig = Self.rig()
        let operation = rig.submit(.radio(.connect(ConnectRequest(peer: Self.identity))))
        // Nothing can be initiated: the address on the air is not known.
        #expect(rig.count(of: LECreateConnection.opcode) == 0)
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
        rig.receive(HostRig.report(Self.stranger, type: .connectableUndirected))
        #expect(rig.count(of: LECreateConnection.opcode) == 0)
        rig.receive(HostRig.report(Self.address, type: .connectableUndirected))
        let create = try #require(rig.commands.first { $0.opcode == LECreateConnection.opcode })
        #expect(Array(create.parameters[6..<12]) == Self.address.octets)
        rig.receive(rig.connectionComplete(Self.address))
        #expect(rig.count(of: LEEnableEncryption.opcode) == 1)
        rig.receive(EncryptionChange(connectionHandle: ConnectionHandle(rawValue: 0x40), state: .on))
        rig.receive(frame: [0x03, 23, 0], handle: 0x40)
        #expect(rig.results(of: operation).count == 1)
        #expect(rig.links.map(\.peer) == [Self.identity.asIdentity])
    }

    @Test("a scan for connecting ends with the connection, and with its cancellation")
    func scanEnds() {
        let rig = Self.rig()
        let operation = rig.submit(.radio(.connect(ConnectRequest(peer: Self.identity))))
        rig.forget()
        rig.submit(.cancel(operation))
        #expect(rig.commands.last?.opcode == LESetScanEnable.opcode)
        #expect(rig.commands.last?.parameters.first == 0)
    }
}

extension HostRig {
    var centrals: [LinkInformation] {
        events.compactMap { if case .centralConnected(let information) = $0 { information } else { nil } }
    }
}
