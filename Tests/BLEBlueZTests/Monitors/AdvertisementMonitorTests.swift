import Testing

@testable import BLEBlueZ

@Suite("Monitors of advertisements")
struct AdvertisementMonitorTests {
    private func monitor(_ type: UInt8, _ offset: UInt8, _ octets: [UInt8]) -> AdvertisementMonitor? {
        AdvertisementMonitor(
            path: "/m",
            [
                "Type": .string("or_patterns"),
                "Patterns": .array(
                    of: "(yyay)", [.structure([.byte(offset), .byte(type), .octets(octets)])]),
            ])
    }

    @Test("A pattern is looked for at its place in structures of its type, and nowhere else")
    func patterns() throws {
        let monitor = try #require(self.monitor(0xFF, 1, [2, 3]))
        #expect(monitor.matches([2, 1, 6, 4, 0xFF, 1, 2, 3], []))
        #expect(monitor.matches([], [5, 0xFF, 9, 2, 3, 4]))
        #expect(!monitor.matches([4, 0xFF, 2, 3, 0], []))
        #expect(!monitor.matches([4, 0x16, 1, 2, 3], []))
        #expect(!monitor.matches([3, 0xFF, 1, 2], []))
        #expect(!monitor.matches([9, 0xFF, 1, 2, 3], []), "a structure that is cut off")
    }

    @Test("Monitors without patterns, of other types and with contradictory thresholds are refused")
    func refusals() {
        #expect(monitor(0xFF, 0, []) == nil)
        #expect(AdvertisementMonitor(path: "/m", ["Type": .string("or_patterns")]) == nil)
        #expect(AdvertisementMonitor(path: "/m", [:]) == nil)
        let patterns = BusValue.array(of: "(yyay)", [.structure([.byte(0), .byte(1), .octets([6])])])
        #expect(
            AdvertisementMonitor(
                path: "/m",
                [
                    "Type": .string("or_patterns"), "Patterns": patterns, "RSSIHighThreshold": .int16(-80),
                    "RSSILowThreshold": .int16(-70),
                ]) == nil)
    }

    @Test("A monitor that its client adds before it has shown the others counts, and one scan is passive")
    func earlyMonitor() {
        var driver = ServiceDriver.ready()
        driver.call(ServiceDriver.adapter, InterfaceName.monitorManager, "RegisterMonitor", [.path("/m")])
        let properties: [(name: String, value: BusValue)] = [
            ("Type", .string("or_patterns")),
            ("Patterns", .array(of: "(yyay)", [.structure([.byte(0), .byte(1), .octets([6])])])),
        ]
        let interfaces = BusValue.dictionary(
            of: "sa{sv}", [.init(.string(InterfaceName.monitor), .properties(properties))])
        driver.handle(
            .signalled(
                ServiceDriver.client,
                BusSignal(
                    path: "/m", interface: InterfaceName.objectManager, member: "InterfacesAdded",
                    arguments: [.path("/m"), interfaces])))
        guard case .radio(.scan(let request))? = driver.lastCommand?.command else {
            Issue.record("there is no scan")
            return
        }
        #expect(!request.isActive)
        driver.effects = []
        driver.hears()
        #expect(driver.story == ["+" + ServiceDriver.device])
        let told = driver.effects.contains {
            if case .tell(let request) = $0 { request.member == "DeviceFound" } else { false }
        }
        #expect(told)
    }

    @Test("a client with very many monitors leaves room for those of others")
    func room() {
        var driver = ServiceDriver.ready()
        func register(_ number: Int, from client: String, in driver: inout ServiceDriver) -> BusError? {
            let call = driver.call(
                ServiceDriver.adapter, InterfaceName.monitorManager, "RegisterMonitor", [.path("/m\(number)")],
                from: client)
            return driver.error(of: call)
        }
        let refused = (0..<100).filter { register($0, from: ":1.1", in: &driver) != nil }
        #expect(refused == Array(16..<100))
        #expect(register(0, from: ":1.2", in: &driver) == nil)
    }
}
