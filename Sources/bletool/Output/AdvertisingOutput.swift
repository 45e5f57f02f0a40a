import BLE
import BLEAssignedNumbers
import BLEJSON
import BLEScripts
import BLESensors
import BLEText

extension AdvertisingData.ManufacturerData {
    var json: JSONValue { ["company": JSONValue(company), "data": .string(Hexadecimal.text(data))] }
    /// The company, with its name if known, and the data.
    var text: String {
        let name = AssignedNumbers.company(company).map { " " + $0.description.printable(limit: 48) } ?? ""
        return "\(Hexadecimal.number(company, digits: 4))\(name):\(Hexadecimal.text(data))"
    }
}

extension AdvertisingData.ServiceData {
    var json: JSONValue { ["uuid": .string(uuid.description), "data": .string(Hexadecimal.text(data))] }
    var text: String { "\(uuid.textWithName):\(Hexadecimal.text(data))" }
}

extension JSONValue {
    init(_ uuids: [BluetoothUUID]) { self.init(uuids.map(\.description)) }
}

/// The output of `lescan` for a device.
struct DiscoveryOutput {
    let discovery: Discovery
    let data: AdvertisingData
    /// Services that the user scans for and that the overflow area may contain.
    let hashed: [BluetoothUUID]
    /// The reports in known formats.
    let reports: [SensorReport]
    private let keys: SensorKeys?

    init(_ discovery: Discovery, scanFor services: [BluetoothUUID], keys: SensorKeys? = nil) {
        self.discovery = discovery
        self.keys = keys
        data = discovery.advertisingData
        hashed = data.hashedServiceUUIDs(scanFor: services)
        reports = SensorReport.reports(in: data, from: discovery.address, keys: keys)
    }

    private var rssi: Int8? { discovery.rssi == 127 ? nil : discovery.rssi }
    private var txPower: Int8? { data.txPower ?? discovery.txPower }

    var json: JSONValue {
        var event: JSONValue = [
            "event": "discovered",
            "address": JSONValue(discovery.address?.addressText),
            "addressType": JSONValue(discovery.address?.kindText),
            "rssi": JSONValue(rssi),
            "connectable": .boolean(discovery.isConnectable),
            "name": JSONValue(data.localName),
            "serviceUUIDs": JSONValue(data.serviceUUIDs),
            "hashedServiceUUIDs": JSONValue(hashed),
            "manufacturerData": .array(data.manufacturerData.map(\.json)),
            "serviceData": .array(data.serviceData.map(\.json)),
            "txPower": JSONValue(txPower),
            "advertisement": .string(Hexadecimal.text(discovery.advertisement)),
            "scanResponse": .string(Hexadecimal.text(discovery.scanResponse)),
        ]
        if case .object(var members) = event {
            if let identifier = discovery.advertisingSetIdentifier {
                members.append(.init(key: "sid", value: JSONValue(identifier)))
            }
            if let interval = discovery.periodicInterval {
                members.append(.init(key: "periodicInterval", value: .number(interval.milliseconds)))
            }
            if let target = discovery.unresolvedTarget {
                members.append(.init(key: "target", value: .string(target.addressText)))
            }
            if let phy = discovery.secondaryPHY { members.append(.init(key: "phy", value: .string(phy.name))) }
            event = .object(members)
        }
        return event.adding(reports)
    }

    /// Address and type, strength, name, then everything else.
    var text: String { "\(addressColumns)  \(strengthColumn)  \(details)" }

    /// What the device offers or says, in few words.
    var offers: String {
        var parts = reports.map(\.text)
        parts += data.serviceUUIDs.map { $0.assignedName ?? $0.description }
        if !hashed.isEmpty { parts.append("hashed " + hashed.map(\.description).joined(separator: ",")) }
        if reports.isEmpty {
            parts += data.manufacturerData.map { entry in
                AssignedNumbers.company(entry.company)?.description.printable(limit: 48)
                    ?? Hexadecimal.number(entry.company, digits: 4)
            }
            parts += data.serviceData.map { $0.uuid.assignedName ?? $0.uuid.description }
        }
        if !discovery.isConnectable { parts.append("not connectable") }
        return parts.joined(separator: ", ").printable(limit: 512)
    }

    /// All that was received, a line each.
    var lines: [String] {
        AdvertisingDataOutput(
            advertisement: discovery.advertisement, scanResponse: discovery.scanResponse, scanFor: hashed,
            from: discovery.address, keys: keys
        ).text.split(separator: "\n").map(String.init)
    }

    /// Everything but the strength: when it is the same, the device says nothing new.
    var details: String {
        let name = data.localNameWithoutPadding ?? ""
        var parts = [name.isEmpty ? "(no name)" : name.printable(limit: 64)]
        if !data.serviceUUIDs.isEmpty { parts.append(data.serviceUUIDs.map(\.textWithName).joined(separator: ",")) }
        if !hashed.isEmpty { parts.append("hashed " + hashed.map(\.description).joined(separator: ",")) }
        parts += data.manufacturerData.map { "company " + $0.text }
        parts += data.serviceData.map { "data " + $0.text }
        parts += reports.map(\.text)
        if let txPower { parts.append("tx \(txPower) dBm") }
        if let interval = discovery.periodicInterval, let identifier = discovery.advertisingSetIdentifier {
            parts.append("periodic every \(interval.milliseconds) ms, SID \(identifier)")
        }
        if discovery.secondaryPHY == .leCoded { parts.append("LE Coded") }
        if let target = discovery.unresolvedTarget { parts.append("to \(target.addressText)") }
        if !discovery.isConnectable { parts.append("not connectable") }
        return parts.joined(separator: "  ")
    }

    private var addressColumns: String {
        guard let address = discovery.address else { return "(anonymous)              " }
        return "\(address.addressText) \(address.kindText)"
    }

    private var strengthColumn: String {
        let text = rssi.map { "\($0) dBm" } ?? "? dBm"
        return String(repeating: " ", count: max(0, 8 - text.count)) + text
    }
}
