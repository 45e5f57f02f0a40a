import BLEPackets

@testable import BLETransport

/// A generator of numbers that are the same in every run.
struct Dice {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func number(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }

    mutating func octet() -> UInt8 { UInt8(truncatingIfNeeded: number(below: 256)) }
}

/// Two sides of a three-wire link on a line with faults, in virtual time.
final class ThreeWirePair {
    /// What the line does to octets.
    struct Faults {
        /// Of 10,000 octets.
        var lost = 0
        var changed = 0
        var inserted = 0
    }

    var host: ThreeWireLink
    var controller: ThreeWireLink
    var faults = Faults()
    private(set) var now: UInt64 = 1_000_000
    private var dice: Dice
    private(set) var atHost: [[UInt8]] = []
    private(set) var atController: [[UInt8]] = []
    private(set) var hostEvents: [ThreeWireLink.Event] = []
    private(set) var controllerEvents: [ThreeWireLink.Event] = []
    /// Octets on the line so far, in both directions.
    private(set) var octets = 0

    init(_ host: ThreeWireConfiguration = .init(), _ controller: ThreeWireConfiguration = .init(), seed: UInt64 = 1) {
        self.host = ThreeWireLink(configuration: host)
        self.controller = ThreeWireLink(configuration: controller)
        dice = Dice(seed)
    }

    func start() {
        host.start(at: now)
        controller.start(at: now)
        exchange()
    }

    func sendToController(_ packet: [UInt8]) -> Bool { host.send(packet.span.bytes, at: now) }
    func sendToHost(_ packet: [UInt8]) -> Bool { controller.send(packet.span.bytes, at: now) }

    /// Lets time pass until a condition holds.
    /// - Returns: whether it does.
    func run(atMost seconds: UInt64 = 3_600, until isOver: (ThreeWirePair) -> Bool = { _ in false }) -> Bool {
        let end = now + seconds * 1_000_000
        exchange()
        while !isOver(self) {
            let next = [host.nextDeadline, controller.nextDeadline].compactMap { $0 }.min() ?? end
            guard next < end else {
                now = end
                return false
            }
            now = max(now, next)
            host.advance(to: now)
            controller.advance(to: now)
            exchange()
        }
        return true
    }

    /// Carries octets until both sides are silent.
    func exchange() {
        for _ in 0..<10_000 {
            collect()
            let (down, up) = (host.takeOutput(), controller.takeOutput())
            guard !down.isEmpty || !up.isEmpty else { return }
            octets += down.count + up.count
            now += UInt64(down.count + up.count) * 10
            controller.receive(damaged(down).span.bytes, at: now)
            host.receive(damaged(up).span.bytes, at: now)
        }
    }

    private func collect() {
        while let event = host.nextEvent() {
            hostEvents.append(event)
            if case .packet(let packet) = event { atHost.append(packet) }
        }
        while let event = controller.nextEvent() {
            controllerEvents.append(event)
            if case .packet(let packet) = event { atController.append(packet) }
        }
    }

    private func damaged(_ octets: [UInt8]) -> [UInt8] {
        guard faults.lost + faults.changed + faults.inserted > 0 else { return octets }
        var result: [UInt8] = []
        for octet in octets {
            let chance = dice.number(below: 10_000)
            if chance < faults.lost { continue }
            let isChanged = chance < faults.lost + faults.changed
            result.append(isChanged ? octet ^ UInt8(1 + dice.number(below: 255)) : octet)
            if chance >= 10_000 - faults.inserted { result.append(dice.octet()) }
        }
        return result
    }
}
