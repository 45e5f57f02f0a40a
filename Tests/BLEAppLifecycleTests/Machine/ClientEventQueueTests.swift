import Testing

@testable import BLEAppLifecycle

@Suite("Queue of a suspended app")
struct ClientEventQueueTests {
    private func peer(_ number: UInt64) -> PeripheralDescription {
        PeripheralDescription(identifier: PeerIdentifier(high: 1, low: number))
    }

    private func discovered(_ number: UInt64, rssi: Int8 = -50) -> ClientEvent {
        .discovered(peer(number), AdvertisementContent(), rssi: rssi)
    }

    private func value(_ octets: [UInt8]) -> ClientEvent {
        .peripheral(
            peer(1).identifier, .valueUpdated(characteristic: RemoteAttributeID(rawValue: 1), octets, nil))
    }

    private func connected(_ number: UInt64) -> ClientEvent {
        .connected(peer(number), maximumWriteLength: WriteLimits())
    }

    private func disconnected(_ number: UInt64) -> ClientEvent {
        .disconnected(peer(number).identifier, nil, microseconds: 0, isReconnecting: false)
    }

    private func all(_ queue: inout ClientEventQueue) -> [ClientEvent] {
        var events: [ClientEvent] = []
        while let event = queue.popFirst() { events.append(event) }
        return events
    }

    @Test("one discovery per peripheral, the latest; one state, the latest; every value (SPEC 5.5 rule 2, FGO-5)")
    func coalescing() {
        var queue = ClientEventQueue(eventLimit: 100, octetLimit: 100_000)
        let events = [
            discovered(1), .stateChanged(.poweredOff, .allowedAlways), value([1]), discovered(2), value([1]),
            discovered(1, rssi: -40), .stateChanged(.poweredOn, .allowedAlways),
        ]
        for (number, event) in events.enumerated() { queue.append(event, sequence: UInt64(number + 1)) }
        #expect(
            all(&queue) == [
                .statePassed(.poweredOff), value([1]), discovered(2), value([1]), discovered(1, rssi: -40),
                .stateChanged(.poweredOn, .allowedAlways),
            ])
        #expect(queue.isEmpty)
    }

    @Test(
        "losses in lower states are reported before the state, once for each that lost more than later ones (FGO-5)",
        arguments: [
            ([.resetting, .poweredOn], [.resetting]), ([.poweredOff, .resetting, .poweredOn], [.resetting]),
            ([.resetting, .poweredOn, .poweredOff, .poweredOn], [.resetting, .poweredOff]),
            ([.poweredOff, .poweredOn, .poweredOff, .poweredOn], [.poweredOff]), ([.unknown, .poweredOn], []),
            ([.poweredOn, .poweredOff], []),
        ] as [([ManagerState], [ManagerState])])
    func passedStates(states: [ManagerState], passed: [ManagerState]) throws {
        var queue = ClientEventQueue(eventLimit: 100, octetLimit: 100_000)
        for (number, state) in states.enumerated() {
            queue.append(.stateChanged(state, .allowedAlways), sequence: UInt64(number + 1))
        }
        let last = try #require(states.last)
        #expect(all(&queue) == passed.map { .statePassed($0) } + [.stateChanged(last, .allowedAlways)])
        #expect(queue.isEmpty)
    }

    @Test(
        "when the queue is full, discoveries are dropped first, then values, and the loss is reported; disconnections stay (SPEC 5.5 rule 2)"
    )
    func bounds() {
        var queue = ClientEventQueue(eventLimit: 4, octetLimit: 1_000_000)
        let events = [
            connected(1), value([1]), discovered(1), value([2]), value([3]), disconnected(1), connected(2),
            disconnected(2),
        ]
        for (number, event) in events.enumerated() { queue.append(event, sequence: UInt64(number + 1)) }
        #expect(
            all(&queue) == [.eventsLost(count: 4), connected(1), disconnected(1), connected(2), disconnected(2)])
    }

    @Test("the number of octets is bounded, too")
    func octets() {
        var queue = ClientEventQueue(eventLimit: 1000, octetLimit: 10_000)
        for number in 0..<100 {
            queue.append(value([UInt8](repeating: UInt8(number), count: 500)), sequence: UInt64(number + 1))
        }
        #expect(queue.octets <= 10_000)
        #expect(queue.count < 20)
        #expect(all(&queue).last == value([UInt8](repeating: 99, count: 500)))
    }

    @Test("a device that connects and disconnects forever uses bounded memory, and its last disconnection is kept")
    func flapping() {
        var queue = ClientEventQueue(eventLimit: 10, octetLimit: 1_000_000)
        for number in 0..<1000 {
            queue.append(connected(1), sequence: UInt64(2 * number + 1))
            queue.append(disconnected(1), sequence: UInt64(2 * number + 2))
        }
        #expect(queue.count <= 10)
        let events = all(&queue)
        #expect(events.last == disconnected(1))
    }

    @Test("a million discoveries of a few devices take the space of a few")
    func holes() {
        var queue = ClientEventQueue(eventLimit: 10, octetLimit: 1_000_000)
        for number in 0..<100_000 { queue.append(discovered(UInt64(number % 5)), sequence: UInt64(number + 1)) }
        #expect(all(&queue).count == 5)
    }

    @Test("a peer that subscribes and unsubscribes forever uses bounded memory")
    func subscriptions() {
        var queue = ClientEventQueue(eventLimit: 10, octetLimit: 1_000_000)
        let characteristic = LocalAttributeID(rawValue: 1)
        for number in 0..<1000 {
            let central = CentralDescription(
                identifier: PeerIdentifier(high: 1, low: UInt64(number)), maximumUpdateLength: 20)
            queue.append(.subscribed(central, characteristic: characteristic), sequence: UInt64(2 * number + 1))
            queue.append(.unsubscribed(central, characteristic: characteristic), sequence: UInt64(2 * number + 2))
        }
        #expect(queue.count <= 10)
        guard case .unsubscribed(let last, _)? = all(&queue).last else {
            Issue.record("the last is kept")
            return
        }
        #expect(last.identifier.low == 999)
    }

    @Test("room for updates is reported once, and values come before other answers")
    func order() {
        var queue = ClientEventQueue(eventLimit: 4, octetLimit: 1_000_000)
        let answer = ClientEvent.peripheral(peer(1).identifier, .rssiRead(rssi: 1, nil))
        queue.append(.readyToUpdateSubscribers, sequence: 1)
        queue.append(answer, sequence: 2)
        queue.append(.readyToUpdateSubscribers, sequence: 3)
        for number in 4..<100 { queue.append(value([UInt8(number)]), sequence: UInt64(number)) }
        #expect(
            all(&queue) == [.eventsLost(count: 94), .readyToUpdateSubscribers, answer, value([98]), value([99])])
    }
}
