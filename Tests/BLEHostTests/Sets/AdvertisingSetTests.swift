import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Several advertising sets on simulated controllers.
@Suite("Advertising sets")
struct AdvertisingSetTests {
    static let one = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
    static let two = DeviceAddress(value: 0xC0DE_0000_0002, kind: .random)

    /// Manufacturer's data of this length in all, with a number to recognise them by.
    static func data(_ number: UInt8, count: Int = 8) -> [UInt8] {
        var data: [UInt8] = []
        while data.count < count {
            let length = min(255, count - data.count - 1)
            data += [UInt8(length), 0xFF] + [UInt8](repeating: number, count: length - 1)
        }
        return data
    }

    static func events(_ host: HostStation, of operation: OperationID) -> [AdvertisingSetEvent] {
        host.events.compactMap { if case .advertisingSet(operation, _, let event) = $0 { event } else { nil } }
    }

    /// The first advertiser is hosts[0], the scanner hosts[1].
    static func world(_ change: (inout SimulatedControllerConfiguration) -> Void = { _ in }) -> World {
        World(
            hosts: 2, { configuration, number in if number == 0 { change(&configuration) } },
            configuration: { _ in HostConfiguration(hasCryptoProvider: true) })
    }

    @Test("three sets and the shared advertisement are on the air together, each with its data, address and SID")
    func together() throws {
        let world = Self.world()
        let (advertiser, scanner) = (world.hosts[0], world.hosts[1])
        advertiser.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Shared", serviceUUIDs: [])))))
        var long = AdvertisingSetRequest(data: Self.data(1, count: 1650))
        long.address = Self.one
        var coded = AdvertisingSetRequest(data: Self.data(2))
        coded.address = Self.two
        coded.secondaryPHY = .le2M
        let asked = AdvertisingSetRequest(scanResponse: Self.data(3, count: 700), isScannable: true)
        for request in [long, coded, asked] { advertiser.submit(.radio(.advertiseSet(request))) }
        scanner.submit(.radio(.scan(ScanRequest())))
        world.run(for: .seconds(5))
        let found = scanner.discoveries
        #expect(found.contains { $0.address == Self.one && $0.advertisement == long.data && !$0.isConnectable })
        #expect(found.contains { $0.address == Self.two && $0.advertisement == coded.data })
        #expect(found.contains { $0.address == advertiser.address && $0.scanResponse == asked.scanResponse })
        #expect(found.contains { $0.address == advertiser.address && !$0.isExtended && $0.isConnectable })
        #expect(advertiser.air.statistics(of: advertiser.controller).rejections.isEmpty)
    }

    @Test("a request beyond the controller's sets fails with a limit, and gets a place when another ends")
    func limit() {
        let world = Self.world { $0.advertisingSets = 2 }
        let advertiser = world.hosts[0]
        let operations = (0..<3).map { number in
            advertiser.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: Self.data(UInt8(number))))))
        }
        world.run(for: .seconds(1))
        #expect(advertiser.results(of: operations[2]) == [.failure(.limitReached)])
        #expect(Self.events(advertiser, of: operations[1]) == [.started(transmitPower: 0)])
        advertiser.submit(.cancel(operations[0]))
        let again = advertiser.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: Self.data(9)))))
        world.run(for: .seconds(1))
        #expect(advertiser.results(of: operations[0]) == [.failure(.cancelled)])
        #expect(Self.events(advertiser, of: again) == [.started(transmitPower: 0)])
        #expect(advertiser.results(of: again).isEmpty)
    }

    @Test("a set ends by its duration, and by its number of events")
    func ends() {
        let world = Self.world()
        let advertiser = world.hosts[0]
        var brief = AdvertisingSetRequest(data: Self.data(1))
        brief.duration = .milliseconds(500)
        var counted = AdvertisingSetRequest(data: Self.data(2))
        counted.maximumEvents = 3
        let operations = [brief, counted].map { advertiser.submit(.radio(.advertiseSet($0))) }
        #expect(world.run(for: .seconds(2)) { operations.allSatisfy { !advertiser.results(of: $0).isEmpty } })
        for operation in operations {
            #expect(advertiser.results(of: operation) == [.success(.done)])
            #expect(Self.events(advertiser, of: operation) == [.started(transmitPower: 0), .stopped])
        }
        // Their places are free again.
        let all = (0..<4).map { _ in advertiser.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: [])))) }
        world.run(for: .seconds(1))
        for operation in all { #expect(advertiser.results(of: operation).isEmpty) }
    }

    @Test("short data change while the set runs, long data and parameters by making it again")
    func changes() {
        let world = Self.world()
        let (advertiser, scanner) = (world.hosts[0], world.hosts[1])
        var request = AdvertisingSetRequest(data: Self.data(1))
        let set = advertiser.submit(.radio(.advertiseSet(request)))
        scanner.submit(.radio(.scan(ScanRequest())))
        world.run(for: .seconds(1))
        request.data = Self.data(2)
        #expect(advertiser.result(of: .radio(.changeAdvertisingSet(set, request))) == .success(.done))
        world.run(for: .seconds(1))
        #expect(Self.events(advertiser, of: set) == [.started(transmitPower: 0)])
        request.data = Self.data(3, count: 900)
        request.interval = .milliseconds(50)
        #expect(advertiser.result(of: .radio(.changeAdvertisingSet(set, request))) == .success(.done))
        world.run(for: .seconds(1))
        #expect(
            Self.events(advertiser, of: set)
                == [.started(transmitPower: 0), .stopped, .started(transmitPower: 0)])
        #expect(scanner.discoveries.map(\.advertisement) == [Self.data(1), Self.data(2), Self.data(3, count: 900)])
        #expect(advertiser.air.statistics(of: advertiser.controller).rejections.isEmpty)
    }

    @Test("a central that connects by a set reaches its address; the other sets and the shared advertisement go on")
    func connects() throws {
        let world = Self.world()
        let (advertiser, central) = (world.hosts[0], world.hosts[1])
        advertiser.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Shared", serviceUUIDs: [])))))
        var connectable = AdvertisingSetRequest(data: Self.data(1), isConnectable: true)
        connectable.address = Self.one
        connectable.resumesAfterConnection = false
        let set = advertiser.submit(.radio(.advertiseSet(connectable)))
        let other = advertiser.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: Self.data(2)))))
        world.run(for: .seconds(1))
        let link = try #require(central.connect(Self.one))
        world.run(for: .seconds(1))
        let central0 = try #require(advertiser.centrals.first)
        #expect(
            Self.events(advertiser, of: set) == [.started(transmitPower: 0), .stopped, .connected(central0.id)])
        #expect(advertiser.results(of: set) == [.success(.done)])
        #expect(Self.events(advertiser, of: other) == [.started(transmitPower: 0)])
        let stops = advertiser.events.count { $0 == .advertisingChanged(isAdvertising: false) }
        #expect(stops == 0)
        // Pairing uses the addresses on the air: it succeeds only if both sides mean that of the set.
        let paired = central.result(of: .security(.pair(link, nil)))
        guard case .success(.paired) = paired else {
            Issue.record("not paired: \(String(describing: paired))")
            return
        }
    }

    @Test("a set that resumes is advertised again while the central is connected")
    func resumes() throws {
        let world = Self.world()
        let (advertiser, central) = (world.hosts[0], world.hosts[1])
        var connectable = AdvertisingSetRequest(data: Self.data(1), isConnectable: true)
        connectable.address = Self.one
        let set = advertiser.submit(.radio(.advertiseSet(connectable)))
        _ = try #require(central.connect(Self.one))
        world.run(for: .seconds(2))
        let events = Self.events(advertiser, of: set)
        #expect(events.count == 4 && events.last == .started(transmitPower: 0))
        #expect(advertiser.results(of: set).isEmpty)
    }

    @Test("an anonymous set of 600 octets is reported whole, without an address")
    func anonymous() {
        let world = Self.world()
        let (advertiser, scanner) = (world.hosts[0], world.hosts[1])
        var request = AdvertisingSetRequest(data: Self.data(7, count: 600))
        request.isAnonymous = true
        advertiser.submit(.radio(.advertiseSet(request)))
        scanner.submit(.radio(.scan(ScanRequest())))
        world.run(for: .seconds(1))
        #expect(scanner.discoveries.map(\.advertisement) == [request.data])
        #expect(scanner.discoveries.first?.address == nil)
    }

    @Test("sets outlive a reset of the controller")
    func recovers() {
        let world = Self.world()
        let advertiser = world.hosts[0]
        let set = advertiser.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: Self.data(1)))))
        world.run(for: .seconds(1))
        advertiser.air.sendHardwareError(1, from: advertiser.controller)
        #expect(world.run(for: .seconds(5)) { Self.events(advertiser, of: set).count >= 2 })
        #expect(Self.events(advertiser, of: set).last == .started(transmitPower: 0))
        #expect(advertiser.result(of: .stop) == .success(.done))
        #expect(advertiser.results(of: set) == [.failure(.cancelled)])
    }

    @Test("a legacy controller advertises one set that it can express, and refuses the others")
    func fallsBack() {
        let world = World(hosts: 2) { configuration, number in
            if number == 0 { configuration = .core42(publicAddress: configuration.publicAddress) }
        }
        let (advertiser, scanner) = (world.hosts[0], world.hosts[1])
        scanner.submit(.radio(.scan(ScanRequest())))
        let set = advertiser.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: Self.data(1)))))
        world.run(for: .seconds(1))
        #expect(scanner.discoveries.map(\.advertisement) == [Self.data(1)])
        let second = advertiser.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: Self.data(2)))))
        let long = advertiser.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: Self.data(3, count: 40)))))
        #expect(advertiser.results(of: second) == [.failure(.limitReached)])
        let opcode = LESetExtendedAdvertisingParameters.opcode
        #expect(
            advertiser.results(of: long) == [.failure(.controller(.unsupportedFeatureOrParameterValue, opcode))])
        #expect(
            advertiser.result(
                of: .radio(.changeAdvertisingSet(set, AdvertisingSetRequest(data: Self.data(4))))) == .success(.done))
        advertiser.submit(.cancel(set))
        #expect(advertiser.results(of: set) == [.failure(.cancelled)])
    }

    @Test("contradictions are refused before the controller sees them")
    func faults() {
        func fault(_ change: (inout AdvertisingSetRequest) -> Void) -> AdvertisingSetRequest.Fault? {
            var request = AdvertisingSetRequest()
            change(&request)
            return request.fault
        }
        #expect(fault { _ in } == nil)
        #expect(fault { $0.data = Self.data(0, count: 1651) } == .tooMuchData)
        #expect(
            fault {
                $0.usesLegacyPDUs = true
                $0.data = Self.data(0, count: 32)
            } == .tooMuchData)
        #expect(
            fault {
                $0.isConnectable = true
                $0.isScannable = true
            } == .contradictoryProperties)
        #expect(
            fault {
                $0.isAnonymous = true
                $0.isConnectable = true
            } == .contradictoryProperties)
        #expect(fault { $0.scanResponse = [1, 0] } == .misplacedData)
        #expect(
            fault {
                $0.usesLegacyPDUs = true
                $0.secondaryPHY = .leCoded
            } == .needsExtendedPDUs)
        #expect(fault { $0.primaryPHY = .le2M } == .primaryPHY)
        #expect(fault { $0.interval = .milliseconds(10) } == .outOfRange)
        #expect(fault { $0.identifier = 16 } == .outOfRange)
        #expect(fault { $0.duration = .seconds(700) } == .outOfRange)
        #expect(fault { $0.address = DeviceAddress(value: 1, kind: .public) } == .address)
        #expect(
            fault {
                $0.isConnectable = true
                $0.train = PeriodicAdvertising(data: [])
            } == .train)
        let world = Self.world()
        let result = world.hosts[0].result(of: .radio(.advertiseSet(AdvertisingSetRequest(scanResponse: [1, 0]))))
        #expect(result == .failure(.invalidRequest(.advertisingSet(.misplacedData))))
    }

    @Test("one set is six commands, and its data go out in fragments of 251 octets (7.8.54)")
    func commands() {
        let rig = HostRig()
        rig.features = [.encryption, .extendedAdvertising]
        rig.start()
        rig.forget()
        var request = AdvertisingSetRequest(data: Self.data(1, count: 600))
        request.address = Self.one
        let set = rig.submit(.radio(.advertiseSet(request)))
        #expect(
            rig.commands.map(\.opcode) == [
                LEReadNumberOfSupportedAdvertisingSets.opcode, LEReadMaximumAdvertisingDataLength.opcode,
                LESetExtendedAdvertisingParameters.opcode, LESetAdvertisingSetRandomAddress.opcode,
                LESetExtendedAdvertisingData.opcode, LESetExtendedAdvertisingData.opcode,
                LESetExtendedAdvertisingData.opcode, LESetExtendedAdvertisingEnable.opcode,
            ])
        let fragments = rig.commands[4..<7].map { Array($0.parameters.prefix(4)) }
        #expect(fragments == [[1, 1, 1, 251], [1, 0, 1, 251], [1, 2, 1, 98]])
        rig.forget()
        rig.submit(.cancel(set))
        #expect(
            rig.commands.map(\.opcode) == [LESetExtendedAdvertisingEnable.opcode, LERemoveAdvertisingSet.opcode])
    }

    @Test("a controller that refuses a set for want of memory, or for good, ends it once")
    func refusals() {
        for (status, failure) in [
            (HCIStatus.memoryCapacityExceeded, HostFailure.limitReached),
            (
                .unsupportedFeatureOrParameterValue,
                .controller(.unsupportedFeatureOrParameterValue, LESetExtendedAdvertisingParameters.opcode)
            ),
        ] {
            let rig = HostRig()
            rig.features = [.encryption, .extendedAdvertising]
            rig.start()
            rig.answers[LESetExtendedAdvertisingParameters.opcode] = .complete([status.rawValue, 0])
            let set = rig.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: Self.data(1)))))
            #expect(rig.results(of: set) == [.failure(failure)])
            rig.forget()
            rig.advance(by: .seconds(60))
            #expect(rig.commands.isEmpty)
        }
    }
}
