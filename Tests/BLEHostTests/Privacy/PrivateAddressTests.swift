import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

@Suite("Private addresses of our own")
struct PrivateAddressTests {
    static let key = Key128(rawValue: 0x1234_5678_9ABC_DEF0_1234_5678_9ABC_DEF0)
    static let fallback = DeviceAddress(value: 0xC000_0000_0007, kind: .random)

    static func rig(cryptoProvider: (any CryptoProvider)? = SwiftCryptoProvider(), hasKey: Bool = true) -> HostRig {
        var security = SecuritySettings()
        security.identityResolvingKey = hasKey ? key : nil
        let rig = HostRig(
            configuration: HostConfiguration(
                ownAddress: .resolvable(fallback: fallback), hasCryptoProvider: true, security: security))
        rig.cryptoProvider = cryptoProvider
        rig.start()
        return rig
    }

    static func addresses(_ rig: HostRig) -> [DeviceAddress] {
        rig.commands.filter { $0.opcode == LESetRandomAddress.opcode }.map { command in
            var value: UInt64 = 0
            for octet in command.parameters.reversed() { value = value << 8 | UInt64(octet) }
            return DeviceAddress(value: value, kind: .random)
        }
    }

    @Test(
        "the controller is given an address that our key resolves, before it is ready; the identity is the public one")
    func start() throws {
        let rig = Self.rig()
        #expect(rig.isReady)
        let address = try #require(Self.addresses(rig).first)
        #expect(address.isResolvablePrivate)
        #expect(address == IdentityTests.privateAddress(address.resolvableParts.random, key: Self.key))
        guard case .ready(let information)? = rig.events.last else {
            Issue.record("not ready")
            return
        }
        #expect(information.ownAddress == address)
        #expect(information.identityAddress == DeviceAddress(value: 0x0011_2233_4455, kind: .public))
    }

    @Test("a controller waits for a slow crypto provider, and a crypto provider that fails leaves the identity")
    func slow() {
        let rig = Self.rig(cryptoProvider: nil)
        #expect(!rig.isReady)
        while let question = rig.nextCryptoRequest() { rig.apply(.cryptoProvider(question.id, .failure(.unavailable))) }
        #expect(rig.isReady)
        #expect(Self.addresses(rig).isEmpty)
    }

    @Test("without a key there are no private addresses")
    func noKey() {
        let rig = Self.rig(hasKey: false)
        #expect(rig.isReady)
        #expect(Self.addresses(rig).isEmpty)
    }

    @Test("scanning, advertising and connecting never show the identity")
    func ownAddressTypes() {
        let rig = Self.rig()
        rig.submit(.radio(.scan(ScanRequest())))
        rig.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Jelling", serviceUUIDs: [])))))
        #expect(rig.commands.first { $0.opcode == LESetScanParameters.opcode }?.parameters[5] == 1)
        #expect(rig.commands.first { $0.opcode == LESetAdvertisingParameters.opcode }?.parameters[5] == 1)
    }

    @Test("after 15 minutes the address changes, while the radio rests, and everything goes on (Vol 3, Part C, 10.7)")
    func rotation() throws {
        let rig = Self.rig()
        rig.submit(.radio(.scan(ScanRequest())))
        rig.submit(
            .radio(
                .advertise(
                    AdvertiseRequest(.packed(localName: "Jelling", serviceUUIDs: []), interval: .milliseconds(100)))))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        // With a device nearby, so that the scan is not taken for a broken one.
        for _ in 0..<99 {
            rig.advance(by: .seconds(9))
            rig.receive(HostRig.report(HostRig.peer(2)))
        }
        rig.advance(by: .seconds(8))
        #expect(Self.addresses(rig).count == 1)
        rig.forget()
        rig.answers[LECreateConnectionCancel.opcode] = .complete([0])
        rig.advance(by: .seconds(2))
        // The cancelled attempt ends as all do.
        rig.receive(rig.connectionComplete(status: .unknownConnectionIdentifier))
        #expect(Self.addresses(rig).count == 1)
        let change = try #require(rig.commands.firstIndex { $0.opcode == LESetRandomAddress.opcode })
        var isOn: [HCIOpcode: Bool] = [:]
        for command in rig.commands[..<change]
        where [LESetScanEnable.opcode, LESetAdvertisingEnable.opcode].contains(command.opcode) {
            isOn[command.opcode] = command.parameters[0] == 1
        }
        #expect(isOn == [LESetScanEnable.opcode: false, LESetAdvertisingEnable.opcode: false])
        for command in rig.commands[change...]
        where [LESetScanEnable.opcode, LESetAdvertisingEnable.opcode].contains(command.opcode) {
            isOn[command.opcode] = command.parameters[0] == 1
        }
        #expect(isOn == [LESetScanEnable.opcode: true, LESetAdvertisingEnable.opcode: true])
        #expect(rig.commands[change...].contains { $0.opcode == LECreateConnection.opcode })
    }
}
