import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("Order of signals and replies")
struct OrderTests {
    private let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 1)

    @Test(
        "StartDiscovery: reply, Discovering, the device; StopDiscovery: reply, what was received is taken back, Discovering"
    )
    func discovery() {
        var driver = ServiceDriver.ready()
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery")
        driver.hears()
        #expect(driver.story == ["reply", "Discovering", "+" + ServiceDriver.device])
        driver.effects = []
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StopDiscovery")
        #expect(driver.story == ["reply", "!RSSI", "Discovering"])
    }

    @Test("With a filter each report is told, without one a change of 8 dB")
    func reports() {
        var driver = ServiceDriver.ready()
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery")
        driver.hears(rssi: -50)
        driver.effects = []
        driver.hears(rssi: -57)
        #expect(driver.story.isEmpty)
        driver.hears(rssi: -58)
        #expect(driver.story == ["RSSI"])
        let filter = BusValue.properties([("Transport", .string("le"))])
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "SetDiscoveryFilter", [filter])
        driver.effects = []
        driver.hears(rssi: -58)
        #expect(driver.story == ["RSSI"])
    }

    @Test("Connect: Connected, reply; the peer leaves: ServicesResolved need not be told, Connected is")
    func connection() {
        var driver = ServiceDriver.ready()
        driver.connect(link)
        #expect(driver.story.suffix(2) == ["Connected", "reply"])
        driver.effects = []
        driver.handle(.event(0, .disconnected(link, .local, reason: .controller(.remoteUserTerminatedConnection))))
        #expect(driver.story == ["Connected"])
    }

    @Test("The first agent makes the adapter pairable; without the last one it no longer is")
    func pairable() {
        var driver = ServiceDriver.ready()
        let agents = (ObjectPaths.root, InterfaceName.agentManager)
        driver.call(agents.0, agents.1, "RegisterAgent", [.path("/agent"), .string("")])
        #expect(driver.story == ["reply", "Pairable"])
        driver.call(agents.0, agents.1, "UnregisterAgent", [.path("/agent")])
        #expect(driver.story == ["reply", "Pairable", "reply", "Pairable"])
    }

    @Test("Disconnect during Connect: Connect fails as BlueZ's does, then Disconnect is answered")
    func abort() {
        var driver = ServiceDriver.ready()
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery")
        driver.hears()
        let connect = driver.call(ServiceDriver.device, InterfaceName.device, "Connect")
        let ticket = driver.lastCommand?.ticket
        let disconnect = driver.call(ServiceDriver.device, InterfaceName.device, "Disconnect")
        #expect(driver.error(of: connect) == .connectionAborted)
        #expect(!driver.isAnswered(disconnect))
        if let ticket { driver.handle(.completed(0, ticket, .failure(.cancelled))) }
        #expect(driver.isAnswered(disconnect) && driver.error(of: disconnect) == nil)
    }

    @Test("A connection that takes too long ends")
    func limit() {
        var driver = ServiceDriver.ready()
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery")
        driver.hears()
        let connect = driver.call(ServiceDriver.device, InterfaceName.device, "Connect")
        driver.wait(seconds: 19)
        #expect(!driver.isAnswered(connect))
        driver.wait(seconds: 2)
        #expect(driver.error(of: connect)?.text == "le-connection-timeout")
    }

    @Test("Devices that were only found vanish 30 s after they were seen, unless they are connected")
    func vanishing() {
        var driver = ServiceDriver.ready()
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery")
        driver.hears()
        driver.effects = []
        driver.wait(seconds: 29)
        #expect(driver.story.isEmpty)
        driver.wait(seconds: 2)
        #expect(driver.story == ["-" + ServiceDriver.device])
        driver.connect(link)
        driver.wait(seconds: 300)
        #expect(driver.service.devices[ServiceDriver.device] != nil)
    }

    @Test("Without room, those that were seen least recently go: new addresses without end hide no device")
    func flood() {
        var settings = BlueZSettings(hostName: "here")
        settings.temporaryDevices = 64
        var driver = ServiceDriver()
        driver.service = BlueZService(settings)
        driver.handle(.adapterReady(AdapterDescription(number: 0, information: ServiceDriver.information)))
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery")
        for number in 0..<5_000 as Range<UInt64> {
            driver.now = driver.now.advanced(by: .milliseconds(1))
            driver.hears(DeviceAddress(value: 0xC100_0000_0000 | number, kind: .random))
            if number % 20 == 0 { driver.hears() }
        }
        #expect(driver.story.count { $0 == "+" + ServiceDriver.device } == 1)
        #expect(driver.service.devices[ServiceDriver.device] != nil && driver.service.devices.count <= 64)
        #expect(driver.service.adapters[0]?.paths.count == driver.service.devices.count)
    }

    @Test("Pair whose link ends: Connected, then AuthenticationCanceled")
    func pairing() {
        var driver = ServiceDriver.ready()
        driver.connect(link)
        let pair = driver.call(ServiceDriver.device, InterfaceName.device, "Pair")
        driver.effects.removeAll {
            if case .signal = $0 { true } else { false }
        }
        driver.complete(.failure(.linkLost(.controller(.remoteUserTerminatedConnection))))
        #expect(!driver.isAnswered(pair))
        driver.handle(.event(0, .disconnected(link, .local, reason: .controller(.remoteUserTerminatedConnection))))
        #expect(driver.error(of: pair) == .authenticationCanceled)
        #expect(driver.story.suffix(2) == ["Connected", "org.bluez.Error.AuthenticationCanceled"])
    }

    @Test("A client that leaves ends its discovery, and is watched only while it wants something")
    func leaving() {
        var driver = ServiceDriver.ready()
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery")
        #expect(driver.effects.contains(.watch(ServiceDriver.client)))
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StopDiscovery")
        #expect(driver.effects.contains(.unwatch(ServiceDriver.client)))
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery")
        driver.effects = []
        driver.handle(.clientLeft(ServiceDriver.client))
        #expect(driver.story == ["Discovering"])
    }
}
