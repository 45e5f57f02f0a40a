/// Appends little-endian fields to a buffer that can be used again and again.
public struct PacketWriter: Sendable {
    /// What was written.
    @inlinable public var bytes: [UInt8] { storage }

    @usableFromInline var storage: [UInt8]

    /// An empty writer.
    /// - Parameter capacity: bytes for which there is memory from the beginning; more find room, too.
    @inlinable
    public init(reservingCapacity capacity: Int = 0) {
        self.init(reusing: [])
        if capacity > 0 { reserveCapacity(capacity) }
    }

    /// Appends to the bytes in `buffer`.
    @usableFromInline
    init(reusing buffer: [UInt8]) { storage = buffer }

    /// Makes room for `capacity` bytes in all, those already written included.
    @inlinable public mutating func reserveCapacity(_ capacity: Int) { storage.reserveCapacity(capacity) }

    /// The number of written bytes, which is also the offset of the next one.
    @inlinable public var count: Int { storage.count }

    /// Forgets the bytes and keeps the memory.
    @inlinable public mutating func removeAll() { storage.removeAll(keepingCapacity: true) }

    /// Forgets the bytes, and takes a copy of others in their place.
    @inlinable
    package mutating func replaceAll(with span: RawSpan) {
        // Values of one kind mostly have the same length: nothing has to grow or shrink.
        guard storage.count == span.byteCount else {
            removeAll()
            return write(bytes: span)
        }
        unsafe span.withUnsafeBytes { octets in
            unsafe storage.withUnsafeMutableBytes { unsafe $0.copyMemory(from: octets) }
        }
    }

    /// Forgets the bytes, and takes one and a copy of others in their place.
    @inlinable
    package mutating func replaceAll(with first: UInt8, _ others: RawSpan) {
        guard storage.count == 1 + others.byteCount else {
            removeAll()
            write(first)
            return write(bytes: others)
        }
        unsafe others.withUnsafeBytes { octets in
            unsafe storage.withUnsafeMutableBytes { bytes in
                unsafe bytes[0] = first
                unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[1...]).copyMemory(from: octets)
            }
        }
    }

    /// Appends one byte.
    @inlinable public mutating func write(_ value: UInt8) { storage.append(value) }

    /// Appends an integer, least significant byte first.
    @inlinable public mutating func write<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        var rest = value
        for _ in 0..<MemoryLayout<Value>.size {
            storage.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Writes the low three bytes. The most significant byte is dropped.
    @inlinable public mutating func writeUInt24(_ value: UInt32) {
        write(UInt16(truncatingIfNeeded: value))
        write(UInt8(truncatingIfNeeded: value >> 16))
    }

    /// Appends a copy of the bytes.
    @inlinable public mutating func write(bytes span: RawSpan) {
        unsafe span.withUnsafeBytes { unsafe storage.append(contentsOf: $0) }
    }

    /// Appends the bytes.
    @inlinable public mutating func write(bytes array: [UInt8]) { storage.append(contentsOf: array) }

    /// Appends `count` zero bytes.
    /// - Parameter count: not negative.
    @inlinable public mutating func write(zeros count: Int) {
        storage.append(contentsOf: repeatElement(0, count: count))
    }

    /// Overwrites a byte, for lengths that are only known afterwards.
    /// - Parameter offset: below `count`; anything else traps.
    @inlinable public mutating func overwrite(_ value: UInt8, at offset: Int) { storage[offset] = value }

    /// Overwrites two bytes.
    /// - Parameter offset: below `count` − 1; anything else traps.
    @inlinable public mutating func overwrite(_ value: UInt16, at offset: Int) {
        storage[offset] = UInt8(truncatingIfNeeded: value)
        storage[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
    }
}
