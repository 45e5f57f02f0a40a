import BLEHost

/// A request of an app's manager. It can be encoded, to cross from one process to another.
///
/// The results are reported by `ClientEvent`s, in order. Below `ManagerState.poweredOn` all requests are dropped with a
/// `LogMessage`, except creating, releasing, cancelling and retrieving (SPEC 2.3).
public enum ClientRequest: Hashable, Sendable {
    /// The first request of a manager. Followed by `willRestoreCentral` if there is something to restore, then by
    /// `stateChanged` once the state is known (SPEC CEN-2, SPR-10).
    case createCentral(ManagerOptions)
    /// The first request of a manager. Followed by `willRestorePeripheral` if there is something to restore, then by
    /// `stateChanged` once the state is known (SPEC PER-1, SPR-10).
    case createPeripheral(ManagerOptions)
    /// The manager is released: all its activities end, and it gets no more events.
    case release
    /// A request of a central manager; an error in the log from a peripheral manager (`LogMessage.wrongManager`).
    case central(CentralManagerRequest)
    /// A request of a peripheral manager; an error in the log from a central manager (`LogMessage.wrongManager`).
    case peripheral(PeripheralManagerRequest)
    /// A request to this channel.
    case channel(L2CAPChannelID, ChannelRequest)
}

/// `CBPeripheralManagerConnectionLatency` (SPEC 2.1).
public typealias ConnectionLatency = BLEHost.ConnectionLatency

/// A request of the owner of an L2CAP channel.
public enum ChannelRequest: Hashable, Sendable {
    /// Sends the next octets.
    case send([UInt8])
    /// The app has read this many octets: the remote may send as many again.
    case received(count: Int)
    /// Closes the channel.
    case close
}
