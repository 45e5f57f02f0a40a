import BLEPackets

/// Events for the owner of the engine.
public enum HostEvent: Equatable, Sendable {
    /// The controller can be used; also told after every recovery.
    indirect case ready(ControllerInformation)
    /// The controller is being recovered; requests are kept, links are lost.
    case recovering(RecoveryStep)
    /// The controller could not be brought back; every operation has ended.
    case failed(HostFailure)
    /// The owner must close the transport, open it again and call `Host.transportOpened(at:)`.
    case reopenTransport
    /// `HostCommand.stop` has been carried out.
    case stopped
    /// A device that matches a scan was discovered: once, or for each packet if the scan allows duplicates.
    case discovered(Discovery)
    /// The controller started or stopped advertising.
    case advertisingChanged(isAdvertising: Bool)
    /// An operation came to its end, once.
    case completed(OperationID, Result<HostResult, HostFailure>)
    /// A link is usable; told to each client that becomes its holder, before its connect operation completes.
    case connected(LinkInformation, ClientID)
    /// The link is gone for this client.
    case disconnected(LinkID, ClientID, reason: DisconnectionReason)
    /// What the peer's database sent by itself, a new ATT_MTU, or room for write commands. Results of
    /// operations come as `completed`.
    case gatt(LinkID, GATTClientEvent)
    /// A central has connected.
    case centralConnected(LinkInformation)
    /// A central's link is gone.
    case centralDisconnected(LinkID, reason: DisconnectionReason)
    /// What clients do to the local database: some of it has to be answered.
    case server(GATTServerEvent)
    /// Progress of a pairing; a question must be answered with `SecurityCommand.answerPairing`.
    case pairing(LinkID, PairingEvent)
    /// A link was encrypted, got another key, or is not encrypted any more.
    case encryptionChanged(LinkID, LinkSecurity)
    /// A peer under a bonded address sent in the clear what is believed of the bonded device alone; it was dropped and
    /// counted (`HostCounters.refusedCleartext`). Told once for a link.
    case cleartextRefused(LinkID, DeviceAddress)
    /// A new or changed bond: save it in place of the one with the same identity.
    indirect case bondChanged(Bond)
    /// The bond with this identity is gone: remove what you saved.
    case bondRemoved(DeviceAddress)
    /// What happens on credit-based channels.
    case channel(ChannelEvent)
    /// The connection parameters changed, at the request of either side (Core 5.4, Vol 4, Part E, 7.7.65.3).
    case connectionParametersChanged(LinkID, ConnectionParameters)
    /// The PHYs were negotiated, at the request of either side (Core 5.4, Vol 4, Part E, 7.7.65.12).
    case phyChanged(LinkID, transmit: PHY, receive: PHY)
    /// The data lengths changed, at the request of either side (Core 5.4, Vol 4, Part E, 7.7.65.7).
    case dataLengthChanged(LinkID, DataLength)
    /// A private address that clients wait for or are connected to was resolved: what waits for the address waits for
    /// the identity from now on, under whatever address the device comes.
    case identityFound(DeviceAddress, behind: DeviceAddress)
    /// A private address fits the keys of more than one bond: none of them is taken for its owner.
    case ambiguousIdentity(DeviceAddress, [DeviceAddress])
    /// A packet that could not be understood was dropped.
    case malformedPacket(DecodingError)
}

/// How an operation ended well.
public enum HostResult: Equatable, Sendable {
    /// Done; there is no further result.
    case done
    /// Of `connect`: the link is usable, and its client one of its holders.
    case connected(LinkID)
    /// Of `gatt`.
    case gatt(GATTResult)
    /// Of `publish`: where the service stands.
    case published(GATTPublishedService)
    /// Channels are accepted on this SPSM.
    case listening(spsm: UInt16)
    /// Of `openChannel`.
    case channel(ChannelInformation)
    /// Whether an answer or an update was taken.
    case accepted(Bool)
    /// Of `pair`: the link is encrypted with the new key.
    case paired(PairingSummary)
    /// Of `createOutOfBandData`.
    case outOfBandData(LocalOutOfBandData)
    /// In dBm.
    case rssi(Int8)
    /// Of `readRemoteVersion`.
    case remoteVersion(RemoteVersion)
    /// Of `readRemoteFeatures`.
    case remoteFeatures(LEFeatures)
    /// Of `updateConnectionParameters`: what holds now.
    case connectionParameters(ConnectionParameters)
    /// Of `setDataLength`: what held when the controller took the command; a change is told as
    /// `HostEvent.dataLengthChanged`.
    case dataLength(DataLength)
    /// Of `readPHY` and `setPHY`: what holds now.
    case phy(transmit: PHY, receive: PHY)
    /// The return parameters of Command Complete, or the status octet of Command Status.
    case hciAnswer([UInt8])
}

/// Why an operation ended without its result.
public enum HostFailure: Error, Equatable, Sendable {
    /// By `HostCommand.cancel`, by its client's leaving, or by `HostCommand.stop`.
    case cancelled
    /// The controller is not ready, or was lost while the operation ran.
    case controllerLost
    /// Recovery failed: the controller responded neither to resets nor to reopening the transport.
    case controllerUnresponsive
    /// The controller refused a command.
    case controller(HCIStatus, HCIOpcode)
    /// The controller never answered the command.
    case commandTimeout(HCIOpcode)
    /// The link does not exist, or ended while the operation ran.
    case linkLost(DisconnectionReason)
    /// There is no such link, or it is about to end.
    case notConnected
    /// The connection could not be made, for this reason.
    case connectionFailed(HCIStatus)
    /// The GATT operation failed; the device's own error is `GATTFailure.att`.
    case gatt(GATTFailure)
    /// The link could not be made secure.
    case security(SecurityFailure)
    /// The channel was not opened, or ended.
    case channel(ChannelFailure)
    /// The service could not be published or removed.
    case publishing(GATTPublishError)
    /// The request contradicts the specification or the engine's limits.
    case invalidRequest(InvalidRequest)
    /// The controller accepted the command and did not report its completion.
    case procedureTimeout
    /// The peer refused the connection parameters.
    case rejectedByPeer
    /// A bound of `HostLimits` is reached.
    case limitReached

    /// What is wrong with a request.
    public enum InvalidRequest: Hashable, Sendable {
        /// Connection parameters that contradict one another (Core 5.4, Vol 4, Part E, 7.8.12).
        case connectionParameters
        /// A command's parameters are longer than 255 octets.
        case parametersTooLong
        /// The engine has been stopped, or is about to be.
        case stopped
        /// It needs the controller for itself; this one is shared with the kernel (`HostConfiguration.ownership`).
        case notAvailableOnSharedController
        /// Raw advertising data or scan response of more than 31 octets.
        case advertisementTooLong
    }
}

/// Why a link ended for a client.
public enum DisconnectionReason: Hashable, Sendable {
    /// This client let go of it.
    case releasedByClient
    /// The controller's reason, `remoteUserTerminatedConnection` and so on.
    case controller(HCIStatus)
    /// The controller was reset or lost, and the link with it.
    case controllerLost

    /// What the link's ATT bearer is told.
    var gattFailure: GATTFailure {
        switch self {
        case .releasedByClient: .cancelled
        case .controller(let status): .disconnected(status)
        case .controllerLost: .disconnected(.hardwareFailure)
        }
    }
}

/// A device that was heard.
public struct Discovery: Hashable, Sendable {
    /// The scan that this answers.
    public var scan: OperationID
    /// Who scans.
    public var client: ClientID
    /// Who was heard: the identity where its keys are known; `nil` for an anonymous advertisement.
    public var address: DeviceAddress?
    /// In dBm; 127 when it is unknown.
    public var rssi: Int8
    /// Whether the device takes connections.
    public var isConnectable: Bool
    /// Whether the device answers scan requests.
    public var isScannable: Bool
    /// Advertising data as received, without the scan response.
    public var advertisement: [UInt8]
    /// The scan response, empty while none has been heard.
    public var scanResponse: [UInt8]
    /// In dBm, from the extended advertising header; 127 when it is not stated.
    public var txPower: Int8
    /// Whether it was heard on extended advertising, not on the legacy kind (Core 5.4, Vol 6, Part B, 2.3.1).
    public var isExtended: Bool
    /// When it was heard.
    public var time: Instant

    public init(
        scan: OperationID, client: ClientID, address: DeviceAddress?, rssi: Int8, isConnectable: Bool,
        isScannable: Bool, advertisement: [UInt8], scanResponse: [UInt8], txPower: Int8, isExtended: Bool,
        time: Instant
    ) {
        self.scan = scan
        self.client = client
        self.address = address
        self.rssi = rssi
        self.isConnectable = isConnectable
        self.isScannable = isScannable
        self.advertisement = advertisement
        self.scanResponse = scanResponse
        self.txPower = txPower
        self.isExtended = isExtended
        self.time = time
    }
}

/// One rung of the ladder by which a controller is brought back.
public enum RecoveryStep: Hashable, Sendable { case reset, reopenTransport }

/// What a new link is.
public struct LinkInformation: Hashable, Sendable {
    /// This link and no later one.
    public var id: LinkID
    /// The other side, by its identity where that is known.
    public var peer: DeviceAddress
    /// What this side is on the link.
    public var role: LinkRole
    /// The connection parameters in force.
    public var parameters: ConnectionParameters
    /// ATT_MTU in octets.
    public var attMTU: Int

    public init(id: LinkID, peer: DeviceAddress, role: LinkRole, parameters: ConnectionParameters, attMTU: Int) {
        self.id = id
        self.peer = peer
        self.role = role
        self.parameters = parameters
        self.attMTU = attMTU
    }
}

/// The role of a device on a link, with the octet of Connection Complete (Core 5.4, Vol 4, Part E, 7.7.65.1).
public enum LinkRole: UInt8, Hashable, Sendable {
    /// Who made the link.
    case central = 0
    /// Who advertised.
    case peripheral = 1
}

/// Connection parameters in force.
public struct ConnectionParameters: Hashable, Sendable {
    /// Time between the starts of two connection events.
    public var interval: ConnectionInterval
    /// Connection events that the peripheral may skip.
    public var peripheralLatency: UInt16
    /// How long the link may be silent before it counts as lost.
    public var supervisionTimeout: SupervisionTimeout

    public init(interval: ConnectionInterval, peripheralLatency: UInt16, supervisionTimeout: SupervisionTimeout) {
        self.interval = interval
        self.peripheralLatency = peripheralLatency
        self.supervisionTimeout = supervisionTimeout
    }
}

/// Payload octets and times of one packet on the air, in force.
public struct DataLength: Hashable, Sendable {
    /// Octets that this side sends in one packet, 27 to 251.
    public var maxTransmitOctets: UInt16
    /// How long such a packet may take on the air, 328 to 17040 µs.
    public var maxTransmitMicroseconds: UInt16
    /// Octets that the peer sends in one packet, 27 to 251.
    public var maxReceiveOctets: UInt16
    /// How long such a packet may take on the air, 328 to 17040 µs.
    public var maxReceiveMicroseconds: UInt16
}

/// What the peer's controller says it is (Core 5.4, Vol 4, Part E, 7.7.12).
public struct RemoteVersion: Hashable, Sendable {
    /// The version of its link layer (Assigned Numbers, 2.1): 9 is 5.0, 13 is 5.4.
    public var version: UInt8
    /// Who made it (Assigned Numbers, 7.1).
    public var companyIdentifier: UInt16
    /// The manufacturer's revision number.
    public var subversion: UInt16
}
