/// Walks over the structures of an advertisement or scan response, each a length, a type and data
/// (Core 5.4, Vol 3, Part C, 11).
///
///     var reader = AdvertisingDataReader(bytes)
///     while let structure = try reader.next() { … }
///
/// The reader borrows the bytes and allocates nothing. A zero length ends the significant part: what follows ought to
/// be zero. Where it is not, as when somebody joined an advertisement that was padded to 31 octets with its scan
/// response, `resumeAfterPadding()` goes on behind the zeros.
public struct AdvertisingDataReader: ~Escapable {
    @usableFromInline var rest: RawSpan
    /// The reader stands at a zero length, or at a structure that overruns the end.
    @usableFromInline var isStopped = false

    /// - Parameter bytes: the data of one packet without the addresses before it; of any length, also none.
    @inlinable @_lifetime(copy bytes)
    public init(_ bytes: RawSpan) { rest = bytes }

    /// Takes the next structure; `nil` at the end and at a zero length.
    ///
    /// - Throws: `DecodingError.truncated` when the structure's length reaches past the end. The structures before it
    ///   were delivered; `remainder` holds what is there of the broken one, and every further call returns `nil`.
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

    /// What was not delivered: the padding from its first zero on, or the structure that overruns the end.
    @inlinable public var remainder: RawSpan {
        @_lifetime(copy self) get { rest }
    }

    /// Whether something else than zeros follows the zero length at which the reader stopped, against the
    /// specification. Says something only after `next()` returned `nil`.
    @inlinable public var hasNonZeroPadding: Bool {
        guard rest.byte(at: 0) == 0 else { return false }
        var offset = 1
        while let byte = rest.byte(at: offset) {
            if byte != 0 { return true }
            offset += 1
        }
        return false
    }

    /// Goes on behind the zeros at which the reader stopped.
    ///
    /// - Returns: whether anything but zeros follows; `false` also where the reader did not stop at a zero length.
    @inlinable
    public mutating func resumeAfterPadding() -> Bool {
        guard hasNonZeroPadding else { return false }
        while rest.byte(at: 0) == 0 { rest = rest.extracting(droppingFirst: 1) }
        isStopped = false
        return true
    }
}
