import BLEAssignedNumbers
import BLEHost
import BLEPackets

extension BluetoothUUID {
    /// A UUID, or the assigned name of a service.
    package init?(service argument: String) {
        if let uuid = BluetoothUUID(argument) {
            self = uuid
        } else {
            let services: Range<UInt16> = 0x1800..<0x2800
            // Some official names have a suffix that can be omitted.
            guard
                let uuid = BluetoothUUID(named: argument, within: services)
                    ?? BluetoothUUID(named: argument + " Service", within: services)
            else { return nil }
            self = uuid
        }
    }

    /// The one UUID of these that the Bluetooth SIG calls so.
    package init?(named name: String, within range: Range<UInt16>) {
        let found = AssignedNumbers.uuids(named: name).filter(range.contains)
        guard found.count == 1 else { return nil }
        self.init(found[0])
    }

    /// A UUID, or the assigned name of a characteristic or descriptor.
    package init?(attribute text: String) {
        if let uuid = BluetoothUUID(text) { self = uuid } else { self.init(named: text, within: 0x2900..<0x3000) }
    }
}
