import BLEHost
import BLEPackets

/// What a manager of an app asks for. A value that can be encoded: it may cross from one process to another.
///
/// Nothing is answered inside the call that asks: what comes of it is told by `ClientEvent`s, in order. Below
/// `ManagerState.poweredOn` everything but making, releasing, letting go and retrieving is dropped with a line of
/// `LogMessage` (SPEC 2.3).
public enum ClientRequest: Hashable, Codable, Sendable {
    /// The first request of a manager. Followed by `willRestoreCentral` where there is something to restore, then by
    /// `stateChanged` once the state is known (SPEC CEN-2, SPR-10).
    case createCentral(ManagerOptions)
    /// The first request of a manager. Followed by `willRestorePeripheral` where there is something to restore, then by
    /// `stateChanged` once the state is known (SPEC PER-1, SPR-10).
    case createPeripheral(ManagerOptions)
    /// The manager is gone: all that it wanted ends. Nothing more is told to it.
    case release

    // MARK: Central

    /// Replaces an earlier scan of the same manager (SPEC 2.3).
    case scan(ScanOptions)
    /// Discoveries that were not delivered yet are dropped.
    case stopScan
    /// Waits without end (SPEC CEN-9).
    case connect(PeerIdentifier, ConnectOptions)
    /// Ends a connection or a wish for one; `disconnected` without an error follows at once (SPEC CEN-22 to CEN-24).
    case cancelConnection(PeerIdentifier)
    /// As `cancelConnection`, in any state of the manager: the app keeps this peripheral no more (SPEC CEN-6, 2.3).
    case letGo(PeerIdentifier)
    /// Those of the peripherals that this app knows; answered by `ClientEvent.retrieved` (SPEC REC-4).
    case retrievePeripherals(QueryID, [PeerIdentifier])
    /// Those that are connected to this system, for whatever app, and have one of the services; answered by
    /// `ClientEvent.retrieved` (SPEC REC-6).
    case retrieveConnectedPeripherals(QueryID, services: [BluetoothUUID])
    /// `nil` ends it.
    case registerForConnectionEvents(ConnectionEventFilter?)
    /// What the app asks of this peripheral.
    case peripheral(PeerIdentifier, PeripheralRequest)

    // MARK: Peripheral

    /// Followed by `serviceAdded` (SPEC PER-6).
    case addService(LocalService)
    /// It is gone at once; centrals are told (SPEC PER-6).
    case removeService(LocalAttributeID)
    /// All that this manager has published.
    case removeAllServices
    /// Followed by `advertisingStarted` (SPEC PER-8, PER-9).
    case startAdvertising(AdvertisementRequest)
    /// What this manager advertises is over at once.
    case stopAdvertising
    /// Answers a read request, or a group of write requests by the identifier of the group (SPEC PER-15, PER-18).
    /// - Parameters:
    ///   - code: `CBATTError`'s; 0 is success.
    ///   - value: of a read request, what stands behind the request's offset.
    case respond(ATTRequestID, code: UInt8, value: [UInt8])
    /// Answered by `ClientEvent.updateQueued` (SPEC PER-21, PER-22).
    /// - Parameter centrals: `nil` for all that have subscribed.
    case updateValue(QueryID, LocalAttributeID, value: [UInt8], centrals: [PeerIdentifier]?)
    /// A hint to a central, of which nothing is heard again.
    case setConnectionLatency(ConnectionLatency, central: PeerIdentifier)
    /// Followed by `channelPublished`.
    case publishChannel(isEncrypted: Bool)
    /// Followed by `channelUnpublished`; channels that were opened by it end (SPEC 2.4).
    case unpublishChannel(psm: UInt16)

    // MARK: Both

    /// What the app asks of this channel.
    case channel(L2CAPChannelID, ChannelRequest)
}

/// `CBPeripheralManagerConnectionLatency` (SPEC 2.1).
public typealias ConnectionLatency = BLEHost.ConnectionLatency

/// What the owner of an L2CAP channel asks for.
public enum ChannelRequest: Hashable, Codable, Sendable {
    /// Octets behind those that were sent before.
    case send([UInt8])
    /// So many received octets have been taken by the app: the remote may send as many again.
    case received(count: Int)
    /// Nothing more is sent or received.
    case close
}
