import BLEPackets
import BLESimulator
import Testing

@Suite("Encryption")
struct EncryptionTests {
    let air = SimulatedAir()
    let central: TestHost
    let peripheral: TestHost
    let peripheralAddress = SimulatedControllerConfiguration.address(2)
    let key = Key128(rawValue: 0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF)

    init() {
        central = .ready(air, .numbered(1))
        peripheral = .ready(air, .numbered(2))
    }

    private func connect() throws -> (central: ConnectionHandle, peripheral: ConnectionHandle) {
        peripheral.advertise()
        let handle = try central.connect(to: peripheralAddress)
        peripheral.collect()
        return (handle, try #require(peripheral.lastLink).connectionHandle)
    }

    private func changes(_ host: TestHost) -> [EncryptionChange] {
        host.collect()
        return host.events.compactMap { if case .encryptionChange(let event) = $0 { event } else { nil } }
    }

    private func refreshes(_ host: TestHost) -> [EncryptionKeyRefreshComplete] {
        host.collect()
        return host.events.compactMap { if case .encryptionKeyRefreshComplete(let event) = $0 { event } else { nil } }
    }

    private func requests(_ host: TestHost) -> [LELongTermKeyRequest] {
        host.collect()
        return host.events.compactMap { if case .leLongTermKeyRequest(let event) = $0 { event } else { nil } }
    }

    private func request(_ key: Key128? = nil, on handle: ConnectionHandle) {
        let status = central.perform(
            LEEnableEncryption(
                connectionHandle: handle, randomNumber: 0x1122, encryptedDiversifier: 0x33,
                longTermKey: key ?? self.key))
        #expect(status == .success)
        central.run(milliseconds: 100)
    }

    private func encrypt(_ link: (central: ConnectionHandle, peripheral: ConnectionHandle)) {
        request(on: link.central)
        peripheral.collect()
        peripheral.perform(LELongTermKeyRequestReply(connectionHandle: link.peripheral, longTermKey: key))
        peripheral.run(milliseconds: 100)
    }

    @Test("equal keys encrypt the link at both ends")
    func equalKeys() throws {
        let link = try connect()
        encrypt(link)
        #expect(requests(peripheral).map(\.randomNumber) == [0x1122])
        #expect(requests(peripheral).map(\.encryptedDiversifier) == [0x33])
        for host in [central, peripheral] {
            #expect(changes(host).map(\.status) == [.success])
            #expect(changes(host).map(\.state) == [.on])
        }
    }

    @Test("different keys end the link at both ends with 0x3D")
    func differentKeys() throws {
        let link = try connect()
        request(Key128(rawValue: 1), on: link.central)
        peripheral.perform(LELongTermKeyRequestReply(connectionHandle: link.peripheral, longTermKey: key))
        peripheral.run(milliseconds: 100)
        for host in [central, peripheral] {
            #expect(changes(host).isEmpty)
            #expect(host.disconnections.map(\.reason) == [.connectionTerminatedDueToMICFailure])
        }
    }

    @Test("without a key the central learns 0x06 and the link stands in the clear")
    func missingKey() throws {
        let link = try connect()
        request(on: link.central)
        peripheral.perform(LELongTermKeyRequestNegativeReply(connectionHandle: link.peripheral))
        peripheral.run(milliseconds: 100)
        #expect(changes(central).map(\.status) == [.pinOrKeyMissing])
        #expect(changes(central).map(\.state) == [.off])
        #expect(changes(peripheral).isEmpty && central.disconnections.isEmpty)
    }

    @Test("a host that has masked the request has no key")
    func maskedRequest() throws {
        peripheral.perform(LESetEventMask(mask: LEEventMask(rawValue: ~LEEventMask.longTermKeyRequest.rawValue)))
        let link = try connect()
        request(on: link.central)
        central.run(milliseconds: 100)
        #expect(changes(central).map(\.status) == [.pinOrKeyMissing])
        #expect(requests(peripheral).isEmpty)
    }

    @Test("a peripheral without encryption is reported as such, 0x1A")
    func unsupported() throws {
        let air = SimulatedAir()
        let central = TestHost.ready(air)
        let address = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
        air.addPeripheral(
            SimulatedPeripheral(name: "Old", address: address, link: SimulatedLinkBehaviour(features: [])))
        let handle = try central.connect(to: address)
        central.perform(LEEnableEncryption(connectionHandle: handle, longTermKey: key))
        central.run(milliseconds: 100)
        #expect(changes(central).map(\.status) == [.unsupportedRemoteFeature])
    }

    @Test("a second encryption refreshes the key, and without a key it ends the link")
    func refresh() throws {
        let link = try connect()
        encrypt(link)
        encrypt(link)
        for host in [central, peripheral] {
            #expect(changes(host).count == 1)
            #expect(refreshes(host).map(\.status) == [.success])
        }
        request(on: link.central)
        peripheral.perform(LELongTermKeyRequestNegativeReply(connectionHandle: link.peripheral))
        peripheral.run(milliseconds: 100)
        central.collect()
        #expect(central.disconnections.map(\.reason) == [.pinOrKeyMissing])
    }

    @Test("a host that never answers loses the link after 40 s with 0x22")
    func silence() throws {
        let link = try connect()
        request(on: link.central)
        central.run(milliseconds: 39_000)
        #expect(central.disconnections.isEmpty)
        central.run(milliseconds: 2_000)
        peripheral.collect()
        #expect(central.disconnections.map(\.reason) == [.llResponseTimeout])
        #expect(peripheral.disconnections.map(\.reason) == [.llResponseTimeout])
    }

    @Test("data waits until the keys have been compared")
    func data() throws {
        let link = try connect()
        request(on: link.central)
        central.send([1, 2, 3], to: link.central)
        central.run(milliseconds: 500)
        peripheral.collect()
        #expect(peripheral.frames.isEmpty)
        peripheral.perform(LELongTermKeyRequestReply(connectionHandle: link.peripheral, longTermKey: key))
        peripheral.run(milliseconds: 200)
        #expect(peripheral.frames.map(\.payload) == [[1, 2, 3]])
    }

    @Test("only the central encrypts, one attempt at a time, and an answer needs its question")
    func rules() throws {
        let link = try connect()
        let unasked = LELongTermKeyRequestReply(connectionHandle: link.peripheral, longTermKey: key)
        #expect(peripheral.perform(unasked) == .commandDisallowed)
        let wish = LEEnableEncryption(connectionHandle: link.peripheral, longTermKey: key)
        #expect(peripheral.perform(wish) == .commandDisallowed)
        request(on: link.central)
        let again = LEEnableEncryption(connectionHandle: link.central, longTermKey: key)
        #expect(central.perform(again) == .commandDisallowed)
        let unknown = LEEnableEncryption(connectionHandle: ConnectionHandle(rawValue: 0x0EEE), longTermKey: key)
        #expect(central.perform(unknown) == .unknownConnectionIdentifier)
    }

    @Test("a host that wants it gets the second version of the event, with the key's size")
    func secondVersion() throws {
        central.perform(SetEventMaskPage2(mask: .encryptionChangeV2))
        let link = try connect()
        encrypt(link)
        central.collect()
        let sizes = central.events.compactMap {
            if case .encryptionChangeV2(let event) = $0 { event.keySize } else { nil }
        }
        #expect(sizes == [16])
        #expect(changes(central).isEmpty && changes(peripheral).count == 1)
    }

    @Test("a device lets the holder of its key read what needs encryption")
    func device() throws {
        let secret = BluetoothUUID(0xFFE1 as UInt16)
        let address = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
        let device = air.addPeripheral(
            SimulatedPeripheral(
                name: "Lock", address: address,
                services: [
                    SimulatedService(
                        BluetoothUUID(0xFFE0 as UInt16),
                        characteristics: [
                            SimulatedCharacteristic(secret, [.read], value: [42], permissions: [.readEncrypted])
                        ])
                ], hasGenericServices: false,
                link: SimulatedLinkBehaviour(longTermKeys: [SimulatedLongTermKey(key: key)])))
        let handle = try central.connect(to: address)
        central.send([0x0A, 3, 0], to: handle)
        central.run(milliseconds: 100)
        #expect(central.frames.last?.payload == [0x01, 0x0A, 3, 0, ATTError.insufficientEncryption.rawValue])
        central.perform(LEEnableEncryption(connectionHandle: handle, longTermKey: key))
        central.run(milliseconds: 200)
        #expect(changes(central).map(\.status) == [.success])
        #expect(air.statistics(of: device).isEncrypted)
        central.send([0x0A, 3, 0], to: handle)
        central.run(milliseconds: 100)
        #expect(central.frames.last?.payload == [0x0B, 42])
    }

    @Test("LE Encrypt is AES-128 (FIPS 197, appendix B)")
    func block() throws {
        let key = try #require(
            Key128(mostSignificantFirst: [
                0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6, 0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C,
            ]))
        let answer = central.query(LEEncrypt(key: key, plaintext: 0x3243_F6A8_885A_308D_3131_98A2_E037_0734))
        #expect(answer?.ciphertext == 0x3925_841D_02DC_09FB_DC11_8597_196A_0B32)
    }
}
