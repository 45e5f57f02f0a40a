/// What the proxy says of itself in DeviceInfoResponse.
public struct ProxyDescription: Equatable, Sendable {
    /// What the proxy offers, with the numbers of `bluetooth_proxy_feature_flags`.
    struct Features: OptionSet {
        let rawValue: UInt32
        static let passiveScan = Self(rawValue: 1)
        static let activeConnections = Self(rawValue: 2)
        static let remoteCaching = Self(rawValue: 4)
        static let pairing = Self(rawValue: 8)
        static let cacheClearing = Self(rawValue: 16)
        static let rawAdvertisements = Self(rawValue: 32)
        static let stateAndMode = Self(rawValue: 64)
        static let connectionParameters = Self(rawValue: 128)
    }

    /// A host name.
    public var name: String
    /// The 48 bits of the adapter's address: clients know the proxy by it.
    public var address: UInt64
    /// The version of this software.
    public var version: String
    /// `nil`: plain text.
    public var key: NoiseKey?
    /// Whether clients may pair.
    public var allowsPairing: Bool

    /// The version of ESPHome whose protocol this is: clients compare it.
    public static let esphomeVersion = "2026.6.5"

    public init(name: String, address: UInt64, version: String, key: NoiseKey?, allowsPairing: Bool) {
        self.name = name
        self.address = address
        self.version = version
        self.key = key
        self.allowsPairing = allowsPairing
    }

    /// Twelve hexadecimal digits in lower case.
    public var addressDigits: String { octets.joined().lowercased() }

    /// The hexadecimal digits of each octet, the highest first.
    private var octets: [String] {
        (0..<6).reversed().map { place in
            let octet = UInt8(truncatingIfNeeded: address >> (8 * UInt64(place)))
            return (octet < 0x10 ? "0" : "") + String(octet, radix: 16, uppercase: true)
        }
    }

    var features: Features {
        let always: Features = [
            .passiveScan, .activeConnections, .remoteCaching, .cacheClearing, .rawAdvertisements, .stateAndMode,
            .connectionParameters,
        ]
        return allowsPairing ? always.union(.pairing) : always
    }

    var information: DeviceInfoResponse {
        let printed = octets.joined(separator: ":")
        return DeviceInfoResponse(
            name: name, address: printed, esphomeVersion: Self.esphomeVersion, model: "Bluetooth gateway",
            projectName: "jelling.gateway", projectVersion: version, manufacturer: "Jelling",
            proxyFeatures: features.rawValue, bluetoothAddress: printed, supportsEncryption: key != nil)
    }
}
