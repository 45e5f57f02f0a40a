/// A window of fixed size that moves forward over the file, and a place for a packet that is put together from several
/// records.
@safe
struct InputBuffer: ~Copyable {
    static let capacity = 256 << 10
    /// Octets of the longest packet with its type: ACL data.
    static let packetCapacity = 5 + 0xFFFF

    /// One of the two.
    private var file: InputFile?
    private var unpacker: Unpacker?
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity + packetCapacity, alignment: 16)
    private var head = 0
    private var tail = 0
    private var isAtEnd = false
    /// Where in the file the window starts.
    private(set) var offset: UInt64 = 0

    init(_ file: consuming InputFile) { self.file = consume file }

    deinit { unsafe memory.deallocate() }

    /// How many octets of the file have been read, packed as they are.
    var fileOffset: UInt64 { packedOffset ?? offset }
    private var packedOffset: UInt64?
    /// The name of the capture in an archive.
    private(set) var nameInArchive: String?

    /// Goes on with what a packed file contains, from its start.
    /// - Throws: `SystemError`: why it cannot be unpacked.
    mutating func unpack(_ archive: CaptureArchive) throws(SystemError) {
        let held = copy(at: 0, count: bufferedCount)
        guard let packed = file.take() else { return }
        (head, tail, offset, isAtEnd) = (0, 0, 0, false)
        var opened = try Unpacker(archive, packed, held: held)
        nameInArchive = opened.name
        packedOffset = opened.offset()
        unpacker = consume opened
    }

    /// How many octets of the file are in the window.
    ///
    /// It cannot overflow: `head` is never above `tail`, which is never above the size of the memory. So no sum of the two
    /// with a number below it is checked here either.
    @inline(__always)
    var bufferedCount: Int { tail &- head }

    /// Makes `count` octets available, at most `capacity`; `false` when the file ends before.
    @inline(__always)
    mutating func fill(_ count: Int) throws(SystemError) -> Bool {
        bufferedCount >= count ? true : try fillSlowly(count)
    }

    @inline(never)
    private mutating func fillSlowly(_ count: Int) throws(SystemError) -> Bool {
        if head > 0 {
            // The regions may overlap, which `copyMemory` allows.
            unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<bufferedCount])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[head..<tail]))
            tail -= head
            head = 0
        }
        while tail < count, !isAtEnd {
            guard tail < Self.capacity else { return false }
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[tail..<Self.capacity])
            var read = 0
            if let count = try unsafe file?.read(into: room) {
                read = count
            } else if let count = try unsafe unpacker?.read(into: room) {
                read = count
                packedOffset = unpacker?.offset()
            }
            tail += read
            isAtEnd = read == 0
        }
        return tail >= count
    }

    /// Moves past octets in the window.
    @inline(__always)
    mutating func consume(_ count: Int) {
        let step = max(min(count, bufferedCount), 0)
        head &+= step
        offset &+= UInt64(step)
    }

    /// Moves past octets, in the window or not, and returns how many the file had.
    mutating func skip(_ count: UInt64) throws(SystemError) -> UInt64 {
        var left = count
        while left > 0 {
            guard try fill(1) else { break }
            let step = Int(min(left, UInt64(bufferedCount)))
            consume(step)
            left -= UInt64(step)
        }
        return count - left
    }

    /// An integer at `position` from the start of the window; 0 beyond its end.
    @inline(__always)
    func load<Value: FixedWidthInteger & BitwiseCopyable>(
        at position: Int, bigEndian: Bool, as type: Value.Type = Value.self
    ) -> Value {
        guard position >= 0, position <= bufferedCount &- MemoryLayout<Value>.size else { return 0 }
        // In bounds: checked on the line above.
        let value = unsafe memory.loadUnaligned(fromByteOffset: head &+ position, as: Value.self)
        return bigEndian ? Value(bigEndian: value) : Value(littleEndian: value)
    }

    /// Puts an octet in front of a payload, over a header that has been read.
    mutating func overwrite(_ octet: UInt8, at position: Int) {
        guard position >= 0, position < bufferedCount else { return }
        unsafe memory[head + position] = octet
    }

    /// Copies octets out of the window.
    func copy(at position: Int, count: Int) -> [UInt8] {
        let place = place(at: position, count: count)
        return unsafe [UInt8](memory[place])
    }

    /// Keeps a packet that is no record of the file, until the next one.
    mutating func append(_ packet: [UInt8]) -> Range<Int> {
        let count = min(packet.count, Self.packetCapacity)
        let place = Self.capacity..<Self.capacity + count
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[place]).copyBytes(from: packet.prefix(count))
        return place
    }

    /// The place of octets in the buffer; valid until the next `fill` or `skip`.
    @inline(__always)
    func place(at position: Int, count: Int) -> Range<Int> {
        let start = head &+ min(max(position, 0), bufferedCount)
        return start..<start &+ min(max(count, 0), tail &- start)
    }

    @inline(__always) @_lifetime(borrow self)
    func bytes(in place: Range<Int>) -> RawSpan {
        let all = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(memory))
        return unsafe _overrideLifetime(all.extracting(place), borrowing: self)
    }
}
