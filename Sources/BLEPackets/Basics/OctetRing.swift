/// Makes arrays of octets one after the other, and uses the memory of one again when nothing refers to it any more.
///
/// The receiver of an array owns it like any other. If it is still in use when its turn comes again, it stays with its
/// holder, and the ring allocates another in its place. So a value or a PDU that is used at once costs no allocation.
package struct OctetRing: Sendable {
    @usableFromInline var writers: [PacketWriter] = []
    @usableFromInline var next = 0
    @usableFromInline let count: Int

    /// - Parameter count: how many arrays may be in use at a time without an allocation for the next one; at least 1.
    @inlinable
    package init(count: Int = 4) { self.count = max(1, count) }

    /// An array with what `encode` writes.
    @inlinable
    package mutating func write(_ encode: (inout PacketWriter) -> Void) -> [UInt8] {
        advance()
        writers[next].removeAll()
        encode(&writers[next])
        return writers[next].bytes
    }

    /// An array with a copy of the octets.
    @inlinable
    package mutating func copy(_ octets: RawSpan) -> [UInt8] {
        advance()
        writers[next].replaceAll(with: octets)
        return writers[next].bytes
    }

    /// An array with one octet and a copy of the others.
    @inlinable
    package mutating func join(_ first: UInt8, _ others: RawSpan) -> [UInt8] {
        advance()
        writers[next].replaceAll(with: first, others)
        return writers[next].bytes
    }

    @inlinable
    mutating func advance() {
        next = next + 1 < count ? next + 1 : 0
        // Not made in advance: a link on which nothing is sent needs no memory for it.
        while writers.count <= next { writers.append(PacketWriter()) }
    }
}
