import BLEAssignedNumbers
import BLEHost
import BLEPackets
import BLEText

/// What to read, write or subscribe to: `UUID` or its assigned name, `SERVICE/UUID` or `0xHANDLE`.
package enum AttributeTarget: Equatable, Sendable {
    case handle(AttributeHandle)
    case uuid(BluetoothUUID, service: BluetoothUUID?)

    package init?(_ argument: String) {
        if argument.hasPrefix("0x") || argument.hasPrefix("0X") {
            guard let handle = Hexadecimal.integer(argument, as: UInt16.self), handle > 0 else { return nil }
            self = .handle(AttributeHandle(rawValue: handle))
            return
        }
        // A name may contain a slash, too.
        if let uuid = BluetoothUUID(attribute: argument) {
            self = .uuid(uuid, service: nil)
            return
        }
        let parts = argument.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let service = BluetoothUUID(service: parts[0]),
            let uuid = BluetoothUUID(attribute: parts[1])
        else { return nil }
        self = .uuid(uuid, service: service)
    }

    /// Why a text names no target, with the name that was probably meant.
    package static func mistake(in text: String) -> String {
        let name = text.split(separator: "/", maxSplits: 1).last.map(String.init) ?? text
        let names = (0x2900..<0x3000).compactMap { AssignedNumbers.uuid(UInt16($0))?.description }
        return "not a UUID, an assigned name, SERVICE/UUID or 0xHANDLE\(Suggestion(for: name, among: names).text)"
    }
}
