import BLE
import BLEDaemonClient
import Testing

@testable import BLEDaemon

@Suite("Programs share the controller of a daemon")
struct SharedControllerTests {
    private let heart = DeviceAddress("C0:DE:00:00:00:01/random")

    @Test("a client scans, connects, discovers, reads and is notified as if the controller were its own")
    func wholeRun() async throws {
        let stage = try DaemonStage()
        let adapter = try await stage.open()
        #expect(await adapter.information.ownAddress != nil)
        var found: Discovery?
        for try await discovery in adapter.scan(ScanRequest(name: "Jelling Heart")) {
            found = discovery
            break
        }
        let address = try #require(found?.address)
        #expect(address == heart)
        let peripheral = try await adapter.connect(to: address)
        #expect(await peripheral.attMTU == 517)
        let services = try await peripheral.discoverServices([BluetoothUUID(UInt16(0x180D))])
        let service = try #require(services.first)
        let characteristics = try await peripheral.discoverCharacteristics(of: service)
        let pulse = try #require(characteristics.first { $0.uuid == BluetoothUUID(UInt16(0x2A37)) })
        var beats = 0
        for try await _ in try await peripheral.notifications(of: pulse) {
            beats += 1
            if beats == 2 { break }
        }
        let location = try #require(characteristics.first { $0.uuid == BluetoothUUID(UInt16(0x2A38)) })
        #expect(try await peripheral.read(location).count == 1)
        try await peripheral.disconnect()
        await adapter.close()
    }

    @Test("two clients share one link: own subscriptions, and one that lets go leaves the other's alone")
    func sharedLink() async throws {
        let stage = try DaemonStage()
        let one = try await stage.open()
        let two = try await stage.open()
        let address = try #require(heart)
        let ofOne = try await one.connect(to: address)
        let ofTwo = try await two.connect(to: address)
        let pulseOfOne = try await pulse(of: ofOne)
        let pulseOfTwo = try await pulse(of: ofTwo)
        var beatsOfTwo = try await ofTwo.notifications(of: pulseOfTwo).makeAsyncIterator()
        for try await _ in try await ofOne.notifications(of: pulseOfOne) { break }
        #expect(try await beatsOfTwo.next() != nil)
        try await ofOne.disconnect()
        #expect(await ofOne.information == nil)
        #expect(await ofTwo.information != nil)
        // More than can have been on its way.
        for _ in 0..<2 { #expect(try await beatsOfTwo.next() != nil) }
        await one.close()
        #expect(try await beatsOfTwo.next() != nil)
        await two.close()
    }

    private func pulse(of peripheral: Peripheral) async throws -> Characteristic {
        let services = try await peripheral.discoverServices([BluetoothUUID(UInt16(0x180D))])
        let service = try #require(services.first)
        let characteristics = try await peripheral.discoverCharacteristics(of: service)
        return try #require(characteristics.first { $0.uuid == BluetoothUUID(UInt16(0x2A37)) })
    }

    @Test("what the protocol does not carry is refused with an error, and the session goes on")
    func notCarried() async throws {
        let stage = try DaemonStage()
        let adapter = try await stage.open()
        await #expect(throws: BLEError.invalidRequest(.notAvailableOnSharedController)) {
            var everybodys = SecuritySettings()
            everybodys.acceptsPairing = false
            try await adapter.setSecurity(everybodys)
        }
        // How it pairs itself.
        try await adapter.setSecurity(SecuritySettings())
        // For operators.
        try await adapter.unlockPasskey()
        // The controller can be asked, and not be reset under everybody.
        await #expect(throws: BLEError.invalidRequest(.notAvailableOnSharedController)) {
            _ = try await adapter.sendHCICommand(HCIOpcode(rawValue: 0x0C03))
        }
        #expect(try await adapter.sendHCICommand(HCIOpcode(rawValue: 0x1001)).first == 0)
        for try await _ in adapter.scan() { break }
        await adapter.close()
    }

    @Test("without a daemon the error says how to start one")
    func noDaemon() async throws {
        var configuration = AdapterConfiguration()
        DaemonClient.join(&configuration)
        do {
            _ = try await Adapter.open("bled:/nonexistent/bled.sock", configuration: configuration)
            Issue.record("a daemon answered")
        } catch let error as BLEError {
            #expect(error == .transport(.noDaemon(path: "/nonexistent/bled.sock")))
            #expect(error.description.contains("bled --socket"))
        }
    }
}
