import BLESimulator
import Foundation
import Testing

@testable import CoreBluetooth

/// The objects of peripherals, and the connections that live as long as they do.
@Suite("Peripherals and who holds them")
struct HeldPeripheralTests {
    private static let heart = CBUUID(string: "180D")

    /// An app that has found a sensor.
    private func found(_ stage: Stage) async throws -> CentralProbe {
        let probe = CentralProbe(stage.launch())
        try await probe.wait(for: "state poweredOn")
        await probe.run { probe.manager.scanForPeripherals(withServices: [Self.heart]) }
        try await probe.wait(for: "discovered")
        await probe.run { probe.manager.stopScan() }
        return probe
    }

    /// An app that waits for a sensor which is out of range.
    private func pending(_ stage: Stage) async throws -> (CentralProbe, SimulatedDeviceID) {
        let device = await stage.onAir { $0.addPeripheral(.jellingHeart) }
        let probe = try await found(stage)
        await stage.onAir { $0.setInRange(false, device) }
        await probe.run { probe.manager.connect(probe.peripheral) }
        await probe.settle(probe.system)
        return (probe, device)
    }

    // MARK: The controller is reset

    @Test(
        "a pending connection outlasts a reset of the controller, and is reported when it is made (SPEC CEN-9, 5.5 rule 6)"
    )
    func pendingAcrossReset() async throws {
        let stage = try Stage { _ in }
        let (probe, device) = try await pending(stage)
        await stage.failHardware()
        try await probe.wait(for: "state resetting")
        #expect(await probe.run { probe.peripheral.state } == .connecting)
        try await probe.wait(for: "state poweredOn", count: 2)
        await stage.onAir { $0.setInRange(true, device) }
        #expect(try await probe.wait(for: "connected") == "connected connected")
    }

    @Test("a device has one object before and after a reset, and releasing others ends nothing (SPEC 2.3, CEN-6)")
    func oneObjectAcrossReset() async throws {
        let stage = try Stage { _ in }
        let (probe, device) = try await pending(stage)
        await stage.failHardware()
        try await probe.wait(for: "state poweredOn", count: 2)
        await probe.run {
            let again = probe.manager.retrievePeripherals(withIdentifiers: [probe.peripheral.identifier])[0]
            #expect(again === probe.peripheral)
            probe.manager.connect(again)
            probe.peripherals = [again]
        }
        await stage.onAir { $0.setInRange(true, device) }
        try await probe.wait(for: "connected")
    }

    // MARK: Letting go

    /// Passes when nobody connects to a device that is in range again: it goes on to advertise.
    private func expectAlone(_ device: SimulatedDeviceID, _ stage: Stage, _ probe: CentralProbe) async throws {
        await probe.run { probe.keeps = false }
        await stage.onAir { $0.setInRange(true, device) }
        probe.clear()
        let options = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        await probe.run { probe.manager.scanForPeripherals(withServices: [Self.heart], options: options) }
        // Who waits for the device connects at its first advertisement.
        try await probe.wait(for: "discovered", count: 5)
        #expect(!probe.lines.contains { $0.hasPrefix("connected") })
    }

    @Test("releasing a peripheral while Bluetooth is off withdraws its pending connection (SPEC CEN-6, 2.3)")
    func releasedWhileOff() async throws {
        let stage = try Stage { _ in }
        let (probe, device) = try await pending(stage)
        await probe.run { probe.onState = { if $0.state != .poweredOn { probe.peripherals.removeAll() } } }
        await stage.failHardware()
        try await probe.wait(for: "state poweredOn", count: 2)
        try await expectAlone(device, stage, probe)
    }

    @Test(
        "a connection that is cancelled and asked for at once is pending, until the object is released (SPEC CEN-6, CEN-22)"
    )
    func cancelledAskedForAndReleased() async throws {
        let stage = try Stage { _ in }
        let device = await stage.onAir { $0.addPeripheral(.jellingHeart) }
        let probe = try await found(stage)
        await probe.run { probe.manager.connect(probe.peripheral) }
        try await probe.wait(for: "connected")
        await stage.onAir { $0.setInRange(false, device) }
        await probe.run {
            probe.manager.cancelPeripheralConnection(probe.peripheral)
            probe.manager.connect(probe.peripheral)
        }
        #expect(try await probe.wait(for: "disconnected") == "disconnected nil connecting")
        await probe.run { probe.peripherals = [] }
        try await expectAlone(device, stage, probe)
    }

    @Test("an app that cancels and releases at once is told of the end (SPEC CEN-24)", arguments: [true, false])
    func cancelledAndReleased(isConnected: Bool) async throws {
        let stage = try Stage { _ in }
        let device = await stage.onAir { $0.addPeripheral(.jellingHeart) }
        let probe = try await found(stage)
        if !isConnected { await stage.onAir { $0.setInRange(false, device) } }
        await probe.run { probe.manager.connect(probe.peripheral) }
        if isConnected { try await probe.wait(for: "connected") }
        await probe.run {
            probe.manager.cancelPeripheralConnection(probe.peripheral)
            probe.peripherals = []
        }
        #expect(try await probe.wait(for: "disconnected") == "disconnected nil disconnected")
        await probe.settle(probe.system)
        #expect(await probe.run { probe.manager.known.objects.isEmpty }, "nobody keeps it any longer")
    }
}
