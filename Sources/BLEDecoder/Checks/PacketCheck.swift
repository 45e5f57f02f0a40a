/// Checks the lengths of packets against their fields.
enum PacketCheck {
    /// Whether the parameters of a command are long enough for its fields.
    static func isWholeCommand(_ opcode: UInt16, _ parameters: RawSpan, _ tables: borrowing PacketTables) -> Bool {
        let place = Int(tables.commands[Int(opcode)])
        guard place >= 0 else { return true }
        return tables.layouts[place].areValid(parameters, tables)
    }

    /// Whether the parameters of an event are long enough for its fields; advertising reports have their own check.
    static func isWholeEvent(_ code: UInt8, _ parameters: RawSpan, _ tables: borrowing PacketTables) -> Bool {
        switch code {
        case 0x0E:
            guard parameters.byteCount >= 3 else { return false }
            let place = Int(tables.commands[Int(parameters.uint16(1))])
            guard place >= 0 else { return true }
            return tables.layouts[place].isValidAnswer(parameters.rest(3), tables)
        case 0x3E:
            let place = Int(tables.subevents[Int(parameters.octet(0))])
            guard parameters.byteCount >= 1 else { return false }
            return place < 0 || tables.layouts[place].areValid(parameters.rest(1), tables)
        default:
            let place = Int(tables.events[Int(code)])
            return place < 0 || tables.layouts[place].areValid(parameters, tables)
        }
    }

    /// Whether an ATT PDU has a length that its opcode allows (Core 5.4, Vol 3, Part F, 3.4).
    /// - Parameter first: its first eight octets, the first lowest.
    @inline(__always)
    static func isWholeAttribute(first: UInt64, count: Int) -> Bool {
        let second = Int(first >> 8 & 0xFF)
        switch UInt8(truncatingIfNeeded: first) {
        case 0x01, 0x04, 0x0C: return count >= 5
        case 0x02, 0x03, 0x0A, 0x12, 0x1B, 0x1D, 0x52: return count >= 3
        case 0x05: return count >= 6 && (second == 1 ? (count - 2) % 4 == 0 : second != 2 || (count - 2) % 18 == 0)
        case 0x06: return count >= 7
        case 0x07: return count >= 5 && (count - 1) % 4 == 0
        case 0x08, 0x10: return count == 7 || count == 21
        case 0x09: return count >= 4 && second >= 2 && (count - 2) % second == 0
        case 0x11: return count >= 6 && second >= 4 && (count - 2) % second == 0
        case 0x0E, 0x20: return count >= 5 && count % 2 == 1
        case 0x16, 0x17, 0x23: return count >= 5
        case 0x18: return count >= 2
        case 0xD2: return count >= 15
        default: return count >= 1
        }
    }

    /// Whether the first command of a signalling frame is complete (Core 5.4, Vol 3, Part A, 4).
    static func isWholeSignalling(first: UInt64, count: Int, _ tables: borrowing PacketTables) -> Bool {
        let length = Int(first >> 16 & 0xFFFF)
        guard count >= 4, length + 4 <= count else { return false }
        let place = Int(tables.signallingCodes[Int(first & 0xFF)])
        return place < 0 || length >= tables.layouts[place].byteCount
    }

    /// Whether an SMP PDU is as long as its code needs (Core 5.4, Vol 3, Part H, 3.5 and 3.6).
    static func isWholePairing(first: UInt64, count: Int, _ tables: borrowing PacketTables) -> Bool {
        let place = Int(tables.smpCodes[Int(first & 0xFF)])
        return count >= 1 && (place < 0 || count - 1 >= tables.layouts[place].byteCount)
    }
}

extension PacketTables.Layout {
    @inline(__always)
    fileprivate func areValid(_ bytes: RawSpan, _ tables: borrowing PacketTables) -> Bool {
        guard bytes.byteCount >= byteCount else { return false }
        return isFixed || tables.measure(fields, bytes)
    }

    /// Responses with an error may end after the status.
    @inline(__always)
    fileprivate func isValidAnswer(_ bytes: RawSpan, _ tables: borrowing PacketTables) -> Bool {
        if bytes.byteCount >= 1, bytes.octet(0) != 0 { return true }
        guard bytes.byteCount >= answerByteCount else { return false }
        return answerIsFixed || tables.measure(answer, bytes)
    }
}

extension PacketTables {
    /// Whether octets are long enough for a range of fields.
    func measure(_ range: Range<Int>, _ bytes: RawSpan) -> Bool {
        var position = 0
        var last: UInt64 = 0
        return measure(range, bytes, &position, &last)
    }

    private func measure(_ range: Range<Int>, _ bytes: RawSpan, _ position: inout Int, _ last: inout UInt64) -> Bool {
        var index = range.lowerBound
        while index < range.upperBound {
            let kind = fields[index].kind
            let width = fields[index].width
            guard position + width <= bytes.byteCount else { return false }
            switch kind {
            case .group, .bitGroup:
                var count = last.nonzeroBitCount
                if kind == .group {
                    guard position < bytes.byteCount else { return false }
                    count = Int(bytes.octet(position))
                    position += 1
                }
                while count > 0 {
                    guard measure((index + 1)..<fields[index].argument, bytes, &position, &last) else { return false }
                    count -= 1
                }
                index = fields[index].argument
                continue
            case .number, .hexadecimal, .mask: last = bytes.integer(position, width: width)
            case .countedBytes, .countedData:
                guard position < bytes.byteCount else { return false }
                position += 1 + Int(bytes.octet(position))
                guard position <= bytes.byteCount else { return false }
            case .countedFixedData:
                guard position + width < bytes.byteCount else { return false }
                position += 1
            case .rest, .secretRest, .channels, .options: position = bytes.byteCount
            default: break
            }
            position += width
            index += 1
        }
        return true
    }
}
