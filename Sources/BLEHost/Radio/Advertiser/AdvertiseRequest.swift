import BLEPackets

/// What a client wants to be heard (SPEC PER-8, ADV-1 to ADV-6).
public struct AdvertiseRequest: Equatable, Sendable {
    /// What is said.
    public enum Content: Equatable, Sendable {
        /// A name and services, which the packer fits into the 28 and 10 octets together with those of other clients.
        case packed(localName: String?, serviceUUIDs: [BluetoothUUID])
        /// Advertising data and scan response as they are, at most 31 octets each. They stand alone: the first such
        /// request is heard, whatever others want.
        case raw(advertisement: [UInt8], scanResponse: [UInt8])
    }

    /// What is said.
    public var content: Content
    /// Whether centrals may connect.
    public var isConnectable: Bool
    /// Whether the client is in the background: it says no name, and its services only in the overflow area (SPEC ADV-4).
    public var isInBackground: Bool
    /// `nil`: as the engine's `Timing` says for the client's standing.
    public var interval: AdvertisingInterval?
    /// Whether advertising goes on when a central has connected, as far as the controller can; else the request ends.
    public var resumesAfterConnection: Bool
    /// The device that the advertising calls; `nil`: any device. A request with a target stands alone while the peer is away, the
    /// oldest first. `AdvertisingTarget.Form.highDutyCycle` ends when the peer has come, or fails after 1.28 s with
    /// `HostFailure.connectionFailed(.advertisingTimeout)`; the other forms rest while the peer is here, or end when it comes,
    /// as `resumesAfterConnection` says. The content is sent by `AdvertisingTarget.Form.extended` alone, without a scan
    /// response.
    public var target: AdvertisingTarget?

    public init(
        _ content: Content, isConnectable: Bool = true, isInBackground: Bool = false,
        interval: AdvertisingInterval? = nil, resumesAfterConnection: Bool = true, target: AdvertisingTarget? = nil
    ) {
        self.content = content
        self.isConnectable = isConnectable
        self.isInBackground = isInBackground
        self.interval = interval
        self.resumesAfterConnection = resumesAfterConnection
        self.target = target
    }
}

#if !hasFeature(Embedded)
extension AdvertiseRequest: Codable {}
extension AdvertiseRequest.Content: Codable {}
extension AdvertisingInterval: Codable {}
#endif
