import BLEHost
import BLESensors

/// The counter of the last packet of a device that encrypts: what must outlive the program, so that packets that were
/// recorded before its start are noticed.
public struct ReplayCounter: Hashable, Sendable {
    /// The address of the device in the settings.
    public var address: UInt64
    /// The counter and the authentication code of its last packet.
    public var seal: SensorSeal
    /// The first four octets of what the device's key makes of sixteen zeros: another key begins another count.
    public var keyCheck: UInt32

    public init(address: UInt64, seal: SensorSeal, keyCheck: UInt32) {
        self.address = address
        self.seal = seal
        self.keyCheck = keyCheck
    }
}

extension ReplayCounter {
    private static let head = "jelling-gateway counters 1"
    /// The maximum number of counters in a text.
    private static let limit = 100_000

    /// A line for each counter, with its numbers in hexadecimal.
    public static func text(of counters: [ReplayCounter]) -> String {
        let lines = counters.map { counter in
            [counter.address, UInt64(counter.seal.counter), UInt64(counter.seal.code), UInt64(counter.keyCheck)]
                .map { String($0, radix: 16) }.joined(separator: " ")
        }
        return ([head] + lines).joined(separator: "\n") + "\n"
    }

    /// - Returns: `nil` if it is not such a text.
    public static func counters(in text: String) -> [ReplayCounter]? {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first == Substring(head), lines.last == "", lines.count <= limit + 2 else { return nil }
        lines.removeFirst()
        lines.removeLast()
        var counters: [ReplayCounter] = []
        for line in lines {
            let numbers = line.split(separator: " ").compactMap { UInt64($0, radix: 16) }
            guard numbers.count == 4, numbers[0] < 1 << 48, let counter = UInt32(exactly: numbers[1]),
                let code = UInt32(exactly: numbers[2]), let keyCheck = UInt32(exactly: numbers[3])
            else { return nil }
            counters.append(
                ReplayCounter(
                    address: numbers[0], seal: SensorSeal(counter: counter, code: code), keyCheck: keyCheck))
        }
        return counters
    }
}

extension Gateway {
    /// The counters of the devices whose keys the configuration has, in the order of their addresses.
    public var replayCounters: [ReplayCounter] {
        guards.compactMap { address, device in
            guard let seal = device.replays?.last, let keyCheck = keyCheck(of: address) else { return nil }
            return ReplayCounter(address: address, seal: seal, keyCheck: keyCheck)
        }
        .sorted { $0.address < $1.address }
    }

    /// Takes over the counters of an earlier run, before the first packet. Those of other keys are left out.
    public mutating func restore(_ counters: [ReplayCounter], at now: Instant) {
        for counter in counters
        where guards[counter.address] == nil && keyCheck(of: counter.address) == counter.keyCheck {
            guards[counter.address] = ProtectedDevice(replays: ReplayGuard(stored: counter.seal, at: now))
        }
    }

    private func keyCheck(of address: UInt64) -> UInt32? {
        let zeros = [UInt8](repeating: 0, count: 16)
        guard let settings = settingsOfAddress[address], let key = configuration.devices[settings].key, let encrypt,
            // The keys of MiBeacon 2 and 3 have 12 octets.
            let code = encrypt(Array((key + zeros).prefix(16)), zeros)
        else { return nil }
        return code.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
