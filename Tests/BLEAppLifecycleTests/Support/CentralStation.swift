import BLEHost
import BLEPackets
import BLESecurity
import BLESimulator

@testable import BLEAppLifecycle

/// A remote central: a bare engine on a controller of its own.
final class CentralStation: Station {
    let world: World
    let controller: SimulatedControllerID
    private var host: Host
    private(set) var events: [HostEvent] = []

    init(
        _ world: World, configuration: HostConfiguration = HostConfiguration(),
        address: DeviceAddress? = DeviceAddress("C0:FF:EE:00:00:01")
    ) {
        self.world = world
        var settings = SimulatedControllerConfiguration()
        settings.publicAddress = address
        controller = world.air.addController(settings)
        host = Host(configuration: configuration)
        world.add(self)
        host.transportOpened(at: world.now)
        world.run(for: .seconds(5)) { host.isReady }
    }

    func submit(_ command: HostCommand) -> OperationID {
        let operation = host.submit(command, at: world.now)
        while let event = host.nextEvent() { events.append(event) }
        world.settle()
        return operation
    }

    func result(of command: HostCommand, within span: Microseconds = .seconds(20)) -> Result<HostResult, HostFailure>? {
        let operation = submit(command)
        world.run(for: span) { self.result(of: operation) != nil }
        return result(of: operation)
    }

    func result(of operation: OperationID) -> Result<HostResult, HostFailure>? {
        for event in events { if case .completed(operation, let result) = event { return result } }
        return nil
    }

    func connect(_ peer: DeviceAddress) -> LinkID? {
        guard case .success(.connected(let link))? = result(of: .radio(.connect(ConnectRequest(peer: peer)))) else {
            return nil
        }
        return link
    }

    func gatt(_ link: LinkID, _ operation: GATTOperation) -> GATTResult? {
        guard case .success(.gatt(let value))? = result(of: .link(link, .gatt(operation))) else { return nil }
        return value
    }

    func attError(_ link: LinkID, _ operation: GATTOperation) -> ATTError? {
        guard case .failure(.gatt(.att(let error, _)))? = result(of: .link(link, .gatt(operation))) else { return nil }
        return error
    }

    /// The characteristics of the first service with a UUID.
    func characteristics(_ link: LinkID, _ service: BluetoothUUID) -> [DiscoveredCharacteristic] {
        guard case .services(let services)? = gatt(link, .discoverServices(uuids: [service])),
            let found = services.first,
            case .characteristics(let list)? = gatt(link, .discoverCharacteristics(found.range, uuids: []))
        else { return [] }
        return list
    }

    func subscribe(_ link: LinkID, _ characteristic: DiscoveredCharacteristic) -> Bool {
        guard let first = characteristic.valueHandle.next,
            case .descriptors(let found)? = gatt(
                link, .discoverDescriptors(AttributeHandleRange(first, characteristic.endHandle))),
            let configuration = found.first(where: { $0.uuid == .clientCharacteristicConfiguration }),
            let mode = characteristic.properties.subscriptionMode
        else { return false }
        return gatt(link, .subscribe(characteristic.valueHandle, configuration: configuration.handle, mode: mode))
            == .subscribed
    }

    var notifications: [[UInt8]] {
        events.compactMap { if case .gatt(_, .notification(let value)) = $0 { value.value } else { nil } }
    }

    func discoveries() -> [Discovery] {
        events.compactMap { if case .discovered(let discovery) = $0 { discovery } else { nil } }
    }

    // MARK: Station

    var nextDeadline: Instant? { host.nextDeadline }

    func advance(to now: Instant) {
        host.advance(to: now)
        while let event = host.nextEvent() { events.append(event) }
    }

    func exchange(with air: SimulatedAir, at now: Instant) -> Bool {
        while let question = host.nextToolboxQuestion() {
            host.answer(question.id, with: CryptoToolbox().answer(question.request), at: now)
        }
        var packets: [[UInt8]] = []
        host.drainPackets { packets.append($0.copied()) }
        for packet in packets { air.send(packet.span.bytes, to: controller, at: now.microseconds) }
        var isBusy = !packets.isEmpty
        while let packet = air.nextPacket(from: controller) {
            isBusy = true
            host.receive(packet.span.bytes, at: now)
        }
        while let event = host.nextEvent() { events.append(event) }
        return isBusy
    }
}
