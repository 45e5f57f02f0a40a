import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// The advertisement that programs of several users share.
@Suite("Advertising of several users")
struct AdvertisingUsersTests {
    private let alice = ClientID(rawValue: 1)
    private let bob = ClientID(rawValue: 2)
    private static let absent = DeviceAddress(value: 0xC0DE_0000_0099, kind: .random)
    private static let heartRate = BluetoothUUID(0x180D as UInt16)
    private static let battery = BluetoothUUID(0x180F as UInt16)

    /// The advertiser, whose clients are of two users, and the scanner.
    private func stations(
        _ change: @escaping (inout SimulatedControllerConfiguration) -> Void = { _ in }
    ) -> (advertiser: HostStation, scanner: HostStation) {
        let world = AdvertisingSetTests.world(change)
        let (advertiser, scanner) = (world.hosts[0], world.hosts[1])
        advertiser.apply(.user(ClientUser(1000), alice))
        advertiser.apply(.user(ClientUser(1001), bob))
        return (advertiser, scanner)
    }

    private func packed(
        _ name: String? = nil, _ services: [BluetoothUUID] = [], interval: AdvertisingInterval? = nil
    ) -> HostCommand {
        .radio(.advertise(AdvertiseRequest(.packed(localName: name, serviceUUIDs: services), interval: interval)))
    }

    private func raw(_ number: UInt8) -> HostCommand {
        .radio(
            .advertise(
                AdvertiseRequest(.raw(advertisement: AdvertisingSetTests.data(number), scanResponse: []))))
    }

    private func directed(_ form: AdvertisingTarget.Form) -> HostCommand {
        .radio(
            .advertise(
                AdvertiseRequest(
                    .packed(localName: nil, serviceUUIDs: []),
                    target: AdvertisingTarget(peer: Self.absent, form: form))))
    }

    /// What the scanner finds of the advertiser from now on.
    private func found(_ stations: (advertiser: HostStation, scanner: HostStation)) -> [Discovery] {
        stations.scanner.forget()
        let scan = stations.scanner.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        stations.advertiser.world.run(for: .seconds(3))
        stations.scanner.submit(.cancel(scan))
        return stations.scanner.discoveries.filter { $0.address == stations.advertiser.address }
    }

    private func rooms(_ station: HostStation, of operation: OperationID) -> [AdvertisingRoom] {
        station.events.compactMap { if case .advertisingRoom(operation, _, let room) = $0 { room } else { nil } }
    }

    @Test(
        "a directed or raw advertisement of another user gets a set of its own, and the shared one stays (SPEC 5.5)",
        arguments: [AdvertisingTarget.Form.lowDutyCycle, .extended, nil])
    func ownSet(form: AdvertisingTarget.Form?) {
        let stations = stations()
        let advertiser = stations.advertiser
        advertiser.submit(packed("Server", [Self.heartRate]), from: alice)
        advertiser.world.run(for: .seconds(1))
        advertiser.forget()
        let other = advertiser.submit(form.map { directed($0) } ?? raw(7), from: bob)
        let found = found(stations)
        #expect(found.contains { $0.shows("Server") && $0.shows([0x0D, 0x18]) })
        if form == nil { #expect(found.contains { $0.advertisement == AdvertisingSetTests.data(7) }) }
        #expect(advertiser.results(of: other).isEmpty)
        #expect(!advertiser.events.contains(.advertisingChanged(isAdvertising: false)), "nothing was taken off the air")
        #expect(advertiser.withHost { $0.radio.guests.map(\.machine.isAdvertising) } == [true])
        advertiser.submit(.cancel(other), from: bob)
        advertiser.world.run(for: .seconds(1))
        #expect(advertiser.withHost { $0.radio.guests.isEmpty })
        #expect(self.found(stations).allSatisfy { $0.advertisement != AdvertisingSetTests.data(7) })
        // What a directed set is made of may be there or not.
        let rejections = advertiser.air.statistics(of: advertiser.controller).rejections
        #expect(rejections.allSatisfy { $0.opcode == LERemoveAdvertisingSet.opcode })
    }

    @Test("one that came first moves to a set of its own when another user wants the shared advertisement")
    func moves() {
        let stations = stations()
        let advertiser = stations.advertiser
        let first = advertiser.submit(raw(7), from: bob)
        advertiser.world.run(for: .seconds(1))
        #expect(advertiser.withHost { $0.radio.guests.isEmpty }, "alone it needs none")
        advertiser.submit(packed("Server"), from: alice)
        let found = found(stations)
        #expect(found.contains { $0.shows("Server") })
        #expect(found.contains { $0.advertisement == AdvertisingSetTests.data(7) })
        #expect(advertiser.results(of: first).isEmpty)
    }

    @Test("directed advertising at the high duty cycle ends after its time beside others, too")
    func highDuty() {
        let stations = stations()
        let advertiser = stations.advertiser
        let server = advertiser.submit(packed("Server"), from: alice)
        let call = advertiser.submit(directed(.highDutyCycle), from: bob)
        advertiser.world.run(for: .seconds(3))
        #expect(advertiser.results(of: call) == [.failure(.connectionFailed(.advertisingTimeout))])
        #expect(advertiser.results(of: server).isEmpty)
        #expect(found(stations).contains { $0.shows("Server") })
        #expect(advertiser.withHost { $0.radio.guests.isEmpty })
    }

    @Test(
        "where the controller has no set for it, it is refused beside others, whoever came first",
        arguments: [true, false], [true, false])
    func refused(isLegacy: Bool, isFirst: Bool) {
        let stations = stations { configuration in
            if isLegacy {
                configuration.features.remove(.extendedAdvertising)
            } else {
                configuration.advertisingSets = 1
            }
        }
        let advertiser = stations.advertiser
        let first = advertiser.submit(isFirst ? raw(7) : packed("Server"), from: isFirst ? bob : alice)
        advertiser.world.run(for: .seconds(1))
        let second = advertiser.submit(
            isFirst ? packed("Server") : directed(.lowDutyCycle), from: isFirst ? alice : bob)
        advertiser.world.run(for: .seconds(1))
        #expect(advertiser.results(of: isFirst ? first : second) == [.failure(.limitReached)])
        #expect(advertiser.results(of: isFirst ? second : first).isEmpty)
        #expect(found(stations).contains { $0.shows("Server") })
    }

    @Test("of the intervals that users want, the shortest holds; one that no controller takes ends nothing")
    func interval() {
        let stations = stations()
        let advertiser = stations.advertiser
        let server = advertiser.submit(packed("Server", interval: .milliseconds(100)), from: alice)
        advertiser.submit(packed(interval: .greatest), from: bob)
        advertiser.submit(packed(interval: AdvertisingInterval(rawValue: 0xFFFF)), from: bob)
        advertiser.world.run(for: .seconds(1))
        #expect(
            advertiser.withHost { $0.radio.advertisingMachine.planInForce?.parameters.interval } == .milliseconds(100))
        advertiser.submit(packed(interval: AdvertisingInterval(rawValue: 1)), from: bob)
        advertiser.world.run(for: .seconds(1))
        #expect(advertiser.results(of: server).isEmpty)
        #expect(found(stations).contains { $0.shows("Server") })
    }

    @Test("what is on the air keeps its room, what is free is divided by user, and who finds none is told")
    func room() {
        let stations = stations()
        let advertiser = stations.advertiser
        let own = advertiser.submit(packed("Thermometer", [Self.heartRate]), from: alice)
        advertiser.world.run(for: .seconds(1))
        let long = (0..<3 as Range<UInt64>).map {
            BluetoothUUID(high: 0x1000_2000_3000_4000 + $0, low: 0x8000_5000_6000_7000)
        }
        let other = advertiser.submit(packed("A very long name of another", long + [Self.battery]), from: bob)
        let found = found(stations)
        #expect(found.contains { $0.shows("Thermometer") && $0.shows([0x0D, 0x18]) })
        #expect(found.contains { $0.shows([0x0F, 0x18]) }, "the room that is left is for all")
        #expect(rooms(advertiser, of: own).isEmpty)
        var hidden = AdvertisingRoom()
        hidden.hiddenServices = long
        hidden.hidesName = true
        #expect(rooms(advertiser, of: other) == [hidden])

        // More of the first user's does not push out what the other has by now.
        let more = advertiser.submit(packed(nil, long), from: alice)
        #expect(self.found(stations).contains { $0.shows([0x0F, 0x18]) })
        #expect(rooms(advertiser, of: more).last?.hiddenServices == long)

        advertiser.submit(.cancel(own), from: alice)
        advertiser.submit(.cancel(more), from: alice)
        advertiser.world.run(for: .seconds(1))
        #expect(rooms(advertiser, of: other).last == AdvertisingRoom())
        #expect(self.found(stations).contains { $0.shows([0, 0x70, 0, 0x60]) })
    }

    @Test("the advertisements of one user are as they are without users")
    func oneUser() {
        let stations = stations()
        let advertiser = stations.advertiser
        let carol = ClientID(rawValue: 3)
        advertiser.apply(.user(ClientUser(1000), carol))
        advertiser.submit(packed("First", [Self.heartRate]), from: alice)
        advertiser.submit(packed("Second", [Self.battery]), from: carol)
        advertiser.world.run(for: .seconds(1))
        #expect(
            advertiser.withHost { $0.radio.advertisingMachine.planInForce?.advertisement }
                == AdvertisingPacker.pack([
                    AdvertisingContribution(localName: "Second", serviceUUIDs: [Self.battery]),
                    AdvertisingContribution(localName: "First", serviceUUIDs: [Self.heartRate]),
                ]).advertisement)
        let alone = advertiser.submit(raw(7), from: carol)
        advertiser.world.run(for: .seconds(1))
        #expect(advertiser.withHost { $0.radio.guests.isEmpty })
        #expect(advertiser.results(of: alone).isEmpty)
    }
}

extension Discovery {
    /// Whether these octets are in the advertisement or in the scan response.
    fileprivate func shows(_ octets: [UInt8]) -> Bool {
        [advertisement, scanResponse].contains { data in
            data.indices.contains { data[$0...].starts(with: octets) }
        }
    }

    fileprivate func shows(_ name: String) -> Bool { shows(Array(name.utf8)) }
}
