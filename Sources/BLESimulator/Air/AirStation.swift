import BLEPackets

/// The capabilities of a link layer on a link.
struct LinkCapabilities {
    var features: LEFeatures
    var version: HCIVersion
    var manufacturer: CompanyIdentifier
    var subversion: UInt16
    /// Octets that the station begins to send in one packet of the link layer once the peer allows it: 27 to 251.
    var transmitOctets: UInt16
    /// Octets that the station can receive in one packet of the link layer: 27 to 251.
    var receiveOctets: UInt16
    var phys: PHYSet
    /// Packets that the station sends in one connection event.
    var packetsPerConnectionEvent: Int
}

/// A host's answer to a request for other connection parameters.
enum ParameterAnswer {
    case accept
    case reject(HCIStatus)
    /// The host has been asked and will answer.
    case later
}

/// A host's answer to a request for a long term key.
enum KeyAnswer {
    case key(Key128)
    case missing
    /// The host has been asked and will answer.
    case later
}

/// Anything with a radio: a controller, or a device with its own host.
protocol AirStation: AnyObject {
    var index: Int { get }
    /// Whether the radio is on; a station that was removed is never on again.
    var isPowered: Bool { get }
    var isInRange: Bool { get set }
    /// The strength at which others receive the station, in dBm; `nil` if it is not set.
    var signal: Int8? { get set }
    var links: [AirLink] { get set }
    var capabilities: LinkCapabilities { get }
    /// Resumes advertising sets that paused because no station listened.
    func wakeAdvertising()
    /// The periodic train of an advertising set; `nil` if it has none now.
    func train(of set: UInt8) -> AirTrain?
    /// A controller follows the train of an advertising set.
    func followed(set: UInt8)
    /// Whether the advertising set answers a scan request, or a request to connect.
    func accepts(_ request: RadioRequest, from address: DeviceAddress, set: UInt8) -> Bool
    /// - Parameters:
    ///   - peer: the peer's address on the air.
    ///   - set: the advertising set that led to the link; `nil` on the central.
    func connected(_ link: AirLink, as side: LinkSide, to peer: DeviceAddress, set: UInt8?)

    /// Octets that the host would have sent in one packet of this link.
    func transmitOctets(on link: AirLink) -> UInt16
    func received(_ fragment: AirFragment, on link: AirLink)
    /// Packets of the host have arrived at the peer.
    func sent(_ count: Int, on link: AirLink)
    func closed(_ link: AirLink, reason: HCIStatus)
    func updated(_ link: AirLink, status: HCIStatus)
    func parametersRequested(_ request: LEConnectionParameters, on link: AirLink) -> ParameterAnswer
    func featuresRead(_ features: LEFeatures, on link: AirLink)
    func versionRead(of peer: LinkCapabilities, on link: AirLink)
    func dataLengthChanged(on link: AirLink)
    func phyUpdated(on link: AirLink, status: HCIStatus)
    func subrateChanged(on link: AirLink, status: HCIStatus)
    /// The power with which the station sends, in dBm; `nil` if it does not state it.
    var transmitPower: Int8? { get }
    func powerRead(_ power: Int8?, phy: UInt8, on link: AirLink)
    /// The power of the peer changed.
    func peerPowerChanged(to power: Int8, on link: AirLink)
    /// The peer is received more or less strongly than before.
    func signalChanged(on link: AirLink)
    /// What a peripheral may request, as the central; `nil` if the host or the controller does not support it.
    var acceptedSubrates: SubrateParameters? { get }
    /// The central starts encryption; the peripheral's host is asked for its key.
    func keyRequested(for attempt: LinkEncryption.Attempt, on link: AirLink) -> KeyAnswer
    /// - Parameter isRefresh: The link was encrypted before.
    func encryptionChanged(on link: AirLink, status: HCIStatus, isRefresh: Bool)
    /// The PHYs that the station accepts when the peer requests a change.
    func phyPreferences(on link: AirLink) -> PHYPreferences
}

/// What a listener sends to an advertiser.
enum RadioRequest { case scan, connect }

/// A request to connect that matches an advertisement.
struct Initiation {
    var ownAddress: DeviceAddress
    var parameters: LEConnectionParameters
    /// The peripheral will not receive the request (status 0x3E follows).
    var isUnheard = false
}
