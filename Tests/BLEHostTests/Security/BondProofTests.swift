import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// A peer under a bonded address has to prove that it holds the bond's key before anything of GATT passes (BLESA).
@Suite("Proof of a bond")
struct BondProofTests {
    static let handle = ConnectionHandle(rawValue: 0x40)
    static let key = LongTermKey(key: Key128(rawValue: 9))
    static let value = AttributeHandle(rawValue: 3)

    static func bond(local: LongTermKey? = key, peer: LongTermKey? = key, isAuthenticated: Bool = false) -> Bond {
        Bond(
            identity: HostRig.peer, isSecureConnections: true, isAuthenticated: isAuthenticated, localKey: local,
            peerKey: peer, localSigningKey: SigningKey(key: Key128(rawValue: 7)),
            peerSigningKey: SigningKey(key: Key128(rawValue: 8)))
    }

    /// A controller whose host has a bond with the peer.
    static func rig(_ bonds: [Bond] = [bond()], _ settings: SecuritySettings = SecuritySettings()) -> HostRig {
        let rig = HostRig(configuration: HostConfiguration(hasCryptoProvider: true, security: settings))
        rig.cryptoProvider = SwiftCryptoProvider()
        rig.start()
        rig.submit(.security(.restoreBonds(bonds)))
        return rig
    }

    static func connected(_ bonds: [Bond] = [bond()], _ settings: SecuritySettings = SecuritySettings()) -> HostRig {
        let rig = rig(bonds, settings)
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        return rig
    }

    static func peripheralLink(_ rig: HostRig) {
        rig.receive(
            LEConnectionComplete(
                status: .success, connectionHandle: handle, role: .peripheral, peerAddress: HostRig.peer,
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000)))
    }

    /// Payloads that went out on a channel; each fits one packet.
    static func sent(_ rig: HostRig, on channel: UInt16 = 4) -> [[UInt8]] {
        rig.data.filter { $0.count > 8 && $0[6] == UInt8(channel) }.map { Array($0[8...]) }
    }

    static func on(_ rig: HostRig) { rig.receive(EncryptionChange(connectionHandle: handle, state: .on)) }

    /// Everything that a device that is not the bonded one could like us to believe.
    static func forge(_ rig: HostRig) {
        for pdu: [UInt8] in [
            [0x03, 0x05, 0x02], [0x0B, 0xBA, 0xD0], [0x13], [0x01, 0x0A, 3, 0, 0x0A], [0x1B, 3, 0, 0xBA],
            [0x1D, 3, 0, 0xD0], [0x1D, 2, 0, 1, 0, 0xFF, 0xFF], [0x23, 3, 0, 1, 0, 0xBA],
            [0x11, 6, 1, 0, 9, 0, 0x0F, 0x18],
            [0x09, 18] + [UInt8](repeating: 0xBA, count: 18),
        ] { rig.receive(frame: pdu, handle: 0x40) }
    }

    private func values(_ rig: HostRig) -> [HostEvent] {
        rig.events.filter {
            switch $0 {
            case .gatt, .completed(_, .success(.gatt)), .server(.stored), .server(.write): true
            default: false
            }
        }
    }

    // MARK: As the central

    enum Refusal: CaseIterable {
        case command, missing, rejected, plain, silence, unlinked
    }

    private func refuse(_ rig: HostRig, _ refusal: Refusal) -> SecurityFailure {
        switch refusal {
        case .command: return .encryptionFailed(.unsupportedRemoteFeature)
        case .missing:
            rig.receive(EncryptionChange(status: .pinOrKeyMissing, connectionHandle: Self.handle, state: .off))
            return .keyMissingAtPeer
        case .rejected:
            rig.receive(EncryptionChange(status: .unsupportedRemoteFeature, connectionHandle: Self.handle, state: .off))
            return .encryptionFailed(.unsupportedRemoteFeature)
        case .plain:
            rig.receive(EncryptionChange(connectionHandle: Self.handle, state: .off))
            return .encryptionFailed(.encryptionModeNotAcceptable)
        case .silence:
            rig.advance(by: .seconds(50))
            return .encryptionFailed(.connectionTimeout)
        case .unlinked:
            rig.receive(
                DisconnectionComplete(
                    status: .success, connectionHandle: Self.handle, reason: .connectionTerminatedDueToMICFailure))
            return .keyMissingAtPeer
        }
    }

    private static let operations: [GATTOperation] = [
        .discoverServices(uuids: []), .read(value), .readLong(value, offset: 0),
        .readUsingUUID(BluetoothUUID(0x2A19 as UInt16), .all), .write(value, value: [0x5E]),
        .writeLong(value, value: [UInt8](repeating: 0x5E, count: 40)), .writeCommand(value, value: [0x5E]),
        .writeSigned(value, value: [0x5E]), .exchangeMTU(preferred: 100),
        .subscribe(value, configuration: AttributeHandle(rawValue: 4), mode: .notifications),
    ]

    @Test(
        "a peer that does not encrypt with the bond's key gets no GATT and no channel, and its data is ignored",
        arguments: Refusal.allCases, [true, false])
    func refused(refusal: Refusal, atOnce: Bool) throws {
        var settings = SecuritySettings()
        settings.encryptsAtConnection = atOnce
        let rig = Self.rig([Self.bond()], settings)
        if refusal == .command { rig.answers[LEEnableEncryption.opcode] = .status(.unsupportedRemoteFeature) }
        let connecting = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        Self.forge(rig)
        // Where the link is not announced before it is encrypted, its clients wait for that.
        if refusal != .unlinked { rig.advance(by: .seconds(6)) }
        let link = rig.links.last?.id ?? LinkID(handle: Self.handle, generation: 1)
        var operations: [OperationID] = []
        if refusal != .unlinked || !atOnce {
            operations = Self.operations.map { rig.submit(.link(link, .gatt($0))) }
            operations.append(rig.submit(.channel(.open(link, spsm: 0x80, ChannelSettings()))))
        }
        #expect(rig.count(of: LEEnableEncryption.opcode) == 1)
        Self.forge(rig)
        let failure = refuse(rig, refusal)
        Self.forge(rig)
        if refusal != .unlinked, refusal != .silence {
            operations += Self.operations.map { rig.submit(.link(link, .gatt($0))) }
            operations.append(rig.submit(.channel(.open(link, spsm: 0x80, ChannelSettings()))))
        }
        Self.forge(rig)
        rig.advance(by: .seconds(100))
        // Its indications are confirmed so that it can go on.
        #expect(Self.sent(rig).allSatisfy { $0 == [0x1E] } && Self.sent(rig, on: 5).isEmpty)
        for operation in operations {
            let results = rig.results(of: operation)
            let isChannel = results == [.failure(.security(failure))]
            #expect(isChannel || results == [.failure(.gatt(.security(failure)))])
        }
        if refusal == .unlinked, atOnce {
            #expect(rig.results(of: connecting) == [.failure(.security(failure))])
        }
        #expect(values(rig).isEmpty)
        #expect(rig.counters.refusedCleartext > 0)
        #expect(rig.events.count { if case .cleartextRefused(_, HostRig.peer) = $0 { true } else { false } } == 1)
    }

    @Test("data received in the clear is dropped when the bonded device proves itself; its own answers count")
    func provenLater() throws {
        let rig = Self.connected()
        Self.forge(rig)
        #expect(Self.sent(rig).isEmpty)
        Self.on(rig)
        // The confirmations of both indications, so that the device goes on, and the exchange of ATT_MTU.
        #expect(Self.sent(rig).map { $0[0] }.sorted() == [0x02, 0x1E, 0x1E])
        #expect(values(rig).isEmpty)
        rig.receive(frame: [0x03, 40, 0], handle: 0x40)
        let link = try #require(rig.links.last)
        #expect(link.attMTU == 40)
        let reading = rig.submit(.link(link.id, .gatt(.read(Self.value))))
        rig.receive(frame: [0x0B, 0x11], handle: 0x40)
        #expect(rig.results(of: reading) == [.success(.gatt(.value([0x11])))])
        let subscribing = rig.submit(
            .link(
                link.id,
                .gatt(.subscribe(Self.value, configuration: AttributeHandle(rawValue: 4), mode: .notifications))))
        rig.receive(frame: [0x13], handle: 0x40)
        #expect(rig.results(of: subscribing) == [.success(.gatt(.subscribed))])
        // None of the values that came early in the clear.
        #expect(!rig.events.contains { if case .gatt(_, .notification) = $0 { true } else { false } })
    }

    @Test("a request that waits for the proof gets its 30 s from then on")
    func patience() throws {
        let rig = Self.connected()
        rig.advance(by: .seconds(40))
        Self.on(rig)
        rig.advance(by: .seconds(25))
        #expect(rig.count(of: Disconnect.opcode) == 0)
        rig.receive(frame: [0x03, 40, 0], handle: 0x40)
        rig.advance(by: .seconds(10))
        #expect(rig.count(of: Disconnect.opcode) == 0)
    }

    @Test("a peripheral's requests in the clear are answered once it has proved itself, as for a stranger")
    func serverOfCentral() throws {
        let rig = Self.connected()
        rig.receive(frame: [0x0A, 1, 0], handle: 0x40)
        #expect(Self.sent(rig).isEmpty)
        Self.on(rig)
        #expect(Self.sent(rig).contains { $0[0] == 0x0B })
        let refused = Self.connected()
        refused.receive(frame: [0x0A, 1, 0], handle: 0x40)
        _ = refuse(refused, .missing)
        #expect(Self.sent(refused) == [[0x01, 0x0A, 1, 0, 0x05]])
        refused.forget()
        for _ in 0..<100 { refused.receive(frame: [0x0A, 1, 0], handle: 0x40) }
        #expect(Self.sent(refused) == Array(repeating: [0x01, 0x0A, 1, 0, 0x05], count: 100))
        #expect(refused.count(of: Disconnect.opcode) == 0)
    }

    @Test(
        "a peripheral that lost its keys gets an answer to each request and indication (Core 5.4, Vol 3, Part F, 3.3.3)"
    )
    func answersRefused() throws {
        let rig = Self.connected()
        _ = refuse(rig, .missing)
        rig.forget()
        for pdu: [UInt8] in [
            [0x02, 40, 0], [0x12, 3, 0, 9], [0x18, 1], [0x1D, 3, 0, 9], [0x52, 3, 0, 9], [0x1B, 3, 0, 9],
        ] {
            rig.receive(frame: pdu, handle: 0x40)
        }
        let sent = Self.sent(rig)
        #expect(sent.first?.first == 0x03)
        #expect(sent.dropFirst() == [[0x01, 0x12, 3, 0, 0x05], [0x01, 0x18, 0, 0, 0x05], [0x1E]])
        // Nothing but the agreed ATT_MTU.
        let told = values(rig).filter { if case .gatt(_, .mtuChanged) = $0 { false } else { true } }
        #expect(told.isEmpty)
    }

    @Test("a bond without a key that this side could encrypt with locks no one out, and grants nothing")
    func unusableBond() throws {
        let rig = Self.connected([Self.bond(peer: nil)])
        rig.receive(frame: [0x03, 23, 0], handle: 0x40)
        let link = try #require(rig.links.last?.id)
        let reading = rig.submit(.link(link, .gatt(.read(Self.value))))
        rig.receive(frame: [0x0B, 0x11], handle: 0x40)
        #expect(rig.results(of: reading) == [.success(.gatt(.value([0x11])))])
        #expect(rig.count(of: LEEnableEncryption.opcode) == 0)
    }

    @Test("bonds that are restored while a link is up close its gate, too")
    func restoredLate() throws {
        let rig = Self.connected([])
        rig.receive(frame: [0x03, 23, 0], handle: 0x40)
        let link = try #require(rig.links.last?.id)
        rig.submit(.security(.restoreBonds([Self.bond()])))
        rig.forget()
        let reading = rig.submit(.link(link, .gatt(.read(Self.value))))
        #expect(Self.sent(rig).isEmpty && rig.count(of: LEEnableEncryption.opcode) == 1)
        Self.on(rig)
        #expect(Self.sent(rig) == [[0x0A, 3, 0]])
        rig.receive(frame: [0x0B, 0x11], handle: 0x40)
        #expect(rig.results(of: reading) == [.success(.gatt(.value([0x11])))])
    }

    @Test("a bonded device behind a private address that is resolved after the connection proves itself first")
    func resolvedLate() throws {
        let rig = Self.rig([IdentityTests.bond()])
        rig.submit(.radio(.connect(ConnectRequest(peer: IdentityTests.address))))
        rig.cryptoProvider = nil
        rig.receive(rig.connectionComplete(IdentityTests.address))
        rig.receive(frame: [0x1B, 3, 0, 0xBA], handle: 0x40)
        rig.cryptoProvider = SwiftCryptoProvider()
        rig.advance(by: .seconds(1))
        #expect(rig.count(of: LEEnableEncryption.opcode) == 1)
        #expect(Self.sent(rig).isEmpty && rig.counters.refusedCleartext == 1)
        _ = refuse(rig, .missing)
        let link = try #require(rig.links.last?.id)
        let reading = rig.submit(.link(link, .gatt(.read(Self.value))))
        #expect(rig.results(of: reading) == [.failure(.gatt(.security(.keyMissingAtPeer)))])
        #expect(Self.sent(rig).isEmpty)
    }

    @Test("a peer that lost its keys and asks for security gets Pairing Not Supported, and the operation ends at once")
    func lostWithRequest() throws {
        let rig = Self.connected()
        rig.receive(frame: [0x0B, 0x01], channel: 6, handle: 0x40)
        let missing = EncryptionChange(status: .pinOrKeyMissing, connectionHandle: Self.handle, state: .off)
        rig.receive(missing)
        #expect(Self.sent(rig, on: 6) == [[0x05, 0x05]])
        let link = try #require(rig.links.last?.id)
        let reading = rig.submit(.link(link, .gatt(.read(Self.value))))
        #expect(rig.results(of: reading) == [.failure(.gatt(.security(.keyMissingAtPeer)))])
        // And a later wish, each time.
        rig.receive(frame: [0x0B, 0x01], channel: 6, handle: 0x40)
        #expect(Self.sent(rig, on: 6) == [[0x05, 0x05], [0x05, 0x05]])
        // Where its own wish had us try the key it is the same.
        var settings = SecuritySettings()
        settings.encryptsAtConnection = false
        let asked = Self.connected([Self.bond()], settings)
        asked.receive(frame: [0x0B, 0x01], channel: 6, handle: 0x40)
        #expect(asked.count(of: LEEnableEncryption.opcode) == 1)
        asked.receive(missing)
        #expect(Self.sent(asked, on: 6) == [[0x05, 0x05]])
    }

    @Test("the gate opens when the peer encrypts after all, and ATT_MTU is exchanged then")
    func secondTry() throws {
        let rig = Self.connected()
        _ = refuse(rig, .rejected)
        let link = try #require(rig.links.last?.id)
        let encrypting = rig.submit(.security(.encrypt(link)))
        Self.on(rig)
        #expect(rig.results(of: encrypting) == [.success(.done)])
        #expect(Self.sent(rig).map { $0[0] } == [0x02])
        rig.receive(frame: [0x03, 40, 0], handle: 0x40)
        let reading = rig.submit(.link(link, .gatt(.read(Self.value))))
        rig.receive(frame: [0x0B, 0x11], handle: 0x40)
        #expect(rig.results(of: reading) == [.success(.gatt(.value([0x11])))])
    }

    // MARK: As the peripheral

    private static let clientKeys: [UInt8] = [
        // LE Long Term Key Request, without diversifier and random number.
        0x04, 0x3E, 0x0D, 0x05, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ]

    /// A peripheral with a notifying value, and what a bonded central configured of it.
    private func served() throws -> (rig: HostRig, published: GATTPublishedService) {
        let rig = Self.rig([])
        let publishing = rig.submit(
            .server(
                .publish(
                    GATTServiceDefinition(
                        uuid: BluetoothUUID(0xFF00 as UInt16),
                        characteristics: [
                            GATTCharacteristicDefinition(
                                uuid: BluetoothUUID(0xFF01 as UInt16), properties: [.read, .notify],
                                permissions: .readable)
                        ]))))
        guard case .success(.published(let published))? = rig.results(of: publishing).first else {
            throw HostFailure.notConnected
        }
        // Behind Generic Access with two values: service, declaration, value, configuration.
        let serviceChanged = AttributeHandle(rawValue: 9)
        let characteristic = published.characteristics[0]
        var bond = Self.bond()
        bond.clientRecord = GATTClientRecord(
            configurations: [
                .init(handle: serviceChanged, modes: .indications),
                .init(handle: characteristic.configuration, modes: .notifications),
            ], features: 0, knownTable: 1)
        rig.submit(.security(.restoreBonds([bond])))
        rig.forget()
        return (rig, published)
    }

    @Test(
        "an unencrypted central under a bonded address gets nothing of what the bond keeps, and changes nothing of it")
    func strangerAsCentral() throws {
        let (rig, published) = try served()
        let value = published.characteristics[0]
        Self.peripheralLink(rig)
        rig.submit(.server(.updateValue(value.valueHandle, value: [1], links: nil)))
        // Neither subscriptions nor Service Changed, though the table is not the one that the client knew.
        #expect(Self.sent(rig).isEmpty)
        #expect(!rig.events.contains { if case .server(.subscribed) = $0 { true } else { false } })
        rig.receive(
            frame: [0x12, UInt8(value.configuration.rawValue), 0, 0, 0], handle: 0x40)
        rig.receive(frame: [0x02, 100, 0], handle: 0x40)
        #expect(Self.sent(rig).map { $0[0] } == [0x13, 0x03], "served as a stranger")
        // The controller says that the link is encrypted; nobody here gave a key.
        Self.on(rig)
        rig.receive(EncryptionKeyRefreshComplete(status: .success, connectionHandle: Self.handle))
        rig.submit(.server(.updateValue(value.valueHandle, value: [2], links: nil)))
        #expect(Self.sent(rig).count == 2)
        rig.receive(
            DisconnectionComplete(
                status: .success, connectionHandle: Self.handle, reason: .remoteUserTerminatedConnection))
        #expect(!rig.events.contains { if case .bondChanged = $0 { true } else { false } })
        // The bonded device finds everything once its key has encrypted the link.
        rig.forget()
        Self.peripheralLink(rig)
        rig.receive(Self.clientKeys)
        #expect(rig.count(of: LELongTermKeyRequestReply.opcode) == 1 && Self.sent(rig).isEmpty)
        Self.on(rig)
        rig.submit(.server(.updateValue(value.valueHandle, value: [3], links: nil)))
        #expect(Set(Self.sent(rig).map { $0[0] }) == [0x1D, 0x1B])
        #expect(rig.events.contains { if case .server(.subscribed) = $0 { true } else { false } })
    }

    @Test("what this side reads or writes as a peripheral waits for the bonded central's key as well")
    func clientOfPeripheral() throws {
        let rig = Self.rig()
        Self.peripheralLink(rig)
        let link = LinkID(handle: Self.handle, generation: 1)
        let reading = rig.submit(.link(link, .gatt(.read(Self.value))))
        #expect(Self.sent(rig).isEmpty)
        // It asks the central for it, and believes nothing until then.
        #expect(Self.sent(rig, on: 6).map { $0[0] } == [0x0B])
        Self.forge(rig)
        #expect(rig.results(of: reading).isEmpty && values(rig).isEmpty)
        rig.receive(Self.clientKeys)
        Self.on(rig)
        #expect(Self.sent(rig).filter { $0[0] == 0x0A } == [[0x0A, 3, 0]])
        rig.receive(frame: [0x0B, 0x11], handle: 0x40)
        #expect(rig.results(of: reading) == [.success(.gatt(.value([0x11])))])
        let silent = Self.rig()
        Self.peripheralLink(silent)
        let vain = silent.submit(.link(link, .gatt(.write(Self.value, value: [0x5E]))))
        silent.advance(by: .seconds(31))
        #expect(silent.results(of: vain) == [.failure(.gatt(.security(.timedOut)))])
        #expect(Self.sent(silent).isEmpty)
    }
}
