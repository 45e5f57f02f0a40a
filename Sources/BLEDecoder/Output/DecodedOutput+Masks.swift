extension DecodedOutput {
    /// Appends the names of the bits that are set, lowest first, to the field.
    /// - Parameter countsThem: whether text begins with their count.
    mutating func bits(
        _ mask: RawSpan, _ field: PacketTables.Field, _ tables: borrowing PacketTables, countsThem: Bool
    ) {
        let isNamed = field.argument >= 0 || field.argument < PacketTables.Special.company
        let count = (0..<mask.byteCount).reduce(0) { $0 + mask.octet($1).nonzeroBitCount }
        if isJSON {
            guard isNamed, field.argument != PacketTables.Special.numbers else { return }
            buffer.append(UInt8(ascii: ","))
            unsafe buffer.append(field.nameKey.utf8)
            buffer.append(UInt8(ascii: "["))
        } else if countsThem {
            buffer.append(decimal: UInt64(count))
            buffer.append(" of ")
            buffer.append(decimal: UInt64(mask.byteCount * 8))
        }
        defer { if isJSON { buffer.append(UInt8(ascii: "]")) } }
        guard isNamed, count > 0 else { return }
        if !isJSON { buffer.append(": ") }
        if field.argument == PacketTables.Special.numbers { return ranges(mask) }
        _ = names(ofBitsIn: mask, field.argument, tables)
    }

    /// Writes only the names of the bits that are set.
    mutating func bits(_ mask: RawSpan, in table: Int, _ tables: borrowing PacketTables) {
        if isJSON { buffer.append(UInt8(ascii: "[")) }
        let isEmpty = names(ofBitsIn: mask, table, tables)
        if isJSON { buffer.append(UInt8(ascii: "]")) } else if isEmpty { buffer.append("none") }
    }

    /// - Returns: whether no bit is set.
    private mutating func names(ofBitsIn mask: RawSpan, _ table: Int, _ tables: borrowing PacketTables) -> Bool {
        var isFirst = true
        for index in 0..<mask.byteCount {
            var octet = mask.octet(index)
            while octet != 0 {
                if !isFirst { buffer.append(isJSON ? "," : ", ") }
                isFirst = false
                write(bit: index * 8 + octet.trailingZeroBitCount, table, tables)
                octet &= octet &- 1
            }
        }
        return isFirst
    }

    private mutating func write(bit: Int, _ table: Int, _ tables: borrowing PacketTables) {
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
        if let name = tables.name(ofBit: bit, in: table) {
            unsafe buffer.append(name.utf8)
        } else {
            buffer.append("bit ")
            buffer.append(decimal: UInt64(bit))
        }
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
    }

    /// `0 to 10, 12, 14 to 36`
    private mutating func ranges(_ mask: RawSpan) {
        func isSet(_ bit: Int) -> Bool { mask.octet(bit / 8) >> UInt8(bit % 8) & 1 == 1 }
        var bit = 0
        var isFirst = true
        while bit < mask.byteCount * 8 {
            guard isSet(bit) else {
                bit += 1
                continue
            }
            let start = bit
            while bit < mask.byteCount * 8, isSet(bit) { bit += 1 }
            if !isFirst { buffer.append(", ") }
            isFirst = false
            buffer.append(decimal: UInt64(start))
            if bit - start > 1 {
                buffer.append(bit - start == 2 ? ", " : " to ")
                buffer.append(decimal: UInt64(bit - 1))
            }
        }
    }

    /// Writes channel identifiers of two octets each.
    mutating func channels(_ bytes: RawSpan) {
        if isJSON { buffer.append(UInt8(ascii: "[")) }
        var position = 0
        while position + 2 <= bytes.byteCount {
            if position > 0 { buffer.append(isJSON ? "," : ", ") }
            hexadecimal(UInt64(bytes.uint16(position)), width: 2)
            position += 2
        }
        if isJSON { buffer.append(UInt8(ascii: "]")) } else if position == 0 { buffer.append("none") }
    }
}
