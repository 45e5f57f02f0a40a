import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// The whole engine on controllers like those of real families. What it cannot do on one is a known issue.
@Suite("The engine on controllers of real families")
struct PresetEngineTests {
    typealias Preset = SimulatedControllerPreset

    private static let beltAddress = DeviceAddress(value: 0xC0DE_0000_0300, kind: .random)
    private static let serviceUUID = BluetoothUUID(0xFF00 as UInt16)
    private static let rateUUID = BluetoothUUID(0x2A37 as UInt16)
    private static let levelUUID = BluetoothUUID(0x2A19 as UInt16)

    /// An air with a belt that notifies each second and two beacons.
    private static func world() -> World {
        let air = SimulatedAir()
        var advertisement = SimulatedAdvertisement(
            name: "Belt", serviceUUIDs: [BluetoothUUID(0x180D as UInt16)], intervalMicroseconds: 200_000)
        air.addPeripheral(
            SimulatedPeripheral(
                name: "Belt", address: beltAddress,
                services: [
                    SimulatedService(
                        BluetoothUUID(0x180D as UInt16),
                        characteristics: [
                            SimulatedCharacteristic(
                                rateUUID, [.notify], value: [0, 60], notifyEveryMicroseconds: 1_000_000),
                            SimulatedCharacteristic(levelUUID, [.read], value: [87]),
                        ])
                ], advertisement: advertisement))
        advertisement = SimulatedAdvertisement(
            name: nil, manufacturerData: (0xFFFF, [1, 2, 3]), intervalMicroseconds: 500_000, isConnectable: false,
            isScannable: false)
        for number in 0..<2 as Range<UInt64> {
            air.addBroadcaster(
                SimulatedBroadcaster(
                    address: DeviceAddress(value: 0xC0DE_0000_0400 + number, kind: .random),
                    advertisement: advertisement))
        }
        return World(air)
    }

    /// Of an engine that pairs, and has an address where its controller has none.
    private static func configuration(_ fallback: UInt64) -> HostConfiguration {
        HostConfiguration(
            ownAddress: .automatic(fallback: DeviceAddress(value: fallback, kind: .random)), hasCryptoProvider: true)
    }

    /// A station on a preset that has started.
    private static func station(_ preset: Preset, _ world: World = world()) throws -> HostStation {
        let station = HostStation(world, preset, configuration: configuration(0xC0DE_0000_0501))
        station.reopensTransport = true
        station.apply(.transportOpened)
        station.run(for: .seconds(60)) { station.isReady }
        try #require(station.isReady)
        return station
    }

    /// Another engine, on a correct controller.
    private static func partner(_ world: World) -> HostStation {
        var controller = SimulatedControllerConfiguration()
        controller.publicAddress = World.address(7)
        let station = HostStation(world, configuration: configuration(0xC0DE_0000_0502), controller: controller)
        station.start()
        return station
    }

    /// Its reception fades while a link is open: the Reset that brings it back ends the link, and this client does not
    /// connect again.
    private func knownIssue(
        _ preset: Preset, on failing: Preset, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) rethrows {
        guard preset == failing else { return try body() }
        withKnownIssue("the Reset that brings reports back ends the link", sourceLocation: location) { try body() }
    }

    private static func notifications(_ station: HostStation) -> Int {
        station.events.count {
            if case .gatt(_, .notification) = $0 { true } else { false }
        }
    }

    /// Subscribes to the belt's rate on a link.
    private static func subscribe(_ station: HostStation, _ link: LinkID) throws {
        guard case .services(let services)? = station.gatt(link, .discoverServices(uuids: [])),
            let service = services.first(where: { $0.uuid == BluetoothUUID(0x180D as UInt16) }),
            case .characteristics(let found)? = station.gatt(link, .discoverCharacteristics(service.range, uuids: []))
        else {
            Issue.record("no characteristics")
            return
        }
        let rate = try #require(found.first { $0.uuid == rateUUID })
        let level = try #require(found.first { $0.uuid == levelUUID })
        #expect(station.gatt(link, .read(level.valueHandle)) == .value([87]))
        let configuration = AttributeHandle(rawValue: rate.valueHandle.rawValue + 1)
        #expect(
            station.gatt(link, .subscribe(rate.valueHandle, configuration: configuration, mode: .notifications))
                == .subscribed)
    }

    // MARK: Tests

    @Test("it starts, and has an address", arguments: Preset.allCases)
    func starts(preset: Preset) throws {
        let station = try Self.station(preset)
        #expect(station.ownAddress != nil)
        #expect(station.air.statistics(of: station.controller).commandsWithoutCredit == 0)
    }

    @Test("it scans and discovers what advertises (A7, A25, A28)", arguments: Preset.allCases)
    func scans(preset: Preset) throws {
        let station = try Self.station(preset)
        let scan = station.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        station.run(for: .seconds(10))
        #expect(station.results(of: scan).isEmpty)
        #expect(station.discoveries.contains { $0.address == Self.beltAddress })
        station.submit(.cancel(scan))
        station.run(for: .seconds(2))
        station.forget()
        station.run(for: .seconds(5))
        #expect(station.discoveries.isEmpty)
    }

    @Test("it connects, reads, is notified and disconnects (A45, A48, A49)", arguments: Preset.allCases)
    func connects(preset: Preset) throws {
        let station = try Self.station(preset)
        let link = try #require(station.connect(Self.beltAddress))
        try Self.subscribe(station, link)
        station.run(for: .seconds(5))
        #expect(Self.notifications(station) >= 4)
        #expect(station.result(of: .link(link, .disconnect)) == .success(.done))
        #expect(station.connect(Self.beltAddress) != nil)
    }

    @Test("a scan and a link live beside each other (A25, A46, A48)", arguments: Preset.allCases)
    func scansWithLink(preset: Preset) throws {
        let station = try Self.station(preset)
        let scan = station.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        station.run(for: .seconds(5))
        let link = try #require(station.connect(Self.beltAddress))
        try Self.subscribe(station, link)
        station.run(for: .seconds(60))
        #expect(station.results(of: scan).isEmpty)
        #expect(station.disconnections.isEmpty)
        #expect(Self.notifications(station) >= 30)
        // A chip that cannot do both hears again when the link is gone.
        _ = station.result(of: .link(link, .disconnect))
        station.forget()
        station.run(for: .seconds(30))
        #expect(station.results(of: scan).isEmpty)
        #expect(!station.discoveries.isEmpty)
    }

    @Test(
        "it advertises, is connected to, paired with, read and subscribed to (A24, A44, A50)",
        arguments: Preset.allCases)
    func advertises(preset: Preset) throws {
        let world = Self.world()
        let station = try Self.station(preset, world)
        let partner = Self.partner(world)
        let published = try #require(
            station.publish(
                GATTServiceDefinition(
                    uuid: Self.serviceUUID,
                    characteristics: [
                        GATTCharacteristicDefinition(
                            uuid: BluetoothUUID(0xFF01 as UInt16), properties: [.read],
                            permissions: [.readable, .readEncryption], value: [7]),
                        GATTCharacteristicDefinition(
                            uuid: BluetoothUUID(0xFF02 as UInt16), properties: [.read, .notify],
                            permissions: [.readable], value: nil),
                    ])))
        let advertising = station.submit(
            .radio(.advertise(AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])))))
        station.run(for: .seconds(2))
        #expect(station.results(of: advertising).isEmpty)
        let address = try #require(station.ownAddress)
        for _ in 0..<2 {
            let link = try #require(partner.connect(address))
            // It pairs on demand, or encrypts with the bond.
            #expect(partner.gatt(link, .read(published.characteristics[0].valueHandle)) == .value([7]))
            let value = published.characteristics[1]
            #expect(
                partner.gatt(
                    link, .subscribe(value.valueHandle, configuration: value.configuration, mode: .notifications))
                    == .subscribed)
            partner.forget()
            station.submit(.server(.updateValue(value.valueHandle, value: [9], links: nil)))
            station.run(for: .seconds(2))
            #expect(Self.notifications(partner) == 1)
            #expect(partner.result(of: .link(link, .disconnect)) == .success(.done))
            station.run(for: .seconds(3))
        }
        #expect(station.results(of: advertising).isEmpty)
    }

    @Test("as the central it pairs, and the bond encrypts the next link (A49, A50)", arguments: Preset.allCases)
    func pairs(preset: Preset) throws {
        let world = Self.world()
        let station = try Self.station(preset, world)
        let partner = Self.partner(world)
        _ = partner.publish(GATTServiceDefinition(uuid: Self.serviceUUID, characteristics: []))
        partner.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])))))
        let link = try #require(station.connect(partner.address))
        guard case .success(.paired(let summary))? = station.result(of: .security(.pair(link, nil))) else {
            Issue.record("not paired")
            return
        }
        #expect(summary.isBonded && summary.keySize == 16)
        _ = station.result(of: .link(link, .disconnect))
        station.run(for: .seconds(3))
        station.forget()
        let again = try #require(station.connect(partner.address))
        _ = station.result(of: .security(.encrypt(again)))
        #expect(
            station.events.contains {
                if case .encryptionChanged(_, let security) = $0 { security.isEncrypted } else { false }
            })
    }

    @Test("reports and notifications come through an hour (A28, A53)", arguments: Preset.allCases)
    func hour(preset: Preset) throws {
        try knownIssue(preset, on: .intelAX2xx) {
            let station = try Self.station(preset)
            let link = try #require(station.connect(Self.beltAddress))
            try Self.subscribe(station, link)
            let scan = station.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
            let hearsWithLink = ![.realtek8761, .cc2564, .zephyrUSB].contains(preset)
            for _ in 0..<6 {
                station.forget()
                station.run(for: .seconds(600))
                #expect(Self.notifications(station) > 300)
                #expect(!hearsWithLink || station.discoveries.count > 100)
                #expect(station.results(of: scan).isEmpty)
            }
        }
    }
}
