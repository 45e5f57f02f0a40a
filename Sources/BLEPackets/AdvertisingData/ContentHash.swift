extension RawSpan {
    /// A 64-bit hash of contents: the same in every process and on every machine; collisions are rare.
    ///
    /// For finding out cheaply whether an advertisement changed (SPEC CEN-26). It is not collision-resistant against
    /// attackers.
    ///
    /// - Parameter seed: another number gives other results; the hash of one part, where a second part follows.
    @inlinable
    public func contentHash(seed: UInt64 = 0) -> UInt64 {
        let count = byteCount
        // Any odd numbers with well mixed bits serve here: each step can then be undone, so that no step joins two
        // contents that differ in a single word.
        let first: UInt64 = 0x9E6F_3A1D_57C4_B28B
        let second: UInt64 = 0xC3A5_C85C_97CB_3127
        var hash = seed ^ UInt64(truncatingIfNeeded: count) &* first
        var offset = 0
        while count - offset >= 8 {
            // In bounds: the line above.
            let word = UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            hash = (hash ^ word) &* first
            hash ^= hash >> 32
            offset += 8
        }
        if offset < count {
            var word: UInt64 = 0
            var shift: UInt64 = 0
            while offset < count {
                // In bounds: the line above. Seven turns at most.
                word |= UInt64(unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)) << shift
                shift += 8
                offset += 1
            }
            hash = (hash ^ word) &* first
        }
        hash ^= hash >> 29
        hash = hash &* second
        return hash ^ hash >> 32
    }
}
