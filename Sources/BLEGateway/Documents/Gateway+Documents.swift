import BLEAssignedNumbers
import BLEJSON
import BLEPackets
import BLESensors

extension Gateway {
    /// The name of a device: from the configuration, or its own.
    func name(of device: HeardDevice) -> String? {
        if let name = device.settings.flatMap({ configuration.devices[$0].name }) { return name }
        if let name = device.identity.flatMap({ configuration.identities[$0].name }) { return name }
        guard let name = device.data.localNameWithoutPadding, !name.isEmpty else { return nil }
        return name
    }

    /// The address in documents: the identity address if it is known.
    func addressText(of device: HeardDevice) -> String {
        guard let identity = device.identity else { return device.address.addressText }
        let known = configuration.identities[identity]
        return known.address.map { DeviceAddress(value: $0, kind: .public).addressText }
            ?? known.name ?? device.address.addressText
    }

    /// The same in lower case, with only letters, digits and `_`.
    func identifier(of device: HeardDevice) -> String { Self.identifier(addressText(of: device)) }

    static func identifier(_ owner: String) -> String {
        var text = ""
        for character in owner.lowercased() where character != ":" {
            text.append(character.isASCII && (character.isLetter || character.isNumber) ? character : "_")
        }
        return text
    }

    func topic(_ template: TopicTemplate, _ device: HeardDevice, adapter: String = "") -> String {
        template.topic { placeholder in
            switch placeholder {
            case .gateway: configuration.name
            case .address: addressText(of: device)
            case .id: identifier(of: device)
            case .name: name(of: device) ?? addressText(of: device)
            case .adapter: adapter
            }
        }
    }

    /// The topic of the gateway's status.
    public var statusTopic: String { Self.statusTopic(of: configuration) }

    /// The topic of a gateway's status.
    public static func statusTopic(of configuration: GatewayConfiguration) -> String {
        configuration.topics.status.topic { $0 == .gateway ? configuration.name : "" }
    }

    /// The topic of the presence of a device: the one that Home Assistant knows, until it is announced again.
    func presenceTopic(_ device: HeardDevice) -> String {
        device.announcedTopics?.presence ?? topic(configuration.topics.presence, device)
    }

    func presenceMessage(_ device: HeardDevice, isPresent: Bool) -> GatewayMessage {
        GatewayMessage(
            kind: .presence, topic: presenceTopic(device),
            payload: isPresent ? Self.home : Self.notHome, isRetained: true)
    }

    func documentTopic(_ device: HeardDevice, _ signal: SignalTrack?) -> String {
        topic(configuration.topics.device, device, adapter: signal.map { adapterName($0.adapter) } ?? "")
    }

    func documentMessage(_ device: HeardDevice, _ signal: SignalTrack?, topic: String) -> GatewayMessage {
        var payload: [UInt8] = []
        payload.reserveCapacity(512)
        document(device, signal).write(into: &payload)
        return GatewayMessage(
            kind: .document, topic: topic, payload: payload, isRetained: configuration.retainsDocuments)
    }

    func adapterName(_ index: Int) -> String { adapters.indices.contains(index) ? adapters[index] : "" }

    /// The maximum length of a list: a packet could have 800 services of two octets, whose names would make 60 kB.
    private static let listLimit = 64

    func document(_ device: HeardDevice, _ signal: SignalTrack?) -> JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue) { members.append(.init(key: key, value: value)) }
        add("time", .string(timestamp(unixMicroseconds: device.heardUnix)))
        add("gateway", .string(configuration.name))
        add("adapter", .string(signal.map { adapterName($0.adapter) } ?? ""))
        add("address", .string(device.address.addressText))
        add("addressType", .string(device.address.kindText))
        if let index = device.identity {
            let identity = configuration.identities[index]
            var object: [JSONValue.Member] = []
            if let name = identity.name { object.append(.init(key: "name", value: .string(name))) }
            if let address = identity.address {
                let text = DeviceAddress(value: address, kind: .public).addressText
                object.append(.init(key: "address", value: .string(text)))
            }
            add("identity", .object(object))
        } else if device.address.isResolved {
            add("identity", ["address": .string(device.address.addressText)])
        }
        if let name = name(of: device) { add("name", .string(name)) }
        if let signal {
            add("rssi", .integer(Int(signal.last)))
            add("rssiSmoothed", .number((signal.smoothed * 10).rounded() / 10))
        }
        if device.signals.count > 1 {
            add(
                "adapters",
                .object(
                    device.signals.map {
                        .init(key: adapterName($0.adapter), value: .number(($0.smoothed * 10).rounded() / 10))
                    }))
        }
        add("connectable", .boolean(device.isConnectable))
        if let power = device.data.txPower { add("txPower", .integer(Int(power))) }
        if let appearance = device.data.appearance {
            add("appearance", JSONValue(AssignedNumbers.appearance(appearance)?.description))
        }
        if !device.data.manufacturerData.isEmpty {
            add(
                "companies",
                .array(device.data.manufacturerData.map(\.company).unique.prefix(Self.listLimit).map(company)))
        }
        let services = (device.data.serviceUUIDs + device.data.serviceData.map(\.uuid)).unique
        if !services.isEmpty { add("services", .array(services.prefix(Self.listLimit).map(service))) }
        if !device.reports.isEmpty { add("formats", .array(device.reports.map(format))) }
        add(
            "values",
            .object(device.values.map { .init(key: $0.field.name, value: $0.field.value.documentValue) }))
        let units = device.values.filter { !$0.field.unit.isEmpty }
        if !units.isEmpty {
            add("units", .object(units.map { .init(key: $0.field.name, value: .string($0.field.unit)) }))
        }
        add("advertisement", .string(hexadecimal(device.advertisement)))
        if !device.scanResponse.isEmpty { add("scanResponse", .string(hexadecimal(device.scanResponse))) }
        add("sequence", JSONValue(device.sequence))
        return .object(members)
    }

    private func company(_ identifier: UInt16) -> JSONValue {
        let digits = String(identifier, radix: 16, uppercase: true)
        let text = "0x" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        let object: JSONValue = ["id": .string(text)]
        return AssignedNumbers.company(identifier).map { object.adding("name", .string($0.description)) } ?? object
    }

    private func service(_ uuid: BluetoothUUID) -> JSONValue {
        let object: JSONValue = ["uuid": .string(uuid.description)]
        let name =
            uuid.shortValue.flatMap { AssignedNumbers.uuid($0) } ?? AssignedNumbers.uuid(high: uuid.high, low: uuid.low)
        return name.map { object.adding("name", .string($0.description)) } ?? object
    }

    private func format(_ report: SensorReport) -> JSONValue {
        var object: JSONValue = ["format": .string(report.format)]
        if let model = report.model { object = object.adding("model", .string(model)) }
        return object.adding("encryption", .string(report.encryption.rawValue))
    }
}

extension SensorValue {
    /// Numbers, texts and Boolean values as such; `null` for values that the device does not know.
    var documentValue: JSONValue {
        switch self {
        case .number(let number): number.documentValue
        case .numbers(let numbers): .array(numbers.map(\.documentValue))
        case .text(let text): .string(text)
        case .boolean(let isSo): .boolean(isSo)
        case .octets(let octets): .string(hexadecimal(octets))
        case .unknown, .invalid: .null
        }
    }
}

extension DecimalNumber {
    fileprivate var documentValue: JSONValue { integer.map { .integer(Int($0)) } ?? .number(double) }
}

extension Array where Element: Equatable {
    /// The elements without repetitions, in the order of their first occurrence. The arrays here have only a few
    /// elements, and never more than a packet.
    fileprivate var unique: [Element] {
        var result: [Element] = []
        for element in self where !result.contains(element) { result.append(element) }
        return result
    }
}

/// Lower-case digits, two for each octet.
func hexadecimal(_ octets: [UInt8]) -> String {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
    var text: [UInt8] = []
    text.reserveCapacity(octets.count * 2)
    for octet in octets {
        text.append(digit(octet >> 4))
        text.append(digit(octet & 15))
    }
    return String(decoding: text, as: UTF8.self)
}

/// A time in UTC, `2026-11-22T09:24:09.123Z` (RFC 3339).
func timestamp(unixMicroseconds: Int64) -> String {
    let milliseconds = unixMicroseconds / 1000
    let days = Int((milliseconds / 86_400_000))
    var rest = Int(milliseconds % 86_400_000)
    // The days since 1 March of year 0, in cycles of 400 years.
    let shifted = days + 719_468
    let cycle = shifted / 146_097
    let dayOfCycle = shifted % 146_097
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let monthIndex = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
    let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
    let year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0)
    func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    let millisecond = rest % 1000
    rest /= 1000
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(rest / 3600, 2)):"
        + "\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2)).\(padded(millisecond, 3))Z"
}
