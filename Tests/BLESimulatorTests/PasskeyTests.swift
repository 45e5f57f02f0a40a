import BLEPackets
import Testing

@testable import BLESimulator

@Suite("A device that pairs with a passkey")
struct PasskeyTests {
    private static let central = DeviceAddress(value: 0xA1A2_A3A4_A5A6, kind: .random)
    private static let peripheral = DeviceAddress(value: 0xB1B2_B3B4_B5B6, kind: .public)
    private static let request: [UInt8] = [0x01, 0x04, 0x00, 0x05, 0x10, 0x00, 0x01]
    private static let pairing = SimulatedPairing(
        passkey: 123_456,
        longTermKey: SimulatedLongTermKey(key: Key128(rawValue: 7), randomNumber: 8, encryptedDiversifier: 9))

    private func answer(_ responder: inout PasskeyResponder, _ pdu: [UInt8]) -> [UInt8] {
        responder.receive(pdu, addresses: (Self.central, Self.peripheral)) { 42 }.flatMap(PasskeyResponder.octets)
    }

    @Test("commitments are those of the specification's sample (Core 5.4, Vol 3, Part H, D.1 and 2.2.3)")
    func sample() {
        // p1 is 05000800000302070710000001010001 there, p2 00000000a1a2a3a4a5a6b1b2b3b4b5b6.
        let random: UInt128 = 0x5783_D521_56AD_6F0E_6388_274E_C670_2EE0
        let inner = BlockCipher.encrypt(random ^ 0x0500_0800_0003_0207_0710_0000_0101_0001, key: .zero)
        let confirm = BlockCipher.encrypt(inner ^ 0x0000_0000_A1A2_A3A4_A5A6_B1B2_B3B4_B5B6, key: .zero)
        #expect(confirm == 0x1E1E_3FEF_8789_88EA_D2A7_4DC5_BEF1_3B86)
    }

    @Test("a central without a keyboard, or with a shorter key, is refused")
    func refusals() {
        for capability in [0, 1, 3] as [UInt8] {
            var responder = PasskeyResponder(Self.pairing)
            var request = Self.request
            request[1] = capability
            #expect(answer(&responder, request) == [0x05, 0x03])
        }
        var responder = PasskeyResponder(Self.pairing)
        var request = Self.request
        request[4] = 7
        #expect(answer(&responder, request) == [0x05, 0x06])
    }

    @Test("no octets lead past the passkey, and none trap", arguments: 0..<4 as Range<UInt64>)
    func hostile(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var responder = PasskeyResponder(Self.pairing)
        for round in 0..<5_000 {
            var pdu = round % 3 == 0 ? Self.request : [UInt8(generator.next(below: 18))]
            if round % 3 != 0 {
                pdu += (0..<generator.next(below: 20)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            }
            _ = answer(&responder, pdu)
            #expect(responder.shortTermKey == nil)
            #expect(responder.encrypted().isEmpty)
        }
        #expect(answer(&responder, []) == [])
    }

    @Test("a lock refuses to be opened without authentication, and by a key that is not its own")
    func lock() throws {
        let air = SimulatedAir()
        let lock = air.addPeripheral(.lock)
        let host = TestHost.ready(air)
        let link = try host.connect(to: SimulatedPeripheral.lock.address)
        // Its state is the first characteristic behind the generic services.
        let found = try #require(host.request([0x08, 1, 0, 0xFF, 0xFF] + Self.state, on: link))
        let handle = Array(found[2..<4])
        #expect(host.request([0x0A] + handle, on: link) == [0x0B, 1])
        #expect(host.request([0x12] + handle + [0], on: link) == [0x01, 0x12] + handle + [0x05])
        host.send([0x52] + handle + [0], to: link)
        host.run(milliseconds: 100)
        #expect(air.value(of: Self.stateUUID, on: lock) == [1])
        #expect(
            host.perform(
                LEEnableEncryption(
                    connectionHandle: link, randomNumber: 0, encryptedDiversifier: 0, longTermKey: Key128(rawValue: 0)))
                == .success)
        host.run(milliseconds: 200)
        #expect(air.statistics(of: lock).isEncrypted == false)
        // The key of a bond opens it in every simulation.
        let key = try #require(SimulatedPeripheral.lock.link.pairing?.longTermKey)
        host.perform(
            LEEnableEncryption(
                connectionHandle: link, randomNumber: key.randomNumber, encryptedDiversifier: key.encryptedDiversifier,
                longTermKey: key.key))
        host.run(milliseconds: 200)
        #expect(host.request([0x12] + handle + [2], on: link) == [0x01, 0x12] + handle + [0x80])
        #expect(host.request([0x12] + handle + [0], on: link) == [0x13])
        #expect(air.value(of: Self.stateUUID, on: lock) == [0])
    }

    private static let stateUUID = BluetoothUUID(high: 0x6A65_6C6C_696E_6700, low: 0x8000_0000_0000_0012)
    private static var state: [UInt8] {
        var writer = PacketWriter()
        stateUUID.encode(into: &writer)
        return writer.bytes
    }
}
