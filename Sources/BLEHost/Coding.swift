#if !hasFeature(Embedded)
import BLEPackets

// Values of the engine's inputs as a recording writes them down.

extension HCIOpcode: Codable {}
extension ConnectionHandle: Codable {}
extension ConnectionInterval: Codable {}
extension SupervisionTimeout: Codable {}
extension ScanInterval: Codable {}
extension PHYSet: Codable {}
extension AdvertisingFlags: Codable {}

/// In text, with the type behind a slash.
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

// A recording names the settings that its engine knew. One made before a setting existed means that setting's default,
// so that recordings outlive new settings.

extension KeyedDecodingContainer {
    /// Reads a value where the key is there, and leaves it as it is elsewhere.
    func update<Value: Decodable>(_ value: inout Value, _ key: Key) throws {
        if let decoded = try decodeIfPresent(Value.self, forKey: key) { value = decoded }
    }
}

#endif
