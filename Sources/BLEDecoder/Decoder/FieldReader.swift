/// Reads fields as a table says, and writes them.
struct FieldReader: ~Escapable {
    let bytes: RawSpan
    var position = 0
    /// Whether the packet ended within a field, or a part of it broke its own form.
    var isBroken = false
    /// The last number, whose bits may say what follows.
    private var lastNumber: UInt64 = 0
    /// Whether advertising data may be cut anywhere, for more of it follows.
    private var isPartial = false

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) { self.bytes = bytes }

    /// Writes the fields of a range of the table.
    @_lifetime(self: copy self)
    mutating func write(
        _ range: Range<Int>, _ tables: borrowing PacketTables, into output: inout DecodedOutput,
        facts: inout PacketFacts
    ) {
        var index = range.lowerBound
        while index < range.upperBound, !isBroken {
            let field = tables.fields[index]
            switch field.kind {
            case .options:
                writeOptions(field, tables, into: &output, facts: &facts)
                index += 1
            case .group, .bitGroup:
                writeGroups(field, (index + 1)..<field.argument, tables, into: &output, facts: &facts)
                index = field.argument
            default:
                write(field, tables, into: &output, facts: &facts)
                index += 1
            }
        }
    }

    @_lifetime(self: copy self)
    private mutating func writeGroups(
        _ field: PacketTables.Field, _ inner: Range<Int>, _ tables: borrowing PacketTables,
        into output: inout DecodedOutput, facts: inout PacketFacts
    ) {
        var count = lastNumber.nonzeroBitCount
        if field.kind == .group {
            guard position < bytes.byteCount else {
                isBroken = true
                return
            }
            count = Int(bytes.octet(position))
            position += 1
        }
        output.beginGroups(field.text)
        while count > 0, !isBroken {
            output.beginGroup()
            write(inner, tables, into: &output, facts: &facts)
            output.endGroup()
            count -= 1
        }
        output.endGroups()
    }

    @_lifetime(self: copy self) @inline(__always)
    private mutating func write(
        _ field: PacketTables.Field, _ tables: borrowing PacketTables, into output: inout DecodedOutput,
        facts: inout PacketFacts
    ) {
        let width = field.width
        guard position + width <= bytes.byteCount else {
            isBroken = true
            return
        }
        let start = position
        position += width
        switch field.kind {
        case .number:
            let value = bytes.integer(start, width: width)
            lastNumber = value
            output.begin(field)
            if field.argument >= 0 {
                output.named(value, width: width, tables.name(of: value, in: field.argument), key: field.nameKey)
            } else if field.argument == PacketTables.Special.company {
                output.company(UInt16(truncatingIfNeeded: value))
            } else {
                output.number(value)
            }
            output.end()
        case .hexadecimal:
            let value = bytes.integer(start, width: width)
            lastNumber = value
            isPartial = width == 2 && value >> 5 & 3 == 1
            output.begin(field)
            if field.argument >= 0 {
                output.named(value, width: width, tables.name(of: value, in: field.argument), key: field.nameKey)
            } else {
                output.hexadecimal(value, width: width)
            }
            output.end()
        case .mask:
            let value = bytes.integer(start, width: width)
            lastNumber = value
            output.begin(field)
            output.hexadecimal(value, width: width)
            output.bits(bytes.part(start, width), field, tables, countsThem: false)
            output.end()
        case .octetMask:
            output.begin(field)
            if output.isJSON { output.bytes(bytes.part(start, width)) }
            output.bits(bytes.part(start, width), field, tables, countsThem: true)
            output.end()
        case .channels:
            output.begin(field)
            output.channels(bytes.rest(start))
            position = bytes.byteCount
            output.end()
        case .signed:
            let value = bytes.integer(start, width: width)
            output.begin(field)
            output.signed(width == 1 ? Int64(Int8(truncatingIfNeeded: value)) : Int64(Int16(truncatingIfNeeded: value)))
            output.end()
        case .power:
            let value = Int64(Int8(bitPattern: bytes.octet(start)))
            output.begin(field)
            if value == 127 {
                output.isJSON ? output.buffer.append("null") : output.buffer.append("not available")
            } else {
                output.signed(value)
                if !output.isJSON { output.buffer.append(" dBm") }
            }
            output.end()
        case .time:
            output.begin(field)
            output.milliseconds(microseconds: bytes.integer(start, width: width) * UInt64(field.argument))
            output.end()
        case .status:
            let value = UInt64(bytes.octet(start))
            output.begin(field)
            output.named(value, width: 1, tables.name(of: value, in: tables.status), key: field.nameKey)
            output.end()
        case .opcode:
            let value = bytes.uint16(start)
            let place = Int(tables.commands[Int(value)])
            output.begin(field)
            output.named(
                UInt64(value), width: 2, place >= 0 ? tables.layouts[place].name : nil, key: field.nameKey)
            output.end()
        case .handle:
            let value = bytes.uint16(start) & 0x0FFF
            facts.note(handle: value)
            output.begin(field)
            output.isJSON ? output.number(UInt64(value)) : output.hexadecimal(UInt64(value), width: 2)
            output.end()
        case .address:
            let value = bytes.integer(start, width: 6)
            facts.note(address: value)
            output.begin(field)
            output.address(value)
            output.end()
        case .bytes:
            output.begin(field)
            output.bytes(bytes.part(start, width))
            output.end()
        case .secret:
            output.begin(field)
            output.withheld()
            output.end()
        case .secretRest:
            position = bytes.byteCount
            output.begin(field)
            output.withheld()
            output.end()
        case .text:
            var count = 0
            while count < width, bytes.octet(start + count) != 0 { count += 1 }
            output.begin(field)
            output.text(bytes.part(start, count))
            output.end()
        case .rest:
            let rest = bytes.rest(start)
            position = bytes.byteCount
            guard rest.byteCount > 0 else { return }
            output.begin(field)
            output.bytes(rest)
            output.end()
        case .advertisingData:
            writeAdvertisingData(bytes.part(start, width), field, into: &output, facts: &facts)
        case .countedBytes:
            guard let counted = takeCounted(start) else { return }
            output.begin(field)
            output.bytes(bytes.part(start + 1, counted))
            output.end()
        case .countedData:
            guard let counted = takeCounted(start) else { return }
            writeAdvertisingData(bytes.part(start + 1, counted), field, into: &output, facts: &facts)
        case .countedFixedData:
            // The width holds the data; the octet in front of it is one more.
            guard position < bytes.byteCount else {
                isBroken = true
                return
            }
            position += 1
            let count = min(Int(bytes.octet(start)), width)
            writeAdvertisingData(bytes.part(start + 1, count), field, into: &output, facts: &facts)
        case .group, .bitGroup, .options: break
        }
    }

    /// The options of a channel, up to the end of the bytes (Core 5.4, Vol 3, Part A, 5).
    @_lifetime(self: copy self)
    private mutating func writeOptions(
        _ field: PacketTables.Field, _ tables: borrowing PacketTables, into output: inout DecodedOutput,
        facts: inout PacketFacts
    ) {
        output.beginGroups(field.text)
        while position < bytes.byteCount {
            guard position + 2 <= bytes.byteCount, position + 2 + Int(bytes.octet(position + 1)) <= bytes.byteCount
            else {
                output.beginGroup()
                output.begin("Incomplete option", "incomplete")
                output.bytes(bytes.rest(position))
                output.end()
                output.endGroup()
                position = bytes.byteCount
                break
            }
            let type = bytes.octet(position)
            let value = bytes.part(position + 2, Int(bytes.octet(position + 1)))
            position += 2 + value.byteCount
            let place = Int(tables.channelOptions[Int(type & 0x7F)])
            output.beginGroup()
            output.option(type, place >= 0 ? tables.layouts[place].name : nil)
            if place >= 0, tables.layouts[place].byteCount == value.byteCount {
                var inner = FieldReader(value)
                inner.write(tables.layouts[place].fields, tables, into: &output, facts: &facts)
            } else {
                output.begin("Value", "value")
                output.bytes(value)
                output.end()
            }
            output.endGroup()
        }
        output.endGroups()
    }

    /// - Returns: how many octets follow the one at `start`; `nil` when the packet ends before.
    @_lifetime(self: copy self)
    private mutating func takeCounted(_ start: Int) -> Int? {
        guard start < bytes.byteCount, start + 1 + Int(bytes.octet(start)) <= bytes.byteCount else {
            isBroken = true
            return nil
        }
        position = start + 1 + Int(bytes.octet(start))
        return Int(bytes.octet(start))
    }

    @_lifetime(self: copy self)
    private mutating func writeAdvertisingData(
        _ data: RawSpan, _ field: PacketTables.Field, into output: inout DecodedOutput, facts: inout PacketFacts
    ) {
        if isPartial {
            output.begin(field)
            output.bytes(data)
            output.end()
            return
        }
        if !output.writeAdvertisingData(data) { facts.hasBrokenData = true }
    }
}
