import BLEHost
import BLEPackets

/// What the service wants done, in this order.
public enum BlueZEffect: Equatable, Sendable {
    /// Answers a call.
    case reply(CallID, [BusValue])
    /// Answers a call with an error.
    case refuse(CallID, BusError)
    case signal(BusSignal)
    /// Calls a client's method; ends with `BlueZInput.answered`.
    case ask(QuestionID, BusRequest)
    /// Forgets a call of a client's method: its answer is of no interest any more.
    case dropQuestion(QuestionID)
    /// Calls a client's method and wants no answer.
    case tell(BusRequest)
    /// From now on, reports when this client leaves the bus, and the signals of its objects.
    case watch(String)
    case unwatch(String)
    /// A command for an adapter.
    case submit(Int, Ticket, HostCommand)
    /// Ends a command that runs until then.
    case cancel(Int, Ticket)
    /// Changes a scan that runs.
    case changeScan(Int, Ticket, ScanRequest)
    /// Changes an advertising set.
    case changeSet(Int, Ticket, AdvertisingSetRequest)
    /// Writes a value into an acquired socket.
    case send(SocketID, [UInt8])
    /// Whether what clients write into an acquired socket is read; at first it is.
    case setReading(SocketID, Bool)
    case closeSocket(SocketID)
    /// Keeps the state of the adapter with this address.
    case save(DeviceAddress, [UInt8])
    case note(BlueZNote)
}

/// What is worth a line in the log.
public enum BlueZNote: Equatable, Sendable {
    /// A pairing with this device failed.
    case pairingFailed(DeviceAddress, SecurityFailure)
    /// So many failed that those of the next minute are not noted.
    case manyPairingsFailed
}
