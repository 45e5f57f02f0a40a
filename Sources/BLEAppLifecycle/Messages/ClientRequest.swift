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
    /// What a central manager asks for; a peripheral manager that does is logged (`LogMessage.wrongManager`).
    case central(CentralManagerRequest)
    /// What a peripheral manager asks for; a central manager that does is logged (`LogMessage.wrongManager`).
    case peripheral(PeripheralManagerRequest)
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
