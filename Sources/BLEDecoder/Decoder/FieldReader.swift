/// Reads fields by the table, and writes them.
struct FieldReader: ~Escapable {
    let bytes: RawSpan
    var position = 0
    /// Whether the packet ended within a field, or a part of it was malformed.
    var isBroken = false
    /// The last number, whose bits may determine the next fields.
    var lastNumber: UInt64 = 0
    /// How long the output was before the field that came before the current one.
    private(set) var earlierLength = 0
    private var length = 0
    /// Whether advertising data may be cut off, because more of it follows.
    var isPartial = false

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
        guard position + field.width <= bytes.byteCount else {
            isBroken = true
            return
        }
        let start = position
        position += field.width
        (earlierLength, length) = (length, output.buffer.count)
        switch field.kind {
        case .number: writeNumber(field, at: start, tables, into: &output)
        case .hexadecimal: writeHexadecimal(field, at: start, tables, into: &output)
        case .mask: writeMask(field, at: start, tables, into: &output)
        case .octetMask: writeOctetMask(field, at: start, tables, into: &output)
        case .signed: writeSigned(field, at: start, into: &output)
        case .power: writePower(field, at: start, into: &output)
        case .time: writeTime(field, at: start, into: &output)
        case .status: writeStatus(field, at: start, tables, into: &output)
        case .opcode: writeOpcode(field, at: start, tables, into: &output)
        case .handle: writeHandle(field, at: start, into: &output, facts: &facts)
        case .address: writeAddress(field, at: start, into: &output, facts: &facts)
        case .bytes: writeBytes(field, at: start, into: &output)
        case .text: writeText(field, at: start, into: &output)
        case .secret: withhold(field, into: &output)
        case .secretRest:
            position = bytes.byteCount
            withhold(field, into: &output)
        case .rest: writeRest(field, at: start, into: &output)
        case .channels: writeChannels(field, at: start, into: &output)
        case .countedBytes: writeCountedBytes(field, at: start, into: &output)
        case .advertisingData:
            writeAdvertisingData(bytes.part(start, field.width), field, into: &output, facts: &facts)
        case .countedData: writeCountedData(field, at: start, into: &output, facts: &facts)
        case .countedFixedData: writeCountedFixedData(field, at: start, into: &output, facts: &facts)
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
}
