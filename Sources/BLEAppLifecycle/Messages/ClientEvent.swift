/// An event for a manager of an app. Events are delivered in order; each, except the answers to queries, is a call of
/// the manager's delegate or of a peripheral's delegate. Events can be encoded.
public enum ClientEvent: Hashable, Sendable {
    /// The first event of a restored central manager (SPEC SPR-10, SPR-12).
    case willRestoreCentral(RestoredCentral)
    /// The first event of a restored peripheral manager (SPEC SPR-10, SPR-12).
    case willRestorePeripheral(RestoredPeripheral)
    /// The manager's state. Below `poweredOn` a central's peripherals are disconnected and its scan has ended, without
    /// further events unless it is `resetting`; below `poweredOff` its peripherals are no longer valid, and a peripheral manager's services and
    /// advertising are gone (SPEC 2.3, 2.4).
    case stateChanged(ManagerState, ManagerAuthorization)
    /// Bluetooth was in this state while the app could not receive events, and is in a higher one now. What such a
    /// state loses is lost. Not a delegate call; `stateChanged` follows.
    case statePassed(ManagerState)
    /// This many events, none of them a disconnection, were dropped while the app was suspended (SPEC 5.5 rule 2).
    case eventsLost(count: Int)

    // MARK: Central

    /// `didDiscover`: a device was discovered.
    /// - Parameter rssi: dBm; 127 when it is unknown.
    case discovered(PeripheralDescription, AdvertisementContent, rssi: Int8)
    /// `didConnect`: the link is ready.
    case connected(PeripheralDescription, maximumWriteLength: WriteLimits)
    /// `didFailToConnect`: the connection attempt failed.
    case connectionFailed(PeerIdentifier, ClientError)
    /// `didDisconnect`: the link or the connection attempt ended.
    /// - Parameters:
    ///   - error: `nil` if the app itself ended the connection (SPEC 2.3).
    ///   - microseconds: when it ended, on the engine's clock.
    ///   - isReconnecting: whether the system connects again by itself.
    case disconnected(PeerIdentifier, ClientError?, microseconds: Int64, isReconnecting: Bool)
    /// `connectionEventDidOccur`.
    /// - Parameter isConnected: `CBConnectionEvent.peerConnected` if true, otherwise `.peerDisconnected`.
    case connectionEvent(PeripheralDescription, isConnected: Bool)
    /// Answers `retrievePeripherals` and `retrieveConnectedPeripherals`.
    case retrieved(QueryID, [PeripheralDescription])
    /// An event for the delegate of this peripheral.
    case peripheral(PeerIdentifier, PeripheralEvent)

    // MARK: Peripheral

    /// `didAdd`: the service is published, unless there is an error.
    case serviceAdded(LocalAttributeID, ClientError?)
    /// `peripheralManagerDidStartAdvertising`: advertising started, unless there is an error.
    case advertisingStarted(ClientError?)
    /// `didReceiveRead`: the app must answer once with `respond`.
    case readRequest(CentralReadRequest)
    /// `didReceiveWrite`: all of the values or none are written; answered once with the identifier of the group (SPEC
    /// PER-17 to PER-19).
    case writeRequests(CentralWriteRequests)
    /// `didSubscribeTo`: from now on, the app sends updates (SPEC PER-20).
    case subscribed(CentralDescription, characteristic: LocalAttributeID)
    /// `didUnsubscribeFrom`: the central unsubscribed or disconnected.
    case unsubscribed(CentralDescription, characteristic: LocalAttributeID)
    /// There is room again after `updateQueued` was false (SPEC PER-22).
    case readyToUpdateSubscribers
    /// Answers `updateValue`: whether the value was accepted.
    case updateQueued(QueryID, Bool)
    /// `didPublishL2CAPChannel`; the PSM is 0 if there is an error.
    case channelPublished(psm: UInt16, ClientError?)
    /// `didUnpublishL2CAPChannel`.
    case channelUnpublished(psm: UInt16, ClientError?)
    /// A remote central opened a channel to a published PSM.
    case channelAccepted(L2CAPChannelID, psm: UInt16, CentralDescription)

    // MARK: Both

    /// An event for the owner of this channel.
    case channel(L2CAPChannelID, ClientChannelEvent)

    /// Whether it answers a query: then it is returned to the caller instead of calling a delegate.
    public var isAnswer: Bool {
        if case .retrieved = self { return true }
        if case .updateQueued = self { return true }
        return false
    }
}

/// An event for the owner of an L2CAP channel.
public enum ClientChannelEvent: Hashable, Sendable {
    /// The next received octets.
    case received([UInt8])
    /// This many more octets may be sent.
    case canSend(count: Int)
    /// The channel is closed; no event follows.
    case closed(ClientError?)
}

/// A remote peripheral, as the system knows it now.
public struct PeripheralDescription: Hashable, Sendable {
    /// The app's identifier of the device.
    public var identifier: PeerIdentifier
    /// The device's GAP device name if it has been read, otherwise the advertised name.
    public var name: String?
    /// The state of this manager's connection.
    public var state: PeripheralState

    public init(identifier: PeerIdentifier, name: String? = nil, state: PeripheralState = .disconnected) {
        self.identifier = identifier
        self.name = name
        self.state = state
    }
}

/// A remote central.
public struct CentralDescription: Hashable, Codable, Sendable {
    /// The app's identifier of the device.
    public var identifier: PeerIdentifier
    /// The number of octets that one update can carry: ATT_MTU − 3.
    public var maximumUpdateLength: Int

    public init(identifier: PeerIdentifier, maximumUpdateLength: Int) {
        self.identifier = identifier
        self.maximumUpdateLength = maximumUpdateLength
    }
}

/// The values of `maximumWriteValueLength(for:)`, in octets.
public struct WriteLimits: Hashable, Sendable {
    /// With a response: 512, regardless of ATT_MTU.
    public var withResponse: Int
    /// Without a response: ATT_MTU − 3.
    public var withoutResponse: Int

    public init(withResponse: Int = 512, withoutResponse: Int = 20) {
        self.withResponse = withResponse
        self.withoutResponse = withoutResponse
    }
}

/// A request to read a value (SPEC PER-13).
public struct CentralReadRequest: Hashable, Sendable {
    /// The identifier for the answer.
    public var id: ATTRequestID
    /// The central that sent the request.
    public var central: CentralDescription
    /// The characteristic to read.
    public var characteristic: LocalAttributeID
    /// The number of octets to omit from the answer (SPEC PER-14).
    public var offset: Int

    public init(id: ATTRequestID, central: CentralDescription, characteristic: LocalAttributeID, offset: Int) {
        self.id = id
        self.central = central
        self.characteristic = characteristic
        self.offset = offset
    }
}

/// A request to write values (SPEC PER-17).
public struct CentralWriteRequests: Hashable, Sendable {
    /// One of the values.
    public struct Write: Hashable, Sendable {
        /// The characteristic to write.
        public var characteristic: LocalAttributeID
        /// The offset in the value, in octets.
        public var offset: Int
        /// The octets, at most 512.
        public var value: [UInt8]

        public init(characteristic: LocalAttributeID, offset: Int, value: [UInt8]) {
            self.characteristic = characteristic
            self.offset = offset
            self.value = value
        }
    }

    /// The identifier of the group, for the answer.
    public var id: ATTRequestID
    /// The central that sent the request.
    public var central: CentralDescription
    /// At least one.
    public var writes: [Write]

    public init(id: ATTRequestID, central: CentralDescription, writes: [Write]) {
        self.id = id
        self.central = central
        self.writes = writes
    }
}
