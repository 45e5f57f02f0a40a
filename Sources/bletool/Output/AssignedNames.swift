import BLE
import BLEAssignedNumbers
import BLEJSON

extension BluetoothUUID {
    /// What the Bluetooth SIG calls it; `nil` where it has no name.
    var assignedName: String? {
        let name =
            if let short = shortValue { AssignedNumbers.uuid(short) } else {
                AssignedNumbers.uuid(high: high, low: low)
            }
        return name?.description
    }

    /// The UUID with its name behind it, for people.
    var textWithName: String { assignedName.map { "\(description) \($0)" } ?? description }
}

extension JSONValue {
    /// The same object with the name of a UUID at its end, where there is one.
    func naming(_ uuid: BluetoothUUID?) -> JSONValue {
        uuid?.assignedName.map { adding("name", .string($0)) } ?? self
    }
}
