import BLEAppLifecycle
import BLEPackets
import BLESimulator
import Foundation
import Testing

@testable import CoreBluetooth

/// An app whose delegate stalls keeps nothing but a bounded part of what its peers send.
@Suite("Apps that are slower than their peers")
struct SlowAppTests {
    /// A sensor that sends a rising number every 2 ms.
    private static let flood = SimulatedPeripheral(
        name: "Flood", address: DeviceAddress(value: 0xC0DE_0000_0077, kind: .random),
        services: [
            SimulatedService(
                BluetoothUUID(UInt16(0xFFF0)),
                characteristics: [
                    SimulatedCharacteristic(
                        BluetoothUUID(UInt16(0xFFF1)), [.notify], value: [0, 0], notifyEveryMicroseconds: 2000,
                        notifiedValue: { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] })
                ])
        ],
        advertisement: SimulatedAdvertisement(name: "Flood", serviceUUIDs: [BluetoothUUID(UInt16(0xFFF0))]))

    private static var tight: LifecycleSettings {
        var settings = LifecycleSettings()
        settings.queuedEventLimit = 64
        settings.unhandledEventLimit = 16
        return settings
    }

    /// Blocks the delegate's queue until the gate is opened.
    private func block(_ probe: Probe) -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        probe.queue.async { gate.wait() }
        return gate
    }

    private func explored(_ client: CentralProbe) async throws {
        try await client.find("FFF0")
        try await client.connect()
        try await client.explore("FFF0")
    }

    @Test("of a flood of notifications the newest are kept up to a limit; the rest is counted, and delivery continues")
    func notifications() async throws {
        let stage = try Stage { $0.addPeripheral(Self.flood) }
        let client = CentralProbe(stage.launch(settings: Self.tight))
        try await explored(client)
        await client.run { client.peripheral.setNotifyValue(true, for: client.characteristic("FFF1")) }
        try await client.wait(for: "value", count: 3)
        let gate = block(client)
        // A thousand notifications: far more than the system keeps.
        await stage.pass(milliseconds: 2000)
        let before = client.lines.count { $0.hasPrefix("value") }
        gate.signal()
        // Closed again at once behind what had been handed over: the rest is what the system keeps.
        await client.run {}
        try await client.wait(for: "value", count: before + 16)
        let numbers = { client.lines.compactMap { $0.hasPrefix("value") ? Int($0.suffix(4), radix: 16) : nil } }
        try await client.wait(for: "value", count: before + 200)
        let gaps = zip(numbers(), numbers().dropFirst()).map { $1 - $0 }
        // In order, none twice; the sensor itself leaves some out, but not as many.
        #expect(gaps.allSatisfy { $0 > 0 } && gaps.contains { $0 > 100 })
        #expect(await client.run { client.manager.lostEventCount } > 100)
    }

    @Test("writes to an app that stalls are refused with Insufficient Resources, commands are dropped and counted")
    func writes() async throws {
        let stage = try Stage { _ in }
        let server = PeripheralProbe(stage.launch("org.example.server", settings: Self.tight))
        try await server.publish(
            "FFF0", [("FFF1", [.read, .write, .writeWithoutResponse], [.readable, .writeable], nil)])
        let client = CentralProbe(stage.launch("org.example.client"))
        try await explored(client)
        let gate = block(server)
        // As fast as the link takes them: the app's own side drops none.
        var sent = 0
        try await waitUntil("\(sent) of 150 writes") {
            let left = 150 - sent
            sent += await client.run {
                var count = 0
                while count < left, client.peripheral.canSendWriteWithoutResponse {
                    client.peripheral.writeValue(
                        Data([1]), for: client.characteristic("FFF1"), type: .withoutResponse)
                    count += 1
                }
                return count
            }
            return sent == 150
        }
        await client.run {
            client.peripheral.writeValue(Data([2]), for: client.characteristic("FFF1"), type: .withResponse)
            client.peripheral.readValue(for: client.characteristic("FFF1"))
        }
        #expect(try await client.wait(for: "written") == "written FFF1 CBATTErrorDomain 17")
        #expect(try await client.wait(for: "value") == "value FFF1 CBATTErrorDomain 17")
        gate.signal()
        // Those on the way, and half of what may wait; the app is told of the loss.
        try await server.wait(for: "write", count: 16 + 32)
        await server.settle(server.system)
        #expect(server.lines.count { $0.hasPrefix("write") } == 16 + 32)
        // The count is told behind what waited.
        try await waitUntil("the loss") { await server.run { server.manager.lostEventCount } >= 102 }
        #expect(await server.run { server.manager.lostEventCount } == 102)
        // It keeps up again, and is asked again.
        await client.run {
            client.peripheral.writeValue(Data([3]), for: client.characteristic("FFF1"), type: .withResponse)
        }
        #expect(try await client.wait(for: "written", count: 2) == "written FFF1 nil")
    }

    @Test("indications to an app that stalls stay unconfirmed: none is lost")
    func indications() async throws {
        let stage = try Stage { _ in }
        let server = PeripheralProbe(stage.launch("org.example.server"))
        try await server.publish("FFF0", [("FFF1", .indicate, [], nil)])
        let client = CentralProbe(stage.launch("org.example.client", settings: Self.tight))
        try await explored(client)
        await client.run { client.peripheral.setNotifyValue(true, for: client.characteristic("FFF1")) }
        try await client.wait(for: "notifying")
        try await server.wait(for: "subscribed")
        let gate = block(client)
        let sent = Locked(0)
        let send: @Sendable () -> Void = {
            guard let characteristic = server.characteristics["FFF1"] else { return }
            while sent.current < 200,
                server.manager.updateValue(
                    Data([UInt8(sent.current)]), for: characteristic, onSubscribedCentrals: nil)
            {
                sent.with { $0 += 1 }
            }
        }
        await server.run {
            server.onReady = send
            send()
        }
        try await waitUntil("\(sent.current) indications") { sent.current >= 30 }
        await stage.pass(milliseconds: 2000)
        // On the way, waiting, unconfirmed, and the sender's own queue: no more has left the sending app.
        #expect((30...16 + 32 + 1 + 12).contains(sent.current))
        gate.signal()
        try await client.wait(for: "value", count: 200)
        #expect(
            client.lines.filter { $0.hasPrefix("value") } == (0..<200).map { "value FFF1 \(hex(Data([UInt8($0)])))" })
        #expect(await client.run { client.manager.lostEventCount } == 0)
    }
}
