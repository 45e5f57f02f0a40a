#if !hasFeature(Embedded) && !JELLING_WITHOUT_CODING
import BLEPackets

// The values of the engine's inputs as a recording writes them. Firmware that records nothing leaves out all that is
// `Codable`, a third of the engine's code, with the compile condition JELLING_WITHOUT_CODING.

extension HCIOpcode: Codable {}
extension ConnectionHandle: Codable {}
extension ConnectionInterval: Codable {}
extension SupervisionTimeout: Codable {}
extension ScanInterval: Codable {}
extension PHYSet: Codable {}
extension ChannelMap: Codable {}
extension AdvertisingFlags: Codable {}

extension SubrateParameters: Codable {
    private enum CodingKeys: String, CodingKey {
        case minimumFactor, maximumFactor, maximumLatency, continuationNumber, supervisionTimeout
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            minimumFactor: try container.decode(UInt16.self, forKey: .minimumFactor),
            maximumFactor: try container.decode(UInt16.self, forKey: .maximumFactor),
            maximumLatency: try container.decode(UInt16.self, forKey: .maximumLatency),
            continuationNumber: try container.decode(UInt16.self, forKey: .continuationNumber),
            supervisionTimeout: try container.decode(SupervisionTimeout.self, forKey: .supervisionTimeout))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(minimumFactor, forKey: .minimumFactor)
        try container.encode(maximumFactor, forKey: .maximumFactor)
        try container.encode(maximumLatency, forKey: .maximumLatency)
        try container.encode(continuationNumber, forKey: .continuationNumber)
        try container.encode(supervisionTimeout, forKey: .supervisionTimeout)
    }
}

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

// A recording contains the settings that its engine knew. A setting that a recording lacks has its default value, so
// that old recordings remain readable.

extension KeyedDecodingContainer {
    /// Reads the value if the key exists, and otherwise leaves it as it is.
    func update<Value: Decodable>(_ value: inout Value, _ key: Key) throws {
        if let decoded = try decodeIfPresent(Value.self, forKey: key) { value = decoded }
    }
}

#endif
