import BLEPackets

@testable import BLEHost

extension BluetoothUUID {
    static let heartRate = BluetoothUUID(UInt16(0x180D))
    static let heartRateMeasurement = BluetoothUUID(UInt16(0x2A37))
}

extension GATTCharacteristicDefinition {
    /// A value of the app that everybody may read, write and subscribe to.
    static func dynamic(
        _ uuid: UInt16, _ properties: CharacteristicProperties = [.read, .write, .notify],
        _ permissions: AttributePermissions = [.readable, .writeable]
    ) -> GATTCharacteristicDefinition {
        GATTCharacteristicDefinition(uuid: BluetoothUUID(uuid), properties: properties, permissions: permissions)
    }

    /// A value that never changes.
    static func cached(_ uuid: UInt16, _ value: [UInt8]) -> GATTCharacteristicDefinition {
        GATTCharacteristicDefinition(
            uuid: BluetoothUUID(uuid), properties: .read, permissions: .readable, value: value)
    }
}

extension GATTServiceDefinition {
    static func of(_ uuid: UInt16, _ characteristics: [GATTCharacteristicDefinition]) -> GATTServiceDefinition {
        GATTServiceDefinition(uuid: BluetoothUUID(uuid), characteristics: characteristics)
    }
}

extension RawAttribute {
    static func row(
        _ handle: UInt16, _ type: UInt16, _ permissions: AttributePermissions = .readable, _ value: [UInt8] = []
    ) -> RawAttribute {
        RawAttribute(
            handle: AttributeHandle(rawValue: handle), type: BluetoothUUID(type), permissions: permissions,
            value: value)
    }
}
