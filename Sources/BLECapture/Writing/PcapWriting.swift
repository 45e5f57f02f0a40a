extension CaptureWriter {
    private static var linkHeaderByteCount: Int { LinkType.h4WithDirection.headerByteCount }

    mutating func writePcapHeader() {
        buffer.append(little: resolution == .nanoseconds ? 0xA1B2_3C4D : 0xA1B2_C3D4 as UInt32)
        buffer.append(little: UInt16(2))  // version 2.4
        buffer.append(little: UInt16(4))
        buffer.append(little: UInt64(0))  // time zone and accuracy, never used
        buffer.append(little: UInt32(CaptureReader.maximumRecordByteCount))
        buffer.append(little: LinkType.h4WithDirection.rawValue)
    }

    mutating func writePcap(
        _ packet: RawSpan, _ direction: CaptureDirection, _ microseconds: Int64, _ original: UInt32
    ) {
        let (seconds, rest) = Self.secondsAndMicroseconds(microseconds)
        buffer.append(little: seconds)
        buffer.append(little: resolution == .nanoseconds ? rest * 1000 : rest)
        writeLinkFrame(packet, direction, original)
    }

    /// Lengths, direction and packet, as both pcap formats have them.
    private mutating func writeLinkFrame(_ packet: RawSpan, _ direction: CaptureDirection, _ original: UInt32) {
        let header = Self.linkHeaderByteCount
        buffer.append(little: UInt32(packet.byteCount + header))
        buffer.append(little: UInt32(clamping: Int(original) + header))
        buffer.append(big: UInt32(direction.rawValue))
        buffer.append(packet)
    }

    /// A time in the form of formats with 32 bits of seconds; before 1970 and after 2105 the nearest that they hold.
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
        buffer.append(little: Int64(-1))  // the section's length is not known yet
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
        buffer.append(little: UInt16(LinkType.h4WithDirection.rawValue))
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
        _ packet: RawSpan, _ direction: CaptureDirection, _ microseconds: Int64, interface: UInt32,
        _ original: UInt32
    ) {
        let count = packet.byteCount + Self.linkHeaderByteCount
        let total = UInt32(32 + (count + 3) & ~3)
        let held = UInt64(max(microseconds, 0))
        let ticks = resolution == .nanoseconds ? held &* 1000 : held
        buffer.append(little: PcapNG.enhancedPacketBlock)
        buffer.append(little: total)
        buffer.append(little: interface)
        buffer.append(little: UInt32(truncatingIfNeeded: ticks >> 32))
        buffer.append(little: UInt32(truncatingIfNeeded: ticks))
        writeLinkFrame(packet, direction, original)
        buffer.pad(after: count)
        buffer.append(little: total)
    }
}
