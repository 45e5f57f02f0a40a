import BLEHost
import BLEPackets

/// What a manager of an app is told, in order: each but the answers to queries is a call of its delegate, or of the
/// delegate of one of its peripherals. A value that can be encoded.
public enum ClientEvent: Hashable, Codable, Sendable {
    /// The first event of a restored central manager (SPEC SPR-10, SPR-12).
    case willRestoreCentral(RestoredCentral)
    /// The first event of a restored peripheral manager (SPEC SPR-10, SPR-12).
    case willRestorePeripheral(RestoredPeripheral)
    /// Below `poweredOn` a central's peripherals are disconnected and its scan is over without a word for each; below
    /// `poweredOff` its peripherals stand for nothing any more, and a peripheral manager's services and advertising are
    /// gone (SPEC 2.3, 2.4).
    case stateChanged(ManagerState, ManagerAuthorization)
    /// Bluetooth was in this state while the app did not hear of it, and is in a higher one by now: what is lost in such a
    /// state is lost. No call of a delegate; `stateChanged` follows.
    case statePassed(ManagerState)
    /// So many events, none of them a disconnection, found no room while the app was suspended (SPEC 5.5 rule 2).
    case eventsLost(count: Int)

    // MARK: Central

    /// - Parameter rssi: dBm; 127 when it is unknown.
    case discovered(PeripheralDescription, AdvertisementContent, rssi: Int8)
    /// `didConnect`: the link can be used.
    case connected(PeripheralDescription, maximumWriteLength: WriteLimits)
    /// `didFailToConnect`: the wish for a link is over.
    case connectionFailed(PeerIdentifier, ClientError)
    /// - Parameters:
    ///   - error: `nil` where the app itself ended the connection (SPEC 2.3).
    ///   - microseconds: when it ended, on the engine's time line.
    ///   - isReconnecting: whether the link is sought again without being asked for.
    case disconnected(PeerIdentifier, ClientError?, microseconds: Int64, isReconnecting: Bool)
    /// - Parameter isConnected: `CBConnectionEvent.peerConnected`, else `.peerDisconnected`.
    case connectionEvent(PeripheralDescription, isConnected: Bool)
    /// Answers `retrievePeripherals` and `retrieveConnectedPeripherals`.
    case retrieved(QueryID, [PeripheralDescription])
    /// What the delegate of this peripheral is told.
    case peripheral(PeerIdentifier, PeripheralEvent)

    // MARK: Peripheral

    /// `didAdd`: the service can be used, unless there is an error.
    case serviceAdded(LocalAttributeID, ClientError?)
    /// `peripheralManagerDidStartAdvertising`: also told where it could not be started.
    case advertisingStarted(ClientError?)
    /// `didReceiveRead`: to be answered once with `respond`.
    case readRequest(CentralReadRequest)
    /// All of them or none, answered once by the group's identifier (SPEC PER-17 to PER-19).
    case writeRequests(CentralWriteRequests)
    /// `didSubscribeTo`: the cue to send updates (SPEC PER-20).
    case subscribed(CentralDescription, characteristic: LocalAttributeID)
    /// `didUnsubscribeFrom`: the central wants no more, or is gone.
    case unsubscribed(CentralDescription, characteristic: LocalAttributeID)
    /// There is room again after `updateQueued` was false (SPEC PER-22).
    case readyToUpdateSubscribers
    /// Answers `updateValue`: whether the value was taken.
    case updateQueued(QueryID, Bool)
    /// `didPublishL2CAPChannel`; the PSM is 0 where there is an error.
    case channelPublished(psm: UInt16, ClientError?)
    /// `didUnpublishL2CAPChannel`.
    case channelUnpublished(psm: UInt16, ClientError?)
    /// A remote central opened a channel to a published PSM.
    case channelAccepted(L2CAPChannelID, psm: UInt16, CentralDescription)

    // MARK: Both

    /// What the owner of this channel is told.
    case channel(L2CAPChannelID, ClientChannelEvent)

    /// Whether it answers a query, and so is handed over on the spot instead of being a delegate's call.
    public var isAnswer: Bool {
        if case .retrieved = self { return true }
        if case .updateQueued = self { return true }
        return false
    }
}

/// What the owner of an L2CAP channel is told.
public enum ClientChannelEvent: Hashable, Codable, Sendable {
    /// Octets behind those that were received before.
    case received([UInt8])
    /// So many more octets may be sent.
    case canSend(count: Int)
    /// Nothing more follows.
    case closed(ClientError?)
}

/// A remote peripheral as far as this system knows it now.
public struct PeripheralDescription: Hashable, Codable, Sendable {
    /// By which this app knows the device.
    public var identifier: PeerIdentifier
    /// The name that the device gives when it is asked, else the advertised one.
    public var name: String?
    /// As this manager sees it.
    public var state: PeripheralState

    public init(identifier: PeerIdentifier, name: String? = nil, state: PeripheralState = .disconnected) {
        self.identifier = identifier
        self.name = name
        self.state = state
    }
}

/// A remote central.
public struct CentralDescription: Hashable, Codable, Sendable {
    /// By which this app knows the device.
    public var identifier: PeerIdentifier
    /// Octets that one update can carry: ATT_MTU − 3.
    public var maximumUpdateLength: Int

    public init(identifier: PeerIdentifier, maximumUpdateLength: Int) {
        self.identifier = identifier
        self.maximumUpdateLength = maximumUpdateLength
    }
}

/// `maximumWriteValueLength(for:)`, in octets.
public struct WriteLimits: Hashable, Codable, Sendable {
    /// With an answer: 512, whatever ATT_MTU is.
    public var withResponse: Int
    /// Without: ATT_MTU − 3.
    public var withoutResponse: Int

    public init(withResponse: Int = 512, withoutResponse: Int = 20) {
        self.withResponse = withResponse
        self.withoutResponse = withoutResponse
    }
}

/// The app is asked for a value (SPEC PER-13).
public struct CentralReadRequest: Hashable, Codable, Sendable {
    /// By which it is answered.
    public var id: ATTRequestID
    /// Who asks.
    public var central: CentralDescription
    /// What is asked for.
    public var characteristic: LocalAttributeID
    /// Octets to leave out of the answer (SPEC PER-14).
    public var offset: Int

    public init(id: ATTRequestID, central: CentralDescription, characteristic: LocalAttributeID, offset: Int) {
        self.id = id
        self.central = central
        self.characteristic = characteristic
        self.offset = offset
    }
}

/// The app is given values (SPEC PER-17).
public struct CentralWriteRequests: Hashable, Codable, Sendable {
    /// One of the values.
    public struct Write: Hashable, Codable, Sendable {
        /// What is to be set.
        public var characteristic: LocalAttributeID
        /// Where in the value the octets belong.
        public var offset: Int
        /// The octets, at most 512.
        public var value: [UInt8]

        public init(characteristic: LocalAttributeID, offset: Int, value: [UInt8]) {
            self.characteristic = characteristic
            self.offset = offset
            self.value = value
        }
    }

    /// Of the group.
    public var id: ATTRequestID
    /// Who writes.
    public var central: CentralDescription
    /// At least one.
    public var writes: [Write]

    public init(id: ATTRequestID, central: CentralDescription, writes: [Write]) {
        self.id = id
        self.central = central
        self.writes = writes
    }
}
