import BLE
import BLESimulator
import BLEVirtualTransports
import Dispatch
import Synchronization
import Testing

@Suite("Adapter over the simulator")
struct AdapterTests {
    /// A world that nobody else uses, opened as a transport.
    private func open(
        _ populate: @Sendable @escaping (SimulatedAir) -> Void = { _ = $0.addPeripheral(.jellingHeart) },
        configuration: AdapterConfiguration = AdapterConfiguration()
    ) async throws -> Adapter {
        var configuration = configuration
        configuration.makeVirtualTransport = { (address) throws(TransportError) in
            let air = SimulatedAir()
            populate(air)
            return SimulatedTransport(air: air, controller: air.addController(), address: address)
        }
        return try await Adapter.open("sim", configuration: configuration)
    }

    private func heart(_ adapter: Adapter) async throws -> Peripheral {
        for try await discovery in adapter.scan(ScanRequest(name: "Jelling Heart")) {
            guard let address = discovery.address else { continue }
            return try await adapter.connect(to: address)
        }
        throw BLEError.closed
    }

    @Test("scan, connect, discover, read, write and subscribe on the simulated heart rate sensor")
    func walk() async throws {
        let adapter = try await open()
        let peripheral = try await heart(adapter)
        #expect(await peripheral.attMTU == 517)
        let contents = try await peripheral.discoverContents()
        let rate = try #require(
            contents.flatMap(\.characteristics).first { $0.characteristic.uuid == BluetoothUUID(UInt16(0x2A37)) })
        #expect(rate.descriptors.map(\.uuid) == [BluetoothUUID(UInt16(0x2902))])
        let location = try await peripheral.findCharacteristic(BluetoothUUID(UInt16(0x2A38)))
        #expect(try await peripheral.read(location) == [1])
        let configuration = try #require(rate.descriptors.first)
        try await peripheral.write([1, 0], to: configuration)
        #expect(try await peripheral.read(configuration) == [1, 0])
        try await peripheral.write([0, 0], to: configuration)

        var values = 0
        for try await value in try await peripheral.notifications(of: rate.characteristic) {
            #expect(value.bytes.count == 2)
            #expect(!value.isIndication)
            values += 1
            if values == 2 { break }
        }
        try await peripheral.disconnect()
        await adapter.close()
    }

    @Test("a whole database is the same whether it is read at once or service by service (SPEC MOD-6)")
    func discoversTheSame() async throws {
        let adapter = try await open()
        let peripheral = try await heart(adapter)
        let contents = try await peripheral.discoverContents()
        #expect(contents.count >= 6)
        for entry in contents {
            let characteristics = try await peripheral.discoverCharacteristics(of: entry.service)
            #expect(entry.characteristics.map(\.characteristic) == characteristics)
            for found in entry.characteristics {
                #expect(found.descriptors == (try await peripheral.discoverDescriptors(of: found.characteristic)))
            }
        }
        await adapter.close()
    }

    @Test("512 octets are written and read back (SPEC 2.3)")
    func longValue() async throws {
        let adapter = try await open()
        let peripheral = try await heart(adapter)
        let long = try await peripheral.findCharacteristic(
            "6A656C6C-696E-6700-8000-000000000002")
        let value = (0..<512).map { UInt8($0 % 251) }
        try await peripheral.write(value, to: long)
        #expect(try await peripheral.read(long) == value)
        await adapter.close()
    }

    @Test("the device's errors are thrown as such (SPEC CEN-14)")
    func attributeErrors() async throws {
        let adapter = try await open()
        let peripheral = try await heart(adapter)
        let controlPoint = try await peripheral.findCharacteristic(BluetoothUUID(UInt16(0x2A39)))
        await #expect(
            throws: BLEError.att(ATTError(rawValue: 0x80), handle: controlPoint.valueHandle)
        ) { try await peripheral.write([9], to: controlPoint) }
        await #expect(
            throws: BLEError.att(.readNotPermitted, handle: controlPoint.valueHandle)
        ) { _ = try await peripheral.read(controlPoint) }
        await adapter.close()
    }

    @Test("cancelling the task gives a pending connection up, and the next one comes about (SPEC CEN-22)")
    func cancelsConnect() async throws {
        let adapter = try await open()
        let waiting = Task { try await adapter.connect(to: DeviceAddress(value: 0xC000_0000_0099, kind: .random)) }
        try await Task.sleep(for: .milliseconds(50))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { _ = try await waiting.value }
        let peripheral = try await heart(adapter)
        #expect(await peripheral.information != nil)
        await adapter.close()
    }

    @Test("closing the adapter ends what waits, once, and a second close is harmless (pain 4)")
    func closes() async throws {
        let adapter = try await open()
        let peripheral = try await heart(adapter)
        let pending = Task { try await adapter.connect(to: DeviceAddress(value: 0xC000_0000_0098, kind: .random)) }
        let ended = Task { try await peripheral.waitForDisconnection() }
        let impatient = Task { try await peripheral.waitForDisconnection() }
        impatient.cancel()
        await #expect(throws: CancellationError.self) { _ = try await impatient.value }
        try await Task.sleep(for: .milliseconds(20))
        await adapter.close()
        await adapter.close()
        await #expect(throws: BLEError.self) { _ = try await pending.value }
        _ = try await ended.value
        await #expect(throws: BLEError.self) { _ = try await peripheral.readRSSI() }
    }

    @Test("RSSI, PHY, data length, version and parameters work where the controller serves them")
    func linkProcedures() async throws {
        let adapter = try await open()
        let peripheral = try await heart(adapter)
        #expect((-90 ... -20).contains(try await peripheral.readRSSI()))
        _ = try await peripheral.readRemoteVersion()
        _ = try await peripheral.readRemoteFeatures()
        let phy = try await peripheral.setPHY(transmit: .le2M, receive: .le2M)
        #expect(phy.transmit == .le2M)
        #expect(try await peripheral.readPHY().transmit == .le2M)
        try await peripheral.setDataLength(octets: 251, microseconds: 2120)
        let parameters = try await peripheral.updateConnectionParameters(
            ConnectionParameterRequest(
                interval: .milliseconds(15)...ConnectionInterval.milliseconds(15), peripheralLatency: 0,
                supervisionTimeout: .milliseconds(2000)))
        #expect(parameters.interval == .milliseconds(15))
        await adapter.close()
    }

    @Test("a link's new PHY, packet length and parameters are reported to all listeners (SPEC MOD-7)")
    func tellsOfLinks() async throws {
        let adapter = try await open()
        let events = await adapter.events()
        let peripheral = try await heart(adapter)
        try await peripheral.setPHY(transmit: .le2M, receive: .le2M)
        _ = try await peripheral.updateConnectionParameters(
            ConnectionParameterRequest(
                interval: .milliseconds(15)...ConnectionInterval.milliseconds(15), peripheralLatency: 0,
                supervisionTimeout: .milliseconds(2000)))
        var phy: PHY?
        var octets: UInt16?
        var interval: ConnectionInterval?
        for try await event in events {
            switch event {
            case .phyChanged(peripheral.link, let transmit, let receive):
                #expect(transmit == receive)
                phy = transmit
            case .dataLengthChanged(peripheral.link, let length): octets = length.maxTransmitOctets
            case .connectionParametersChanged(peripheral.link, let parameters): interval = parameters.interval
            default: Issue.record("told \(event)")
            }
            if phy != nil, octets != nil, interval != nil { break }
        }
        #expect(phy == .le2M && octets == 251 && interval == .milliseconds(15))
        let others = await adapter.events()
        await adapter.close()
        await #expect(throws: BLEError.closed) { for try await _ in others {} }
        await #expect(throws: BLEError.closed) { for try await _ in await adapter.events() {} }
    }

    @Test("a controller that fails is reported, and so is its return; scans continue (pain 6)")
    func tellsOfRecovery() async throws {
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = { (address) throws(TransportError) in
            let air = SimulatedAir()
            air.addPeripheral(.jellingHeart)
            return FailingTransport(SimulatedTransport(air: air, controller: air.addController(), address: address))
        }
        let adapter = try await Adapter.open("sim", configuration: configuration)
        let events = await adapter.events()
        let peripheral = try await heart(adapter)
        let ended = Task { try await peripheral.waitForDisconnection() }
        await #expect(throws: BLEError.controllerLost) {
            _ = try await adapter.sendHCICommand(FailingTransport.opcode)
        }
        var told: [AdapterEvent] = []
        for try await event in events {
            switch event {
            case .recovering, .ready: told.append(event)
            default: break
            }
            if case .ready = event { break }
        }
        #expect(told == [.recovering(.reset), .ready(await adapter.information)])
        #expect(try await ended.value == .controllerLost)
        #expect(await adapter.counters.hardwareErrors == 1)
        #expect(try await heart(adapter).link != peripheral.link)
        await adapter.close()
    }

    @Test(
        "values that a device does not give together are read one by one (Core 5.4, Vol 3, Part G, 4.8.5)",
        arguments: [ATTError.requestNotSupported, .attributeNotFound, .insufficientResources])
    func readsOneByOne(error: ATTError) async throws {
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = { (address) throws(TransportError) in
            let air = SimulatedAir()
            air.addPeripheral(.jellingHeart)
            let base = SimulatedTransport(air: air, controller: air.addController(), address: address)
            return SeparatingTransport(base, error: error)
        }
        let adapter = try await Adapter.open("sim", configuration: configuration)
        let peripheral = try await heart(adapter)
        let handles = [
            try await peripheral.findCharacteristic(.bodySensorLocation).valueHandle,
            try await peripheral.findCharacteristic(.batteryLevel).valueHandle,
        ]
        if error == .insufficientResources {
            await #expect(throws: BLEError.att(error, handle: handles[0])) {
                _ = try await peripheral.read(together: handles)
            }
        } else {
            let values = try await peripheral.read(together: handles)
            #expect(values.count == 2 && values.first == [1])
        }
        await adapter.close()
    }

    @Test("a slow store delays reports of bonds, not the adapter")
    func slowStore() async throws {
        let store = SlowStore()
        var configuration = AdapterConfiguration()
        configuration.bondStore = store
        let adapter = try await open(configuration: configuration)
        let removal = Task { try await adapter.removeBond(SlowStore.bond.identity) }
        await store.waitUntilAsked()
        // The adapter's thread is free; the bond counts until the store has let go of it.
        #expect(await adapter.bonds == [SlowStore.bond])
        #expect(await adapter.counters.malformedPackets == 0)
        store.goOn()
        #expect(try await removal.value)
        #expect(await adapter.bonds.isEmpty)
        await adapter.close()
    }

    @Test("a store that fails late fails the removal all the same")
    func failingStore() async throws {
        let store = SlowStore(error: .busy(path: "lock"))
        var configuration = AdapterConfiguration()
        configuration.bondStore = store
        let adapter = try await open(configuration: configuration)
        let removal = Task { try await adapter.removeBond(SlowStore.bond.identity) }
        await store.waitUntilAsked()
        store.goOn()
        await #expect(throws: BLEError.bondStore(.busy(path: "lock"))) { _ = try await removal.value }
        await adapter.close()
    }

    @Test("a transport of a kind that the program does not offer is refused with the reason")
    func notOffered() async throws {
        await #expect(throws: BLEError.transport(.notOffered(.simulator(scenario: nil)))) {
            _ = try await Adapter.open("sim")
        }
        await #expect(throws: BLEError.self) { _ = try await Adapter.open("nonsense") }
    }

    @Test("a controller that is wedged is reached again through a reopened transport (pain 6)")
    func reopens() async throws {
        let openings = Atomic<Int>(0)
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = { (address) throws(TransportError) in
            let air = SimulatedAir()
            air.addPeripheral(.jellingHeart)
            let controller = air.addController()
            if openings.add(1, ordering: .relaxed).oldValue == 0 {
                air.changeFaults(of: controller) { $0.unansweredCommands = [LEReadBufferSize.opcode] }
            }
            return SimulatedTransport(air: air, controller: controller, address: address)
        }
        let adapter = try await Adapter.open("sim", configuration: configuration)
        #expect(openings.load(ordering: .relaxed) == 2)
        #expect(await adapter.counters.transportReopenings == 1)
        let peripheral = try await heart(adapter)
        #expect(await peripheral.information != nil)
        await adapter.close()
    }

    @Test("a controller that answers nothing is given up with a clear error (pain 6)")
    func deadController() async throws {
        var configuration = AdapterConfiguration(startupTimeout: .milliseconds(300))
        configuration.makeVirtualTransport = { (address) throws(TransportError) in
            let air = SimulatedAir()
            let controller = air.addController()
            air.changeFaults(of: controller) { $0.unansweredCommands = [Reset.opcode] }
            return SimulatedTransport(air: air, controller: controller, address: address)
        }
        do {
            _ = try await Adapter.open("sim", configuration: configuration)
            Issue.record("opened")
        } catch let error as BLEError {
            // Which of the two limits is reached first depends on how busy the machine is.
            #expect(error == .startupTimeout || error == .controllerUnresponsive)
        }
    }
}

/// A controller that tells of a hardware error when it is given a certain command.
private final class FailingTransport: HCITransport {
    static let opcode = HCIOpcode(rawValue: 0xFC01)

    private let base: SimulatedTransport
    private var fail: () -> Void = {}
    var address: TransportAddress { base.address }

    init(_ base: SimulatedTransport) { self.base = base }

    func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        fail = { loop.runLater { receive(([0x04, 0x10, 0x01, 0x01] as [UInt8]).span.bytes) } }
        try base.start(on: loop, receive: receive, closed: closed)
    }

    func send(_ packet: RawSpan) {
        if packet.byte(at: 1) == 0x01, packet.byte(at: 2) == 0xFC { fail() } else { base.send(packet) }
    }

    func close() { base.close() }
}

/// A controller whose peer refuses to give several values of any length together.
private final class SeparatingTransport: HCITransport {
    private let base: SimulatedTransport
    private let error: ATTError
    var address: TransportAddress { base.address }

    init(_ base: SimulatedTransport, error: ATTError) {
        self.base = base
        self.error = error
    }

    func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        var first: [UInt8] = [0, 0]
        asked = { first = $0 }
        let code = error.rawValue
        try base.start(
            on: loop,
            receive: { packet in
                // A Read Multiple Variable Response.
                guard packet.byte(at: 0) == 2, packet.byte(at: 7) == 4, packet.byte(at: 9) == 0x21,
                    let low = packet.byte(at: 1), let high = packet.byte(at: 2)
                else { return receive(packet) }
                let refusal: [UInt8] = [2, low, high, 9, 0, 5, 0, 4, 0, 1, 0x20] + first + [code]
                receive(refusal.span.bytes)
            }, closed: closed)
    }

    private var asked: ([UInt8]) -> Void = { _ in }

    func send(_ packet: RawSpan) {
        if packet.byte(at: 0) == 2, packet.byte(at: 7) == 4, packet.byte(at: 9) == 0x20,
            let low = packet.byte(at: 10), let high = packet.byte(at: 11)
        {
            asked([low, high])
        }
        base.send(packet)
    }

    func close() { base.close() }
}

/// A store with one bond that does nothing before it is told to.
private final class SlowStore: BondStore {
    static let bond = Bond(identity: DeviceAddress(value: 0xC0FF_EE00_0042, kind: .random))

    private let error: BondStoreError?
    private let asked = AsyncStream<Void>.makeStream()
    private let permission = DispatchSemaphore(value: 0)

    init(error: BondStoreError? = nil) { self.error = error }

    func load() throws(BondStoreError) -> StoredBonds {
        StoredBonds(bonds: [Self.bond], identityResolvingKey: Key128(rawValue: 7))
    }

    func save(_ bond: Bond) throws(BondStoreError) {}

    func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool {
        asked.continuation.yield()
        permission.wait()
        if let error { throw error }
        return true
    }

    func waitUntilAsked() async {
        for await _ in asked.stream { return }
    }

    func goOn() { permission.signal() }
}
