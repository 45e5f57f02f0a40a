#if !hasFeature(Embedded)
import BLEPackets

// The representation of the engine's input values in recordings.

extension HCIOpcode: Codable {}
extension ConnectionHandle: Codable {}
extension ConnectionInterval: Codable {}
extension SupervisionTimeout: Codable {}
extension ScanInterval: Codable {}
extension PHYSet: Codable {}
extension AdvertisingFlags: Codable {}

/// As text, with the address type behind a slash.
extension DeviceAddress: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = DeviceAddress(text) else {
            throw Swift.DecodingError.dataCorruptedError(in: container, debugDescription: "no device address: \(text)")
        }
        self = address
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

// A recording contains the settings that its engine knew. If a setting was introduced later, its default applies, so
// that recordings remain valid when settings are added.

extension KeyedDecodingContainer {
    /// Decodes a value if the key exists, and otherwise leaves it unchanged.
    func update<Value: Decodable>(_ value: inout Value, _ key: Key) throws {
        if let decoded = try decodeIfPresent(Value.self, forKey: key) { value = decoded }
    }
}

#endif
