/// Reads the structures of an advertisement or scan response, each a length, a type and data (Core 5.4, Vol 3, Part C,
/// 11).
///
///     var reader = AdvertisingDataReader(bytes)
///     while let structure = try reader.next() { … }
///
/// The reader borrows the bytes and allocates nothing. A zero length ends the significant part: what follows ought to
/// be zero. Where it is not, as when a program joined an advertisement that was padded to 31 octets with its scan
/// response, `resumeAfterPadding()` goes on behind the zeros.
public struct AdvertisingDataReader: ~Escapable {
    @usableFromInline var rest: RawSpan
    /// The reader is at a zero length, or at a structure that exceeds the data.
    @usableFromInline var isStopped = false

    /// - Parameter bytes: the data of one packet without the addresses before it; of any length, also none.
    @inlinable @_lifetime(copy bytes)
    public init(_ bytes: RawSpan) { rest = bytes }

    /// Reads the next structure; `nil` at the end and at a zero length.
    ///
    /// - Throws: `DecodingError.truncated` when the structure exceeds the data. `remainder` then has the incomplete
    ///   structure, and every further call returns `nil`.
    @inlinable @_lifetime(copy self)
    public mutating func next() throws(DecodingError) -> AdvertisingDataStructure? {
        let available = rest.byteCount
        guard !isStopped, available > 0 else { return nil }
        let length = Int(unsafe rest.unsafeLoad(as: UInt8.self))  // in bounds: the line above
        guard length > 0 else {
            isStopped = true
            return nil
        }
        guard length < available else {
            isStopped = true
            throw .truncated(needed: length, remaining: available - 1)
        }
        let type = unsafe rest.unsafeLoad(fromByteOffset: 1, as: UInt8.self)  // in bounds: 1 ≤ length < available
        let data = unsafe rest.extracting(unchecked: 2..<length + 1)  // in bounds: 2 ≤ length + 1 ≤ available
        rest = unsafe rest.extracting(unchecked: length + 1..<available)
        return AdvertisingDataStructure(type: AdvertisingDataType(rawValue: type), data: data)
    }

    /// The octets that were not read: the padding from its first zero on, or a structure that exceeds the data.
    @inlinable public var remainder: RawSpan {
        @_lifetime(copy self) get { rest }
    }

    /// Whether octets other than zero follow the zero length at which the reader stopped, which violates the
    /// specification. Valid after `next()` has returned `nil`.
    @inlinable public var hasNonZeroPadding: Bool {
        guard rest.byte(at: 0) == 0 else { return false }
        var offset = 1
        while let byte = rest.byte(at: offset) {
            if byte != 0 { return true }
            offset += 1
        }
        return false
    }

    /// Continues after the zeros at which the reader stopped.
    ///
    /// - Returns: whether octets other than zero follow; `false` if the reader did not stop at a zero length.
    @inlinable
    public mutating func resumeAfterPadding() -> Bool {
        guard hasNonZeroPadding else { return false }
        while rest.byte(at: 0) == 0 { rest = rest.extracting(droppingFirst: 1) }
        isStopped = false
        return true
    }
}
