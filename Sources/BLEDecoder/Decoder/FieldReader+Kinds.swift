/// The writing of fields, by kind.
extension FieldReader {
    // MARK: Numbers

    @_lifetime(self: copy self)
    mutating func writeNumber(
        _ field: PacketTables.Field, at start: Int, _ tables: borrowing PacketTables, into output: inout DecodedOutput
    ) {
        let value = bytes.integer(start, width: field.width)
        lastNumber = value
        output.begin(field)
        if field.argument >= 0 {
            output.named(
                value, width: field.width, tables.name(of: value, in: field.argument), key: field.nameKey)
        } else if field.argument == PacketTables.Special.company {
            output.company(UInt16(truncatingIfNeeded: value))
        } else {
            output.number(value)
        }
        output.end()
    }

    @_lifetime(self: copy self)
    mutating func writeHexadecimal(
        _ field: PacketTables.Field, at start: Int, _ tables: borrowing PacketTables, into output: inout DecodedOutput
    ) {
        let value = bytes.integer(start, width: field.width)
        lastNumber = value
        isPartial = field.width == 2 && value >> 5 & 3 == 1
        output.begin(field)
        if field.argument >= 0 {
            output.named(
                value, width: field.width, tables.name(of: value, in: field.argument), key: field.nameKey)
        } else {
            output.hexadecimal(value, width: field.width)
        }
        output.end()
    }

    @_lifetime(self: copy self)
    mutating func writeMask(
        _ field: PacketTables.Field, at start: Int, _ tables: borrowing PacketTables, into output: inout DecodedOutput
    ) {
        let value = bytes.integer(start, width: field.width)
        lastNumber = value
        output.begin(field)
        output.hexadecimal(value, width: field.width)
        output.bits(bytes.part(start, field.width), field, tables, countsThem: false)
        output.end()
    }

    func writeOctetMask(
        _ field: PacketTables.Field, at start: Int, _ tables: borrowing PacketTables, into output: inout DecodedOutput
    ) {
        output.begin(field)
        if output.isJSON { output.bytes(bytes.part(start, field.width)) }
        output.bits(bytes.part(start, field.width), field, tables, countsThem: true)
        output.end()
    }

    func writeSigned(_ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput) {
        let value = bytes.integer(start, width: field.width)
        output.begin(field)
        output.signed(
            field.width == 1 ? Int64(Int8(truncatingIfNeeded: value)) : Int64(Int16(truncatingIfNeeded: value)))
        output.end()
    }

    func writePower(_ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput) {
        let value = Int64(Int8(bitPattern: bytes.octet(start)))
        output.begin(field)
        if value == 127 {
            output.isJSON ? output.buffer.append("null") : output.buffer.append("not available")
        } else {
            output.signed(value)
            if !output.isJSON { output.buffer.append(" dBm") }
        }
        output.end()
    }

    func writeTime(_ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput) {
        output.begin(field)
        output.milliseconds(microseconds: bytes.integer(start, width: field.width) * UInt64(field.argument))
        output.end()
    }

    // MARK: What HCI names by numbers

    func writeStatus(
        _ field: PacketTables.Field, at start: Int, _ tables: borrowing PacketTables, into output: inout DecodedOutput
    ) {
        let value = UInt64(bytes.octet(start))
        output.begin(field)
        output.named(value, width: 1, tables.name(of: value, in: PacketTables.Values.status), key: field.nameKey)
        output.end()
    }

    func writeOpcode(
        _ field: PacketTables.Field, at start: Int, _ tables: borrowing PacketTables, into output: inout DecodedOutput
    ) {
        let value = bytes.uint16(start)
        let place = Int(tables.commands[Int(value)])
        output.begin(field)
        output.named(UInt64(value), width: 2, place >= 0 ? tables.layouts[place].name : nil, key: field.nameKey)
        output.end()
    }

    func writeHandle(
        _ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput, facts: inout PacketFacts
    ) {
        let value = bytes.uint16(start) & 0x0FFF
        facts.record(handle: value)
        output.begin(field)
        output.isJSON ? output.number(UInt64(value)) : output.hexadecimal(UInt64(value), width: 2)
        output.end()
    }

    func writeAddress(
        _ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput, facts: inout PacketFacts
    ) {
        let value = bytes.integer(start, width: 6)
        let isTarget = field.key.isText("\"directAddress\":")
        facts.record(address: value, isTarget: isTarget)
        // The report has no target: text has neither the address nor its type, which came before.
        if isTarget, value == 0, !output.isJSON { return output.buffer.truncate(to: earlierLength) }
        output.begin(field)
        output.address(value)
        output.end()
    }

    // MARK: Octets

    func writeBytes(_ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput) {
        output.begin(field)
        output.bytes(bytes.part(start, field.width))
        output.end()
    }

    func writeText(_ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput) {
        var count = 0
        while count < field.width, bytes.octet(start + count) != 0 { count += 1 }
        output.begin(field)
        output.text(bytes.part(start, count))
        output.end()
    }

    func withhold(_ field: PacketTables.Field, into output: inout DecodedOutput) {
        output.begin(field)
        output.withheld()
        output.end()
    }

    @_lifetime(self: copy self)
    mutating func writeRest(_ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput) {
        let rest = bytes.rest(start)
        position = bytes.byteCount
        guard rest.byteCount > 0 else { return }
        output.begin(field)
        output.bytes(rest)
        output.end()
    }

    @_lifetime(self: copy self)
    mutating func writeChannels(_ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput) {
        output.begin(field)
        output.channels(bytes.rest(start))
        position = bytes.byteCount
        output.end()
    }

    @_lifetime(self: copy self)
    mutating func writeCountedBytes(_ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput) {
        guard let counted = readCounted(start) else { return }
        output.begin(field)
        output.bytes(bytes.part(start + 1, counted))
        output.end()
    }

    // MARK: Advertising data

    @_lifetime(self: copy self)
    mutating func writeCountedData(
        _ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput, facts: inout PacketFacts
    ) {
        guard let counted = readCounted(start) else { return }
        writeAdvertisingData(bytes.part(start + 1, counted), field, into: &output, facts: &facts)
    }

    @_lifetime(self: copy self)
    mutating func writeCountedFixedData(
        _ field: PacketTables.Field, at start: Int, into output: inout DecodedOutput, facts: inout PacketFacts
    ) {
        // The width is that of the data, without the octet before it.
        guard position < bytes.byteCount else {
            isBroken = true
            return
        }
        position += 1
        let count = min(Int(bytes.octet(start)), field.width)
        writeAdvertisingData(bytes.part(start + 1, count), field, into: &output, facts: &facts)
    }

    func writeAdvertisingData(
        _ data: RawSpan, _ field: PacketTables.Field, into output: inout DecodedOutput, facts: inout PacketFacts
    ) {
        if isPartial {
            output.begin(field)
            output.bytes(data)
            output.end()
            return
        }
        let earlier = output.measures.count
        if !output.writeAdvertisingData(data) { facts.hasBrokenData = true }
        for place in earlier..<output.measures.count { output.measures[place].address = facts.latestAddress }
    }

    /// - Returns: how many octets follow the one at `start`; `nil` if the packet is too short.
    @_lifetime(self: copy self)
    private mutating func readCounted(_ start: Int) -> Int? {
        guard start < bytes.byteCount, start + 1 + Int(bytes.octet(start)) <= bytes.byteCount else {
            isBroken = true
            return nil
        }
        position = start + 1 + Int(bytes.octet(start))
        return Int(bytes.octet(start))
    }
}
