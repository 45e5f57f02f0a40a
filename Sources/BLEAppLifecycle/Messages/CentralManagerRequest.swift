import BLEPackets

/// A request of a central manager (SPEC CEN-4 to CEN-24, REC-4, REC-6).
public enum CentralManagerRequest: Hashable, Sendable {
    /// Starts a scan, which replaces an earlier scan of the same manager (SPEC 2.3).
    case scan(ScanOptions)
    /// Stops scanning; discoveries that have not been delivered are dropped.
    case stopScan
    /// Connects to a peripheral, without a timeout (SPEC CEN-9).
    case connect(PeerIdentifier, ConnectOptions)
    /// Ends a connection or a connection attempt; `disconnected` without an error follows at once (SPEC CEN-22 to
    /// CEN-24).
    case cancelConnection(PeerIdentifier)
    /// Does the same as `cancelConnection`, in any state of the manager: the app has released the peripheral (SPEC
    /// CEN-6, 2.3).
    case letGo(PeerIdentifier)
    /// Retrieves the peripherals with these identifiers that the app knows; answered by `ClientEvent.retrieved` (SPEC
    /// REC-4).
    case retrievePeripherals(QueryID, [PeerIdentifier])
    /// Retrieves the peripherals that are connected to this system by any app and have one of the services; answered by
    /// `ClientEvent.retrieved` (SPEC REC-6).
    case retrieveConnectedPeripherals(QueryID, services: [BluetoothUUID])
    /// Registers for connection events, in place of an earlier registration of the same manager; `nil` ends it. A
    /// registration with more services than there is room for (`LifecycleSettings.watchedServicesOfApp`) is dropped
    /// with a `LogMessage`.
    case registerForConnectionEvents(ConnectionEventFilter?)
    /// A request to this peripheral.
    case peripheral(PeerIdentifier, PeripheralRequest)
}
