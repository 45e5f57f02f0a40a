#if !hasFeature(Embedded)
// Values as text, in any format of `Codable`: programs keep them in files of their own.

/// As text: `AA:BB:CC:DD:EE:FF/random`.
extension DeviceAddress: Codable {
    public init(from decoder: any Decoder) throws { self = try decoder.text(Self.init) }
    public func encode(to encoder: any Encoder) throws { try encoder.write(description) }
}

/// As text, in the way a UUID is printed: short if it is based on the Bluetooth Base UUID.
extension BluetoothUUID: Codable {
    public init(from decoder: any Decoder) throws { self = try decoder.text(Self.init) }
    public func encode(to encoder: any Encoder) throws { try encoder.write(description) }
}

extension Decoder {
    fileprivate func text<Value>(_ make: (String) -> Value?) throws -> Value {
        let container = try singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = make(text) else {
            throw Swift.DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a \(Value.self): \(text)")
        }
        return value
    }
}

extension Encoder {
    fileprivate func write(_ text: String) throws {
        var container = singleValueContainer()
        try container.encode(text)
    }
}
#endif
