import BLEPackets

/// Paths as BlueZ makes them: programs cut addresses and handles out of fixed columns.
enum ObjectPaths {
    static let root = "/org/bluez"

    static func adapter(_ number: Int) -> String { "\(root)/hci\(number)" }

    static func device(_ address: DeviceAddress, of adapter: String) -> String {
        adapter + "/dev_" + address.addressText.split(separator: ":").joined(separator: "_")
    }

    static func service(_ handle: AttributeHandle, of device: String) -> String {
        device + "/service" + digits(handle)
    }

    static func characteristic(_ handle: AttributeHandle, of service: String) -> String {
        service + "/char" + digits(handle)
    }

    static func descriptor(_ handle: AttributeHandle, of characteristic: String) -> String {
        characteristic + "/desc" + digits(handle)
    }

    private static func digits(_ handle: AttributeHandle) -> String {
        let text = String(handle.rawValue, radix: 16)
        return String(repeating: "0", count: 4 - text.count) + text
    }
}

extension BluetoothUUID {
    /// All 36 characters in lower case, as BlueZ writes a UUID.
    var wholeText: String {
        let digits = Array(paddedHex(high) + paddedHex(low))
        var text = ""
        for (place, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(place) { text += "-" }
            text.append(digit)
        }
        return text
    }

    /// A UUID as programs write it: four or eight digits, also with `0x`, or the whole one.
    init?(bluez text: String) { self.init(text) }
}

/// Sixteen digits.
private func paddedHex(_ value: UInt64) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
}
