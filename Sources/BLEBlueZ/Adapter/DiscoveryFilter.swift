import BLEPackets

/// What a client wants to discover (`Adapter1.SetDiscoveryFilter`).
struct DiscoveryFilter: Equatable {
    var uuids: [BluetoothUUID] = []
    /// In dBm.
    var minimumRSSI: Int16?
    /// In dB.
    var maximumPathloss: UInt16?
    /// Whether each report of a device is passed on, not only those with other data.
    var wantsDuplicates = true
    /// Devices whose address or name begins with it.
    var pattern: String?

    static let empty = DiscoveryFilter()

    /// The keys that a filter may have.
    static let keys = ["UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern"]

    /// - Throws: `invalidArguments` for a key that there is none, or a value that it cannot have.
    init(_ options: [(name: String, value: BusValue)]) throws(BusError) {
        for option in options {
            switch (option.name, option.value) {
            case ("UUIDs", .array("s", let values)):
                for value in values {
                    guard case .string(let text) = value, let uuid = BluetoothUUID(bluez: text) else {
                        throw .invalidArguments
                    }
                    uuids.append(uuid)
                }
                guard uuids.count <= 256 else { throw .invalidArguments }
            case ("RSSI", .int16(let rssi)):
                guard (-127...20).contains(rssi) else { throw .invalidArguments }
                minimumRSSI = rssi
            case ("Pathloss", .uint16(let pathloss)):
                guard pathloss <= 137 else { throw .invalidArguments }
                maximumPathloss = pathloss
            case ("Transport", .string(let transport)):
                // Classic devices are never found here; a client that asks for both finds those of LE.
                guard ["auto", "le", "bredr"].contains(transport) else { throw .invalidArguments }
            case ("DuplicateData", .boolean(let wants)): wantsDuplicates = wants
            case ("Discoverable", .boolean): break
            case ("Pattern", .string(let text)):
                guard text.utf8.count <= BlueZService.nameLimit else { throw .invalidArguments }
                pattern = text.isEmpty ? nil : text
            default: throw .invalidArguments
            }
        }
        guard minimumRSSI == nil || maximumPathloss == nil else { throw .invalidArguments }
    }

    private init() {}

    /// Whether a device is one of those.
    func matches(_ device: Sighting) -> Bool {
        // One that is not known is 127, and passes.
        if let minimumRSSI, Int16(device.rssi) < minimumRSSI { return false }
        if let maximumPathloss {
            guard let power = device.data.txPower, device.rssi != 127,
                Int(power) - Int(device.rssi) <= Int(maximumPathloss)
            else { return false }
        }
        if !uuids.isEmpty, !uuids.contains(where: { device.data.serviceUUIDs.contains($0) }) { return false }
        if let pattern {
            return device.address.addressText.hasPrefix(pattern) || device.name?.hasPrefix(pattern) == true
        }
        return true
    }
}

/// A report of a device, as filters see it.
struct Sighting {
    var address: DeviceAddress
    var rssi: Int8
    var name: String?
    var data: AdvertisingData
    /// Structures that no property of their own shows, by their types.
    var otherData: [(type: UInt8, data: [UInt8])] = []

    /// Types that other properties show, or that matter only to a device that connects.
    private static let shownTypes: Set<UInt8> = [
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x16, 0x19, 0x20, 0x21, 0xFF,
    ]

    /// The other structures of an advertisement or a scan response; what is cut off is left out.
    static func otherData(in octets: [UInt8]) -> [(type: UInt8, data: [UInt8])] {
        var found: [(type: UInt8, data: [UInt8])] = []
        var reader = AdvertisingDataReader(octets.span.bytes)
        while let structure = try? reader.next() {
            let type = structure.type.rawValue
            if !shownTypes.contains(type) { found.append((type, structure.data.copied())) }
        }
        return found
    }
}
