import BLEHost
import BLEPackets

/// A device as its properties show it.
extension DeviceRoom {
    /// How many companies and services are remembered for one device.
    private static let dataLimit = 32
    private static let uuidLimit = 256

    /// Takes over what advertising says.
    mutating func take(_ sighting: Sighting) {
        // 127, where the controller does not know it, is told, too: each report must be heard of.
        rssi = sighting.rssi
        if let name = sighting.name { self.name = name }
        if let appearance = sighting.data.appearance, appearance != 0 { record.appearance = appearance }
        add(sighting.data.serviceUUIDs)
        for data in sighting.data.manufacturerData {
            if let place = manufacturerData.firstIndex(where: { $0.company == data.company }) {
                manufacturerData[place] = data
            } else if manufacturerData.count < Self.dataLimit {
                manufacturerData.append(data)
            }
        }
        take(sighting.otherData)
        for data in sighting.data.serviceData {
            if let place = serviceData.firstIndex(where: { $0.uuid == data.uuid }) {
                serviceData[place] = data
            } else if serviceData.count < Self.dataLimit {
                serviceData.append(data)
            }
        }
    }

    private mutating func take(_ others: [(type: UInt8, data: [UInt8])]) {
        for other in others {
            if let place = otherData.firstIndex(where: { $0.type == other.type }) {
                otherData[place] = other
            } else if otherData.count < Self.dataLimit {
                otherData.append(other)
            }
        }
    }

    mutating func add(_ uuids: [BluetoothUUID]) {
        for uuid in uuids where !self.uuids.contains(uuid) && self.uuids.count < Self.uuidLimit {
            self.uuids.append(uuid)
        }
    }

    var uuidsValue: BusValue { .strings(uuids.map(\.wholeText).sorted()) }

    /// All properties of a new object.
    func properties(adapter: String, _ data: AdvertisingData?) -> [(name: String, value: BusValue)] {
        var properties: [(name: String, value: BusValue)] = [
            ("Address", .string(address.addressText)), ("AddressType", .string(address.kindText)),
        ]
        if let name { properties.append(("Name", .string(name))) }
        properties += [
            ("Alias", .string(alias)), ("Paired", .boolean(isBonded)), ("Bonded", .boolean(isBonded)),
            ("Trusted", .boolean(record.isTrusted)), ("Blocked", .boolean(record.isBlocked)),
            ("LegacyPairing", .boolean(false)),
        ]
        if let rssi { properties.append(("RSSI", .int16(Int16(rssi)))) }
        properties += [
            ("Connected", .boolean(isConnected)), ("UUIDs", uuidsValue), ("Adapter", .path(adapter)),
            ("ServicesResolved", .boolean(areServicesResolved)),
        ]
        if isBonded { properties.append(("WakeAllowed", .boolean(record.mayWake ?? false))) }
        if let data { properties += advertisedProperties(data) }
        return properties
    }

    /// Those that are only there if they were advertised.
    func advertisedProperties(_ data: AdvertisingData) -> [(name: String, value: BusValue)] {
        var properties: [(name: String, value: BusValue)] = []
        if let appearance = record.appearance {
            properties.append(("Appearance", .uint16(appearance)))
            if let icon = DeviceIcon.name(of: appearance) { properties.append(("Icon", .string(icon))) }
        }
        if let power = data.txPower { properties.append(("TxPower", .int16(Int16(power)))) }
        if !manufacturerData.isEmpty {
            let entries = manufacturerData.map {
                BusValue.Entry(.uint16($0.company), .variant(.octets($0.data)))
            }
            properties.append(("ManufacturerData", .dictionary(of: "qv", entries)))
        }
        if !serviceData.isEmpty {
            let entries = serviceData.map { BusValue.Entry(.string($0.uuid.wholeText), .variant(.octets($0.data))) }
            properties.append(("ServiceData", .dictionary(of: "sv", entries)))
        }
        if !otherData.isEmpty {
            let entries = otherData.map { BusValue.Entry(.byte($0.type), .variant(.octets($0.data))) }
            properties.append(("AdvertisingData", .dictionary(of: "yv", entries)))
        }
        if let flags = data.flags { properties.append(("AdvertisingFlags", .octets([flags]))) }
        return properties
    }
}
