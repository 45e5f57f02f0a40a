import BLEHost
import BLEPackets

/// What the machines of managers want done, in order. `AppLifecycle.settle` carries it out after each call of a machine.
struct ManagerEffects {
    enum Effect: Equatable {
        /// Leaves as it is.
        case output(LifecycleOutput)
        /// Reaches its manager as the app stands: at once, later, or by waking or launching the app.
        case tell(ClientEvent, ClientID)
        /// Something happened at a peripheral that the user may want to know.
        case alert(Alert.Kind, DeviceAddress)
        /// Services were found at the other end of a link.
        case found([BluetoothUUID], LinkID)
    }

    private var effects = Queue<Effect>()
    /// What the engine was asked to do and has not ended.
    var commands = CommandLedger()
    /// Whether something that the journal keeps may have changed.
    var needsJournal = false
    private var lastChannel: UInt32 = 0

    /// The oldest that has not been carried out.
    mutating func next() -> Effect? { effects.popFirst() }

    /// Gives the engine a command.
    @discardableResult
    mutating func submit(_ command: HostCommand, from client: ClientID, for purpose: Purpose = .none) -> CommandToken {
        let token = commands.add(purpose)
        effects.append(.output(.submit(command, from: client, token)))
        return token
    }

    /// Ends a command; nobody hears of it any more.
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
    /// Whose operations are the system's own.
    static let system = ClientID(rawValue: .max)
}
