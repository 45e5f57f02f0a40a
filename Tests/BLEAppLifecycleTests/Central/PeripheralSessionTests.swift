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
        session.connected(Alone.link, attMTU: 100)
        let range = AttributeHandleRange(AttributeHandle(rawValue: 10), AttributeHandle(rawValue: 20))
        _ = answer(
            .discoverServices, .services([DiscoveredService(uuid: Profiles.heartRate, range: range, isPrimary: true)]))
        let found = DiscoveredCharacteristic(
            handle: AttributeHandle(rawValue: 11), valueHandle: AttributeHandle(rawValue: 12),
            endHandle: AttributeHandle(rawValue: 20), properties: [.notify, .read], uuid: Profiles.lockState)
        _ = answer(.discoverCharacteristics(service: RemoteAttributeID(rawValue: 10)), .characteristics([found]))
    }

    @Test("the engine is asked for a link while Bluetooth is on, after the delay that the app wants, and not twice")
    mutating func delay() {
        let due = Instant(microseconds: 1000)
        session.wait(until: due)
        session.converge(isOn: true, at: .zero, into: &alone.effects)
        #expect(alone.wanted().commands.isEmpty && session.startDeadline == due)
        session.converge(isOn: true, at: due, into: &alone.effects)
        session.converge(isOn: true, at: due, into: &alone.effects)
        #expect(alone.wanted().commands == [.radio(.connect(ConnectRequest(peer: Alone.address)))])
        session.converge(isOn: false, at: due, into: &alone.effects)
        #expect(alone.wanted().commands.count == 1)
        #expect(session.state == .connecting(nil, notBefore: nil))
    }

    @Test("an attribute that does not exist is refused with an error and a line in the log")
    mutating func unknown() {
        explore()
        ask(.readValue(characteristic: RemoteAttributeID(rawValue: 99)))
        let wanted = alone.wanted()
        #expect(wanted.logs == [.unknownAttribute] && wanted.commands.isEmpty)
        let event = PeripheralEvent.valueUpdated(
            characteristic: RemoteAttributeID(rawValue: 99), nil, .coreBluetooth(.invalidHandle))
        #expect(wanted.events == [.peripheral(Alone.peer, event)])
    }

    @Test("calls of setNotify are carried out one after the other, the configuration is looked for once")
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

    @Test("services that changed stand for nothing any more, whatever range the peer names")
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
