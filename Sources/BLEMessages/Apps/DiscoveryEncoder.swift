import BLEAppLifecycle

/// Encodes discoveries for apps. The apps that get the same report get the same octets, except for their own identifier
/// of the device: the frame is encoded once, and each app's identifier is put into it.
public struct DiscoveryEncoder {
    /// What the frame is about, apart from the identifier.
    private struct Content: Equatable {
        var manager: ManagerID
        var name: String?
        var state: PeripheralState
        var rssi: Int8
        var advertisement: AdvertisementContent
    }

    private var content: Content?
    private var frame: [UInt8] = []
    /// Where the identifier stands in the frame.
    private var identifierPlace = 0

    public init() {}

    /// Appends the frame of `FromDaemon` for one of those who get the discovery.
    public mutating func append(
        _ shared: SharedDiscovery, to recipient: SharedDiscovery.Recipient, into octets: inout [UInt8]
    ) {
        let content = Content(
            manager: recipient.manager, name: shared.name, state: recipient.state, rssi: shared.rssi,
            advertisement: shared.content)
        if self.content != content {
            self.content = content
            encode(shared, to: recipient)
        }
        let place = octets.count + identifierPlace
        octets += frame
        unsafe octets.withUnsafeMutableBytes { octets in
            unsafe octets.storeBytes(of: recipient.identifier.high.bigEndian, toByteOffset: place, as: UInt64.self)
            unsafe octets.storeBytes(of: recipient.identifier.low.bigEndian, toByteOffset: place + 8, as: UInt64.self)
        }
    }

    private mutating func encode(_ shared: SharedDiscovery, to recipient: SharedDiscovery.Recipient) {
        var marked = recipient
        // Only keys, lengths and the number of the manager stand before it.
        marked.identifier = PeerIdentifier(high: .max, low: .max)
        frame = FromDaemon.appEvent(AppEvent(shared.event(for: marked), to: recipient.manager)).framed()
        let octets = marked.identifier.bytes
        identifierPlace = frame.indices.first { frame[$0...].starts(with: octets) } ?? 0
    }
}
