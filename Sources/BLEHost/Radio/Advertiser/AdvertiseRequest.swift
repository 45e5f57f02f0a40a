import BLEPackets

/// What a client wants to advertise (SPEC PER-8, ADV-1 to ADV-6).
public struct AdvertiseRequest: Equatable, Sendable {
    /// The content of the advertisement.
    public enum Content: Equatable, Sendable {
        /// A name and services, which the packer fits into the 28 and 10 octets together with those of other clients.
        /// Values that clients have broadcast (`CharacteristicProperties.broadcast`) follow as far as there is room.
        case packed(localName: String?, serviceUUIDs: [BluetoothUUID])
        /// Advertising data and scan response as they are, at most 31 octets each. They are not merged with others: the
        /// controller advertises only the first such request, whatever other clients want.
        case raw(advertisement: [UInt8], scanResponse: [UInt8])
    }

    /// The content of the advertisement.
    public var content: Content
    /// Whether centrals may connect.
    public var isConnectable: Bool
    /// Whether the client is in the background: then its name is not advertised, and its services are only in the
    /// overflow area (SPEC ADV-4).
    public var isInBackground: Bool
    /// `nil`: the engine's `Timing` for the client's foreground or background state.
    public var interval: AdvertisingInterval?
    /// Whether advertising continues after a central has connected, as far as the controller can; otherwise the request
    /// ends.
    public var resumesAfterConnection: Bool
    /// The target of directed advertising; `nil`: undirected. While the peer is not connected, a request with a target
    /// is advertised by itself, the oldest first. `AdvertisingTarget.Form.highDutyCycle` ends when the peer has
    /// connected, or fails after 1.28 s with `HostFailure.connectionFailed(.advertisingTimeout)`. The other forms pause
    /// while the peer is connected if `resumesAfterConnection` is `true`, and otherwise end when it connects. Only
    /// `AdvertisingTarget.Form.extended` sends the content, without a scan response.
    public var target: AdvertisingTarget?
    /// Whether packed services that do not fit, or are in the background, are advertised in the overflow area, and with
    /// which company identifier; `nil`: as `HostConfiguration.advertising` says. Clients share one overflow area: the
    /// company is that of the first client whose services need it, and clients that name another one add nothing to it.
    public var overflow: AdvertisingPackerSettings.OverflowEmission?

    public init(
        _ content: Content, isConnectable: Bool = true, isInBackground: Bool = false,
        interval: AdvertisingInterval? = nil, resumesAfterConnection: Bool = true, target: AdvertisingTarget? = nil,
        overflow: AdvertisingPackerSettings.OverflowEmission? = nil
    ) {
        self.content = content
        self.isConnectable = isConnectable
        self.isInBackground = isInBackground
        self.interval = interval
        self.resumesAfterConnection = resumesAfterConnection
        self.target = target
        self.overflow = overflow
    }
}
