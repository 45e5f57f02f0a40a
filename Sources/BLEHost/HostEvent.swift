import BLEPackets

/// Events for the owner of the engine.
public enum HostEvent: Equatable, Sendable {
    /// The controller can be used; also reported after every recovery.
    indirect case ready(ControllerInformation)
    /// The controller is being recovered; requests remain, links are lost.
    case recovering(RecoveryStep)
    /// The controller could not be brought back; every operation has ended.
    case failed(HostFailure)
    /// The owner must close the transport, open it again and call `Host.transportOpened(at:)`.
    /// - Parameter resetsDevice: whether the owner should reset the device on its bus before, or switch its power off
    ///   and on, if it can.
    case reopenTransport(resetsDevice: Bool)
    /// No step of recovery has cured this; the engine goes on with what is left, and requests remain.
    case faultRemains(ControllerFault)
    /// The engine learned something about the controller: save it in place of what you saved for this device.
    case controllerLearned(ControllerExperience)
    /// `HostCommand.stop` has been carried out.
    case stopped
    /// A device that matches a scan was discovered: reported once and for each change of its data, or for each packet
    /// if the scan allows duplicates.
    case discovered(Discovery)
    /// The controller started or stopped advertising.
    case advertisingChanged(isAdvertising: Bool)
    /// What of a client's advertisement finds no room beside those of other users; reported when it changes.
    case advertisingRoom(OperationID, ClientID, AdvertisingRoom)
    /// What happens to an advertising set of a client.
    case advertisingSet(OperationID, ClientID, AdvertisingSetEvent)
    /// What comes from a periodic train that a client follows.
    case train(OperationID, ClientID, PeriodicSyncEvent)
    /// An operation has ended. Reported exactly once for each operation.
    case completed(OperationID, Result<HostResult, HostFailure>)
    /// A link is usable. Each client that becomes its holder gets this event before its connect operation completes.
    case connected(LinkInformation, ClientID)
    /// The link is gone for this client.
    case disconnected(LinkID, ClientID, reason: DisconnectionReason)
    /// The peer's server sent a value or a change of its database, the ATT_MTU changed, or there is room for write
    /// commands. Results of operations come as `completed`.
    case gatt(LinkID, GATTClientEvent)
    /// A central has connected.
    case centralConnected(LinkInformation)
    /// A central's link has ended.
    case centralDisconnected(LinkID, reason: DisconnectionReason)
    /// What clients do with the local database; some of these events need an answer.
    case server(GATTServerEvent)
    /// Progress of a pairing; a question must be answered with `SecurityCommand.answerPairing`.
    case pairing(LinkID, PairingEvent)
    /// A link became encrypted, got another key, or is no longer encrypted.
    case encryptionChanged(LinkID, LinkSecurity)
    /// A peer with a bonded address sent something unencrypted that is accepted only from the bonded device. It was
    /// dropped and counted (`HostCounters.refusedCleartext`). Reported once for each link.
    case cleartextRefused(LinkID, DeviceAddress)
    /// A new or changed bond: save it in place of the one with the same identity.
    indirect case bondChanged(Bond)
    /// The bond with this identity is gone: remove what you saved.
    case bondRemoved(DeviceAddress)
    /// What happens on credit-based channels.
    case channel(ChannelEvent)
    /// The connection parameters changed, at the request of either side (Core 5.4, Vol 4, Part E, 7.7.65.3).
    case connectionParametersChanged(LinkID, ConnectionParameters)
    /// The link uses another share of its connection events, at the request of either side (Core 5.4, Vol 4, Part E,
    /// 7.7.65.35).
    case subrateChanged(LinkID, LinkSubrate)
    /// What was measured on a link, or is missing on it.
    case linkReport(LinkID, LinkReport)
    /// The PHYs were negotiated, at the request of either side (Core 5.4, Vol 4, Part E, 7.7.65.12).
    case phyChanged(LinkID, transmit: PHY, receive: PHY)
    /// The data lengths changed, at the request of either side (Core 5.4, Vol 4, Part E, 7.7.65.7).
    case dataLengthChanged(LinkID, DataLength)
    /// A private address that clients wait for or are connected to was resolved. Connect operations for the address now
    /// wait for the identity, whatever address the device uses.
    case identityFound(DeviceAddress, behind: DeviceAddress)
    /// A private address matches the keys of more than one bond, so it is not resolved to any of them.
    case ambiguousIdentity(DeviceAddress, [DeviceAddress])
    /// A packet that could not be understood was dropped.
    case malformedPacket(DecodingError)
}

extension HostEvent {
    /// Whom the event concerns. A new event gets its audience here; owners then receive it by that, or ignore it.
    public var audience: HostAudience {
        switch self {
        case .failed, .reopenTransport, .controllerLearned, .faultRemains, .stopped: .owner
        case .ready, .recovering, .advertisingChanged, .bondChanged, .bondRemoved: .everyone
        case .completed(let operation, _): .operation(operation)
        case .connected(_, let client), .disconnected(_, let client, _), .advertisingSet(_, let client, _),
            .advertisingRoom(_, let client, _), .train(_, let client, _):
            .client(client)
        case .gatt(_, .notification(let value)): .clients(value.clients)
        case .discovered: .scanners
        case .gatt(let link, _), .encryptionChanged(let link, _), .cleartextRefused(let link, _),
            .connectionParametersChanged(let link, _), .phyChanged(let link, _, _), .dataLengthChanged(let link, _),
            .subrateChanged(let link, _):
            .holders(link)
        case .linkReport(let link, _): .observers(link)
        case .pairing(let link, _): .pairing(link)
        case .centralConnected, .centralDisconnected: .servers
        case .server(let event): event.owner.map { .client($0) } ?? .servers
        case .channel(let event): event.audience
        case .identityFound, .ambiguousIdentity, .malformedPacket: .log
        }
    }
}

/// The result of a successful operation.
public enum HostResult: Equatable, Sendable {
    /// Done; there is no further result.
    case done
    /// Of `connect`: the link is usable, and the client is one of its holders.
    case connected(LinkID)
    /// Of `gatt`.
    case gatt(GATTResult)
    /// Of `publish`: the handles of the service.
    case published(GATTPublishedService)
    /// Channels are accepted on this SPSM.
    case listening(spsm: UInt16)
    /// Of `openChannel`.
    case channel(ChannelInformation)
    /// Of `openEnhanced`: the channels that the peer accepted, at least one.
    case channels([ChannelInformation])
    /// Yes or no: whether an answer or an update was accepted, or whether the bond to change existed.
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
    /// Of `updateConnectionParameters`: the parameters in force.
    case connectionParameters(ConnectionParameters)
    /// Of `setDataLength`: the values in force when the controller accepted the command. A change is reported as
    /// `HostEvent.dataLengthChanged`.
    case dataLength(DataLength)
    /// Of `readPHY` and `setPHY`: the PHYs in use.
    case phy(transmit: PHY, receive: PHY)
    /// Of `setSubrate`: what both sides agreed on.
    case subrate(LinkSubrate)
    /// Of `readTransmitPower` and `readRemoteTransmitPower`.
    case transmitPower(TransmitPower)
    /// The return parameters of Command Complete, or the status octet of Command Status.
    case hciAnswer([UInt8])
}

/// Why an operation ended without its result.
public enum HostFailure: Error, Equatable, Sendable {
    /// `HostCommand.cancel` or `HostCommand.stop` ended it, or its client left.
    case cancelled
    /// The controller is not ready, or was lost while the operation ran.
    case controllerLost
    /// Recovery failed: the controller responded neither to resets nor to reopening the transport.
    case controllerUnresponsive
    /// The controller cannot be used, for this reason.
    case controllerFault(ControllerFault)
    /// The controller refused a command.
    case controller(HCIStatus, HCIOpcode)
    /// The controller did not answer the command in time.
    case commandTimeout(HCIOpcode)
    /// The link does not exist, or ended while the operation ran.
    case linkLost(DisconnectionReason)
    /// There is no such link, or it is about to end.
    case notConnected
    /// The connection could not be established, for this reason.
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
    /// A limit of `HostLimits` is reached.
    case limitReached

    /// What is wrong with a request.
    public enum InvalidRequest: Hashable, Sendable {
        /// Connection parameters that contradict one another (Core 5.4, Vol 4, Part E, 7.8.12).
        case connectionParameters
        /// A command's parameters are longer than 255 octets.
        case parametersTooLong
        /// The engine has stopped or is stopping.
        case stopped
        /// It needs exclusive use of the controller, and this one is shared with the kernel
        /// (`HostConfiguration.ownership`).
        case notAvailableOnSharedController
        /// An advertising set that contradicts the specification or the controller's limits.
        case advertisingSet(AdvertisingSetRequest.Fault)
        /// A train that cannot be followed, transferred or responded in: parameters out of range, or the operation
        /// follows none, or several so that it is unclear which is meant.
        case train
        /// Subevents that a train does not have, too much data for one, a response slot that does not exist, or the
        /// operation has no train with responses.
        case subevents
        /// Zones of path loss that overlap or do not exist.
        case pathLossZones
        /// Channels that do not exist, or fewer than two.
        case channelMap
        /// Raw advertising data or scan response of more than 31 octets.
        case advertisementTooLong
        /// A daemon shares the controller, and only its operators may do this.
        case notPermitted
    }
}

/// Why a link ended for a client.
public enum DisconnectionReason: Hashable, Sendable {
    /// This client released it.
    case releasedByClient
    /// The controller's reason, `remoteUserTerminatedConnection` and so on.
    case controller(HCIStatus)
    /// The controller was reset or lost, which ended the link.
    case controllerLost

    /// The failure that the link's ATT bearer gets.
    var gattFailure: GATTFailure {
        switch self {
        case .releasedByClient: .cancelled
        case .controller(let status): .disconnected(status)
        case .controllerLost: .disconnected(.hardwareFailure)
        }
    }
}

/// A device that a scan discovered.
public struct Discovery: Hashable, Sendable {
    /// The scan that found the device.
    public var scan: OperationID
    /// The client that scans.
    public var client: ClientID
    /// The device's address: its identity address if its keys are known; `nil` for an anonymous advertisement.
    public var address: DeviceAddress?
    /// In dBm; 127 if it is unknown.
    public var rssi: Int8
    /// Whether the device accepts connections.
    public var isConnectable: Bool
    /// Whether the device answers scan requests.
    public var isScannable: Bool
    /// Advertising data as received, without the scan response.
    public var advertisement: [UInt8]
    /// The scan response; empty until one was received.
    public var scanResponse: [UInt8]
    /// In dBm, from the extended advertising header; `nil` if it is not stated.
    public var txPower: Int8?
    /// Whether it was received in an extended advertising PDU, not a legacy one (Core 5.4, Vol 6, Part B, 2.3.1).
    public var isExtended: Bool
    /// The Advertising SID of an extended advertisement, 0 to 15; `nil` if there is none.
    public var advertisingSetIdentifier: UInt8?
    /// The PHY of the primary channels: LE 1M or LE Coded.
    public var primaryPHY = PHY.le1M
    /// The PHY of the other channels; `nil` if nothing was received there.
    public var secondaryPHY: PHY?
    /// The interval of the device's periodic advertising; `nil` if it has none.
    public var periodicInterval: PeriodicAdvertisingInterval?
    /// The private address that the advertising is directed to, if the controller could not resolve it: only with
    /// `ScanRequest.includesUnresolvedTargets`.
    public var unresolvedTarget: DeviceAddress?
    /// When it was received.
    public var time: Instant
    /// The other scans that found the device with the same packet, in the order in which they began; only if the owner
    /// of the engine wants one event for all of them (`Host.joinsDiscoveries`).
    package var others: [Seeker] = []

    /// A scan and its client.
    package struct Seeker: Hashable, Sendable {
        package var scan: OperationID
        package var client: ClientID
    }

    public init(
        scan: OperationID, client: ClientID, address: DeviceAddress?, rssi: Int8, isConnectable: Bool,
        isScannable: Bool, advertisement: [UInt8], scanResponse: [UInt8], txPower: Int8?, isExtended: Bool,
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

    /// All scans that it is for.
    package var seekers: [Seeker] { [Seeker(scan: scan, client: client)] + others }

    /// The same for only one of the scans.
    package func addressed(to seeker: Seeker) -> Discovery {
        var discovery = self
        (discovery.scan, discovery.client, discovery.others) = (seeker.scan, seeker.client, [])
        return discovery
    }
}

/// One step in the recovery of a controller.
public enum RecoveryStep: Hashable, Sendable {
    /// The controller is reset.
    case reset
    /// The transport is closed and opened again.
    case reopenTransport
    /// The device is reset on its bus, and the transport opened again.
    case resetDevice
}

/// Describes a new link.
public struct LinkInformation: Hashable, Sendable {
    /// Identifies this link; never used again for a later one.
    public var id: LinkID
    /// The other side; its identity address if that is known.
    public var peer: DeviceAddress
    /// The role of this side.
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
    /// The device that initiated the link.
    case central = 0
    /// The device that advertised.
    case peripheral = 1
}

/// Connection parameters in force.
public struct ConnectionParameters: Hashable, Sendable {
    /// Time between the starts of two connection events.
    public var interval: ConnectionInterval
    /// Connection events that the peripheral may skip, 0 to 499.
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
    /// The longest time on the air of such a packet, 328 to 17040 µs.
    public var maxTransmitMicroseconds: UInt16
    /// Octets that the peer sends in one packet, 27 to 251.
    public var maxReceiveOctets: UInt16
    /// The longest time on the air of such a packet, 328 to 17040 µs.
    public var maxReceiveMicroseconds: UInt16

    public init(
        maxTransmitOctets: UInt16, maxTransmitMicroseconds: UInt16, maxReceiveOctets: UInt16,
        maxReceiveMicroseconds: UInt16
    ) {
        self.maxTransmitOctets = maxTransmitOctets
        self.maxTransmitMicroseconds = maxTransmitMicroseconds
        self.maxReceiveOctets = maxReceiveOctets
        self.maxReceiveMicroseconds = maxReceiveMicroseconds
    }
}

/// The share of its connection events that a link uses (Core 5.4, Vol 6, Part B, 4.5.1).
public struct LinkSubrate: Hashable, Sendable {
    /// Every so many connection events one is used, 1 to 500.
    public var factor: UInt16
    /// Events that are used after one with data, at most `factor` - 1.
    public var continuationNumber: UInt16
    /// Used events that the peripheral may skip.
    public var latency: UInt16
    /// How long the link may be silent before it counts as lost.
    public var supervisionTimeout: SupervisionTimeout

    public init(factor: UInt16, continuationNumber: UInt16, latency: UInt16, supervisionTimeout: SupervisionTimeout) {
        self.factor = factor
        self.continuationNumber = continuationNumber
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }
}

/// The version of the peer's controller, as it reports it (Core 5.4, Vol 4, Part E, 7.7.12).
public struct RemoteVersion: Hashable, Sendable {
    /// The version of its link layer (Assigned Numbers, 2.1): 9 is 5.0, 13 is 5.4.
    public var version: UInt8
    /// The manufacturer (Assigned Numbers, 7.1).
    public var companyIdentifier: UInt16
    /// The manufacturer's revision number.
    public var subversion: UInt16

    public init(version: UInt8, companyIdentifier: UInt16, subversion: UInt16) {
        self.version = version
        self.companyIdentifier = companyIdentifier
        self.subversion = subversion
    }
}
