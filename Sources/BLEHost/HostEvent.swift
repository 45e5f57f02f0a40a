import BLEPackets

/// What the engine tells its owner.
public enum HostEvent: Equatable, Sendable {
    /// The controller can be used; also told after every recovery.
    case ready(ControllerInformation)
    /// The controller is being brought back; intents are kept, links are lost.
    case recovering(RecoveryStep)
    /// The controller could not be brought back; every operation has ended.
    case failed(HostFailure)
    /// The owner must close the transport, open it again and call `Host.transportOpened(at:)`.
    case reopenTransport
    /// `HostCommand.stop` has been carried out.
    case stopped
    case discovered(Discovery)
    /// The controller began or ended to advertise.
    case advertisingChanged(isAdvertising: Bool)
    /// An operation came to its end, once.
    case completed(OperationID, Result<HostResult, HostFailure>)
    /// A link is usable; told to each client that becomes its holder, before its connect operation completes.
    case connected(LinkInformation, ClientID)
    /// The link is gone for this client.
    case disconnected(LinkID, ClientID, reason: DisconnectionReason)
    case gatt(LinkID, GATTClientEvent)
    /// A central has connected.
    case centralConnected(LinkInformation)
    case centralDisconnected(LinkID, reason: DisconnectionReason)
    case server(GATTServerEvent)
    case pairing(LinkID, PairingEvent)
    /// A link was encrypted, got another key, or is not encrypted any more.
    case encryptionChanged(LinkID, LinkSecurity)
    /// A bond is new, or something of it changed: it is to be kept in place of the one with the same identity.
    case bondChanged(Bond)
    case bondRemoved(DeviceAddress)
    case channel(ChannelEvent)
    case connectionParametersChanged(LinkID, ConnectionParameters)
    case phyChanged(LinkID, transmit: PHY, receive: PHY)
    case dataLengthChanged(LinkID, DataLength)
    /// A private address fits the keys of more than one bond: none of them is taken for its owner.
    case ambiguousIdentity(DeviceAddress, [DeviceAddress])
    /// A packet that could not be understood was dropped.
    case malformedPacket(DecodingError)
}

/// How an operation ended well.
public enum HostResult: Equatable, Sendable {
    case done
    case connected(LinkID)
    case gatt(GATTResult)
    case published(GATTPublishedService)
    /// Channels are accepted on this SPSM.
    case listening(spsm: UInt16)
    case channel(ChannelInformation)
    /// Whether an answer or an update was taken.
    case accepted(Bool)
    case paired(PairingSummary)
    case outOfBandData(LocalOutOfBandData)
    /// In dBm.
    case rssi(Int8)
    case remoteVersion(RemoteVersion)
    case remoteFeatures(LEFeatures)
    case connectionParameters(ConnectionParameters)
    case dataLength(DataLength)
    case phy(transmit: PHY, receive: PHY)
    /// The return parameters of Command Complete, or the status octet of Command Status.
    case hciAnswer([UInt8])
}

/// Why an operation ended without its result.
public enum HostFailure: Error, Equatable, Sendable {
    case cancelled
    /// The controller is not ready, or was lost while the operation ran.
    case controllerLost
    /// The recovery ladder is at its end: the controller answers neither a reset nor a reopening.
    case controllerUnresponsive
    /// The controller refused a command.
    case controller(HCIStatus, HCIOpcode)
    /// The controller never answered the command.
    case commandTimeout(HCIOpcode)
    /// The link does not exist, or ended while the operation ran.
    case linkLost(DisconnectionReason)
    case notConnected
    /// The connection could not be made, for this reason.
    case connectionFailed(HCIStatus)
    case gatt(GATTFailure)
    /// The link could not be made secure.
    case security(SecurityFailure)
    case channel(ChannelFailure)
    /// The service could not be published or removed.
    case publishing(GATTPublishError)
    /// The request contradicts the specification or the engine's limits.
    case invalidRequest(InvalidRequest)
    /// The controller took the command and never told its end.
    case procedureTimeout
    /// The peer refused the connection parameters.
    case rejectedByPeer
    case limitReached

    public enum InvalidRequest: Hashable, Sendable {
        case connectionParameters, parametersTooLong, stopped, notAvailableOnSharedController, advertisementTooLong
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
    public var scan: OperationID
    public var client: ClientID
    public var address: DeviceAddress?
    /// In dBm; 127 when it is unknown.
    public var rssi: Int8
    public var isConnectable: Bool
    public var isScannable: Bool
    /// Advertising data as received, without the scan response.
    public var advertisement: [UInt8]
    /// The scan response, empty while none has been heard.
    public var scanResponse: [UInt8]
    /// In dBm, from the extended advertising header; 127 when it is not stated.
    public var txPower: Int8
    public var isExtended: Bool
    public var time: Instant
}

/// One rung of the ladder by which a controller is brought back.
public enum RecoveryStep: Hashable, Sendable { case reset, reopenTransport }

/// What a new link is.
public struct LinkInformation: Hashable, Sendable {
    public var id: LinkID
    public var peer: DeviceAddress
    public var role: LinkRole
    public var parameters: ConnectionParameters
    /// ATT_MTU in octets.
    public var attMTU: Int
}

public enum LinkRole: UInt8, Hashable, Sendable {
    case central = 0
    case peripheral = 1
}

/// Connection parameters in force.
public struct ConnectionParameters: Hashable, Sendable {
    public var interval: ConnectionInterval
    /// Connection events that the peripheral may skip.
    public var peripheralLatency: UInt16
    public var supervisionTimeout: SupervisionTimeout
}

/// Payload octets and times of one packet on the air, in force.
public struct DataLength: Hashable, Sendable {
    public var maxTransmitOctets: UInt16
    public var maxTransmitMicroseconds: UInt16
    public var maxReceiveOctets: UInt16
    public var maxReceiveMicroseconds: UInt16
}

/// What the peer's controller says it is (Core 5.4, Vol 4, Part E, 7.7.12).
public struct RemoteVersion: Hashable, Sendable {
    public var version: UInt8
    public var companyIdentifier: UInt16
    public var subversion: UInt16
}
