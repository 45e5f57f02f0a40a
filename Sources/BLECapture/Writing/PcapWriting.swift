extension CaptureWriter {
    mutating func writePcapHeader() {
        buffer.append(little: resolution == .nanoseconds ? 0xA1B2_3C4D : 0xA1B2_C3D4 as UInt32)
        buffer.append(little: UInt16(2))  // version 2.4
        buffer.append(little: UInt16(4))
        buffer.append(little: UInt64(0))  // time zone and accuracy, never used
        buffer.append(little: UInt32(CaptureReader.maximumRecordByteCount))
        buffer.append(little: link.rawValue)
    }

    mutating func writePcap(_ frame: LinkFrame, _ bytes: RawSpan, _ microseconds: Int64, _ original: UInt32) {
        let (seconds, rest) = Self.secondsAndMicroseconds(microseconds)
        buffer.append(little: seconds)
        buffer.append(little: resolution == .nanoseconds ? rest * 1000 : rest)
        writeLinkFrame(frame, bytes, original)
    }

    /// Lengths, header and packet, as both pcap formats have them.
    private mutating func writeLinkFrame(_ frame: LinkFrame, _ bytes: RawSpan, _ original: UInt32) {
        let added = frame.header == nil ? 0 : 4
        buffer.append(little: UInt32(bytes.byteCount - frame.droppedByteCount + added))
        buffer.append(little: UInt32(clamping: Int(original) - frame.droppedByteCount + added))
        if let header = frame.header { buffer.append(big: header) }
        buffer.append(bytes.extracting(droppingFirst: frame.droppedByteCount))
    }

    /// A time for formats with 32 bits of seconds; times before 1970 and after 2105 are clamped.
    static func secondsAndMicroseconds(_ microseconds: Int64) -> (seconds: UInt32, microseconds: UInt32) {
        let latest = Int64(UInt32.max) * 1_000_000 + 999_999
        let held = UInt64(min(max(microseconds, 0), latest))
        return (UInt32(held / 1_000_000), UInt32(held % 1_000_000))
    }

    mutating func writeSectionHeader() {
        let application = "Jelling"
        let padded = (application.utf8.count + 3) & ~3
        let total = UInt32(28 + 4 + padded + 4)
        buffer.append(little: PcapNG.sectionHeaderBlock)
        buffer.append(little: total)
        buffer.append(little: PcapNG.byteOrderMark)
        buffer.append(little: UInt16(1))  // version 1.0
        buffer.append(little: UInt16(0))
        buffer.append(little: Int64(-1))  // the section's length is still unknown
        appendOption(4, text: application)  // shb_userappl
        buffer.append(little: UInt32(0))  // end of options
        buffer.append(little: total)
    }

    /// The interface of an adapter, described when the adapter is first seen.
    mutating func interface(of adapter: UInt16) -> UInt32 {
        if let interface = interfaces[adapter] { return interface }
        let interface = UInt32(interfaces.count)
        interfaces[adapter] = interface
        let name = "hci\(adapter)"
        let total = UInt32(20 + 4 + (name.utf8.count + 3) & ~3 + 8 + 4)
        buffer.append(little: PcapNG.interfaceDescriptionBlock)
        buffer.append(little: total)
        buffer.append(little: UInt16(link.rawValue))
        buffer.append(little: UInt16(0))
        buffer.append(little: UInt32(0))  // packets are not shortened
        appendOption(PcapNG.interfaceName, text: name)
        buffer.append(little: PcapNG.timeResolution)
        buffer.append(little: UInt16(1))
        buffer.append(little: UInt32(resolution == .nanoseconds ? 9 : 6))
        buffer.append(little: UInt32(0))  // end of options
        buffer.append(little: total)
        return interface
    }

    private mutating func appendOption(_ code: UInt16, text: String) {
        buffer.append(little: code)
        buffer.append(little: UInt16(text.utf8.count))
        buffer.append(text: text)
        buffer.pad(after: text.utf8.count)
    }

    mutating func writeEnhancedPacket(
        _ frame: LinkFrame, _ bytes: RawSpan, _ microseconds: Int64, interface: UInt32, _ original: UInt32
    ) {
        let count = bytes.byteCount - frame.droppedByteCount + (frame.header == nil ? 0 : 4)
        // Frames without a header have their direction in an option.
        let optionsByteCount = frame.header == nil ? 12 : 0
        let total = UInt32(32 + (count + 3) & ~3 + optionsByteCount)
        let held = UInt64(max(microseconds, 0))
        let ticks = resolution == .nanoseconds ? held &* 1000 : held
        buffer.append(little: PcapNG.enhancedPacketBlock)
        buffer.append(little: total)
        buffer.append(little: interface)
        buffer.append(little: UInt32(truncatingIfNeeded: ticks >> 32))
        buffer.append(little: UInt32(truncatingIfNeeded: ticks))
        writeLinkFrame(frame, bytes, original)
        buffer.pad(after: count)
        if frame.header == nil {
            buffer.append(little: PcapNG.packetFlags)
            buffer.append(little: UInt16(4))
            buffer.append(little: UInt32(frame.direction == .controllerToHost ? 1 : 2))  // inbound, outbound
            buffer.append(little: UInt32(0))  // end of options
        }
        buffer.append(little: total)
    }
}
