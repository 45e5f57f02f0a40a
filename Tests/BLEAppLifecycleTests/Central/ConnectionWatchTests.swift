import BLEPackets
import TestSupport
import Testing

@testable import BLEAppLifecycle
@testable import BLEHost

@Suite("Services of connection events")
struct ConnectionWatchTests {
    /// The life of apps without an engine.
    private final class Life {
        private var apps: AppLifecycle
        private(set) var logs: [LogMessage] = []
        private var lastOperation: UInt64 = 0

        init(_ settings: LifecycleSettings = LifecycleSettings()) {
            apps = AppLifecycle(settings: settings, seed: [UInt8](repeating: 1, count: 32))
            apps.receive(.ready(ControllerInformation()), at: .zero)
            drain()
        }

        func ask(_ request: ClientRequest, _ app: String, _ manager: UInt32 = 1) {
            apps.receive(request, from: ManagerID(rawValue: manager), of: AppID(rawValue: app), at: .zero)
            drain()
        }

        func register(_ services: [BluetoothUUID], _ app: String, _ manager: UInt32 = 1) {
            let filter = ConnectionEventFilter(services: services)
            ask(.central(.registerForConnectionEvents(filter)), app, manager)
        }

        /// The services that are looked for when a link is new, besides Generic Attribute; `nil`: none.
        func sought(on handle: UInt16) -> [BluetoothUUID]? {
            let link = LinkID(handle: ConnectionHandle(rawValue: handle), generation: 1)
            apps.receive(.connected(Alone.link(link), ClientID(rawValue: 1)), at: .zero)
            var sought: [BluetoothUUID]?
            for command in drain() {
                guard case .link(_, .gatt(.discoverServices(let uuids))) = command else { continue }
                if uuids != [BluetoothUUID(UInt16(0x1801))] { sought = uuids }
            }
            return sought
        }

        @discardableResult
        private func drain() -> [HostCommand] {
            var commands: [HostCommand] = []
            while let output = apps.nextOutput() {
                switch output {
                case .submit(let command, _, let token):
                    lastOperation += 1
                    commands.append(command)
                    apps.submitted(token, as: OperationID(rawValue: lastOperation))
                case .log(let message, _): logs.append(message)
                default: break
                }
            }
            return commands
        }
    }

    private let kind = "services of connection events"

    private func services(_ numbers: Range<UInt16>) -> [BluetoothUUID] { numbers.map { BluetoothUUID(0xF000 + $0) } }

    @Test("each is looked for once on a new link, in the order of the managers, and not again (SPEC 2.3)")
    func onceEach() {
        let life = Life()
        life.ask(.createCentral(ManagerOptions()), "one")
        life.ask(.createCentral(ManagerOptions()), "two")
        #expect(life.sought(on: 1) == nil)
        life.register(services(10..<40), "two")
        life.register(services(20..<50), "one")
        #expect(life.sought(on: 2) == services(20..<50) + services(10..<20))
        #expect(life.sought(on: 2) == nil)
        #expect(life.logs.isEmpty)
    }

    @Test("one app has so many in all its managers; a registration for more changes nothing")
    func limitOfApp() {
        var settings = LifecycleSettings()
        settings.watchedServicesOfApp = 4
        let life = Life(settings)
        life.ask(.createCentral(ManagerOptions()), "one", 1)
        life.ask(.createCentral(ManagerOptions()), "one", 2)
        life.register(services(0..<3), "one", 1)
        life.register(services(3..<4), "one", 2)
        #expect(life.logs.isEmpty)
        life.register(services(3..<6), "one", 2)
        #expect(life.logs == [.appLimitReached(kind, limit: 4)])
        #expect(life.sought(on: 1) == services(0..<4))
        // A registration takes the place of the manager's own.
        life.ask(.central(.registerForConnectionEvents(nil)), "one", 1)
        life.register(services(5..<9), "one", 2)
        #expect(life.sought(on: 2) == services(5..<9))
        #expect(life.logs.count == 1)
    }

    @Test("all apps together have so many; when others have them, an app still has a few")
    func limitOfAll() {
        var settings = LifecycleSettings()
        (settings.watchedServicesOfApp, settings.watchedServices) = (16, 20)
        let life = Life(settings)
        for app in ["one", "two", "three"] { life.ask(.createCentral(ManagerOptions()), app) }
        life.register(services(0..<16), "one")
        life.register(services(16..<20), "two")
        #expect(life.logs.isEmpty)
        life.register(services(20..<23), "three")
        #expect(life.logs == [.sharedLimitReached(kind)])
        life.register(services(20..<22), "three")
        #expect(life.logs.count == 1)
        #expect(life.sought(on: 1) == services(0..<22))
    }

    @Test("one of many is found on a link whose app discovers nothing (SPEC 2.3)")
    func foundAmongMany() throws {
        let world = World()
        let station = AppStation(world)
        world.air.addPeripheral(Profiles.belt())
        let one = TestApp(station, "org.example.one").central()
        let two = TestApp(station, "org.example.two").central()
        two.ask(.registerForConnectionEvents(ConnectionEventFilter(services: services(0..<20) + [Profiles.heartRate])))
        let peer = try #require(one.discover([Profiles.heartRate]))
        #expect(one.connect(peer))
        #expect(two.wait { if case .connectionEvent(_, isConnected: true) = $0 { true } else { false } })
    }

    @Test("a peer that claims other services each time it is asked fills no memory")
    func claimedServices() {
        var links = SharedLinks()
        var effects = ManagerEffects()
        links.record(Alone.link(), watched: nil, into: &effects)
        for round in 0..<20 as Range<UInt16> {
            links.recordServices(services(100 * round..<100 * round + 100), on: Alone.link)
        }
        #expect(links[Alone.link]?.services.count == SharedLinks.serviceLimit)
        #expect(links[Alone.link]?.services.isSuperset(of: services(0..<1000)) == true)
    }
}
