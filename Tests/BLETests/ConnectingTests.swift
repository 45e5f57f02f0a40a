import BLE
import BLESimulator
import BLEVirtualTransports
import Synchronization
import Testing

@Suite("Connecting, scanning and errors as apps meet them")
struct ConnectingTests {
    private func open(
        _ populate: @Sendable @escaping (SimulatedAir) -> Void = { _ = $0.addPeripheral(.jellingHeart) }
    ) async throws -> Adapter {
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = { (address) throws(TransportError) in
            let air = SimulatedAir()
            populate(air)
            return SimulatedTransport(air: air, controller: air.addController(), address: address)
        }
        return try await Adapter.open("sim", configuration: configuration)
    }

    @Test("UUIDs are literals of text and of numbers, and have names")
    func literals() {
        let heartRate: BluetoothUUID = "180D"
        let long: BluetoothUUID = "71DA3FD1-7E10-41C1-B16F-4430B506CDE7"
        #expect(heartRate == .heartRate && heartRate == 0x180D && heartRate.width == .bits16)
        #expect(long.description == "71DA3FD1-7E10-41C1-B16F-4430B506CDE7")
        #expect(BluetoothUUID.batteryLevel == 0x2A19 && BluetoothUUID.characteristicUserDescriptor == 0x2901)
        #expect(BluetoothUUID.clientCharacteristicConfiguration == "2902")
    }

    @Test("a scan of some seconds gives each device once")
    func scanForAWhile() async throws {
        let adapter = try await open { air in
            air.addPeripheral(.jellingHeart)
            air.addBroadcaster(.testBeacon)
        }
        let found = try await adapter.scan(for: .seconds(2))
        let names = found.map { $0.advertisingData.localName ?? "" }
        #expect(found.count == 2 && names.filter { $0 == "Jelling Heart" }.count == 1)
        let heart = try #require(found.first { $0.isConnectable })
        #expect("\(heart)".contains("“Jelling Heart”") && "\(heart)".contains("180D"))
        let age = Int64(EventLoop.unixMicroseconds) - heart.time.unixMicroseconds
        #expect(age >= 0 && age < 60_000_000)
        await adapter.close()
    }

    @Test("a device is connected to by its name, by its discovery and by its address; the link ends with the work")
    func withConnection() async throws {
        let adapter = try await open()
        let byName = try await adapter.withConnection(to: "Jelling Heart", timeout: .seconds(60)) { sensor in
            let level = try await sensor.findCharacteristic(.bodySensorLocation)
            #expect("\(level)" == "characteristic 2A38 (read)")
            return (sensor, try await sensor.read(level))
        }
        #expect(byName.1 == [1])
        #expect(await byName.0.information == nil)
        let heart = try #require(try await adapter.scan(for: .seconds(1)).first)
        await #expect(throws: AdapterError.closed) {
            try await adapter.withConnection(to: heart) { _ in throw AdapterError.closed }
        }
        let address = try #require(heart.address)
        let again = try await adapter.connect(to: address, timeout: .seconds(60))
        #expect("\(again)" == "peripheral \(address)")
        try await again.disconnect()
        await adapter.close()
    }

    @Test("a device that is not there ends the attempt after the timeout, and nothing is left of it")
    func timeout() async throws {
        let adapter = try await open { _ in }
        let nobody = DeviceAddress(value: 0xC0_1122_3344_55, kind: .random)
        await #expect(throws: AdapterError.timedOut(.milliseconds(200))) {
            try await adapter.connect(to: nobody, timeout: .milliseconds(200))
        }
        await #expect(throws: AdapterError.timedOut(.milliseconds(200))) {
            try await adapter.connect(to: "Nobody", timeout: .milliseconds(200))
        }
        let task = Task { try await adapter.connect(to: nobody, timeout: .seconds(600)) }
        task.cancel()
        await #expect(throws: AdapterError.host(.cancelled)) { try await task.value }
        await adapter.close()
    }

    @Test("a connection is made again after a loss, until this side ends it")
    func reconnecting() async throws {
        let adapter = try await open()
        let heart = try #require(try await adapter.scan(for: .seconds(1)).first?.address)
        var seen: [String] = []
        for await state in adapter.reconnecting(to: heart, pause: Duration.milliseconds(1)...Duration.milliseconds(10))
        {
            seen.append("\(state)")
            if case .connected(let sensor) = state { try await sensor.disconnect() }
        }
        #expect(seen == ["connecting", "connected to \(heart)", "disconnected: closed by this side"])
        await adapter.close()
    }

    @Test("an error has a code for programs, a cause, and what helps")
    func errors() {
        let error = AdapterError.host(.controllerUnresponsive)
        #expect(error.code == .controllerFailed && error.code.rawValue == "controllerFailed")
        #expect(error.cause == "the controller does not respond, even after a reset")
        #expect(error.remedy == "unplug it or switch it off and on")
        #expect(AdapterError.closed.remedy == nil && AdapterError.closed.cause == "the adapter has been closed")
        let refused = AdapterError.host(.gatt(.att(.insufficientAuthentication, handle: AttributeHandle(rawValue: 3))))
        #expect(refused.code == .refusedByDevice && refused.attError == .insufficientAuthentication)
        #expect(AdapterError.host(.gatt(.cancelled)).isCancellation)
        #expect(Set(AdapterError.Code.allCases.map(\.rawValue)).count == AdapterError.Code.allCases.count)
    }

    @Test("sequences throw the error of the operations, with its type")
    func typedSequences() async throws {
        let adapter = try await open()
        await adapter.close()
        do throws(AdapterError) {
            for try await _ in adapter.scan() {}
            Issue.record("a closed adapter cannot scan")
        } catch {
            #expect(error == .closed)
        }
    }
}
