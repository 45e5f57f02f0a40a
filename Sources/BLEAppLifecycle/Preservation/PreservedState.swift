import BLEHost
import BLEPackets

/// What one manager is at, kept for when its app is launched again (SPEC SPR-4, SPR-11).
public struct PreservedManager: Hashable, Codable, Sendable {
    /// A remote peripheral that a central manager holds or waits for.
    public struct Peripheral: Hashable, Codable, Sendable {
        /// By which the app knows it.
        public var identifier: PeerIdentifier
        /// By which it is found again, an identity where that is known.
        public var address: DeviceAddress
        /// With which the app asked for it.
        public var options: ConnectOptions
        /// Whether the link stood.
        public var isConnected: Bool
        /// What had been discovered of it; `nil` where nothing was.
        public var services: [RemoteService]?
    }

    /// Whose manager it is.
    public var app: AppID
    /// Of which kind the manager is.
    public var role: ManagerRole
    /// The name under which it is preserved.
    public var restoreIdentifier: String
    /// `nil` where it does not scan.
    public var scan: ScanOptions?
    /// In the order in which the app asked for them.
    public var peripherals: [Peripheral] = []
    /// In the order in which they were published.
    public var services: [LocalService] = []
    /// `nil` where it does not advertise.
    public var advertisement: AdvertisementRequest?
    /// Who has subscribed to its characteristics.
    public var subscriptions: [RestoredPeripheral.Subscription] = []

    init(app: AppID, role: ManagerRole, restoreIdentifier: String) {
        self.app = app
        self.role = role
        self.restoreIdentifier = restoreIdentifier
    }

    /// Whether there is anything that the system goes on with (SPEC SPR-7, SPR-31).
    public var hasTasks: Bool { scan != nil || !peripherals.isEmpty || !services.isEmpty || advertisement != nil }

    func isSame(_ app: AppID, _ role: ManagerRole, _ identifier: String) -> Bool {
        self.app == app && self.role == role && restoreIdentifier == identifier
    }
}

/// A line of the journal: something that must outlive this process.
public enum JournalEntry: Hashable, Codable, Sendable {
    /// What a manager is at now; takes the place of an earlier entry for it.
    case manager(PreservedManager)
    /// A manager is preserved no more.
    case managerRemoved(AppID, ManagerRole, restoreIdentifier: String)
    /// An app knows a device by an identifier (SPEC REC-3).
    case identity(AppID, PeerIdentifier, DeviceAddress)
    /// What apps call devices, as a rule some that they have only heard of.
    case identities([PreservedState.Identity])
    /// What apps called devices that are remembered no more.
    case identitiesForgotten([PreservedState.Name])
}

/// All that outlives the process: a value that is read from the journal and given to the next `AppLifecycle`.
public struct PreservedState: Hashable, Codable, Sendable {
    /// What one app calls one device.
    public struct Identity: Hashable, Codable, Sendable {
        /// Who calls it so.
        public var app: AppID
        /// The app's own name of the device.
        public var identifier: PeerIdentifier
        /// The device.
        public var address: DeviceAddress
        /// `true` where the app has only heard of the device: such ones are forgotten first.
        public var isOnlyHeard: Bool?

        fileprivate var name: Name { Name(app: app, identifier: identifier) }
    }

    /// By what one app knows a device.
    public struct Name: Hashable, Codable, Sendable {
        /// Who calls it so.
        public var app: AppID
        /// The app's own name of the device.
        public var identifier: PeerIdentifier
    }

    /// In the order in which they were first preserved.
    public private(set) var managers: [PreservedManager] = []
    /// In the order in which they were given; what is said later of a name takes the earlier place.
    public private(set) var identities: [Identity] = []

    public init() {}

    /// Takes a line of the journal in, in their order.
    public mutating func apply(_ entry: JournalEntry) {
        switch entry {
        case .manager(let manager):
            let index = managers.firstIndex { $0.isSame(manager.app, manager.role, manager.restoreIdentifier) }
            if let index { managers[index] = manager } else { managers.append(manager) }
        case .managerRemoved(let app, let role, let identifier):
            managers.removeAll { $0.isSame(app, role, identifier) }
        case .identity(let app, let identifier, let address):
            keep(Identity(app: app, identifier: identifier, address: address))
        case .identities(let new): for identity in new { keep(identity) }
        case .identitiesForgotten(let names):
            let names = Set(names)
            identities.removeAll { names.contains($0.name) }
        }
    }

    private mutating func keep(_ identity: Identity) {
        if let place = identities.lastIndex(where: { $0.name == identity.name }) {
            identities[place] = identity
        } else {
            identities.append(identity)
        }
    }

    /// A journal that says the same in as few lines as possible.
    public var entries: [JournalEntry] {
        let known = identities.map { identity in
            identity.isOnlyHeard == true
                ? JournalEntry.identities([identity])
                : .identity(identity.app, identity.identifier, identity.address)
        }
        return known + managers.map { .manager($0) }
    }
}
