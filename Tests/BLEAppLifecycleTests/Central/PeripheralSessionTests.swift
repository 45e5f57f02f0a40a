import BLEHost
import BLEPackets
import Testing

@testable import BLEAppLifecycle

@Suite("A peripheral's session alone")
struct PeripheralSessionTests {
    private var alone = Alone()
    private var session = PeripheralSession(Alone.peer, at: Alone.address, client: Alone.client, app: Alone.app)
    private let value = RemoteAttributeID(rawValue: 11)

    private mutating func ask(_ request: PeripheralRequest) {
        session.perform(request, on: Alone.link, into: &alone.effects)
    }

    private mutating func answer(_ task: PeripheralTask, _ result: GATTResult) -> [PeripheralEvent] {
        session.ended(task, .success(.gatt(result)), into: &alone.effects)
        return events()
    }

    private mutating func events() -> [PeripheralEvent] {
        alone.wanted().events.compactMap { if case .peripheral(_, let event) = $0 { event } else { nil } }
    }

    /// A service 10–20 with a characteristic 11 that notifies.
    private mutating func explore() {
        session.connected(Alone.link, attMTU: 100, into: &alone.effects)
        let range = AttributeHandleRange(AttributeHandle(rawValue: 10), AttributeHandle(rawValue: 20))
        _ = answer(
            .discoverServices, .services([DiscoveredService(uuid: Profiles.heartRate, range: range, isPrimary: true)]))
        let found = DiscoveredCharacteristic(
            handle: AttributeHandle(rawValue: 11), valueHandle: AttributeHandle(rawValue: 12),
            endHandle: AttributeHandle(rawValue: 20), properties: [.notify, .read], uuid: Profiles.lockState)
        _ = answer(.discoverCharacteristics(service: RemoteAttributeID(rawValue: 10)), .characteristics([found]))
    }

    @Test("the engine is asked for a link while Bluetooth is on, after the delay that the app asked for, and only once")
    mutating func delay() {
        let due = Instant(microseconds: 1000)
        session.wait(until: due)
        session.converge(isOn: true, into: &alone.effects)
        #expect(alone.wanted().commands.isEmpty && session.startDeadline == due)
        alone.effects.now = due
        session.converge(isOn: true, into: &alone.effects)
        session.converge(isOn: true, into: &alone.effects)
        #expect(alone.wanted().commands == [.radio(.connect(ConnectRequest(peer: Alone.address)))])
        session.converge(isOn: false, into: &alone.effects)
        #expect(alone.wanted().commands.count == 1)
        #expect(session.state == .connecting(nil, notBefore: nil))
    }

    @Test("a request for an attribute that does not exist is refused with an error and a log line")
    mutating func unknown() {
        explore()
        ask(.readValue(characteristic: RemoteAttributeID(rawValue: 99)))
        let wanted = alone.wanted()
        #expect(wanted.logs == [.unknownAttribute] && wanted.commands.isEmpty)
        let event = PeripheralEvent.valueUpdated(
            characteristic: RemoteAttributeID(rawValue: 99), nil, .coreBluetooth(.invalidHandle))
        #expect(wanted.events == [.peripheral(Alone.peer, event)])
    }

    @Test("what waits here counts with its octets until it is submitted, and calls of setNotify have a limit")
    mutating func waitingOctets() {
        explore()
        ask(.setNotify(true, characteristic: value))
        for _ in 0..<3 { ask(.writeValue([UInt8](repeating: 1, count: 100), characteristic: value)) }
        ask(.writeWithoutResponse([1, 2, 3], characteristic: value))
        #expect(session.waitingOctets == 303)
        session.ended(
            .findConfiguration(characteristic: value),
            .failure(.gatt(.att(.attributeNotFound, handle: AttributeHandle(rawValue: 12)))), into: &alone.effects)
        #expect(session.waitingOctets == 3)
        _ = alone.wanted()
        session.connected(Alone.link, attMTU: 100, into: &alone.effects)
        #expect(session.waitingOctets == 0)
        explore()
        for _ in 0..<2000 { ask(.setNotify(true, characteristic: value)) }
        let refused = events().filter {
            if case .notificationStateUpdated(_, _, .coreBluetooth(.outOfSpace)) = $0 { true } else { false }
        }
        #expect(refused.count >= 900)
    }

    @Test("calls of setNotify run one after another, and the configuration is discovered once")
    mutating func notify() {
        explore()
        for isOn in [true, true, false] { ask(.setNotify(isOn, characteristic: value)) }
        #expect(alone.wanted().commands.count == 1)
        let configuration = DiscoveredDescriptor(
            handle: AttributeHandle(rawValue: 13), uuid: .clientCharacteristicConfiguration)
        session.ended(
            .findConfiguration(characteristic: value), .success(.gatt(.descriptors([configuration]))),
            into: &alone.effects)
        let handle = AttributeHandle(rawValue: 12)
        #expect(
            alone.wanted().commands
                == [
                    .link(
                        Alone.link, .gatt(.subscribe(handle, configuration: configuration.handle, mode: .notifications))
                    )
                ])
        session.ended(.subscribe(characteristic: value), .success(.gatt(.subscribed)), into: &alone.effects)
        let wanted = alone.wanted()
        // The second changes nothing, the third begins.
        let isOn = PeripheralEvent.notificationStateUpdated(characteristic: value, isNotifying: true, nil)
        #expect(wanted.events == [.peripheral(Alone.peer, isOn), .peripheral(Alone.peer, isOn)])
        #expect(wanted.commands == [.link(Alone.link, .gatt(.unsubscribe(handle)))])
        session.ended(
            .unsubscribe(characteristic: value), .failure(.gatt(.transactionTimeout)), into: &alone.effects)
        #expect(
            events() == [
                .notificationStateUpdated(
                    characteristic: value, isNotifying: true, .coreBluetooth(.connectionTimeout))
            ])
    }

    private mutating func commands() -> [HostCommand] { alone.wanted().commands }

    private func gatt(_ operation: GATTOperation) -> HostCommand { .link(Alone.link, .gatt(operation)) }

    @Test("a write without response after a subscription waits for both of its steps, and so do later writes")
    mutating func order() {
        explore()
        ask(.setNotify(true, characteristic: value))
        #expect(commands().count == 1)
        ask(.writeWithoutResponse([1], characteristic: value))
        ask(.readValue(characteristic: value))
        ask(.writeWithoutResponse([2], characteristic: value))
        #expect(commands().isEmpty)
        let configuration = DiscoveredDescriptor(
            handle: AttributeHandle(rawValue: 13), uuid: .clientCharacteristicConfiguration)
        session.ended(
            .findConfiguration(characteristic: value), .success(.gatt(.descriptors([configuration]))),
            into: &alone.effects)
        let handle = AttributeHandle(rawValue: 12)
        #expect(
            commands() == [gatt(.subscribe(handle, configuration: configuration.handle, mode: .notifications))])
        session.ended(.subscribe(characteristic: value), .success(.gatt(.subscribed)), into: &alone.effects)
        #expect(commands() == [gatt(.writeCommand(handle, value: [1])), gatt(.read(handle))])
        session.ended(.read(characteristic: value), .success(.gatt(.value([7]))), into: &alone.effects)
        #expect(commands() == [gatt(.writeCommand(handle, value: [2]))])
        ask(.writeWithoutResponse([3], characteristic: value))
        #expect(commands() == [gatt(.writeCommand(handle, value: [3]))])
    }

    @Test("two changes of one subscription keep their place among reads, also when the first one fails (SPEC CEN-15)")
    mutating func changes() {
        explore()
        let handle = AttributeHandle(rawValue: 12)
        ask(.readValue(characteristic: value))
        ask(.setNotify(true, characteristic: value))
        ask(.setNotify(false, characteristic: value))
        ask(.readValue(characteristic: value))
        ask(.setNotify(true, characteristic: value))
        ask(.readValue(characteristic: value))
        #expect(commands().count == 2)
        let configuration = DiscoveredDescriptor(
            handle: AttributeHandle(rawValue: 13), uuid: .clientCharacteristicConfiguration)
        let subscribe = gatt(.subscribe(handle, configuration: configuration.handle, mode: .notifications))
        session.ended(.read(characteristic: value), .success(.gatt(.value([1]))), into: &alone.effects)
        session.ended(
            .findConfiguration(characteristic: value), .success(.gatt(.descriptors([configuration]))),
            into: &alone.effects)
        #expect(commands() == [subscribe])
        session.ended(.subscribe(characteristic: value), .success(.gatt(.subscribed)), into: &alone.effects)
        // The engine keeps the order of these two; the next change waits for the end of this one.
        #expect(commands() == [gatt(.unsubscribe(handle)), gatt(.read(handle))])
        session.ended(
            .unsubscribe(characteristic: value), .failure(.gatt(.transactionTimeout)), into: &alone.effects)
        let wanted = alone.wanted()
        #expect(wanted.commands == [gatt(.read(handle))])
        // It is still on: turning it on changes nothing.
        let isOn = PeripheralEvent.notificationStateUpdated(characteristic: value, isNotifying: true, nil)
        #expect(wanted.events.last == .peripheral(Alone.peer, isOn))
    }

    /// A session whose link the system has lost, with the service and its subscription.
    private mutating func subscribed() {
        explore()
        ask(.setNotify(true, characteristic: value))
        session.ended(
            .findConfiguration(characteristic: value), .success(.gatt(.descriptors([configuration]))),
            into: &alone.effects)
        session.ended(.subscribe(characteristic: value), .success(.gatt(.subscribed)), into: &alone.effects)
        session.resume()
        _ = alone.wanted()
        session.connected(Alone.link, attMTU: 100, into: &alone.effects)
    }

    private var configuration: DiscoveredDescriptor {
        DiscoveredDescriptor(handle: AttributeHandle(rawValue: 14), uuid: .clientCharacteristicConfiguration)
    }

    private func heart(last: UInt16 = 20) -> DiscoveredService {
        DiscoveredService(
            uuid: Profiles.heartRate,
            range: AttributeHandleRange(AttributeHandle(rawValue: 10), AttributeHandle(rawValue: last)), isPrimary: true
        )
    }

    private func pulse(_ properties: CharacteristicProperties = [.notify, .read]) -> DiscoveredCharacteristic {
        DiscoveredCharacteristic(
            handle: AttributeHandle(rawValue: 11), valueHandle: AttributeHandle(rawValue: 12),
            endHandle: AttributeHandle(rawValue: 20), properties: properties, uuid: Profiles.lockState)
    }

    @Test(
        "a link in the place of a lost one is confirmed and subscribed again, without a word, before what the app asks")
    mutating func resumed() {
        subscribed()
        ask(.readValue(characteristic: value))
        #expect(commands() == [gatt(.discoverServices(uuids: []))])
        let battery = DiscoveredService(
            uuid: Profiles.battery,
            range: AttributeHandleRange(AttributeHandle(rawValue: 30), AttributeHandle(rawValue: 40)), isPrimary: true)
        #expect(answer(.confirmServices, .services([heart(), battery])).isEmpty)
        subscribed()
        _ = alone.wanted()
        session.ended(.confirmServices, .success(.gatt(.services([heart(), battery]))), into: &alone.effects)
        #expect(commands() == [gatt(.discoverCharacteristics(heart().range, uuids: []))])
        let service = RemoteAttributeID(rawValue: 10)
        session.ended(
            .confirmCharacteristics(service: service), .success(.gatt(.characteristics([pulse()]))),
            into: &alone.effects)
        #expect(commands().count == 1)
        ask(.readValue(characteristic: value))
        session.ended(
            .confirmConfiguration(characteristic: value), .success(.gatt(.descriptors([configuration]))),
            into: &alone.effects)
        let handle = AttributeHandle(rawValue: 12)
        #expect(commands() == [gatt(.subscribe(handle, configuration: configuration.handle, mode: .notifications))])
        session.ended(.subscribeAgain(characteristic: value), .success(.gatt(.subscribed)), into: &alone.effects)
        let wanted = alone.wanted()
        #expect(wanted.events.isEmpty && wanted.commands == [gatt(.read(handle))])
        #expect(session.database.services?.map(\.uuid) == [Profiles.heartRate])
    }

    @Test("what is no longer as it was is told: services that changed, a subscription that is refused")
    mutating func resumedInVain() {
        let service = RemoteAttributeID(rawValue: 10)
        let gone = PeripheralEvent.servicesModified(invalidated: [service])
        for found in [[], [heart(last: 21)]] {
            subscribed()
            _ = alone.wanted()
            #expect(answer(.confirmServices, .services(found)) == [gone])
            #expect(session.database.characteristic(value) == nil)
        }
        subscribed()
        _ = alone.wanted()
        #expect(answer(.confirmServices, .services([heart()])).isEmpty)
        #expect(answer(.confirmCharacteristics(service: service), .characteristics([pulse(.read)])) == [gone])
        subscribed()
        _ = alone.wanted()
        session.ended(
            .confirmServices, .failure(.gatt(.att(.unlikelyError, handle: AttributeHandle(rawValue: 1)))),
            into: &alone.effects)
        #expect(events() == [gone])
        for (task, result): (PeripheralTask, Result<HostResult, HostFailure>) in [
            (.confirmConfiguration(characteristic: value), .success(.gatt(.descriptors([])))),
            (
                .subscribeAgain(characteristic: value),
                .failure(.gatt(.att(.insufficientAuthentication, handle: AttributeHandle(rawValue: 14))))
            ),
        ] {
            subscribed()
            _ = alone.wanted()
            session.ended(task, result, into: &alone.effects)
            let told = events()
            guard case .notificationStateUpdated(value, false, _?)? = told.first, told.count == 1 else {
                Issue.record("told \(told)")
                continue
            }
            #expect(session.database.characteristic(value)?.isNotifying == false)
        }
    }

    @Test(
        "as many writes wait as the engine would queue; the app learns when there is no room, and when there is again")
    mutating func room() {
        explore()
        ask(.readValue(characteristic: value))
        for octet in UInt8(0)..<25 { ask(.writeWithoutResponse([octet], characteristic: value)) }
        let full = alone.wanted()
        #expect(full.commands.count == 1)
        #expect(full.events == [.peripheral(Alone.peer, .writeWithoutResponseAvailable(false))])
        session.setTakesWriteCommands(true, into: &alone.effects)
        #expect(events().isEmpty)
        session.ended(.read(characteristic: value), .failure(.gatt(.transactionTimeout)), into: &alone.effects)
        let free = alone.wanted()
        let sent = (UInt8(0)..<20).map { gatt(.writeCommand(AttributeHandle(rawValue: 12), value: [$0])) }
        #expect(free.commands == sent)
        #expect(free.events.last == .peripheral(Alone.peer, .writeWithoutResponseAvailable(true)))
    }

    @Test("services of the system are not reported unless the settings say so")
    mutating func hidden() {
        let uuids = [UInt16(0x1800), 0x1801, 0x180D, 0x1812].map { BluetoothUUID($0) }
        let found = uuids.enumerated().map { index, uuid in
            let start = UInt16(index * 10 + 1)
            return DiscoveredService(
                uuid: uuid, range: AttributeHandleRange(.init(rawValue: start), .init(rawValue: start + 8)),
                isPrimary: true)
        }
        for hidden in [LifecycleSettings().hiddenServices, []] {
            session = PeripheralSession(
                Alone.peer, at: Alone.address, client: Alone.client, app: Alone.app, hiddenServices: hidden)
            session.connected(Alone.link, attMTU: 100, into: &alone.effects)
            guard case .servicesDiscovered(let told, nil)? = answer(.discoverServices, .services(found)).first else {
                Issue.record("nothing was told")
                return
            }
            #expect(told.map(\.uuid) == (hidden.isEmpty ? uuids : [uuids[2]]))
        }
    }

    @Test("changed services become invalid, whatever range the peer names")
    mutating func changed() {
        explore()
        ask(.setNotify(true, characteristic: value))
        session.servicesChanged(from: 30, to: 5, into: &alone.effects)
        #expect(session.database.service(RemoteAttributeID(rawValue: 10)) != nil)
        _ = alone.wanted()
        session.servicesChanged(from: 15, to: 15, into: &alone.effects)
        #expect(events() == [.servicesModified(invalidated: [RemoteAttributeID(rawValue: 10)])])
        #expect(session.database.characteristic(value) == nil)
    }
}
