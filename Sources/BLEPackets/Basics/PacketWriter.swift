/// Appends little-endian fields to a buffer that can be used again and again.
public struct PacketWriter: Sendable {
    public private(set) var bytes: [UInt8]

    @inlinable
    public init(reservingCapacity capacity: Int = 0) {
        self.init(reusing: [])
        if capacity > 0 { reserveCapacity(capacity) }
    }

    /// Goes on behind the bytes that `buffer` already holds.
    @usableFromInline
    init(reusing buffer: [UInt8]) { bytes = buffer }

    public mutating func reserveCapacity(_ capacity: Int) { bytes.reserveCapacity(capacity) }

    public var count: Int { bytes.count }

    /// Forgets the bytes and keeps the memory.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    public mutating func write(_ value: UInt8) { bytes.append(value) }

    public mutating func write<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    /// Writes the low three bytes.
    public mutating func writeUInt24(_ value: UInt32) {
        write(UInt16(truncatingIfNeeded: value))
        write(UInt8(truncatingIfNeeded: value >> 16))
    }

    public mutating func write(bytes span: RawSpan) {
        unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }

    public mutating func write(bytes array: [UInt8]) { bytes.append(contentsOf: array) }

    public mutating func write(zeros count: Int) { bytes.append(contentsOf: repeatElement(0, count: count)) }

    /// Overwrites a byte that was written before, as lengths are known only afterwards.
    public mutating func overwrite(_ value: UInt8, at offset: Int) { bytes[offset] = value }

    /// Overwrites two bytes that were written before.
    public mutating func overwrite(_ value: UInt16, at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: value)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
    }
}
