import BLEAppLifecycle
import BLEMessages
import BLEPackets
import BLETransport
import Foundation
import Testing

@testable import CoreBluetooth

/// How events get from the thread of the system to the queues of managers: together, in order, the first without delay.
@Suite("Events that are handed over together")
struct HandingOverTests {
    private static let peer = PeerIdentifier(high: 1, low: 2)
    private static let first = ManagerID(rawValue: 1)

    private static func value(_ number: Int) -> ClientEvent {
        let octets = [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
        return .peripheral(peer, .valueUpdated(characteristic: RemoteAttributeID(rawValue: 3), octets, nil))
    }

    /// Runs something on a loop and waits for it and for what it deferred.
    private func onLoop(_ loop: EventLoop, _ body: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        loop.run(body)
        loop.run { done.signal() }
        done.wait()
    }

    @Test("the first event of a turn waits for nothing; those behind it wait for each other, per manager and in order")
    func turn() {
        let turn = TurnOfEvents()
        let second = ManagerID(rawValue: 2)
        #expect(turn.add(Self.value(0), for: Self.first) == nil)
        #expect(turn.add(Self.value(1), for: Self.first) == 1)
        #expect(turn.add(Self.value(2), for: second) == 1)
        #expect(turn.add(Self.value(3), for: Self.first) == 2)
        var taken: [ManagerID: [ClientEvent]] = [:]
        turn.takeParts { taken[$1, default: []] += $0 }
        #expect(taken == [Self.first: [Self.value(1), Self.value(3)], second: [Self.value(2)]])
        turn.takeParts { events, _ in #expect(events.isEmpty, "they were taken") }
        #expect(turn.add(Self.value(4), for: Self.first) == 1, "the turn goes on")
        turn.takeParts { taken[$1, default: []] += $0 }
        #expect(taken[Self.first]?.last == Self.value(4))
        turn.end()
        #expect(turn.add(Self.value(5), for: Self.first) == nil)
    }

    @Test("the events of one turn of the loop reach a manager in few parts, all of them by its end")
    func parts() throws {
        let client = SystemClient(AppEnvironment([:]), log: { _ in })
        let parts = Locked<[[ClientEvent]]>([])
        let (manager, _) = client.add { events in parts.with { $0.append(events) } }
        onLoop(client.loop) {
            for number in 0..<150 { client.deliver(Self.value(number), to: manager) }
        }
        #expect(parts.current.map(\.count) == [1, 64, 64, 21])
        #expect(parts.current.flatMap { $0 } == (0..<150).map(Self.value))
        // The next turn begins anew.
        onLoop(client.loop) { client.deliver(Self.value(150), to: manager) }
        #expect(parts.current.last == [Self.value(150)])
        client.loop.stop()
    }

    @Test("an answer, and the end of a request, find all events before them handed over")
    func answers() {
        var environment = AppEnvironment([:])
        environment.startsInForeground = true
        let system = DaemonSystem(.init(environment, socketPath: "/nowhere/bled.sock"))
        let received = Locked(0)
        let counts = Locked<[Int]>([])
        let manager = system.attach { events in received.with { $0 += events.count } }
        onLoop(system.client.loop) {
            for number in 0..<5 { system.receive(Self.value(number), for: manager) }
            counts.with { $0.append(received.current) }
            system.processed(1)
            counts.with { $0.append(received.current) }
            for number in 5..<9 { system.receive(Self.value(number), for: manager) }
            system.receive(.retrieved(QueryID(rawValue: 1), []), for: manager)
            counts.with { $0.append(received.current) }
        }
        #expect(counts.current == [1, 5, 9])
        #expect(received.current == 9)
        system.kill()
    }

    @Test("handled events are reported a few at a time, and the last of them at once")
    func reports() {
        let system = ScriptedSystem()
        let queue = DispatchQueue(label: "reports")
        let manager = CurrentSystem.$override.withValue(system) { CBCentralManager(delegate: nil, queue: queue) }
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        manager.channel.queue.sync {}
        system.deliver((0..<40).map(Self.value))
        manager.channel.queue.sync {}
        #expect(system.handled == [1, 16, 16, 8])
    }

    @Test("what a manager has forgotten of an earlier daemon does not count when it is handled together with the rest")
    func forgotten() {
        var sink = ManagerSink { _ in }
        sink.countDelivered(3)
        sink.forget()
        sink.countDelivered(4)
        #expect(sink.handle(events: 2, octets: 20) == nil)
        #expect(sink.drainHandled().events == 0)
        #expect(sink.handle(events: 3, octets: 30) == false)
        #expect(sink.drainHandled().events == 2)
        #expect(sink.handle(events: 2, octets: 20) == false)
        #expect(sink.isNewlyIdle)
        #expect(sink.drainHandled().events == 2)
    }
}
