import BLEAssignedNumbers
import BLEHost
import BLEJSON
import BLEPackets

extension BluetoothUUID {
    /// The name assigned by the Bluetooth SIG; `nil` if there is none.
    package var assignedName: String? {
        let name =
            if let short = shortValue { AssignedNumbers.uuid(short) } else {
                AssignedNumbers.uuid(high: high, low: low)
            }
        return name?.description
    }

    /// The name of a characteristic or descriptor: members own 16-bit UUIDs for services, and their names say nothing
    /// of an attribute that uses such a UUID.
    package var attributeName: String? {
        if let shortValue, !(0x2800..<0x3000).contains(shortValue) { return nil }
        return assignedName
    }

    /// The UUID of a service with its name behind it.
    package var textWithName: String { assignedName.map { "\(description) \($0)" } ?? description }
    /// The UUID of a characteristic or descriptor with its name behind it.
    package var attributeText: String { attributeName.map { "\(description) \($0)" } ?? description }
}

extension JSONValue {
    /// The same object with the name of a service's UUID at its end, where there is one.
    package func naming(service uuid: BluetoothUUID) -> JSONValue { naming(uuid.assignedName) }

    /// The same object with the name of a characteristic's or descriptor's UUID at its end, where there is one.
    package func naming(_ uuid: BluetoothUUID?) -> JSONValue { naming(uuid?.attributeName) }

    private func naming(_ name: String?) -> JSONValue { name.map { adding("name", .string($0)) } ?? self }
}
