import BLEPackets
import BLESimulator
import BLETransport
import Glibc

/// Two simulated controllers on one air, each for an adapter with its thread: what one of them sends, the other
/// receives.
package final class SimulatedPair: @unchecked Sendable {
    // @unchecked Sendable is safe because `stage` is used only on the loop's thread once that runs, and the rest never
    // changes.

    private let addresses: [TransportAddress]
    private let loop: EventLoop
    private let stage: Stage

    /// The air and who uses its controllers.
    private final class Stage {
        private let air: ServedAir
        /// Hosts that wait until the one before them has left.
        private var waiting: [Int: Int32] = [:]

        init(_ air: ServedAir) { self.air = air }

        func connect(_ descriptor: Int32, to index: Int) {
            guard !air.hasHost(index) else {
                if let earlier = waiting.updateValue(descriptor, forKey: index) { Glibc.close(earlier) }
                return
            }
            air.connect(descriptor, to: index) { [unowned self] in
                if let next = waiting.removeValue(forKey: index) { connect(next, to: index) }
            }
        }

        func close() {
            for descriptor in waiting.values { Glibc.close(descriptor) }
            waiting = [:]
            air.close()
        }
    }

    /// - Parameters:
    ///   - first: a simulated controller, with its devices.
    ///   - second: another one, of which only the controller is used: `sim` or `sim:PRESET`.
    /// - Throws: the errors of `VirtualTransports.open`, and `notOffered` for a second one with a scenario.
    package init(_ first: TransportAddress, _ second: TransportAddress) throws(TransportError) {
        let (simulated, controller) = try VirtualTransports.makeAir(first)
        let other: SimulatedControllerID
        switch second {
        case .simulator(nil):
            let address = DeviceAddress(value: 0x00AA_0100_0002, kind: .public)
            other = simulated.addController(SimulatedControllerConfiguration(publicAddress: address))
        case .simulator(let name?):
            guard let preset = SimulatedControllerPreset(name: name) else {
                guard VirtualTransports.isWord(name), unsafe access(name, F_OK) != 0 else { throw .notOffered(second) }
                throw VirtualTransports.unknownPreset(name)
            }
            // Another unit of the family, so that two of one family differ where real ones do.
            other = simulated.addController(preset, unit: 1)
        default: throw .notOffered(second)
        }
        addresses = [first, second]
        loop = try EventLoop(name: "simulated air")
        let air = ServedAir(on: loop, air: simulated)
        air.add(controller)
        air.add(other)
        stage = Stage(air)
        try loop.start()
    }

    deinit {
        // It stays alive until the loop has ended, for the ends of connections refer to it.
        // Safe: the loop's thread is the only one that uses it from here on.
        nonisolated(unsafe) let stage = stage
        let loop = loop
        loop.run {
            unsafe stage.close()
            loop.stop()
        }
        loop.join()
    }

    /// Opens the transport of a controller, which is then as after power-on.
    /// - Parameter index: 0 for the first controller, 1 for the second.
    /// - Throws: `TransportError.system`.
    package func open(_ index: Int) throws(TransportError) -> sending any HCITransport {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .system(call: "socketpair", code: errno) }
        let served = ends[1]
        // Safe: it is used on the loop's thread only.
        nonisolated(unsafe) let stage = stage
        loop.run { unsafe stage.connect(served, to: index) }
        return StreamTransport(descriptor: ends[0], isSocket: true, address: addresses[index])
    }
}
