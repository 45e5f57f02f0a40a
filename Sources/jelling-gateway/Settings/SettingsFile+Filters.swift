import BLE
import BLEGateway

extension SettingsFile {
    static func filter(_ object: SettingsObject, into filter: inout DeviceFilter) throws(SettingsProblem) {
        filter.allow = try rules(object, "allow")
        filter.deny = try rules(object, "deny")
        filter.minimumRSSI = try object.integer("rssi", in: -127...20, "dBm").map { Int8($0) }
        filter.privateAddresses =
            try object.choice("privateAddresses", DeviceFilter.PrivateAddresses.self) ?? filter.privateAddresses
    }

    private static func rules(_ object: SettingsObject, _ key: String) throws(SettingsProblem) -> [DeviceRule] {
        let keys = ["address", "prefix", "identity", "name", "company", "service", "decoder", "rssi"]
        var rules: [DeviceRule] = []
        for part in try object.objects(key, keys: keys) {
            var rule = DeviceRule()
            rule.address = try part.address("address")
            if let text = try part.text("prefix") {
                guard let prefix = AddressPrefix(text) else {
                    throw part.problem("prefix", "‘\(text)’ is not the beginning of an address; write A4:C1:38")
                }
                rule.prefix = prefix
            }
            rule.identity = try part.text("identity")
            rule.name = try part.text("name").map { NamePattern($0) }
            if let text = try part.text("company") {
                let digits = text.lowercased().hasPrefix("0x") ? String(text.dropFirst(2)) : text
                guard let company = UInt16(digits, radix: digits == text ? 10 : 16) else {
                    throw part.problem("company", "‘\(text)’ is not a company; write its number, such as 0x0499")
                }
                rule.company = company
            }
            if let text = try part.text("service") {
                guard let service = BluetoothUUID(text) else {
                    throw part.problem("service", "‘\(text)’ is not a UUID; write FCD2")
                }
                rule.service = service
            }
            if let text = try part.text("decoder") {
                guard DeviceRule.isDecoder(text) else {
                    throw part.problem(
                        "decoder",
                        "unknown decoder ‘\(text)’; known: \(DeviceRule.decoders.joined(separator: ", "))")
                }
                rule.decoder = text
            }
            rule.rssi = try part.number("rssi", in: -127...20, "dBm")
            guard rule != DeviceRule() else {
                throw SettingsProblem(
                    file: part.file, line: object.node(key)?.mark?.line, key: part.path, message: "the rule is empty")
            }
            rules.append(rule)
        }
        return rules
    }
}
