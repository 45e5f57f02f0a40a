/// The flash of a simulated device: pages are erased to ones, and writing only clears bits. Power may be lost at any
/// operation, which is then half done.
struct SimulatedFlash {
    /// The power went while the flash was erased or written.
    struct PowerLoss: Error {}

    let pageByteCount: Int
    private(set) var octets: [UInt8]
    /// How long all operations have taken, in microseconds.
    private(set) var microseconds: Int64 = 0
    /// Erased pages, and writes of up to a page.
    private(set) var operations = 0
    /// The operations at which power is lost, each once.
    var powerLosses: Set<Int>
    var eraseMicroseconds: Int64
    var writeMicroseconds: Int64

    init(byteCount: Int, _ timing: SimulatedFlashTiming, powerLosses: [Int]) {
        pageByteCount = timing.pageByteCount
        octets = Array(repeating: 0xFF, count: byteCount)
        eraseMicroseconds = timing.eraseMicroseconds
        writeMicroseconds = timing.writeMicroseconds
        self.powerLosses = Set(powerLosses)
    }

    /// What was written so far is what the device has at first: it is not counted.
    mutating func leaveFactory(_ powerLosses: [Int]) {
        operations = 0
        microseconds = 0
        self.powerLosses = Set(powerLosses)
    }

    /// Counts an operation.
    /// - Returns: whether power is lost in it.
    private mutating func begin() -> Bool {
        operations += 1
        return powerLosses.remove(operations) != nil
    }

    /// Erases the page that begins here.
    mutating func erase(pageAt start: Int) throws(PowerLoss) {
        let isLost = begin()
        microseconds += eraseMicroseconds
        let end = min(octets.count, start + pageByteCount)
        for place in start..<end { octets[place] = isLost && place % 2 == 0 ? octets[place] & 0x5A : 0xFF }
        if isLost { throw PowerLoss() }
    }

    /// Erases all pages of a range that begins with a page.
    mutating func erase(_ range: Range<Int>) throws(PowerLoss) {
        var start = range.lowerBound
        while start < range.upperBound {
            try erase(pageAt: start)
            start += pageByteCount
        }
    }

    /// Writes octets; bits that are zero remain zero.
    mutating func write(_ value: some Collection<UInt8>, at start: Int) throws(PowerLoss) {
        var place = start
        var rest = value[...]
        while !rest.isEmpty {
            let piece = rest.prefix(pageByteCount - place % pageByteCount)
            rest = rest.dropFirst(piece.count)
            let isLost = begin()
            microseconds += max(1, writeMicroseconds * Int64(piece.count) / Int64(pageByteCount))
            for octet in piece.prefix(isLost ? piece.count / 2 : piece.count) {
                octets[place] &= octet
                place += 1
            }
            if isLost { throw PowerLoss() }
        }
    }

    /// Something small that is either written or not, such as a flag in a settings page.
    mutating func commit() throws(PowerLoss) {
        microseconds += writeMicroseconds
        if begin() { throw PowerLoss() }
    }

    /// Copies a page over another one, which is erased first.
    mutating func copy(pageAt source: Int, to target: Int) throws(PowerLoss) {
        try erase(pageAt: target)
        try write(Array(octets[source..<source + pageByteCount]), at: target)
    }
}

/// How large pages of flash are, and how long they take.
public struct SimulatedFlashTiming: Hashable, Sendable {
    /// The octets of a page.
    public var pageByteCount: Int
    /// How long erasing a page takes, in microseconds.
    public var eraseMicroseconds: Int64
    /// How long writing a whole page takes, in microseconds.
    public var writeMicroseconds: Int64

    public init(pageByteCount: Int = 4096, eraseMicroseconds: Int64 = 2_000, writeMicroseconds: Int64 = 1_000) {
        self.pageByteCount = max(64, pageByteCount)
        self.eraseMicroseconds = max(0, eraseMicroseconds)
        self.writeMicroseconds = max(0, writeMicroseconds)
    }
}
