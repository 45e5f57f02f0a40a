import Foundation

@testable import CoreBluetooth

/// The steps with which most tests begin.
extension CentralProbe {
    /// Scans until a device is discovered.
    /// - Parameter service: only devices that advertise it; `nil` for every device.
    func find(_ service: String?) async throws {
        try await wait(for: "state poweredOn")
        await run { [self] in manager.scanForPeripherals(withServices: service.map { [CBUUID(string: $0)] }) }
        try await wait(for: "discovered")
    }

    /// Connects to the device that was discovered first.
    func connect(stopsScan: Bool = true) async throws {
        await run { [self] in
            if stopsScan { manager.stopScan() }
            manager.connect(peripheral)
        }
        try await wait(for: "connected")
    }

    /// Discovers a service of the connected device, and its characteristics.
    func explore(_ uuid: String) async throws {
        await run { [self] in peripheral.discoverServices([CBUUID(string: uuid)]) }
        try await wait(for: "services")
        await run { [self] in peripheral.discoverCharacteristics(nil, for: service(uuid)) }
        try await wait(for: "characteristics")
    }
}
