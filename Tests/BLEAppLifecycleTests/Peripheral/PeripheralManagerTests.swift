import BLEPackets
import Testing

@testable import BLEAppLifecycle
@testable import BLEHost

@Suite("A peripheral manager alone")
struct PeripheralManagerTests {
    private var alone = Alone()
    private var manager = PeripheralManager(client: Alone.client, app: Alone.app)
    private let central = CentralDescription(identifier: Alone.peer, maximumUpdateLength: 20)

    private mutating func ask(_ request: PeripheralManagerRequest, _ permissions: ManagerPermissions = Alone.foreground)
    {
        manager.perform(request, to: nil, permissions, into: &alone.effects)
    }

    private static func service(_ number: UInt32, including others: [UInt32] = []) -> LocalService {
        LocalService(
            id: Profiles.id(number), uuid: Profiles.lock, includedServices: others.map { Profiles.id($0) },
            characteristics: [
                LocalCharacteristic(
                    id: Profiles.id(number + 1), uuid: Profiles.lockState, properties: 0x1A, permissions: 0x03)
            ])
    }

    private static func published(at handle: UInt16) -> Result<GATTPublishedService, HostFailure> {
        let value = AttributeHandle(rawValue: handle + 2)
        return .success(
            GATTPublishedService(
                uuid: Profiles.lock, isPrimary: true,
                range: AttributeHandleRange(AttributeHandle(rawValue: handle), value),
                characteristics: [
                    GATTPublishedCharacteristic(
                        uuid: Profiles.lockState, declaration: AttributeHandle(rawValue: handle + 1),
                        valueHandle: value, configuration: AttributeHandle(rawValue: 0), descriptors: [])
                ], owner: Alone.client))
    }

    private mutating func publish() {
        ask(.addService(Self.service(1)))
        manager.published(Profiles.id(1), Self.published(at: 40), Alone.foreground, into: &alone.effects)
        _ = alone.wanted()
    }

    @Test("services are published one after another, and removed in the opposite order")
    mutating func services() {
        ask(.addService(Self.service(1)))
        ask(.addService(Self.service(10, including: [1])))
        ask(.addService(Self.service(20, including: [77])))
        var wanted = alone.wanted()
        #expect(wanted.commands.count == 1)
        #expect(wanted.events == [.serviceAdded(Profiles.id(20), .coreBluetooth(.invalidParameters))])
        manager.published(Profiles.id(1), Self.published(at: 40), Alone.foreground, into: &alone.effects)
        wanted = alone.wanted()
        guard case .server(.publish(let definition))? = wanted.commands.first else {
            Issue.record("the next is not published")
            return
        }
        #expect(definition.includedServices == [AttributeHandle(rawValue: 40)])
        manager.published(Profiles.id(10), Self.published(at: 50), Alone.foreground, into: &alone.effects)
        ask(.removeService(Profiles.id(1)))
        #expect(alone.wanted().logs == [.unknownAttribute])
        ask(.removeAllServices)
        #expect(
            alone.wanted().commands
                == [
                    .server(.removeService(AttributeHandle(rawValue: 50))),
                    .server(.removeService(AttributeHandle(rawValue: 40))),
                ])
    }

    @Test("a service removed while it is being published is removed once it is there")
    mutating func removedOnItsWay() {
        ask(.addService(Self.service(1)))
        ask(.removeService(Profiles.id(1)))
        _ = alone.wanted()
        manager.published(Profiles.id(1), Self.published(at: 40), Alone.foreground, into: &alone.effects)
        #expect(alone.wanted().commands == [.server(.removeService(AttributeHandle(rawValue: 40)))])
    }

    @Test("each start of advertising is answered once, the first before the others; other managers' advertising counts")
    mutating func advertising() {
        let content = AdvertisementRequest(localName: "Door")
        for _ in 0..<2 { ask(.startAdvertising(content)) }
        #expect(alone.wanted().events.isEmpty)
        manager.advertisingStarted(into: &alone.effects)
        manager.advertisingStarted(into: &alone.effects)
        #expect(
            alone.wanted().events
                == [.advertisingStarted(nil), .advertisingStarted(.coreBluetooth(.alreadyAdvertising))])
        ask(.stopAdvertising)
        _ = alone.wanted()
        var permissions = Alone.foreground
        permissions.isAdvertising = true
        ask(.startAdvertising(content), permissions)
        #expect(alone.wanted().events == [.advertisingStarted(nil)])
    }

    @Test("without the background mode its services are closed while its app is in the background")
    mutating func disabled() {
        manager.converge(
            ManagerPermissions(state: .poweredOn, place: .background(hasMode: false)), into: &alone.effects)
        #expect(alone.wanted().commands == [.server(.disableServices(.unlikelyError))])
        manager.converge(Alone.foreground, into: &alone.effects)
        manager.converge(Alone.foreground, into: &alone.effects)
        #expect(alone.wanted().commands == [.server(.disableServices(nil))])
    }

    @Test("a question is answered once: by the app, by the engine, or for a process that is gone")
    mutating func questions() {
        publish()
        func question(_ number: UInt64, _ handle: UInt16 = 42) -> GATTReadRequest {
            GATTReadRequest(
                id: GATTRequestID(rawValue: number), link: Alone.link, handle: AttributeHandle(rawValue: handle),
                offset: 0, owner: Alone.client)
        }
        for number in 1...3 { manager.read(question(UInt64(number)), by: central, into: &alone.effects) }
        manager.read(question(4, 99), by: central, into: &alone.effects)
        var wanted = alone.wanted()
        #expect(wanted.events.count == 3)
        #expect(wanted.commands == [.server(.respond(GATTRequestID(rawValue: 4), .failure(.unlikelyError)))])
        for _ in 0..<2 { ask(.respond(ATTRequestID(rawValue: 1), code: 0, value: [5])) }
        wanted = alone.wanted()
        #expect(wanted.commands == [.server(.respond(GATTRequestID(rawValue: 1), .value([5])))])
        #expect(wanted.logs == [.requestAlreadyAnswered])
        let isExpired = (1...2).map { _ in manager.expired(GATTRequestID(rawValue: 2), into: &alone.effects) }
        #expect(isExpired == [true, false])
        _ = alone.wanted()
        manager.processEnded(isWaiting: { _ in false }, into: &alone.effects)
        #expect(alone.wanted().commands == [.server(.respond(GATTRequestID(rawValue: 3), .failure(.unlikelyError)))])
    }

    @Test("an app whose value was refused is told once that there is room again")
    mutating func room() {
        let query = QueryID(rawValue: 3)
        manager.updated(query, .success(false), into: &alone.effects)
        for _ in 0..<2 { manager.readyToUpdate(into: &alone.effects) }
        #expect(alone.wanted().events == [.updateQueued(query, false), .readyToUpdateSubscribers])
    }

    @Test("a subscription in another mode is the same subscription; it ends with its link or its service")
    mutating func subscriptions() {
        publish()
        let subscription = GATTSubscription(
            link: Alone.link, handle: AttributeHandle(rawValue: 42), modes: .notifications, maximumUpdateLength: 20,
            owner: Alone.client)
        #expect(manager.isNew(subscription))
        manager.subscribed(subscription, by: Alone.peer, at: Alone.address, into: &alone.effects)
        #expect(alone.wanted().events == [.subscribed(central, characteristic: Profiles.id(2))])
        #expect(!manager.isNew(subscription) && manager.known(subscription) != nil)
        manager.centralGone(Alone.link)
        #expect(manager.isNew(subscription))
    }
}
