extension CaptureReader {
    /// Blocks: type, total length, body, total length again; lengths are multiples of four.
    mutating func nextPcapNG() throws(CaptureError) -> FoundRecord? {
        while let (type, total) = try readDescriptions() {
            switch type {
            case PcapNG.enhancedPacketBlock, PcapNG.obsoletePacketBlock, PcapNG.simplePacketBlock:
                guard total <= Self.maximumRecordByteCount else {
                    let error = failure(.invalidLength(UInt64(total)), isFinal: false)
                    try skipBlock(total)
                    throw error
                }
                try fillBlock(total)
                if let found = try readPacketBlock(type, Int(total)) { return found }
            default: try skipForeign(type, total)
            }
        }
        return nil
    }

    /// Skips a block without an HCI packet, and counts it if it is a record.
    private mutating func skipForeign(_ type: UInt32, _ total: UInt32) throws(CaptureError) {
        try skipBlock(total)
        if PcapNG.isPacketBlock(type) || PcapNG.foreignRecordBlocks.contains(type) { foreignRecordCount += 1 }
    }

    /// Reads the descriptions at the start of a file, and past the packets of other interfaces, to the first interface
    /// that is read: one of a network may stand before it.
    /// - Throws: `unsupportedLinkType` if the file has interfaces and none is read.
    mutating func findReadInterface() throws(CaptureError) {
        do throws(CaptureError) {
            while let (type, total) = try readDescriptions() {
                // Packets without any interface are damage, which the reader reports.
                if hasReadInterface || (foreignLinkTypes.isEmpty && PcapNG.isPacketBlock(type)) { return }
                try skipForeign(type, total)
            }
        } catch {
            if hasReadInterface || foreignLinkTypes.isEmpty { throw error }
            if case .cannotRead = error.reason { throw error }
        }
        guard !hasReadInterface, let first = foreignLinkTypes.first else { return }
        throw CaptureError(.unsupportedLinkType(first.rawValue))
    }

    /// Reads section headers and interface descriptions up to the next block of another kind, which is not consumed.
    /// - Returns: type and length of that block; `nil` at the end of the file.
    mutating func readDescriptions() throws(CaptureError) -> (type: UInt32, total: UInt32)? {
        while try fill(12) {
            if buffer.load(at: 0, bigEndian: true) == PcapNG.sectionHeaderBlock {
                try readSectionHeader()
                continue
            }
            let type: UInt32 = buffer.load(at: 0, bigEndian: section.isBigEndian)
            let total: UInt32 = buffer.load(at: 4, bigEndian: section.isBigEndian)
            guard total >= 12, total % 4 == 0 else { throw failure(.invalidLength(UInt64(total))) }
            guard type == PcapNG.interfaceDescriptionBlock else { return (type, total) }
            // Of a description that is longer than any record, only the beginning is read.
            let held = min(Int(total), Self.maximumRecordByteCount)
            if held == Int(total) { try fillBlock(total) } else { _ = try fill(held) }
            readInterface(Int(total), held: held)
            if held == Int(total) { buffer.consume(held) } else { try skipBlock(total) }
        }
        return nil
    }

    private mutating func readSectionHeader() throws(CaptureError) {
        let mark: UInt32 = buffer.load(at: 8, bigEndian: true)
        let isBigEndian: Bool
        switch mark {
        case PcapNG.byteOrderMark: isBigEndian = true
        case PcapNG.byteOrderMark.byteSwapped: isBigEndian = false
        default: throw failure(.invalidByteOrderMark(mark))
        }
        section = PcapNGSection(isBigEndian: isBigEndian)
        let total: UInt32 = buffer.load(at: 4, bigEndian: isBigEndian)
        guard total >= 28, total % 4 == 0 else { throw failure(.invalidLength(UInt64(total))) }
        _ = try fill(16)
        let version: UInt16 = buffer.load(at: 12, bigEndian: isBigEndian)
        guard version == 1 else { throw failure(.unsupportedVersion(UInt32(version))) }
        try skipBlock(total)
    }

    /// Makes a whole block available and checks its second length.
    private mutating func fillBlock(_ total: UInt32) throws(CaptureError) {
        _ = try fill(Int(total))
        let trailing: UInt32 = buffer.load(at: Int(total) - 4, bigEndian: section.isBigEndian)
        guard trailing == total else { throw failure(.lengthMismatch(leading: total, trailing: trailing)) }
    }

    /// Skips a block of any size.
    private mutating func skipBlock(_ total: UInt32) throws(CaptureError) {
        let start = buffer.offset
        let isWhole: Bool
        var available: UInt64
        do throws(SystemError) {
            available = try buffer.skip(UInt64(total) - 4)
            isWhole = try buffer.fill(4)
        } catch { throw failure(.cannotRead(error), byteOffset: start) }
        guard isWhole else {
            available += UInt64(buffer.bufferedCount)
            throw failure(.truncated(needed: UInt64(total), available: available), byteOffset: start)
        }
        let trailing: UInt32 = buffer.load(at: 0, bigEndian: section.isBigEndian)
        guard trailing == total else {
            throw failure(.lengthMismatch(leading: total, trailing: trailing), byteOffset: start)
        }
        buffer.consume(4)
    }

    /// Interface description: link type (16 bits), reserved (16), snap length (32), options.
    ///
    /// Every block counts, even a damaged one: packets name their interfaces by number.
    private mutating func readInterface(_ total: Int, held: Int) {
        let isBigEndian = section.isBigEndian
        let number = section.interfaces.count
        guard number < PcapNGSection.maximumInterfaceCount else { return }
        guard total >= 20 else { return section.interfaces.append(PcapNGInterface()) }
        let type = UInt32(buffer.load(at: 8, bigEndian: isBigEndian, as: UInt16.self))
        var interface = PcapNGInterface(
            link: LinkType(rawValue: type),
            snapLength: buffer.load(at: 12, bigEndian: isBigEndian), adapter: UInt16(truncatingIfNeeded: number))
        forEachOption(from: 16, to: min(total - 4, held)) { buffer, code, position, count in
            switch code {
            case PcapNG.timeResolution where count >= 1:
                interface.clock.setResolution(buffer.load(at: position, bigEndian: isBigEndian))
            case PcapNG.timeOffset where count >= 8:
                interface.clock.offsetSeconds = buffer.load(at: position, bigEndian: isBigEndian)
            case PcapNG.interfaceName:
                if let adapter = Self.adapter(inName: buffer, at: position, count: count) {
                    interface.adapter = adapter
                }
            default: break
            }
        }
        record(CaptureLinkType(rawValue: type), isRead: interface.link != nil)
        if interface.link == .linuxMonitor { holdsMonitorRecords = true }
        section.interfaces.append(interface)
    }

    private mutating func record(_ type: CaptureLinkType, isRead: Bool) {
        if isRead {
            hasReadInterface = true
        } else if foreignLinkTypes.count < PcapNGSection.maximumForeignLinkTypeCount, !foreignLinkTypes.contains(type) {
            foreignLinkTypes.append(type)
        }
    }

    /// The number at the end of a name such as `hci1` or `bluetooth1`.
    private static func adapter(inName buffer: borrowing InputBuffer, at position: Int, count: Int) -> UInt16? {
        var number = 0
        var scale = 1
        for place in stride(from: position + count - 1, through: position, by: -1) {
            let octet: UInt8 = buffer.load(at: place, bigEndian: false)
            if octet == 0, scale == 1 { continue }
            guard (0x30...0x39).contains(octet), scale < 100_000 else { break }
            number += Int(octet - 0x30) * scale
            scale *= 10
        }
        return scale > 1 ? UInt16(exactly: number) : nil
    }

    /// Options: code and length (16 bits each), value, filled up to a multiple of four.
    private func forEachOption(
        from start: Int, to end: Int, _ body: (borrowing InputBuffer, UInt16, Int, Int) -> Void
    ) {
        var position = start
        while position + 4 <= end {
            let code: UInt16 = buffer.load(at: position, bigEndian: section.isBigEndian)
            let count = Int(buffer.load(at: position + 2, bigEndian: section.isBigEndian, as: UInt16.self))
            guard code != PcapNG.endOfOptions, position + 4 + count <= end else { return }
            body(buffer, code, position + 4, count)
            position += 4 + (count + 3) & ~3
        }
    }

    /// A packet block in the buffer; `nil` if its interface does not carry HCI, or its record no packet.
    private mutating func readPacketBlock(_ type: UInt32, _ total: Int) throws(CaptureError) -> FoundRecord? {
        let isBigEndian = section.isBigEndian
        let isSimple = type == PcapNG.simplePacketBlock
        let header = isSimple ? 12 : 28
        guard total >= header + 4 else { throw passOver(total, .invalidLength(UInt64(total))) }
        let number: UInt32 =
            switch type {
            case PcapNG.simplePacketBlock: 0
            case PcapNG.obsoletePacketBlock: UInt32(buffer.load(at: 8, bigEndian: isBigEndian, as: UInt16.self))
            default: buffer.load(at: 8, bigEndian: isBigEndian)
            }
        guard number < section.interfaces.count else { throw passOver(total, .unknownInterface(number)) }
        let interface = section.interfaces[Int(number)]
        guard let link = interface.link else {
            buffer.consume(total)
            foreignRecordCount += 1
            return nil
        }
        let original: UInt32 = buffer.load(at: header - 4, bigEndian: isBigEndian)
        var included = original
        if isSimple {
            included = min(original, UInt32(total - 16))
            if interface.snapLength > 0 { included = min(included, interface.snapLength) }
        } else {
            included = buffer.load(at: 20, bigEndian: isBigEndian)
            let high: UInt32 = buffer.load(at: 12, bigEndian: isBigEndian)
            let low: UInt32 = buffer.load(at: 16, bigEndian: isBigEndian)
            section.lastTimestampMicroseconds = interface.clock.microseconds(UInt64(high) << 32 | UInt64(low))
        }
        if type == PcapNG.obsoletePacketBlock {
            let drops: UInt16 = buffer.load(at: 10, bigEndian: isBigEndian)
            if drops != 0xFFFF { droppedPacketCount = UInt32(drops) }
        }
        let count = Int(included)
        guard count <= total - header - 4 else { throw passOver(total, .invalidLength(UInt64(included))) }
        var stated: CaptureDirection?
        if link == .h4, !isSimple {
            forEachOption(from: header + (count + 3) & ~3, to: total - 4) { buffer, code, position, count in
                guard code == PcapNG.packetFlags, count >= 4 else { return }
                switch buffer.load(at: position, bigEndian: isBigEndian, as: UInt32.self) & 3 {
                case 1: stated = .controllerToHost
                case 2: stated = .hostToController
                default: break
                }
            }
        }
        return try readLink(
            link, at: header, count: count, originalByteCount: Int(original),
            timestampMicroseconds: section.lastTimestampMicroseconds, adapter: interface.adapter,
            statedDirection: stated, recordByteCount: total, isBigEndian: isBigEndian)
    }

    /// Skips a damaged block whose end is known.
    private mutating func passOver(_ total: Int, _ reason: CaptureError.Reason) -> CaptureError {
        let error = failure(reason, isFinal: false)
        buffer.consume(total)
        return error
    }
}
