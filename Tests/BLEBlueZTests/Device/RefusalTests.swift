import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("What the daemon refuses ends")
struct RefusalTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 1)

    @Test("The end of a link: Disconnect and RemoveDevice fail, the link goes on, and the next Disconnect ends it")
    func disconnection() {
        var driver = ServiceDriver.ready()
        driver.connect(Self.link)
        let first = driver.call(ServiceDriver.device, InterfaceName.device, "Disconnect")
        let ticket = driver.lastCommand?.ticket
        let second = driver.call(ServiceDriver.device, InterfaceName.device, "Disconnect")
        let removal = driver.call(
            ServiceDriver.adapter, InterfaceName.adapter, "RemoveDevice", [.path(ServiceDriver.device)])
        driver.effects = []
        if let ticket { driver.handle(.completed(0, ticket, .failure(.limitReached))) }
        for call in [first, second, removal] { #expect(driver.error(of: call)?.name == "org.bluez.Error.Failed") }
        #expect(driver.story.count == 3)
        #expect(driver.service.devices[ServiceDriver.device]?.connection == .connected(Self.link))
        let third = driver.call(ServiceDriver.device, InterfaceName.device, "Disconnect")
        #expect(driver.lastCommand?.command == .link(Self.link, .disconnect))
        driver.complete(.success(.done))
        driver.handle(.event(0, .disconnected(Self.link, .local, reason: .releasedByClient)))
        #expect(driver.isAnswered(third) && driver.error(of: third) == nil)
        #expect(driver.service.devices[ServiceDriver.device]?.connection == DeviceRoom.Connection.none)
    }

    @Test("A link that ends by itself meanwhile answers Disconnect once")
    func lost() {
        var driver = ServiceDriver.ready()
        driver.connect(Self.link)
        let call = driver.call(ServiceDriver.device, InterfaceName.device, "Disconnect")
        driver.effects.removeAll { if case .signal = $0 { true } else { false } }
        let ticket = driver.lastCommand?.ticket
        if let ticket { driver.handle(.completed(0, ticket, .failure(.notConnected))) }
        #expect(!driver.isAnswered(call))
        driver.handle(.event(0, .disconnected(Self.link, .local, reason: .controller(.connectionTimeout))))
        #expect(driver.error(of: call) == nil && driver.isAnswered(call))
    }

    @Test("The removal of a bond: RemoveDevice fails, the device stays")
    func bond() {
        var driver = ServiceDriver.ready()
        driver.call(ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery")
        driver.hears()
        driver.service.setBonded(true, ServiceDriver.device)
        let removal = driver.call(
            ServiceDriver.adapter, InterfaceName.adapter, "RemoveDevice", [.path(ServiceDriver.device)])
        driver.complete(.failure(.limitReached))
        #expect(driver.error(of: removal)?.name == "org.bluez.Error.Failed")
        #expect(driver.service.devices[ServiceDriver.device] != nil)
    }
}
