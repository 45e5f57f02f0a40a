import BLEPackets
import BLESimulator

@testable import BLEAppLifecycle

/// Devices and services that many tests use.
enum Profiles {
    static let heartRate = BluetoothUUID(UInt16(0x180D))
    static let heartRateMeasurement = BluetoothUUID(UInt16(0x2A37))
    static let bodySensorLocation = BluetoothUUID(UInt16(0x2A38))
    static let controlPoint = BluetoothUUID(UInt16(0x2A39))
    static let battery = BluetoothUUID(UInt16(0x180F))
    static let batteryLevel = BluetoothUUID(UInt16(0x2A19))
    static let lock = BluetoothUUID(UInt16(0xFFE0))
    static let lockState = BluetoothUUID(UInt16(0xFFE1))
    static let lockName = BluetoothUUID(UInt16(0xFFE2))

    static let stationAddress = DeviceAddress(value: 0x00AA_0100_0001, kind: .public)
    static let beltAddress = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
    static let lockAddress = DeviceAddress(value: 0xC000_0000_0002, kind: .random)

    /// A heart-rate belt.
    static func belt(_ address: DeviceAddress = beltAddress, name: String = "Belt") -> SimulatedPeripheral {
        SimulatedPeripheral(
            name: name, address: address,
            services: [
                SimulatedService(
                    heartRate,
                    characteristics: [
                        SimulatedCharacteristic(heartRateMeasurement, [.notify], value: [0, 60]),
                        SimulatedCharacteristic(bodySensorLocation, [.read], value: [1]),
                        SimulatedCharacteristic(controlPoint, [.write], value: [0]),
                    ])
            ])
    }

    /// A door lock whose state is notified and written.
    static func door(maximumMTU: Int = 517) -> SimulatedPeripheral {
        SimulatedPeripheral(
            name: "Lock", address: lockAddress,
            services: [
                SimulatedService(
                    lock,
                    characteristics: [
                        SimulatedCharacteristic(lockState, [.read, .write, .notify, .indicate], value: [0]),
                        SimulatedCharacteristic(lockName, [.read, .write, .writeWithoutResponse], value: [7]),
                    ])
            ], maximumMTU: maximumMTU)
    }

    static func id(_ number: UInt32) -> LocalAttributeID { LocalAttributeID(rawValue: number) }

    /// A service with one dynamic characteristic that can do everything (identifiers 1 and 2), and one with a fixed
    /// value (3).
    static let published = LocalService(
        id: id(1), uuid: lock,
        characteristics: [
            LocalCharacteristic(id: id(2), uuid: lockState, properties: 0x1A, permissions: 0x03),
            LocalCharacteristic(id: id(3), uuid: lockName, properties: 0x02, permissions: 0x01, value: [42]),
        ])
}

extension [RemoteCharacteristic] {
    subscript(uuid: BluetoothUUID) -> RemoteCharacteristic? { first { $0.uuid == uuid } }
}
