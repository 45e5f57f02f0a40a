import BLETestKit
import BLEValues
import Synchronization
import Testing

@Suite("The radio of the test kit")
struct TestRadioTests {
    @Test("a device is what its description says: services, values, refusals, echoes")
    func device() async throws {
        let written = Mutex<[[UInt8]]>([])
        let radio = try TestRadio()
        let hasExtras = true
        let peer = radio.add(
            TestDevice("Box") {
                TestService("FFE0") {
                    TestCharacteristic("FFE1", [.read]).onRead { [UInt8($0)] }
                    TestCharacteristic("FFE2", [.write, .writeWithoutResponse]).onWrite { value throws(ATTError) in
                        guard value.count == 2 else { throw .invalidAttributeValueLength }
                        written.withLock { $0.append(value) }
                    }
                    TestCharacteristic("FFE3", [.write, .notify]).echoing()
                        .descriptor("2901", value: Array("Echo".utf8))
                }
                if hasExtras { TestService("FFF0").including(["FFE0"]) }
                for uuid: BluetoothUUID in ["FFA0", "FFA1"] { TestService(uuid).secondary() }
            }
            .signal(-71).manufacturerData(company: 0x0042, [1, 2]).maximumMTU(64))
        let adapter = try await radio.openAdapter()
        let found = try #require(try await adapter.scan(for: .seconds(1)).first)
        #expect(found.rssi == -71 && found.address == peer.address && found.advertisingData.localName == "Box")
        #expect(found.advertisingData.serviceUUIDs == ["FFE0", "FFF0"])
        try await adapter.withConnection(to: found) { box in
            #expect(await box.attMTU == 64)
            let contents = try await box.discoverContents()
            #expect(contents.map(\.service.uuid).contains("FFF0"))
            let reads = try await box.findCharacteristic("FFE1")
            #expect(try await box.read(reads) == [0])
            #expect(try await box.read(reads) == [1])
            let writes = try await box.findCharacteristic("FFE2")
            await #expect(
                throws: BLEError.att(.invalidAttributeValueLength, handle: writes.valueHandle)
            ) { try await box.write([1], to: writes) }
            try await box.write([1, 2], to: writes)
            let echo = try await box.findCharacteristic("FFE3")
            let values = try await box.notifications(of: echo)
            try await box.write([7], to: echo)
            for try await value in values {
                #expect(value.bytes == [7])
                break
            }
            peer.setValue([9], of: "FFE1")
            #expect(peer.value(of: "FFE1") == [9])
        }
        #expect(written.withLock { $0 } == [[1, 2]])
        #expect(peer.value(of: "FFE2") == [1, 2] && peer.statistics.notifications == 1)
        await adapter.close()
    }

    @Test("hours pass at once on the clock of the radio, and what waits for them goes on")
    func clock() async throws {
        let radio = try TestRadio()
        let start = radio.clock.now
        let waking = Task { try await radio.clock.sleep(for: .seconds(3600)) }
        let adapter = try await radio.openAdapter()
        let missing = Task { try await adapter.connect(to: "Nobody", timeout: .seconds(1800)) }
        try await eventually("two hours have passed") {
            await radio.clock.advance(by: .seconds(60))
            return radio.clock.now >= start.advanced(by: .seconds(7200))
        }
        try await waking.value
        await #expect(throws: BLEError.nameNotHeard("Nobody", within: .seconds(1800), heard: [])) {
            _ = try await missing.value
        }
        let never = Task { try await radio.clock.sleep(for: .seconds(1_000_000)) }
        never.cancel()
        await #expect(throws: CancellationError.self) { try await never.value }
        await adapter.close()
    }

    @Test("a clock that is stopped stands, and nothing that waits for time happens")
    func stopped() async throws {
        let radio = try TestRadio { TestDevice("Box") { TestService("FFE0") } }
        await radio.clock.stop()
        let adapter = try await radio.openAdapter()
        let now = radio.clock.now
        let seen = Atomic(0)
        let scan = Task {
            for try await _ in adapter.scan(ScanRequest(allowsDuplicates: true)) { seen.add(1, ordering: .relaxed) }
        }
        try await Task.sleep(for: .milliseconds(50))
        #expect(radio.clock.now == now && seen.load(ordering: .relaxed) == 0)
        try await eventually("the device is seen") {
            await radio.clock.advance(by: .milliseconds(500))
            return seen.load(ordering: .relaxed) > 0
        }
        let moved = radio.clock.now
        #expect(moved > now && now.duration(to: moved) >= .milliseconds(500))
        await radio.clock.start()
        try await eventually("the clock runs") { radio.clock.now > moved }
        scan.cancel()
        await adapter.close()
    }

    @Test("controllers fail, are unplugged and plugged in; connections fail and links end")
    func faults() async throws {
        let radio = try TestRadio()
        let peer = radio.add(TestDevice("Box") { TestService("FFE0") })
        let adapter = try await radio.openAdapter()
        radio.changeFaults { $0.failingConnections = 100 }
        await #expect(throws: BLEError.self) { _ = try await adapter.connect(to: peer.address, timeout: .seconds(20)) }
        radio.changeFaults { $0.failingConnections = 0 }
        // On a machine so busy that nothing runs for seconds, the link can be lost first.
        var reason: DisconnectionReason?
        for _ in 1...5 where reason != .controller(.remoteDevicePowerOff) {
            let box = try await adapter.connect(to: peer.address)
            peer.disconnect(.remoteDevicePowerOff)
            reason = try await box.waitForDisconnection()
        }
        #expect(reason == .controller(.remoteDevicePowerOff))
        let again = try await adapter.connect(to: peer.address)
        radio.failHardware()
        #expect(try await again.waitForDisconnection() == .controllerLost)
        radio.unplug()
        await #expect(throws: BLEError.transport(.closedByPeer)) {
            for try await _ in adapter.scan() {}
        }
        await #expect(throws: BLEError.transport(.noAdapter)) { _ = try await radio.openAdapter() }
        radio.plugIn()
        let other = try await radio.openAdapter()
        try await eventually("the device is seen again") {
            await radio.clock.advance(by: .seconds(1))
            return try await other.scan(for: .milliseconds(200)).count == 1
        }
        await adapter.close()
        await other.close()
    }

    @Test("an app in the peripheral role is tested with a second adapter")
    func peripheralRole() async throws {
        let radio = try TestRadio()
        let device = try await radio.openAdapter()
        let phone = try await radio.openAdapter()
        let lamp = Lamp(adapter: device)
        let running = Task { try await lamp.run() }
        try await phone.withConnection(to: "Lamp", timeout: .seconds(600)) { found in
            let power = try await found.findCharacteristic(Lamp.power)
            let changes = try await found.notifications(of: power)
            #expect(try await found.read(power) == [0])
            try await found.write([1], to: power)
            for try await change in changes {
                #expect(change.bytes == [1])
                break
            }
            #expect(await lamp.isOn)
            await #expect(throws: BLEError.att(.valueNotAllowed, handle: power.valueHandle)) {
                try await found.write([2], to: power)
            }
        }
        running.cancel()
        await phone.close()
        await device.close()
    }
}
