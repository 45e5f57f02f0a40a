/// A name that lies in a program's constant or in a `NameArena`: what an output copies as it is.
struct Name {
    var start: UnsafePointer<UInt8>
    var count: Int

    var utf8: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: start, count: count) }
    var isEmpty: Bool { count == 0 }
}

/// Memory for names that are made once, when the tables are read, and last as long as the program.
struct NameArena {
    private var free: UnsafeMutablePointer<UInt8>
    private var left: Int

    init() {
        left = 128 << 10
        free = UnsafeMutablePointer<UInt8>.allocate(capacity: left)
    }

    mutating func name(_ bytes: [UInt8]) -> Name {
        if bytes.count > left {
            left = max(64 << 10, bytes.count)
            free = UnsafeMutablePointer<UInt8>.allocate(capacity: left)
        }
        unsafe free.update(from: bytes, count: bytes.count)
        defer {
            unsafe free += bytes.count
            left -= bytes.count
        }
        return unsafe Name(start: UnsafePointer(free), count: bytes.count)
    }
}
