import BLEHost
import BLESimulator
import BLEVirtualTransports
import Testing

@testable import BLE

@Suite("Tasks on the adapter's thread")
struct TaskExecutorTests {
    private func open() async throws -> Adapter {
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = { (address) throws(TransportError) in
            let air = SimulatedAir()
            _ = air.addPeripheral(.jellingHeart)
            return SimulatedTransport(air: air, controller: air.addController(), address: address)
        }
        return try await Adapter.open("sim", configuration: configuration)
    }

    private static func heart(_ adapter: Adapter) async throws -> Peripheral {
        for try await discovery in adapter.scan(ScanRequest(name: "Jelling Heart")) {
            guard let address = discovery.address else { continue }
            return try await adapter.connect(to: address)
        }
        throw BLEError.closed
    }

    @Test("a task that prefers the adapter's executor never leaves its thread: scan, connection, reads, notifications")
    func staysThere() async throws {
        let adapter = try await open()
        let isThere = try await withTaskExecutorPreference(adapter.taskExecutor) {
            let sensor = try await Self.heart(adapter)
            var isThere = adapter.loop.isOnLoop
            let location = try await sensor.findCharacteristic(BluetoothUUID(UInt16(0x2A38)))
            for _ in 0..<10 {
                #expect(try await sensor.read(location).count == 1)
                isThere = isThere && adapter.loop.isOnLoop
            }
            let rate = try await sensor.findCharacteristic(BluetoothUUID(UInt16(0x2A37)))
            for try await value in try await sensor.notifications(of: rate) {
                #expect(!value.bytes.isEmpty)
                break
            }
            try await sensor.disconnect()
            return isThere && adapter.loop.isOnLoop
        }
        #expect(isThere)
        await adapter.close()
    }

    @Test("tasks there and tasks elsewhere use one adapter at once, and each stays where it is")
    func besideOthers() async throws {
        let adapter = try await open()
        let sensor = try await Self.heart(adapter)
        let location = try await sensor.findCharacteristic(BluetoothUUID(UInt16(0x2A38)))
        func places(_ count: Int) async throws -> [Bool] {
            var places: [Bool] = []
            for _ in 0..<count {
                #expect(try await sensor.read(location).count == 1)
                places.append(adapter.loop.isOnLoop)
            }
            return places
        }
        try await withThrowingTaskGroup(of: (isThere: Bool, places: [Bool]).self) { group in
            for number in 0..<8 {
                let isThere = number % 2 == 0
                group.addTask(executorPreference: isThere ? adapter.taskExecutor : nil) {
                    (isThere, try await places(50))
                }
            }
            for try await (isThere, places) in group { #expect(places.allSatisfy { $0 == isThere }) }
        }
        try await sensor.disconnect()
        await adapter.close()
    }
}
