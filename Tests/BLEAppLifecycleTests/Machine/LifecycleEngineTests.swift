import BLEHost
import BLEPackets
import Testing

@testable import BLEAppLifecycle

/// The pump between an engine and the apps, with an engine that only tells events.
@Suite("The pump between engine and apps")
struct LifecycleEngineTests {
    private struct Teller: LifecycleHost {
        var events: [HostEvent]
        var nextDeadline: Instant? { nil }
        var hasTransport: Bool { true }

        mutating func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID? { nil }
        mutating func nextEvent() -> HostEvent? { events.isEmpty ? nil : events.removeFirst() }
        mutating func advance(to now: Instant) {}
    }

    private static let seed = [UInt8](repeating: 1, count: 32)

    @Test("an input of the apps within a step leaves the engine's further events for their own steps")
    func withinAStep() {
        var engine = LifecycleEngine(
            on: Teller(events: [.stopped, .reopenTransport(resetsDevice: false)]), seed: Self.seed)
        let isFirst = engine.step(at: .zero)
        let first = engine.nextHostEvent()
        engine.withAppsWithinStep(at: .zero) { _ in }
        let early = engine.nextHostEvent()
        #expect(isFirst && first == .stopped && early == nil)
        let isSecond = engine.step(at: .zero)
        let second = engine.nextHostEvent()
        #expect(isSecond && second == .reopenTransport(resetsDevice: false))
    }

    @Test("a thousand waiting events are all delivered, in order")
    func noneIsLost() {
        let events = (0..<1000).map { HostEvent.bondRemoved(DeviceAddress(value: $0, kind: .random)) }
        var engine = LifecycleEngine(on: Teller(events: events), seed: Self.seed)
        var told: [HostEvent] = []
        while engine.step(at: .zero) {
            engine.withAppsWithinStep(at: .zero) { _ in }
            while let event = engine.nextHostEvent() { told.append(event) }
        }
        #expect(told == events)
    }
}
