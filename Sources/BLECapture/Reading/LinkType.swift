/// The link types of pcap and pcapng that carry packets of HCI or of the link layer, as the tcpdump group assigns them.
enum LinkType: UInt32 {
    case h4 = 187
    /// Four octets of direction, 0 sent and 1 received, big-endian, then the H4 packet.
    case h4WithDirection = 201
    /// Index of the adapter and monitor opcode, 16 bits each, big-endian, then the payload.
    case linuxMonitor = 254
    /// A transfer on a USB that Linux records, after the 48 octets of its interface.
    case usb = 189
    /// The same after 64 octets.
    case paddedUSB = 220
    /// A transfer on a USB that USBPcap records, after 27 octets or more.
    case windowsUSB = 249
    /// A packet of the link layer from its access address on.
    case linkLayer = 251
    /// The same after ten octets of the radio's readings.
    case linkLayerWithRadio = 256
    /// The same after the header of Nordic's sniffer.
    case nordicSniffer = 272
    /// The same, or something else, after fields of any length.
    case perPacketInformation = 192

    /// How many octets precede the packet or payload.
    var headerByteCount: Int {
        switch self {
        case .h4, .linkLayer: 0
        case .h4WithDirection, .linuxMonitor: 4
        case .usb: 48
        case .paddedUSB: 64
        case .windowsUSB: 27
        case .linkLayerWithRadio: 10
        case .nordicSniffer: 17
        case .perPacketInformation: 8
        }
    }
}

extension CaptureReader {
    /// A packet in the form of a link type, whose octets are at `position` in the buffer.
    ///
    /// The caller has made the record available, and at least one octet precedes `position`.
    /// - Parameter isBigEndian: the order of octets in the file.
    /// - Returns: `nil` if the record has no packet, or not the end of one.
    @inline(__always)
    mutating func readLink(
        _ link: LinkType, at position: Int, count: Int, originalByteCount: Int, timestampMicroseconds: Int64,
        adapter: UInt16, statedDirection: CaptureDirection?, recordByteCount: Int, isBigEndian: Bool
    ) throws(CaptureError) -> FoundRecord? {
        guard count >= link.headerByteCount else {
            let error = failure(.invalidLength(UInt64(count)), isFinal: false)
            buffer.consume(recordByteCount)
            throw error
        }
        let start = position + link.headerByteCount
        let payload = count - link.headerByteCount
        let original = originalByteCount - link.headerByteCount
        switch link {
        case .linuxMonitor:
            return readMonitor(
                opcode: buffer.load(at: position + 2, bigEndian: true),
                adapter: buffer.load(at: position, bigEndian: true), at: start - 1, count: payload,
                originalByteCount: original, timestampMicroseconds: timestampMicroseconds,
                recordByteCount: recordByteCount)
        case .usb, .paddedUSB:
            let transfer = USBTransfer(buffer, at: position, count: payload, isBigEndian: isBigEndian)
            defer { buffer.consume(recordByteCount) }
            return readTransfer(transfer, at: start, timestampMicroseconds: timestampMicroseconds)
        case .windowsUSB:
            defer { buffer.consume(recordByteCount) }
            guard
                let (transfer, data) = windowsTransfer(at: position, count: count, originalByteCount: originalByteCount)
            else {
                foreignRecordCount += 1
                return nil
            }
            return readTransfer(transfer, at: data, timestampMicroseconds: timestampMicroseconds)
        case .linkLayer, .linkLayerWithRadio, .nordicSniffer, .perPacketInformation:
            return try readLinkLayer(
                link, at: position, count: count, originalByteCount: originalByteCount,
                timestampMicroseconds: timestampMicroseconds, adapter: adapter, recordByteCount: recordByteCount)
        case .h4WithDirection:
            let isReceived = buffer.load(at: position, bigEndian: true, as: UInt32.self) & 1 == 1
            let type: UInt8 = payload > 0 ? buffer.load(at: start, bigEndian: true) : 0
            let way = direction(ofType: type, stated: isReceived ? .controllerToHost : .hostToController)
            return readRecord(
                .packet(way), at: start, count: payload, originalByteCount: original,
                timestampMicroseconds: timestampMicroseconds, adapter: adapter, recordByteCount: recordByteCount)
        case .h4:
            let type: UInt8 = payload > 0 ? buffer.load(at: start, bigEndian: true) : 0
            let way =
                if let statedDirection {
                    direction(ofType: type, stated: statedDirection)
                } else {
                    guessDirection(at: start, count: payload)
                }
            return readRecord(
                .packet(way), at: start, count: payload, originalByteCount: original,
                timestampMicroseconds: timestampMicroseconds, adapter: adapter, recordByteCount: recordByteCount)
        }
    }
}
