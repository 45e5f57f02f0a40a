extension CaptureWriter {
    /// - Returns: `false` for a packet that is longer than its length field can say.
    mutating func writeHCIDump(_ packet: RawSpan, _ direction: CaptureDirection, _ microseconds: Int64) -> Bool {
        guard let count = UInt16(exactly: packet.byteCount) else { return false }
        let (seconds, rest) = Self.secondsAndMicroseconds(microseconds)
        buffer.append(little: count)
        buffer.append(little: UInt16(direction.rawValue))
        buffer.append(little: seconds)
        buffer.append(little: rest)
        buffer.append(packet)
        return true
    }
}
