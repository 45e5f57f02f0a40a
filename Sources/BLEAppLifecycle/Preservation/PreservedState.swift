import BLEPackets

/// The state of one manager, preserved for the next launch of its app (SPEC SPR-4, SPR-11).
public struct PreservedManager: Hashable, Codable, Sendable {
    /// A remote peripheral that is connected or connecting.
    public struct Peripheral: Hashable, Codable, Sendable {
        /// The app's identifier of the device.
        public var identifier: PeerIdentifier
        /// The address for connecting again; the identity address, if known.
        public var address: DeviceAddress
        /// The options of the connection.
        public var options: ConnectOptions
        /// Whether the manager was connected.
        public var isConnected: Bool
        /// The discovered services; `nil` before discovery.
        public var services: [RemoteService]?
        /// `true` if the link has ended since, because the user turned Bluetooth off: it is not made again.
        public var isOver: Bool?
    }

    /// The app of the manager.
    public var app: AppID
    /// The role of the manager.
    public var role: ManagerRole
    /// The name under which it is preserved.
    public var restoreIdentifier: String
    /// The scan; `nil` if there is none.
    public var scan: ScanOptions?
    /// In the order of the app's requests.
    public var peripherals: [Peripheral] = []
    /// In the order in which they were published.
    public var services: [LocalService] = []
    /// The advertising; `nil` if there is none.
    public var advertisement: AdvertisementRequest?
    /// The centrals that are subscribed to its characteristics.
    public var subscriptions: [RestoredPeripheral.Subscription] = []
    /// What the app has said about the overflow area of its advertisements; `nil`: nothing.
    public var overflow: OverflowSetting?

    init(app: AppID, role: ManagerRole, restoreIdentifier: String) {
        self.app = app
        self.role = role
        self.restoreIdentifier = restoreIdentifier
    }

    /// Whether the system has anything to continue for the manager (SPEC SPR-7, SPR-31).
    public var hasTasks: Bool {
        scan != nil || peripherals.contains { $0.isOver != true } || !services.isEmpty || advertisement != nil
    }

    func isSame(_ app: AppID, _ role: ManagerRole, _ identifier: String) -> Bool {
        self.app == app && self.role == role && restoreIdentifier == identifier
    }
}

/// A line of the journal: a change that must survive this process.
public enum JournalEntry: Hashable, Codable, Sendable {
    /// The current state of a manager; replaces its earlier entry.
    case manager(PreservedManager)
    /// A manager is no longer preserved.
    case managerRemoved(AppID, ManagerRole, restoreIdentifier: String)
    /// An app knows a device by an identifier (SPEC REC-3).
    case identity(AppID, PeerIdentifier, DeviceAddress)
    /// Identifiers of devices, usually of those that were only discovered.
    case identities([PreservedState.Identity])
    /// Identifiers of devices that were forgotten.
    case identitiesForgotten([PreservedState.Name])
}

/// Everything that survives the process: read from the journal and passed to the next `AppLifecycle`.
public struct PreservedState: Hashable, Sendable {
    /// One app's identifier of one device.
    public struct Identity: Hashable, Codable, Sendable {
        /// The app.
        public var app: AppID
        /// The app's identifier of the device.
        public var identifier: PeerIdentifier
        /// The device.
        public var address: DeviceAddress
        /// `true` if the app has only discovered the device: such devices are forgotten first.
        public var isOnlyHeard: Bool?

        fileprivate var name: Name { Name(app: app, identifier: identifier) }
    }

    /// The app's identifier of a device, without the device.
    public struct Name: Hashable, Codable, Sendable {
        /// The app.
        public var app: AppID
        /// The app's identifier of the device.
        public var identifier: PeerIdentifier
    }

    /// In the order in which they were first preserved.
    public private(set) var managers: [PreservedManager] = []
    /// In their order; a later entry of an identifier replaces the earlier one in place.
    public private(set) var identities: [Identity] = []

    public init() {}

    /// Applies a line of the journal; call it for all lines in order.
    public mutating func apply(_ entry: JournalEntry) {
        switch entry {
        case .manager(let manager):
            let index = managers.firstIndex { $0.isSame(manager.app, manager.role, manager.restoreIdentifier) }
            if let index { managers[index] = manager } else { managers.append(manager) }
        case .managerRemoved(let app, let role, let identifier):
            managers.removeAll { $0.isSame(app, role, identifier) }
        case .identity(let app, let identifier, let address):
            insert(Identity(app: app, identifier: identifier, address: address))
        case .identities(let new): for identity in new { insert(identity) }
        case .identitiesForgotten(let names):
            let names = Set(names)
            identities.removeAll { names.contains($0.name) }
        }
    }

    private mutating func insert(_ identity: Identity) {
        if let place = identities.lastIndex(where: { $0.name == identity.name }) {
            identities[place] = identity
        } else {
            identities.append(identity)
        }
    }

    /// The entries of a journal with the same content and as few lines as possible.
    public var entries: [JournalEntry] {
        let known = identities.map { identity in
            identity.isOnlyHeard == true
                ? JournalEntry.identities([identity])
                : .identity(identity.app, identity.identifier, identity.address)
        }
        return known + managers.map { .manager($0) }
    }
}

extension PreservedState {
    /// The same state with other names of apps.
    /// - Parameter name: the new name; `nil`: what belongs to the app is left out.
    public func renamed(_ name: (AppID) -> AppID?) -> PreservedState {
        var renamed = self
        renamed.managers = managers.compactMap { $0.renamed(name) }
        renamed.identities = identities.compactMap { $0.renamed(name) }
        return renamed
    }
}

extension JournalEntry {
    /// The same change with other names of apps.
    public func renamed(_ name: (AppID) -> AppID) -> JournalEntry {
        switch self {
        case .manager(let manager): manager.renamed(name).map { .manager($0) } ?? self
        case .managerRemoved(let app, let role, let identifier):
            .managerRemoved(name(app), role, restoreIdentifier: identifier)
        case .identity(let app, let identifier, let address): .identity(name(app), identifier, address)
        case .identities(let identities): .identities(identities.compactMap { $0.renamed(name) })
        case .identitiesForgotten(let names):
            .identitiesForgotten(names.map { PreservedState.Name(app: name($0.app), identifier: $0.identifier) })
        }
    }
}

extension PreservedManager {
    fileprivate func renamed(_ name: (AppID) -> AppID?) -> PreservedManager? {
        name(app).map { app in
            var renamed = self
            renamed.app = app
            return renamed
        }
    }
}

extension PreservedState.Identity {
    fileprivate func renamed(_ name: (AppID) -> AppID?) -> PreservedState.Identity? {
        name(app).map { app in
            var renamed = self
            renamed.app = app
            return renamed
        }
    }
}
