/// Events with advertising reports, on their way to who counts them.
@safe
public final class ReportBatch {
    /// In front of each event are four octets: its length, and these.
    static let isShortened: UInt32 = 1 << 31
    /// The event is counted in this part. The others only note those of its reports whose devices are theirs.
    static let isCounted: UInt32 = 1 << 30
    static let byteCountMask: UInt32 = 0x00FF_FFFF
    private static let headerByteCount = 4
    /// Longer than events are, but for those of a broken file.
    private static let longestEvent = 512

    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0
    private let byteCount: Int

    init(byteCount: Int) {
        self.byteCount = byteCount
        capacity = byteCount + Self.longestEvent
        unsafe memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }

    deinit { unsafe memory.deallocate() }

    var isFull: Bool { count >= byteCount }

    var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            let span = unsafe RawSpan(_unsafeStart: memory, byteCount: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    @inline(__always)
    func append(_ event: RawSpan, _ flags: UInt32) {
        let added = Self.headerByteCount &+ event.byteCount
        if added > capacity &- count { grow(added) }
        let header = flags | UInt32(truncatingIfNeeded: event.byteCount) & Self.byteCountMask
        // In bounds: checked or made so above.
        unsafe memory.storeBytes(of: header.littleEndian, toByteOffset: count, as: UInt32.self)
        unsafe event.withUnsafeBytes {
            guard let start = $0.baseAddress else { return }
            unsafe (memory + (count &+ Self.headerByteCount)).copyMemory(from: start, byteCount: $0.count)
        }
        count &+= added
    }

    @inline(never)
    private func grow(_ added: Int) {
        capacity = count + added
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        unsafe larger.copyMemory(from: memory, byteCount: count)
        unsafe memory.deallocate()
        unsafe memory = larger
    }
}

// Who fills it passes it on, and nobody refers to it afterwards.
extension ReportBatch: @unchecked Sendable {}
