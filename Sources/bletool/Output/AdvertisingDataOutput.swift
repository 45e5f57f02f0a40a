import BLE
import BLEAssignedNumbers
import BLEJSON
import BLEScripts
import BLESensors
import BLEText

/// The output of `ad decode`: the content of advertising data.
struct AdvertisingDataOutput {
    let data: AdvertisingData
    let hashed: [BluetoothUUID]
    /// The reports in known formats.
    let reports: [SensorReport]
    /// All structures, in their order.
    let structures: [AdvertisedStructure]

    /// - Parameter scanResponse: empty if there is none.
    init(
        advertisement: [UInt8], scanResponse: [UInt8] = [], scanFor services: [BluetoothUUID],
        from address: DeviceAddress? = nil, keys: SensorKeys? = nil
    ) {
        data = AdvertisingData(advertisement: advertisement.span.bytes, scanResponse: scanResponse.span.bytes)
        structures =
            AdvertisedStructure.all(in: advertisement, of: .advertisement, data)
            + AdvertisedStructure.all(in: scanResponse, of: .scanResponse, data)
        reports = SensorReport.reports(in: data, from: address, keys: keys)
        hashed = data.hashedServiceUUIDs(scanFor: services)
    }

    var json: JSONValue {
        let object: JSONValue = [
            "event": "advertisingData", "flags": JSONValue(data.flags),
            "localName": JSONValue(data.localName),
            "nameComplete": data.localName == nil ? .null : .boolean(data.isNameComplete),
            "txPower": JSONValue(data.txPower),
            "appearance": JSONValue(data.appearance),
            "serviceUUIDs": JSONValue(data.serviceUUIDs),
            "solicitedServiceUUIDs": JSONValue(data.solicitedServiceUUIDs),
            "hashedServiceUUIDs": JSONValue(hashed),
            "manufacturerData": .array(data.manufacturerData.map(\.json)),
            "serviceData": .array(data.serviceData.map(\.json)),
            "structures": .array(structures.map(\.json)),
            "errors": JSONValue(data.faults.map(\.description)),
        ]
        return object.adding(reports)
    }

    var text: String {
        var lines: [String] = []
        if let flags = data.flags { lines.append("flags         \(Hexadecimal.number(flags, digits: 2))") }
        if let name = data.localName {
            lines.append("name          \(name.printable)\(data.isNameComplete ? "" : " (shortened)")")
        }
        if let power = data.txPower { lines.append("tx power      \(power) dBm") }
        if let appearance = data.appearance {
            let name = AssignedNumbers.appearance(appearance).map { " \($0)" } ?? ""
            lines.append("appearance    \(Hexadecimal.number(appearance, digits: 4))\(name)")
        }
        lines += data.serviceUUIDs.map { "service       \($0.textWithName)" }
        lines += data.solicitedServiceUUIDs.map { "solicited     \($0.textWithName)" }
        lines += hashed.map { "hashed        \($0)" }
        lines += data.manufacturerData.map { "company       \($0.text)" }
        lines += data.serviceData.map { "service data  \($0.text)" }
        lines += structures.filter { !$0.isCovered }.map { "other         \($0.text)" }
        lines += reports.map { "says          \($0.text)" }
        lines += data.faults.map { "error         \($0)" }
        return lines.isEmpty ? "nothing" : lines.joined(separator: "\n")
    }
}
