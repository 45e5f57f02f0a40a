import BLEPackets

/// What one app wants to advertise (SPEC PER-8, 3.5).
public struct AdvertisingContribution: Equatable, Sendable {
    /// Whether the app may use the part of the advertisement that every scanner can read.
    public enum State: Equatable, Sendable {
        /// Name and services are advertised for every scanner, as far as they fit.
        case foreground
        /// No name, and all services in the overflow area (SPEC ADV-4).
        case background
    }

    /// The local name, or `nil`. Ignored for an app in the background.
    public var localName: String?
    /// The services; each counts once, in the order and the width of its first appearance.
    public var serviceUUIDs: [BluetoothUUID]
    /// Whether the app is in the foreground or in the background.
    public var state: State
    /// Whether services that do not fit are advertised as hashed bits; `nil`: as the packer's settings say.
    public var overflow: AdvertisingPackerSettings.OverflowEmission?

    public init(
        localName: String? = nil, serviceUUIDs: [BluetoothUUID] = [], state: State = .foreground,
        overflow: AdvertisingPackerSettings.OverflowEmission? = nil
    ) {
        self.localName = localName
        self.serviceUUIDs = serviceUUIDs
        self.state = state
        self.overflow = overflow
    }

    /// The keys of an advertisement that an app may set, as they appear in dictionaries (SPEC 2.2).
    public static let allowedKeys = ["kCBAdvDataLocalName", "kCBAdvDataServiceUUIDs"]

    /// Checks for keys that an app may not set (SPEC PER-10).
    /// - Throws: `AdvertisingKeyError` for the first one; in this case nothing is advertised.
    public static func check(keys: [String]) throws(AdvertisingKeyError) {
        for key in keys where !allowedKeys.contains(key) { throw AdvertisingKeyError(key: key) }
    }
}

/// A key that only the system sets, or that does not exist (SPEC PER-10).
public struct AdvertisingKeyError: Error, Equatable, Sendable {
    /// The first key that may not be set.
    public var key: String
}

/// How advertisements are packed.
public struct AdvertisingPackerSettings: Hashable, Sendable {
    /// Whether hashed UUIDs are advertised.
    public enum OverflowEmission: Hashable, Sendable {
        /// Services that do not fit are only reported, not advertised.
        case off
        /// - Parameter company: the company identifier before the mask; readers recognise the mask by Apple's
        ///   (SPEC 3.6).
        case on(company: UInt16)
    }

    /// 0x06 for an LE-only device; iOS sends 0x1A (SPEC 3.5 step 2).
    public var flags: AdvertisingFlags
    /// Whether services that do not fit are advertised as hashed bits, unless a contribution says otherwise.
    public var overflow: OverflowEmission

    public init(
        flags: AdvertisingFlags = [.leGeneralDiscoverable, .brEdrNotSupported], overflow: OverflowEmission = .off
    ) {
        self.flags = flags
        self.overflow = overflow
    }
}

/// An advertisement, its scan response, and which of the requested names and services they contain.
public struct PackedAdvertisement: Equatable, Sendable {
    /// Where a name is sent.
    public enum NamePlacement: Equatable, Sendable {
        /// In the advertisement, which every scanner reads.
        case advertisement
        /// In the scan response, which active scanners read.
        case scanResponse
    }

    /// A name that is advertised.
    public struct Name: Equatable, Sendable {
        /// The name as it is sent.
        public var value: String
        /// Where it is sent.
        public var placement: NamePlacement
        /// Whether it was cut; in this case it is sent as a Shortened Local Name.
        public var isTruncated: Bool
    }

    /// The advertising data, at most 31 octets.
    public var advertisement: [UInt8] = []
    /// The scan response data, at most 31 octets; often empty.
    public var scanResponse: [UInt8] = []
    /// Services that every scanner can read, in the requested order.
    public var visible: [BluetoothUUID] = []
    /// Services that did not fit, in the requested order; if they are advertised at all, then only as bits of a mask.
    public var overflow: [BluetoothUUID] = []
    /// The advertised name; `nil` if no name is sent.
    public var name: Name?
}
