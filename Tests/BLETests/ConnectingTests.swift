import BLE
import BLESimulator
import BLEVirtualTransports
import Foundation
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
        await #expect(throws: BLEError.closed) {
            try await adapter.withConnection(to: heart) { _ in throw BLEError.closed }
        }
        let address = try #require(heart.address)
        let again = try await adapter.connect(to: address, timeout: .seconds(60))
        #expect("\(again)" == "peripheral \(address)")
        try await again.disconnect()
        await adapter.close()
    }

    @Test("a name that is not heard is answered with the names that are")
    func names() async throws {
        let adapter = try await open { air in
            air.addPeripheral(.jellingHeart)
            air.addPeripheral(.lock)
        }
        let error = await #expect(throws: BLEError.self) {
            try await adapter.connect(to: "Jeling Heart", timeout: .seconds(1))
        }
        #expect(error == .nameNotHeard("Jeling Heart", within: .seconds(1), heard: ["Jelling Heart", "Lock 271828"]))
        #expect(error?.code == .timedOut)
        #expect(
            "\(try #require(error))"
                == "no device with the name ‘Jeling Heart’ was heard within 1.0 seconds, but ‘Jelling Heart’, "
                + "‘Lock 271828’; did you mean ‘Jelling Heart’?")
        #expect(
            "\(BLEError.nameNotHeard("\u{202E}a", within: .seconds(1), heard: ["\u{1B}[2J"]))".utf8.allSatisfy {
                $0 >= 0x20 && $0 != 0x7F
            })
        await adapter.close()
    }

    @Test("a device that is not there ends the attempt after the timeout, and nothing is left of it")
    func timeout() async throws {
        let adapter = try await open { _ in }
        let nobody = DeviceAddress(value: 0xC0_1122_3344_55, kind: .random)
        await #expect(throws: BLEError.timedOut(.milliseconds(200))) {
            try await adapter.connect(to: nobody, timeout: .milliseconds(200))
        }
        await #expect(throws: BLEError.nameNotHeard("Nobody", within: .milliseconds(200), heard: [])) {
            try await adapter.connect(to: "Nobody", timeout: .milliseconds(200))
        }
        let task = Task { try await adapter.connect(to: nobody, timeout: .seconds(600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
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

    @Test("a cancelled task throws CancellationError, whatever it waits for; the end of a link does not")
    func cancellation() async throws {
        let adapter = try await open()
        let sensor = try await adapter.connect(to: "Jelling Heart", timeout: .seconds(60))
        let work: [@Sendable () async throws -> Void] = [
            { _ = try await adapter.connect(to: DeviceAddress(value: 0xC000_0000_0097, kind: .random)) },
            { _ = try await adapter.connect(to: "Nobody", timeout: .seconds(600)) },
            { _ = try await adapter.scan(for: .seconds(600)) },
            { _ = try await sensor.waitForDisconnection() },
            { try await adapter.advertise(AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: []))) },
            { _ = try await adapter.withConnection(to: "Nobody") { _ in } },
        ]
        for body in work {
            for delay in [Duration.zero, .milliseconds(20)] {
                let task = Task { try await body() }
                try await Task.sleep(for: delay)
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
        try await sensor.disconnect()
        await #expect(throws: BLEError.notConnected) { _ = try await sensor.readRSSI() }
        await adapter.close()
        await #expect(throws: BLEError.closed) { _ = try await adapter.scan(for: .seconds(1)) }
    }

    @Test("errors are texts for Foundation, too, without an import of the module that makes them so")
    func localized() {
        let errors: [any Error] = [
            BLEError.controllerUnresponsive, TransportError.noBluetoothInKernel, BondStoreError.busy(path: "bonds"),
        ]
        for error in errors { #expect(error.localizedDescription == "\(error)") }
        #expect((errors[0] as? any LocalizedError)?.recoverySuggestion == "unplug it or switch it off and on")
    }

    @Test("the library's texts name no program and no option of one")
    func namesNoTool() {
        let errors: [any Error] = [
            BLEError.invalidRequest(.notAvailableOnSharedController), BondStoreError.unknownVersion(path: "bonds"),
            BondStoreError.system(path: "bonds", cause: "full"),
        ]
        for error in errors { #expect(!"\(error)".contains("bletool") && !"\(error)".contains(" -")) }
        #expect(!"\(TransportError.noDaemon(path: "socket"))".contains("bletool"))
    }

    @Test("values are printed for people, and keys never")
    func descriptions() async throws {
        let adapter = try await open()
        let sensor = try await adapter.connect(to: "Jelling Heart", timeout: .seconds(60))
        let link = try #require(await sensor.information)
        #expect("\(adapter)" == "adapter sim")
        #expect("\(link)".hasPrefix("\(link.id) to \(sensor.address) as central, MTU 517, interval "))
        #expect("\(ServerEvent.connected(link))" == "connected: \(link)")
        let contents = try await sensor.discoverContents([.heartRate])
        #expect("\(contents[0])".hasPrefix("service 180D\n  characteristic 2A37 (notify)\n    descriptor 2902\n"))
        var bond = Bond(identity: sensor.address)
        bond.identityResolvingKey = Key128(rawValue: 0x1234_5678_9ABC)
        #expect("\(bond)".contains("\(sensor.address)") && !"\(bond)".contains("1234"))
        #expect("\(await adapter.counters)".contains("advertisingReports"))
        await adapter.close()
    }

    @Test("numbers of links and attributes are printed for people")
    func numbers() {
        let timeout = SupervisionTimeout(rawValue: 500)
        #expect("\(PHY.leCoded) \(PHY(rawValue: 9))" == "LE Coded PHY 9")
        #expect("\(AttributeHandle(rawValue: 15)) \(HCIOpcode(rawValue: 0x200C))" == "0x000F 0x200C")
        #expect("\(ConnectionInterval(rawValue: 24)), \(timeout)" == "30.0 ms, 5000.0 ms")
        #expect(
            "\(LinkSubrate(factor: 4, continuationNumber: 1, latency: 0, supervisionTimeout: timeout))"
                == "one connection event in 4, 1 more after data, latency 0, timeout 5000.0 ms")
        let wanted = SubrateParameters(
            minimumFactor: 2, maximumFactor: 4, continuationNumber: 1, supervisionTimeout: timeout)
        #expect("\(wanted)".hasPrefix("one connection event in 2 to 4, 1 more after data, latency at most "))
        #expect("\(PathLoss(zone: .high, decibels: 81)), \(PathLoss(zone: .low, decibels: nil))" == "high, 81 dB, low")
        #expect("\(PathLossZones(low: 60, high: 80))" == "low below 60 dB, high above 80 dB")
        #expect("\(ChannelMap.all), \(ChannelMap(rawValue: 0b1011))" == "channels 0-36, channels 0-1, 3")
        #expect("\(ChannelMap(rawValue: 1 << 36)), \(ChannelMap(rawValue: 0))" == "channels 36, no channels")
    }

    @Test("no longer value can be written than is said, and one of that length can (SPEC 2.3)")
    func writeLength() async throws {
        let adapter = try await open()
        let sensor = try await adapter.connect(to: "Jelling Heart", timeout: .seconds(60))
        #expect(await sensor.attMTU == 517)
        let limit = await sensor.maximumWriteLength(withResponse: false)
        #expect(limit == 512)
        let long = try await sensor.findCharacteristic("6A656C6C-696E-6700-8000-000000000002")
        let value = (0..<limit).map { UInt8($0 % 251) }
        try await sensor.writeWithoutResponse(value, to: long)
        #expect(try await sensor.read(long) == value)
        await #expect(throws: BLEError.valueTooLong(limit: limit)) {
            try await sensor.writeWithoutResponse(value + [0], to: long)
        }
        await adapter.close()
    }

    @Test("a discovery has no transmit power where none is stated, and wall-clock time beside the monotonic")
    func discovery() async throws {
        let adapter = try await open()
        let heart = try #require(try await adapter.scan(for: .seconds(1)).first)
        #expect(heart.txPower == nil)
        #expect(abs(heart.unixMicroseconds - Int64(EventLoop.unixMicroseconds)) < 600_000_000)
        let sensor = try await adapter.connect(to: heart, timeout: .seconds(60))
        let rate = try await sensor.findCharacteristic(.heartRateMeasurement)
        for try await value in try await sensor.notifications(of: rate) {
            #expect(value.time > heart.time && value.unixMicroseconds > heart.unixMicroseconds)
            break
        }
        await adapter.close()
    }

    @Test("an error has a code for programs, a cause, and what helps")
    func errors() throws {
        let error = BLEError.controllerUnresponsive
        #expect(error.code == .controllerFailed && error.code.rawValue == "controllerFailed")
        #expect(error.cause == "the controller does not respond, even after a reset")
        #expect(error.remedy == "unplug it or switch it off and on")
        #expect(BLEError.closed.remedy == nil && BLEError.closed.cause == "the adapter has been closed")
        let absent = BLEError.transport(.noBluetoothInKernel)
        #expect(absent.cause == "this kernel has no Bluetooth")
        #expect(absent.remedy?.hasPrefix("load it with ‘modprobe bluetooth’") == true)
        let unheard = BLEError.transport(.connectionRefused(try TransportAddress("tcp:127.0.0.1:9")))
        #expect(unheard.cause == "nothing is listening at tcp:127.0.0.1:9")
        let refused = BLEError.att(.insufficientAuthentication, handle: AttributeHandle(rawValue: 3))
        #expect(refused.code == .refusedByDevice && refused.attError == .insufficientAuthentication)
        #expect(BLEError(HostFailure.gatt(.cancelled)) == .linkLost(.releasedByClient))
        #expect(Set(BLEError.Code.allCases.map(\.rawValue)).count == BLEError.Code.allCases.count)
    }

    @Test("sequences throw the error of the operations, with its type")
    func typedSequences() async throws {
        let adapter = try await open()
        await adapter.close()
        do throws(BLEError) {
            for try await _ in adapter.scan() {}
            Issue.record("a closed adapter cannot scan")
        } catch {
            #expect(error.code == .closed)
        }
        do throws(BLEError) {
            for try await _ in await adapter.events() {}
            Issue.record("a closed adapter has no events")
        } catch {
            #expect(error.code == .closed)
        }
        do throws(BLEError) {
            for try await _ in await adapter.serverEvents() {}
            Issue.record("a closed adapter has no events of a server")
        } catch {
            #expect(error.code == .closed)
        }
    }
}
