import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("Programs that serve side by side")
struct ServingProgramTests {
    private let daemon = VirtualDaemon()
    private let central: HostStation
    private static let value = BluetoothUUID(UInt16(0x2A19))

    init() { central = HostStation.central(of: daemon) }

    /// A tool that serves, answers and advertises.
    private func server(
        _ uuid: UInt16, _ value: UInt16, _ octets: [UInt8]
    ) -> (program: VirtualProgram, handle: AttributeHandle) {
        let program = daemon.tool()
        program.react = { [weak program] message in
            guard case .event(.server(let event)) = message, let program else { return }
            switch event {
            case .read(let request): program.request(.server(.respond(request.id, .value(octets))))
            case .write(let request): program.request(.server(.respond(request.id, .success)))
            default: break
            }
        }
        let characteristic = GATTCharacteristicDefinition(
            uuid: BluetoothUUID(value), properties: [.read, .write, .notify], permissions: [.readable, .writeable])
        let service = GATTServiceDefinition(uuid: BluetoothUUID(uuid), characteristics: [characteristic])
        var handle = AttributeHandle(rawValue: 1)
        if case .success(.published(let service))? = program.end(of: .server(.publish(service))) {
            handle = service.characteristics[0].valueHandle
        }
        program.advertise()
        return (program, handle)
    }

    private func serverEvents(_ program: VirtualProgram) -> [GATTServerEvent] {
        program.events.compactMap { if case .server(let event) = $0 { event } else { nil } }
    }

    @Test(
        "two tools serve at once: a central finds both, each gets only its own requests, and only its own goes with the one that leaves"
    )
    func twoServers() throws {
        let (one, two) = (server(0x180F, 0x2A19, [0x64]), server(0x181A, 0x2A6E, [0xC4, 0x09]))
        var link = try central.link(to: daemon)
        #expect(central.services(link).isSuperset(of: [0x180F, 0x181A]))
        #expect(central.gatt(link, .write(two.handle, value: [1, 2])) == .written)
        #expect(central.read(link, 0x2A19) == [0x64] && central.read(link, 0x2A6E) == [0xC4, 0x09])
        #expect(!serverEvents(one.program).contains { if case .write = $0 { true } else { false } })
        #expect(serverEvents(two.program).count { if case .write = $0 { true } else { false } } == 1)
        // A subscriber of the first stays one when the second is gone.
        #expect(central.subscribe(link, one.handle))
        #expect(serverEvents(one.program).contains { if case .subscribed = $0 { true } else { false } })
        #expect(!serverEvents(two.program).contains { if case .subscribed = $0 { true } else { false } })
        two.program.leave()
        for number in 0..<10 {
            let sent = one.program.end(of: .server(.updateValue(one.handle, value: [UInt8(number)], links: nil)))
            #expect(sent == .success(.accepted(true)))
            daemon.world.run(for: .seconds(1))
        }
        #expect(central.values == (0..<10).map { [UInt8($0)] })
        central.submit(.link(link, .disconnect))
        daemon.world.run(for: .seconds(5))
        link = try central.link(to: daemon)
        let left = central.services(link)
        #expect(left.contains(0x180F) && !left.contains(0x181A))
        one.program.leave()
        daemon.world.run(for: .seconds(5))
        let adapter = daemon.status.adapters[0]
        #expect(!adapter.isAdvertising && adapter.wanted.isEmpty && adapter.links.isEmpty)
    }

    @Test("a tool that leaves, and stays connected, gives back the name that it gave the device")
    func nameOfALeaver() throws {
        _ = server(0x180F, 0x2A19, [0x64])
        let link = try central.link(to: daemon)
        #expect(central.read(link, 0x2A00) == Array("Jelling".utf8))
        let tool = daemon.tool()
        #expect(tool.end(of: .server(.setDeviceName("Guest"))) == .success(.done))
        #expect(central.read(link, 0x2A00) == Array("Guest".utf8))
        #expect(tool.end(of: tool.request(.leave)) == .success(.done))
        #expect(central.read(link, 0x2A00) == Array("Jelling".utf8))
        #expect(!tool.isClosed)
    }

    @Test(
        "a tool and an app of Core Bluetooth serve at once: each has its own services, and only its own goes with one that leaves"
    )
    func serverAndApp() throws {
        let tool = server(0x180F, 0x2A19, [0x64])
        let (service, own) = (LocalAttributeID(rawValue: 1), BluetoothUUID(UInt16(0xFFE0)))
        var wish = Wish()
        wish.publish = [LocalService(id: service, uuid: own)]
        wish.advertise = AdvertisementRequest(localName: "App", serviceUUIDs: [own])
        let app = daemon.app("org.example.transfer", wish)
        daemon.world.run(for: .seconds(1))
        #expect(app.count { $0 == .advertisingStarted(nil) } == 1)
        #expect(try central.found(in: daemon).isSuperset(of: [0x180F, 0xFFE0]))
        tool.program.leave()
        var found = try central.found(in: daemon)
        #expect(found.contains(0xFFE0) && !found.contains(0x180F))
        _ = server(0x181A, 0x2A6E, [1])
        app.end(.exited(0))
        found = try central.found(in: daemon)
        #expect(found.contains(0x181A) && !found.contains(0xFFE0))
    }

    @Test(
        "a tool can neither remove, include, update nor answer for another's service, nor use its channels, nor exceed its limits"
    )
    func noServerReachesIntoAnother() throws {
        let (owner, thief) = (daemon.tool(), daemon.tool())
        let published = try #require(owner.publish())
        let (service, value) = (published.range.first, published.characteristics[0].valueHandle)
        #expect(thief.failure(of: .server(.removeService(service))) == .publishing(.unknownService(service)))
        #expect(
            thief.failure(of: .server(.updateValue(value, value: [1], links: nil)))
                == .publishing(.unknownService(value)))
        let including = GATTServiceDefinition(uuid: BluetoothUUID(UInt16(0x181A)), includedServices: [service])
        #expect(thief.failure(of: .server(.publish(including))) == .publishing(.includedServiceUnknown(service)))
        for question in [0, 1, 2, UInt64(1) << 63] {
            let answer = HostCommand.server(.respond(GATTRequestID(rawValue: question), .value([1])))
            #expect(thief.end(of: answer) == .success(.accepted(false)))
        }
        let link = LinkID(handle: ConnectionHandle(rawValue: 64), generation: 1)
        let channel = ChannelID(link: link, number: 1)
        for command in [ChannelCommand.send(channel, [1]), .consume(channel, units: 1), .close(channel)] {
            #expect(thief.failure(of: .channel(command)) == .channel(.notOpen))
        }
        #expect(thief.failure(of: .channel(.open(link, spsm: 0x80, ChannelSettings()))) == .notConnected)
        #expect(thief.failure(of: .channel(.stopListening(spsm: 0x81))) == .channel(.invalidSPSM))
        // The same SPSM only once; and so many advertisements, services, attributes and channels.
        let listen = HostCommand.channel(.listen(spsm: 0x81, ChannelSettings(), requiresEncryption: false))
        let anywhere = HostCommand.channel(.listen(spsm: nil, ChannelSettings(), requiresEncryption: false))
        #expect(owner.end(of: listen) == .success(.listening(spsm: 0x81)))
        #expect(thief.failure(of: listen) == .channel(.invalidSPSM))
        for _ in 0..<16 { #expect(thief.failure(of: anywhere) == nil) }
        #expect(thief.failure(of: anywhere) == .limitReached)
        for _ in 0..<64 { #expect(thief.publish(0x181A) != nil) }
        #expect(thief.failure(of: .server(.publish(.example(0x181A, 0)))) == .limitReached)
        #expect(daemon.tool().failure(of: .server(.publish(.example(0x180F, 520)))) == .limitReached)
        let advertise = HostCommand.radio(.advertise(AdvertiseRequest(.packed(localName: nil, serviceUUIDs: []))))
        for _ in 0..<8 { thief.request(advertise) }
        #expect(thief.failure(of: advertise) == .limitReached)
        // The owner's service is there, and what belongs to the thief ends with it.
        #expect(owner.end(of: .server(.updateValue(value, value: [2], links: nil))) == .success(.accepted(true)))
        thief.leave()
        owner.advertise()
        let found = try central.found(in: daemon)
        #expect(found.contains(0x180F) && !found.contains(0x181A))
        // What a user who is no operator requires of pairings counts for its own.
        let plain = daemon.tool(user: 1000)
        var options = PairingOptions(ioCapability: .keyboardDisplay, requiresAuthentication: true)
        options.minimumKeySize = 16
        #expect(plain.end(of: plain.request(.servePairing(options))) == .success(.done))
        let stranger = DeviceAddress(value: 1, kind: .public)
        for command in [
            HostCommand.server(.setDeviceName("Mine")), .security(.removeBond(stranger)),
            .security(.nameBond(stranger, "x")),
        ] { #expect(plain.failure(of: command) == .invalidRequest(.notPermitted)) }
        #expect(plain.end(of: plain.request(.capture(true))) == .failure(.invalidRequest(.notPermitted)))
    }
}

extension VirtualProgram {
    /// Advertises a packed, connectable advertisement.
    func advertise() {
        request(.radio(.advertise(AdvertiseRequest(.packed(localName: "Tool", serviceUUIDs: [])))))
    }
}

/// A remote central, as these tests use it.
extension HostStation {
    /// A station that is ready, in a daemon's world.
    static func central(of daemon: VirtualDaemon) -> HostStation {
        var controller = SimulatedControllerConfiguration()
        controller.publicAddress = World.address(9)
        let station = HostStation(daemon.world, controller: controller)
        station.start()
        return station
    }

    /// A link to the daemon's controller, which advertises.
    func link(to daemon: VirtualDaemon) throws -> LinkID {
        let address = try #require(daemon.engine.information.ownAddress)
        return try #require(connect(address))
    }

    /// The 16-bit UUIDs of the primary services.
    func services(_ link: LinkID) -> Set<UInt16> {
        guard case .services(let found)? = gatt(link, .discoverServices(uuids: [])) else { return [] }
        return Set(found.compactMap { found in (0...UInt16.max).first { BluetoothUUID($0) == found.uuid } })
    }

    /// The services that it finds on a link that it makes for that.
    func found(in daemon: VirtualDaemon) throws -> Set<UInt16> {
        let link = try link(to: daemon)
        defer {
            submit(.link(link, .disconnect))
            world.run(for: .seconds(2))
        }
        return services(link)
    }

    /// The value of the first characteristic with a UUID; `nil` where it cannot be read.
    func read(_ link: LinkID, _ uuid: UInt16) -> [UInt8]? {
        guard case .attributeValues(let found)? = gatt(link, .readUsingUUID(BluetoothUUID(uuid), .all)) else {
            return nil
        }
        return found.first?.value
    }

    func subscribe(_ link: LinkID, _ handle: AttributeHandle) -> Bool {
        guard let configuration = handle.next else { return false }
        return gatt(link, .subscribe(handle, configuration: configuration, mode: .notifications)) == .subscribed
    }

    /// The values of all notifications, in order.
    var values: [[UInt8]] {
        events.compactMap { if case .gatt(_, .notification(let value)) = $0 { value.value } else { nil } }
    }
}
