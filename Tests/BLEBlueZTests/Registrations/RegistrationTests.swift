import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("What clients register")
struct RegistrationTests {
    private static let monitor = (InterfaceName.monitorManager, "RegisterMonitor")
    private static let application = (InterfaceName.gattManager, "RegisterApplication")

    private func register(
        _ driver: inout ServiceDriver, _ kind: (String, String), _ path: String, _ client: String, user: UInt32
    ) -> BusError? {
        let options: [BusValue] = kind == Self.monitor ? [] : [.properties([])]
        let call = driver.call(
            ServiceDriver.adapter, kind.0, kind.1, [.path(path)] + options, from: client, user: user)
        return driver.error(of: call)
    }

    @Test("One client, and one user with many clients, leave room for others", arguments: [monitor, application])
    func limits(kind: (String, String)) {
        var driver = ServiceDriver.ready()
        var taken = 0
        for client in 0..<40 {
            for number in 0..<20
            where register(&driver, kind, "/a\(number)", ":1.\(client)", user: 1000) == nil { taken += 1 }
            if client == 0 { #expect(taken == 16) }
        }
        #expect(taken == 32)
        #expect(register(&driver, kind, "/a", ":2.1", user: 1001) == nil)
        // The owner of the machine could take everything anyhow.
        for client in 0..<4 {
            for number in 0..<16 { _ = register(&driver, kind, "/r\(number)", ":3.\(client)", user: 0) }
        }
        #expect(register(&driver, kind, "/a", ":2.2", user: 1001) != nil)
        for client in 0..<40 { driver.handle(.clientLeft(":1.\(client)")) }
        #expect(register(&driver, kind, "/a", ":2.2", user: 1001) == nil)
    }

    @Test("Calls and sessions of one user have a limit over all of its clients")
    func user() {
        var driver = ServiceDriver.ready()
        var refused = 0
        for client in 0..<600 {
            let call = driver.call(
                ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery", from: ":1.\(client)", user: 1000)
            if driver.error(of: call) == .tooManyWishes { refused += 1 }
        }
        #expect(refused == 88)
        let other = driver.call(
            ServiceDriver.adapter, InterfaceName.adapter, "StartDiscovery", from: ":2.1", user: 1001)
        #expect(driver.error(of: other) == nil)
    }

    // MARK: Advertisements

    private func advertise(
        _ driver: inout ServiceDriver, _ path: String, seconds: UInt16 = 0, user: UInt32 = 0
    ) -> CallID {
        let call = driver.call(
            ServiceDriver.adapter, InterfaceName.advertisingManager, "RegisterAdvertisement",
            [.path(path), .properties([])], user: user)
        driver.answer(
            .success([
                .properties([
                    ("Type", .string("peripheral")), ("LocalName", .string(path)), ("Duration", .uint16(seconds)),
                ])
            ]))
        return call
    }

    private func onAir(_ driver: ServiceDriver) -> [String] {
        driver.service.advertisements.filter { $0.ticket != nil }.map(\.path)
    }

    @Test("Without advertising sets, several take turns on the one that there is, each as long as it wants")
    func turns() {
        var driver = ServiceDriver.ready()
        let first = advertise(&driver, "/a")
        let second = advertise(&driver, "/b", seconds: 5)
        #expect(!driver.isAnswered(first) && !driver.isAnswered(second))
        driver.handle(.event(0, .advertisingChanged(isAdvertising: true)))
        #expect(driver.isAnswered(first) && driver.isAnswered(second) && onAir(driver) == ["/a"])
        driver.effects = []
        driver.wait(seconds: 2)
        #expect(onAir(driver) == ["/b"])
        driver.wait(seconds: 4)
        #expect(onAir(driver) == ["/b"])
        driver.wait(seconds: 1)
        #expect(onAir(driver) == ["/a"])
        let changes = driver.effects.compactMap {
            if case .changeSet(_, _, let set) = $0 { set.scanResponse } else { nil }
        }
        #expect(changes == [[3, 9, 0x2F, 0x62], [3, 9, 0x2F, 0x61]])
        // One that ends gives its turn away, and the last one stays without turns.
        driver.call(
            ServiceDriver.adapter, InterfaceName.advertisingManager, "UnregisterAdvertisement", [.path("/a")])
        #expect(onAir(driver) == ["/b"])
        driver.effects = []
        driver.wait(seconds: 100)
        #expect(driver.service.adapters[0]?.turnEnd == nil)
        #expect(!driver.effects.contains { if case .changeSet = $0 { true } else { false } })
    }

    @Test("The turns end with the adapter's power, and begin again with it; one user cannot have all of them")
    func power() {
        var driver = ServiceDriver.ready()
        for path in ["/a", "/b", "/c", "/d", "/e"] {
            let call = advertise(&driver, path, user: 1000)
            if let ticket = driver.lastCommand?.ticket {
                driver.handle(.advertisingSet(ticket, .started(transmitPower: 0)))
            }
            #expect(driver.error(of: call) == (path == "/e" ? Advertisement.isFull : nil))
        }
        func set(_ isOn: Bool) {
            driver.call(
                ServiceDriver.adapter, InterfaceName.properties, "Set",
                [.string(InterfaceName.adapter), .string("Powered"), .variant(.boolean(isOn))])
        }
        set(false)
        driver.effects = []
        driver.wait(seconds: 10)
        #expect(onAir(driver).isEmpty)
        set(true)
        #expect(onAir(driver) == ["/a"])
        driver.wait(seconds: 2)
        #expect(onAir(driver) == ["/b"])
    }
}
