import BLEHost
import BLEPackets

/// The effects of the managers' machines, in order. `AppLifecycle.settle` carries them out after each call of a
/// machine.
struct ManagerEffects {
    enum Effect: Equatable {
        /// An output that is passed on unchanged.
        case output(LifecycleOutput)
        /// An event for a manager: delivered at once, later, or by waking or launching the app.
        case tell(ClientEvent, ClientID)
        /// A possible alert about a peripheral.
        case alert(Alert.Kind, DeviceAddress)
        /// Services were found at the other end of a link.
        case found([BluetoothUUID], LinkID)
    }

    private var effects = Queue<Effect>()
    /// The pending commands.
    var commands = CommandLedger()
    /// Whether the state in the journal may have changed.
    var needsJournal = false
    private var lastChannel: UInt32 = 0

    /// The oldest effect that has not been carried out.
    mutating func next() -> Effect? { effects.popFirst() }

    /// Submits a command to the engine.
    @discardableResult
    mutating func submit(_ command: HostCommand, from client: ClientID, for purpose: Purpose = .none) -> CommandToken {
        let token = commands.add(purpose, octets: command.waitingOctets, of: client)
        effects.append(.output(.submit(command, from: client, token)))
        return token
    }

    /// Cancels a command; its completion is ignored.
    mutating func cancel(_ token: CommandToken) {
        if let operation = commands.cancel(token) { submit(.cancel(operation), from: .system) }
    }

    mutating func tell(_ event: ClientEvent, to client: ClientID) { effects.append(.tell(event, client)) }
    mutating func log(_ message: LogMessage, of app: AppID) { effects.append(.output(.log(message, app))) }
    mutating func alert(_ kind: Alert.Kind, at address: DeviceAddress) { effects.append(.alert(kind, address)) }
    mutating func found(_ services: [BluetoothUUID], on link: LinkID) { effects.append(.found(services, link)) }

    mutating func nextChannel() -> L2CAPChannelID {
        lastChannel &+= 1
        return L2CAPChannelID(rawValue: lastChannel)
    }
}

extension ClientID {
    /// The client of the system's own operations.
    static let system = ClientID(rawValue: .max)
}
