import BLEPackets

/// What one app wants to be advertised (SPEC PER-8, 3.5).
public struct AdvertisingContribution: Equatable, Sendable {
    /// Whether the app may use the room that everybody can read.
    public enum State: Equatable, Sendable {
        /// Name and services are there for everybody to read, as far as they fit.
        case foreground
        /// No name, and all services in the overflow area (SPEC ADV-4).
        case background
    }

    /// The local name, or `nil`. Ignored for an app in the background.
    public var localName: String?
    /// Each counts once, in the order and the width of its first appearance.
    public var serviceUUIDs: [BluetoothUUID]
    /// Where the app stands.
    public var state: State

    public init(localName: String? = nil, serviceUUIDs: [BluetoothUUID] = [], state: State = .foreground) {
        self.localName = localName
        self.serviceUUIDs = serviceUUIDs
        self.state = state
    }

    /// The keys of an advertisement that an app may set, as dictionaries name them (SPEC 2.2).
    public static let allowedKeys = ["kCBAdvDataLocalName", "kCBAdvDataServiceUUIDs"]

    /// Looks for keys that an app may not set (SPEC PER-10).
    /// - Throws: `AdvertisingKeyError` for the first one: then nothing is advertised.
    public static func check(keys: [String]) throws(AdvertisingKeyError) {
        for key in keys where !allowedKeys.contains(key) { throw AdvertisingKeyError(key: key) }
    }
}

/// A key that only the system sets, or that does not exist (SPEC PER-10).
public struct AdvertisingKeyError: Error, Equatable, Sendable {
    /// The first key that may not be set.
    public var key: String
}

/// How advertisements are packed, for all clients.
public struct AdvertisingPackerSettings: Hashable, Sendable {
    /// Whether hashed UUIDs go on air.
    public enum OverflowEmission: Hashable, Sendable {
        /// Services that do not fit are only reported.
        case off
        /// - Parameter company: the identifier over the mask; readers know it by that of Apple (SPEC 3.6).
        case on(company: UInt16)
    }

    /// 0x06 for a device that speaks LE alone; iOS sends 0x1A (SPEC 3.5 step 2).
    public var flags: AdvertisingFlags
    /// Whether services that find no room are on air as hashed bits.
    public var overflow: OverflowEmission

    public init(
        flags: AdvertisingFlags = [.leGeneralDiscoverable, .brEdrNotSupported], overflow: OverflowEmission = .off
    ) {
        self.flags = flags
        self.overflow = overflow
    }
}

/// An advertisement, its scan response, and what became of the wishes.
public struct PackedAdvertisement: Equatable, Sendable {
    /// Where a name is sent.
    public enum NamePlacement: Equatable, Sendable {
        /// In the advertisement, where every scanner reads it.
        case advertisement
        /// In the scan response, where active scanners read it.
        case scanResponse
    }

    /// A name that is sent.
    public struct Name: Equatable, Sendable {
        /// As it is sent.
        public var value: String
        /// Where it is sent.
        public var placement: NamePlacement
        /// Whether it was cut; it is sent as a Shortened Local Name then.
        public var isTruncated: Bool
    }

    /// At most 31 octets.
    public var advertisement: [UInt8] = []
    /// At most 31 octets; often none.
    public var scanResponse: [UInt8] = []
    /// Services that everybody can read, in the order in which they were asked for.
    public var visible: [BluetoothUUID] = []
    /// Services without room, in the order in which they were asked for; on air only as bits of a mask, if at all.
    public var overflow: [BluetoothUUID] = []
    /// `nil` where no name is sent.
    public var name: Name?
}

#if !hasFeature(Embedded)
extension AdvertisingPackerSettings: Codable {}
extension AdvertisingPackerSettings.OverflowEmission: Codable {}
#endif
