import BLEAppLifecycle

/// What a scan has reported of each device, so that it reports a device again only if the app would see a difference
/// (SPEC CEN-25, CEN-26).
///
/// The engine reports every change of the octets, also of those that an app is not shown, such as flags, or of an
/// advertising set with the same content.
struct ReportedAdvertisements {
    /// How many devices are remembered. Beyond that all are forgotten, and may be reported once more.
    static let maximumCount = 4096

    private let allowsDuplicates: Bool
    private var hashes: [PeerIdentifier: Int] = [:]

    init(allowsDuplicates: Bool = false) { self.allowsDuplicates = allowsDuplicates }

    /// Whether the device is to be reported with this content.
    mutating func isNews(_ content: AdvertisementContent, of device: PeerIdentifier) -> Bool {
        guard !allowsDuplicates else { return true }
        let hash = Self.hash(of: content)
        let last = hashes[device]
        guard last != hash else { return false }
        if last == nil, hashes.count >= Self.maximumCount { hashes.removeAll(keepingCapacity: true) }
        hashes[device] = hash
        return true
    }

    /// Of all but the time.
    private static func hash(of content: AdvertisementContent) -> Int {
        var hasher = Hasher()
        hasher.combine(content.localName)
        hasher.combine(content.manufacturerData)
        hasher.combine(content.serviceData)
        hasher.combine(content.serviceUUIDs)
        hasher.combine(content.overflowServiceUUIDs)
        hasher.combine(content.solicitedServiceUUIDs)
        hasher.combine(content.txPower)
        hasher.combine(content.isConnectable)
        return hasher.finalize()
    }
}
