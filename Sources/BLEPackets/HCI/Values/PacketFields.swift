extension PacketReader {
    /// Reads an octet that must be 0 or 1.
    /// - Throws: `DecodingError.invalidValue` for any other.
    @inlinable
    mutating func readBoolean() throws(DecodingError) -> Bool {
        let octet = try read(UInt8.self)
        guard octet <= 1 else { throw .invalidValue(UInt64(octet), field: .boolean) }
        return octet == 1
    }

    /// Copies data after an octet with its length.
    mutating func readCountedOctets() throws(DecodingError) -> [UInt8] {
        let count = try read(UInt8.self)
        return try readBytes(Int(count)).copied()
    }

    /// Copies data after its length, in a field of 31 octets whose rest is ignored.
    mutating func readLegacyAdvertisingData() throws(DecodingError) -> [UInt8] {
        let count = Int(try read(UInt8.self))
        let field = try readBytes(31)
        guard count <= 31 else { throw .lengthMismatch(stated: count, actual: 31) }
        return field.extracting(first: count).copied()
    }
}

extension RawSpan {
    /// The integer at `offset`, least significant byte first; zero if it exceeds the data.
    ///
    /// Several fields of fixed width are read as one block and then decoded with this function: one check instead of
    /// one per field.
    @inlinable
    func integer<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type = Value.self) -> Value
    {
        guard offset >= 0, offset <= byteCount - MemoryLayout<Value>.size else { return 0 }
        // In bounds: checked on the line above.
        return unsafe Value(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
    }
}

extension PacketWriter {
    mutating func write(boolean value: Bool) { write(value ? 1 as UInt8 : 0) }

    /// Writes `octets` in a field of fixed width: missing octets are zero, extra octets are dropped.
    mutating func write(_ octets: [UInt8], width: Int) {
        write(bytes: octets.count <= width ? octets : Array(octets.prefix(width)))
        write(zeros: max(0, width - octets.count))
    }

    /// Writes data after an octet with its length; more than 255 octets are dropped.
    mutating func write(counted octets: [UInt8]) {
        write(UInt8(truncatingIfNeeded: min(octets.count, 255)))
        write(octets, width: min(octets.count, 255))
    }

    /// Writes data after its length, in a field of 31 octets filled with zeros; more octets are dropped.
    mutating func write(legacyAdvertisingData octets: [UInt8]) {
        write(UInt8(truncatingIfNeeded: min(octets.count, 31)))
        write(octets, width: 31)
    }
}
