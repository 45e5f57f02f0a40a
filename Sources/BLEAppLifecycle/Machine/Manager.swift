import BLEHost
import BLEPackets

/// One manager of an app, or what the system keeps of one whose app does not run.
struct Manager {
    /// By which the engine knows it.
    let client: ClientID
    /// Index of its app.
    let app: Int
    let role: ManagerRole
    /// `nil` while no process holds it.
    var id: ManagerID?
    /// `nil` for one that is not preserved.
    var restoreIdentifier: String?
    var options = ManagerOptions()
    /// What the app knows, or will know when its events reach it.
    var toldState: ManagerState?
    var queue: ClientEventQueue
    /// How many events, and octets of them, its app may still be told before it has handled others.
    var room: (events: Int, octets: Int)
    /// Whether indications for it are left unconfirmed.
    var holdsIndications = false
    /// What it was at when its app ended.
    var snapshot: PreservedManager?
    /// What the journal says of it.
    var journaled: PreservedManager?
    var central = CentralState()
    var server = ServerState()
    /// Open L2CAP channels, in the order in which they came.
    var channels: [OpenChannel] = []

    /// Whether its app may be told something now.
    var hasRoom: Bool { room.events > 0 && room.octets > 0 }
}

/// What a central manager is at.
struct CentralState {
    var scan: ScanOptions?
    /// The scan as the engine was given it.
    var runningScan: (token: CommandToken, request: ScanRequest)?
    /// Those that it holds or waits for, in the order in which it asked.
    var peripherals: [PeripheralSession] = []
    var connectionEvents: ConnectionEventFilter?

    func index(of identifier: PeerIdentifier) -> Int? { peripherals.firstIndex { $0.identifier == identifier } }
}

/// A remote peripheral that one central manager holds or waits for.
struct PeripheralSession {
    enum State: Equatable {
        /// - Parameters:
        ///   - token: `nil` where the engine has not been asked yet.
        ///   - notBefore: the end of a start delay.
        case connecting(CommandToken?, notBefore: Instant?)
        case connected(LinkID)
    }

    let identifier: PeerIdentifier
    var address: DeviceAddress
    var options: ConnectOptions
    var state: State
    /// What was discovered: `nil` where nobody asked.
    var services: [RemoteService]?
    /// Services that were found as included ones alone.
    var includedServices: [RemoteService] = []
    /// Calls to `setNotify` that are not answered, oldest first; the first of each characteristic is being carried out.
    var notifyCalls: [(characteristic: RemoteAttributeID, isOn: Bool)] = []
    var attMTU = 23

    var link: LinkID? { if case .connected(let link) = state { link } else { nil } }
    var writeLimits: WriteLimits { WriteLimits(withResponse: 512, withoutResponse: min(attMTU - 3, 512)) }

    mutating func forgetDatabase() {
        services = nil
        includedServices = []
        notifyCalls = []
    }

    func service(_ id: RemoteAttributeID) -> RemoteService? {
        services?.first { $0.id == id } ?? includedServices.first { $0.id == id }
    }

    mutating func changeService(_ id: RemoteAttributeID, _ change: (inout RemoteService) -> Void) {
        if let index = services?.firstIndex(where: { $0.id == id }) {
            if var service = services?[index] {
                change(&service)
                services?[index] = service
            }
        } else if let index = includedServices.firstIndex(where: { $0.id == id }) {
            change(&includedServices[index])
        }
    }

    /// The first characteristic for which `isWanted` holds.
    func characteristic(where isWanted: (RemoteCharacteristic) -> Bool) -> RemoteCharacteristic? {
        for service in (services ?? []) + includedServices {
            if let found = service.characteristics?.first(where: isWanted) { return found }
        }
        return nil
    }

    mutating func changeCharacteristic(_ id: RemoteAttributeID, _ change: (inout RemoteCharacteristic) -> Void) {
        var listed = services ?? []
        Self.change(id, in: &listed, change)
        if services != nil { services = listed }
        Self.change(id, in: &includedServices, change)
    }

    private static func change(
        _ id: RemoteAttributeID, in services: inout [RemoteService], _ change: (inout RemoteCharacteristic) -> Void
    ) {
        for service in services.indices {
            guard var characteristics = services[service].characteristics,
                let index = characteristics.firstIndex(where: { $0.id == id })
            else { continue }
            change(&characteristics[index])
            services[service].characteristics = characteristics
        }
    }

    func descriptor(_ id: RemoteAttributeID) -> RemoteDescriptor? {
        characteristic { $0.descriptors?.contains { $0.id == id } ?? false }?.descriptors?.first { $0.id == id }
    }
}

/// What a peripheral manager is at.
struct ServerState {
    struct Service {
        var definition: LocalService
        /// While it is being published.
        var token: CommandToken?
        var published: GATTPublishedService?
        /// Whether the app has heard what became of it.
        var isTold = false
    }

    struct Subscriber: Equatable {
        var link: LinkID
        var address: DeviceAddress
        var characteristic: LocalAttributeID
        var maximumUpdateLength: Int
    }

    struct Question {
        var id: GATTRequestID
        var isRead: Bool
    }

    /// In the order in which they were added.
    var services: [Service] = []
    var advertisement: AdvertisementRequest?
    /// The advertisement as the engine was given it.
    var runningAdvertisement: (token: CommandToken, request: AdvertiseRequest)?
    /// Whether the app waits to hear what became of `startAdvertising`.
    var owesStart = false
    /// Further calls of `startAdvertising` that are refused once the first is answered.
    var refusedStarts = 0
    var subscribers: [Subscriber] = []
    /// What the app is to answer, oldest first.
    var questions: [Question] = []
    /// Whether an update was refused.
    var owesReadiness = false
    /// Whether the engine refuses access to the services.
    var isDisabled = false
    /// Numbers under which channels are offered.
    var listening: [UInt16] = []

    func characteristic(with valueHandle: AttributeHandle) -> LocalAttributeID? {
        for service in services {
            guard let index = service.published?.characteristics.firstIndex(where: { $0.valueHandle == valueHandle }),
                index < service.definition.characteristics.count
            else { continue }
            return service.definition.characteristics[index].id
        }
        return nil
    }

    func valueHandle(of characteristic: LocalAttributeID) -> AttributeHandle? {
        for service in services {
            guard let index = service.definition.characteristics.firstIndex(where: { $0.id == characteristic }),
                let published = service.published, index < published.characteristics.count
            else { continue }
            return published.characteristics[index].valueHandle
        }
        return nil
    }

    func handle(ofService id: LocalAttributeID) -> AttributeHandle? {
        services.first { $0.definition.id == id }?.published?.range.first
    }
}

/// A link, as far as all apps share it.
struct SharedLink {
    let id: LinkID
    var address: DeviceAddress
    let role: LinkRole
    var attMTU: Int
    /// What anybody discovered on it.
    var services: [BluetoothUUID] = []
    var takesWriteCommands = true
    /// The value of Service Changed, once it has been found.
    var serviceChanged: AttributeHandle?
    /// Managers that have heard of this connection as an event.
    var observers: [ClientID] = []
}
