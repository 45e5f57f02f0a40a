extension PacketLogger {
    /// The type of records with such packets; `nil` for ISO data and unknown types.
    static func type(of packet: RawSpan, _ direction: CaptureDirection) -> UInt8? {
        switch MonitorOpcode(h4: packet, direction: direction) {
        case .commandPacket: command
        case .eventPacket: event
        case .sentACLData: sentACLData
        case .receivedACLData: receivedACLData
        case .sentSCOData: sentSCOData
        case .receivedSCOData: receivedSCOData
        default: nil
        }
    }
}

extension CaptureWriter {
    mutating func writePacketLogger(_ payload: RawSpan, type: UInt8, _ microseconds: Int64) {
        let (seconds, rest) = Self.secondsAndMicroseconds(microseconds)
        buffer.append(big: UInt32(PacketLogger.recordHeaderByteCount - 4 + payload.byteCount))
        buffer.append(big: seconds)
        buffer.append(big: rest)
        buffer.append(type)
        buffer.append(payload)
    }
}
