import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("Attributes of devices")
struct AttributeTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 1)
    private static let path = ServiceDriver.characteristic

    private func driver(_ properties: CharacteristicProperties) -> ServiceDriver {
        var driver = ServiceDriver.ready()
        driver.connect(Self.link, offering: properties)
        driver.effects = []
        return driver
    }

    @Test(
        "WriteValue: a part is a prepared write, commands have no offset, and the type chooses",
        arguments: [
            ([.write], [], .write(3, value: [1])),
            ([.write], [("offset", .uint16(2))], .writePart(3, offset: 2, value: [1], isReliable: false)),
            ([.write], [("type", .string("Reliable"))], .writePart(3, offset: 0, value: [1], isReliable: true)),
            (
                [.write], [("type", .string("reliable")), ("offset", .uint16(7))],
                .writePart(3, offset: 7, value: [1], isReliable: true)
            ),
            ([.writeWithoutResponse], [], .writeCommand(3, value: [1])),
            ([.writeWithoutResponse], [("offset", .uint16(1))], nil),
            ([.writeWithoutResponse], [("type", .string("request"))], .write(3, value: [1])),
            ([.write, .writeWithoutResponse], [("type", .string("command"))], .writeCommand(3, value: [1])),
            ([.authenticatedSignedWrites], [], .writeSigned(3, value: [1])),
            ([.read], [], nil),
            ([.write], [("type", .string("nonsense"))], nil),
        ] as [(CharacteristicProperties, [(name: String, value: BusValue)], GATTOperation?)])
    func writes(
        properties: CharacteristicProperties, options: [(name: String, value: BusValue)], expected: GATTOperation?
    ) {
        var driver = driver(properties)
        let call = driver.call(
            Self.path, InterfaceName.characteristic, "WriteValue", [.octets([1]), .properties(options)])
        #expect(driver.lastOperation == expected)
        #expect(driver.error(of: call) == (expected == nil ? .notSupported : nil))
    }

    @Test("ReadValue from an offset: what was known before it stays in Value")
    func reads() {
        var driver = driver([.read])
        func read(_ offset: UInt16, _ octets: [UInt8]) -> BusValue? {
            driver.call(
                Self.path, InterfaceName.characteristic, "ReadValue", [.properties([("offset", .uint16(offset))])])
            driver.complete(.success(.gatt(.value(octets))))
            return driver.service.tree.value(of: "Value", InterfaceName.characteristic, at: Self.path)
        }
        #expect(read(0, [1, 2, 3, 4]) == .octets([1, 2, 3, 4]))
        #expect(read(1, [7, 8]) == .octets([1, 7, 8, 4]))
        #expect(read(6, [9]) == .octets([1, 7, 8, 4, 0, 0, 9]))
    }

    @Test("An indication is confirmed when the bus has passed its signal on")
    func indications() {
        var driver = driver([.indicate])
        driver.call(Self.path, InterfaceName.characteristic, "StartNotify")
        #expect(driver.lastOperation == .subscribeConfirming(3, configuration: 4))
        driver.complete(.success(.gatt(.subscribed)))
        driver.effects = []
        let value = GATTNotification(handle: 3, value: [5], isIndication: true, clients: [.local])
        driver.handle(.event(0, .gatt(Self.link, .notification(value))))
        #expect(driver.story == ["Value"] && driver.requests.map(\.member) == ["GetId"])
        #expect(driver.lastOperation == nil)
        driver.answer(.success([.string("id")]))
        #expect(driver.lastOperation == .confirm(3))
    }

    @Test("Sessions of notifying go on at the next link, and end with their client, or where the peer refuses them")
    func sessions() {
        var driver = driver([.notify])
        driver.call(Self.path, InterfaceName.characteristic, "StartNotify")
        driver.complete(.success(.gatt(.subscribed)))
        driver.effects = []
        driver.handle(.event(0, .disconnected(Self.link, .local, reason: .controller(.connectionTimeout))))
        #expect(driver.story == ["ServicesResolved", "Connected"])
        // One begun without a link waits for it, too.
        let later = driver.call(Self.path, InterfaceName.characteristic, "StartNotify", from: ":1.2")
        #expect(driver.isAnswered(later) && driver.error(of: later) == nil)
        let next = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 2)
        driver.connect(next, offering: [.notify])
        #expect(driver.lastOperation == .subscribe(3, configuration: 4, mode: .notifications))
        driver.complete(.success(.gatt(.subscribed)))
        driver.effects = []
        let value = GATTNotification(handle: 3, value: [5], isIndication: false, clients: [.local])
        driver.handle(.event(0, .gatt(next, .notification(value))))
        #expect(driver.story == ["Value"])
        driver.handle(.clientLeft(ServiceDriver.client))
        #expect(driver.lastOperation == nil)
        driver.call(Self.path, InterfaceName.characteristic, "StopNotify", from: ":1.2")
        #expect(driver.lastOperation == .unsubscribe(3))
        #expect(driver.story == ["Value", "Notifying", "reply"])
    }

    @Test("A session that the peer refuses at the next link has ended")
    func refused() {
        var driver = driver([.notify])
        driver.call(Self.path, InterfaceName.characteristic, "StartNotify")
        driver.complete(.success(.gatt(.subscribed)))
        driver.handle(.event(0, .disconnected(Self.link, .local, reason: .controller(.connectionTimeout))))
        driver.connect(LinkID(handle: ConnectionHandle(rawValue: 1), generation: 2), offering: [.notify])
        driver.effects.removeAll { if case .signal = $0 { true } else { false } }
        driver.complete(.failure(.gatt(.att(.writeNotPermitted, handle: 4))))
        #expect(driver.story.last == "Notifying")
        #expect(driver.effects.contains(.unwatch(ServiceDriver.client)))
        let stop = driver.call(Self.path, InterfaceName.characteristic, "StopNotify")
        #expect(driver.error(of: stop)?.text == "No notify session started")
    }

    @Test("The bearer shows the link and why it ended, if it is asked for")
    func bearer() {
        var settings = BlueZSettings(hostName: "here")
        settings.isExperimental = true
        var driver = ServiceDriver()
        driver.service = BlueZService(settings)
        driver.handle(.adapterReady(AdapterDescription(number: 0, information: ServiceDriver.information)))
        driver.connect(Self.link)
        driver.effects = []
        let again = driver.call(ServiceDriver.device, InterfaceName.bearer, "Connect")
        #expect(driver.error(of: again) == .alreadyConnected)
        driver.handle(.event(0, .disconnected(Self.link, .local, reason: .controller(.connectionTimeout))))
        let signals = driver.effects.compactMap { if case .signal(let signal) = $0 { signal } else { nil } }
        #expect(signals.last?.member == "Disconnected")
        #expect(signals.last?.arguments.first == .string("org.bluez.Reason.Timeout"))
        let gone = driver.call(ServiceDriver.device, InterfaceName.bearer, "Disconnect")
        #expect(driver.error(of: gone) == .bearerNotConnected)
    }
}
