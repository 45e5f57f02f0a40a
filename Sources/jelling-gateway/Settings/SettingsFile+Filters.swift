import BLE
import BLEGateway

extension SettingsFile {
    static func filter(_ object: SettingsObject, into filter: inout DeviceFilter) {
        filter.allow = rules(object, "allow")
        filter.deny = rules(object, "deny")
        filter.minimumRSSI = object.integer("rssi", in: -127...20, "dBm").map { Int8($0) }
        filter.privateAddresses =
            object.choice("privateAddresses", DeviceFilter.PrivateAddresses.self) ?? filter.privateAddresses
    }

    private static func rules(_ object: SettingsObject, _ key: String) -> [DeviceRule] {
        let keys = ["address", "prefix", "identity", "name", "company", "service", "decoder", "rssi"]
        return object.objects(key, keys: keys).map { part in
            var rule = DeviceRule()
            rule.address = part.address("address")
            rule.prefix = value(part, "prefix", "is not the beginning of an address; write A4:C1:38") {
                AddressPrefix($0)
            }
            rule.identity = part.text("identity")
            rule.name = part.text("name").map { NamePattern($0) }
            rule.company = value(part, "company", "is not a company; write its number, such as 0x0499") { text in
                let digits = text.lowercased().hasPrefix("0x") ? String(text.dropFirst(2)) : text
                return UInt16(digits, radix: digits == text ? 10 : 16)
            }
            rule.service = value(part, "service", "is not a UUID; write FCD2") { BluetoothUUID($0) }
            if let text = part.text("decoder") {
                rule.decoder = text
                if !DeviceRule.isDecoder(text) {
                    part.report(
                        "decoder",
                        "unknown decoder ‘\(text)’; known: \(DeviceRule.decoders.joined(separator: ", "))")
                }
            }
            rule.rssi = part.number("rssi", in: -127...20, "dBm")
            if part.isEmpty { part.report(part.path, nil, "the rule is empty") }
            return rule
        }
    }

    private static func value<Value>(
        _ part: SettingsObject, _ key: String, _ problem: String, parse: (String) -> Value?
    ) -> Value? {
        guard let text = part.text(key) else { return nil }
        let value = parse(text)
        if value == nil { part.report(key, "‘\(text)’ \(problem)") }
        return value
    }
}
