import Glibc
import Synchronization

/// Two pseudo-terminals and a thread between their ends, which loses and changes octets in both directions.
final class DamagedTerminals: Sendable {
    private let isRunning = Atomic<Bool>(true)
    private let damaged = Atomic<Int>(0)
    private let passed = Atomic<Int>(0)
    /// The ends that nobody relays: for a host and a controller.
    let host: Int32
    let controller: Int32

    /// - Parameter chance: of 1,000 octets in each direction, so many are hurt: half of them are lost, half changed.
    init(chance: Int) {
        let (near, far) = (PseudoTerminal(), PseudoTerminal())
        near.makeRaw()
        far.makeRaw()
        host = dup(near.observer)
        controller = dup(far.observer)
        let thread = Relay(near: near, far: far, chance: chance, owner: self)
        thread.start()
    }

    /// How many octets have been hurt, of how many.
    var damage: (hurt: Int, passed: Int) { (damaged.load(ordering: .relaxed), passed.load(ordering: .relaxed)) }

    func stop() { isRunning.store(false, ordering: .relaxed) }

    /// The thread with its terminals, which nobody else uses once it has started.
    private final class Relay {
        private let near: PseudoTerminal
        private let far: PseudoTerminal
        private let chance: Int
        private let owner: DamagedTerminals
        private var dice = Dice(5)

        init(near: PseudoTerminal, far: PseudoTerminal, chance: Int, owner: DamagedTerminals) {
            (self.near, self.far, self.chance, self.owner) = (near, far, chance, owner)
        }

        func start() {
            let context = unsafe Unmanaged.passRetained(self)
            var thread = pthread_t()
            unsafe pthread_create(
                &thread, nil,
                { context in
                    guard let context = unsafe context else { return nil }
                    unsafe Unmanaged<Relay>.fromOpaque(context).takeRetainedValue().run()
                    return nil
                }, unsafe context.toOpaque())
            pthread_detach(thread)
        }

        private func run() {
            let ends = [near.controller, far.controller]
            var buffer = [UInt8](repeating: 0, count: 4096)
            while owner.isRunning.load(ordering: .relaxed) {
                var waiting = ends.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                guard unsafe poll(&waiting, 2, 100) > 0 else { continue }
                for index in 0..<2 where waiting[index].revents & Int16(POLLIN) != 0 {
                    let count = unsafe read(ends[index], &buffer, buffer.count)
                    guard count > 0 else { continue }
                    writeAll(hurt(buffer[..<count]), to: ends[1 - index])
                }
            }
        }

        private func hurt(_ octets: ArraySlice<UInt8>) -> [UInt8] {
            var result: [UInt8] = []
            owner.passed.add(octets.count, ordering: .relaxed)
            for octet in octets {
                guard dice.number(below: 1_000) < chance else {
                    result.append(octet)
                    continue
                }
                owner.damaged.add(1, ordering: .relaxed)
                if dice.number(below: 2) == 0 { result.append(octet ^ UInt8(1 + dice.number(below: 255))) }
            }
            return result
        }
    }
}
