// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLE
import BLEPackets
import BLESimulator
import Foundation
import Testing

@testable import CoreBluetooth

/// What an app sees of a device, and in which order the device sees what the app asks for.
@Suite("Services that the system hides, and the order of requests")
struct SystemServicesTests {
    private static let notificationCenter = "7905F431-B5CE-4E99-A40F-4B1E122D00D0"

    /// An app that may write the manifest, connected to a device with all that Apple's system hides.
    private func connected(
        manifest: String? = nil, configure: (inout AdapterConfiguration) -> Void = { _ in }
    ) async throws -> CentralProbe {
        let stage = try Stage { air in
            let value = SimulatedCharacteristic(
                .init(0xFFE1 as UInt16), [.read, .notify, .writeWithoutResponse], value: [1])
            let services: [BluetoothUUID] = [
                .init(0x180D as UInt16), .init(0x1812 as UInt16),
                .init(high: 0x7905_F431_B5CE_4E99, low: 0xA40F_4B1E_122D_00D0),
            ]
            air.addPeripheral(
                SimulatedPeripheral(
                    name: "Watch", address: .init(value: 0xC0DE_0000_0009, kind: .random),
                    services: services.map { SimulatedService($0, characteristics: [value]) }))
        }
        let probe = CentralProbe(stage.launch(manifest: manifest, configure: configure))
        try await probe.wait(for: "state poweredOn")
        await probe.run { probe.manager.scanForPeripherals(withServices: nil) }
        try await probe.wait(for: "discovered Watch")
        await probe.run { probe.manager.stopScan() }
        await probe.run { probe.manager.connect(probe.peripheral) }
        try await probe.wait(for: "connected connected")
        return probe
    }

    private func services(of probe: CentralProbe, _ wanted: [String]? = nil) async throws -> Set<String> {
        await probe.run { probe.peripheral.discoverServices(wanted?.map { CBUUID(string: $0) }) }
        try await probe.wait(for: "services")
        return Set(await probe.run { probe.peripheral.services?.map(\.uuid.uuidString) ?? [] })
    }

    @Test("an app sees neither Generic Access and Attribute nor Human Interface Device nor the notification center")
    func hidden() async throws {
        #expect(try await services(of: connected()) == ["180D"])
        #expect(try await services(of: connected(manifest: #"{"systemServices": "hidden"}"#)) == ["180D"])
        let all = ["1800", "1801", "180D", "1812", Self.notificationCenter]
        #expect(try await services(of: connected(), all) == ["180D"])
    }

    @Test("an app whose manifest says so sees them all")
    func shown() async throws {
        let probe = try await connected(manifest: #"{"systemServices": "shown"}"#)
        #expect(try await services(of: probe) == ["1800", "1801", "180D", "1812", Self.notificationCenter])
    }

    /// The writes that the controller is given, as `request` or `command` with the value.
    private final class Writes: PacketObserver {
        private let seen = Locked<[String]>([])
        var all: [String] { seen.current }

        func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
            let octets = (0..<packet.byteCount).map { unsafe packet.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
            // ACL data with a whole ATT PDU (Core 5.4, Vol 4, Part E, 5.4.2; Vol 3, Part F, 3.4.5).
            guard octets.count > 12, octets[0] == 2, octets[7] == 4, octets[8] == 0 else { return }
            guard let name = [0x12: "request", 0x52: "command"][octets[9]] else { return }
            seen.with { $0.append("\(name) \(hex(Data(octets[12...])))") }
        }
    }

    @Test("a write without response behind a setNotifyValue that is pending reaches the device after it")
    func order() async throws {
        let writes = Writes()
        let probe = try await connected { $0.tap = writes }
        _ = try await services(of: probe)
        await probe.run { probe.peripheral.discoverCharacteristics(nil, for: probe.service("180D")) }
        try await probe.wait(for: "characteristics")
        let before = writes.all.count
        await probe.run {
            let value: CBCharacteristic = probe.characteristic("FFE1")
            probe.peripheral.writeValue(Data([1]), for: value, type: .withoutResponse)
            probe.peripheral.setNotifyValue(true, for: value)
            probe.peripheral.writeValue(Data([2]), for: value, type: .withoutResponse)
            probe.peripheral.writeValue(Data([3]), for: value, type: .withoutResponse)
            probe.peripheral.setNotifyValue(false, for: value)
            probe.peripheral.writeValue(Data([4]), for: value, type: .withoutResponse)
            probe.peripheral.readValue(for: value)
        }
        try await probe.wait(for: "value")
        // The system subscribes to Service Changed by itself, at a time of its own.
        let asked = writes.all.dropFirst(before).filter { $0 != "request 0200" }
        #expect(
            asked
                == ["command 01", "request 0100", "command 02", "command 03", "request 0000", "command 04"])
    }
}
