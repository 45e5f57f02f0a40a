extension AdvertisingData.Fault: CustomStringConvertible {
    /// One line for people: which packet, which structure, what is wrong with it.
    public var description: String {
        let place = packet == .advertisement ? "advertisement" : "scan response"
        switch reason {
        case .nonZeroPadding: return place + ": data behind the zero that ends it"
        case .structure(let type, let error):
            let structure = type.map { "structure 0x" + Self.hexadecimal($0.rawValue) } ?? "structure without a type"
            return place + ": " + structure + " " + Self.text(error)
        }
    }

    private static func text(_ error: DecodingError) -> String {
        switch error {
        case .truncated(let needed, let remaining): "is cut off: \(needed) octets needed, \(remaining) there"
        case .trailingBytes(let count): "is \(count) octets too long"
        case .invalidValue(let value, field: _): "holds \(value), which has no meaning"
        case .lengthMismatch(let stated, let actual): "states \(stated) octets and has \(actual)"
        }
    }

    private static func hexadecimal(_ value: UInt8) -> String {
        String(decoding: [hexadecimalCharacter(value >> 4), hexadecimalCharacter(value & 15)], as: UTF8.self)
    }
}
