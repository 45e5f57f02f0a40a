import BLESensors

/// The counter of the last packet of a device that encrypts: what must outlive the program, so that packets that were
/// recorded before its start are noticed.
public struct ReplayCounter: Hashable, Sendable {
    /// The address of the device in the settings.
    public var address: UInt64
    /// The counter and the authentication code of its last packet.
    public var seal: SensorSeal
    /// The highest counter that it had before its counter restarted; `nil`: it has not.
    public var highestBefore: UInt32?
    /// The first four octets of what the device's key makes of sixteen zeros: another key begins another count.
    public var keyCheck: UInt32

    public init(address: UInt64, seal: SensorSeal, highestBefore: UInt32? = nil, keyCheck: UInt32) {
        self.address = address
        self.seal = seal
        self.highestBefore = highestBefore
        self.keyCheck = keyCheck
    }
}

extension ReplayCounter {
    private static let head = "jelling-gateway counters 2"
    /// The head of a text without the highest counters.
    private static let oldHead = "jelling-gateway counters 1"
    /// The maximum number of counters in a text.
    private static let limit = 100_000

    /// A line for each counter, with its numbers in hexadecimal. The last number of a line belongs to the key, so that
    /// a line without its end is that of no device.
    public static func text(of counters: [ReplayCounter]) -> String {
        let lines = counters.map { counter in
            let highest = counter.highestBefore.map { String($0, radix: 16) } ?? "-"
            let numbers = [counter.address, UInt64(counter.seal.counter), UInt64(counter.seal.code)]
                .map { String($0, radix: 16) }
            return (numbers + [highest, String(counter.keyCheck, radix: 16)]).joined(separator: " ")
        }
        return ([head] + lines).joined(separator: "\n") + "\n"
    }

    /// - Returns: the counters in the lines that are right, and whether all of the text is.
    public static func counters(in text: String) -> (counters: [ReplayCounter], isWhole: Bool) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let version = lines.first
        guard version == Substring(head) || version == Substring(oldHead) else { return ([], false) }
        var isWhole = lines.last == "" && lines.count <= limit + 2
        lines.removeFirst()
        // A line without its end may have another number than was written.
        if !lines.isEmpty { lines.removeLast() }
        var counters: [ReplayCounter] = []
        for line in lines.prefix(limit) {
            if let counter = counter(in: line, hasHighest: version == Substring(head)) {
                counters.append(counter)
            } else {
                isWhole = false
            }
        }
        return (counters, isWhole)
    }

    private static func counter(in line: Substring, hasHighest: Bool) -> ReplayCounter? {
        var words = line.split(separator: " ", omittingEmptySubsequences: false)
        var highest: UInt32?
        if hasHighest {
            guard words.count == 5 else { return nil }
            let word = words.remove(at: 3)
            guard word == "-" || UInt32(word, radix: 16) != nil else { return nil }
            highest = UInt32(word, radix: 16)
        }
        let numbers = words.compactMap { UInt64($0, radix: 16) }
        guard words.count == 4, numbers.count == 4, numbers[0] < 1 << 48, let counter = UInt32(exactly: numbers[1]),
            let code = UInt32(exactly: numbers[2]), let keyCheck = UInt32(exactly: numbers[3])
        else { return nil }
        return ReplayCounter(
            address: numbers[0], seal: SensorSeal(counter: counter, code: code), highestBefore: highest,
            keyCheck: keyCheck)
    }
}
