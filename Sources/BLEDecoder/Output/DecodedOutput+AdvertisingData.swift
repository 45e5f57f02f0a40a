import BLEAssignedNumbers

extension DecodedOutput {
    /// Writes the structures of advertising data (Core Specification Supplement, Part A; Assigned Numbers, 2.3).
    /// In text, what beacons and sensors say follows.
    /// - Returns: `false` if the data is malformed: the rest is then shown as octets.
    mutating func writeAdvertisingData(_ data: RawSpan) -> Bool {
        beginGroups("data")
        var mayBeSensor = false
        let isWellFormed = writeStructures(data, &mayBeSensor)
        endGroups()
        if isWellFormed, mayBeSensor, !isJSON {
            for line in sensors.lines(for: data) {
                begin("Says", "says")
                buffer.append(line.span.bytes)
                end()
            }
            if keepsMeasures { measures += sensors.measures(for: data) }
        }
        return isWellFormed
    }

    private mutating func writeStructures(_ data: RawSpan, _ mayBeSensor: inout Bool) -> Bool {
        var position = 0
        while position < data.byteCount {
            let length = Int(data.octet(position))
            if length == 0 { return true }
            let type = data.octet(position + 1)
            let isWhole = position + 1 + length <= data.byteCount
            if !isWhole || length - 1 < AdvertisingDataCheck.leastByteCount(of: type) {
                beginGroup(isPlain: true)
                begin("Broken structure", "broken")
                bytes(data.rest(position))
                end()
                endGroup(isPlain: true)
                return false
            }
            writeStructure(type, data.part(position + 2, length - 1))
            if SensorTexts.mayBe(in: type) { mayBeSensor = true }
            position += 1 + length
        }
        return true
    }

    private mutating func writeStructure(_ type: UInt8, _ value: RawSpan) {
        beginGroup(isPlain: true)
        if isJSON {
            begin("Type", "type")
            buffer.append(decimal: UInt64(type))
            if let name = AdvertisingStructureName.text(type) {
                begin("Name", "name")
                word(name)
            }
            begin("Value", "value")
        } else if let name = AdvertisingStructureName.text(type) {
            begin(name, "value")
        } else {
            begin("Type", "type")
            buffer.append("0x")
            buffer.append(hexadecimal: UInt64(type), digits: 2)
            buffer.append(": ")
        }
        writeValue(type, value)
        end()
        endGroup(isPlain: true)
    }

    private mutating func writeValue(_ type: UInt8, _ value: RawSpan) {
        switch type {
        case 0x01:
            hexadecimal(UInt64(value.octet(0)), width: 1)
            if !isJSON { writeFlags(value.octet(0)) }
        case 0x02, 0x03, 0x14: writeUUIDs(value, width: 2)
        case 0x04, 0x05, 0x1F: writeUUIDs(value, width: 4)
        case 0x06, 0x07, 0x15: writeUUIDs(value, width: 16)
        case 0x08, 0x09, 0x30: text(value)
        case 0x0A:
            signed(Int64(Int8(bitPattern: value.octet(0))))
            if !isJSON { buffer.append(" dBm") }
        case 0x16: writeServiceData(value, width: 2)
        case 0x20: writeServiceData(value, width: 4)
        case 0x21: writeServiceData(value, width: 16)
        case 0x19:
            let appearance = value.uint16(0)
            if isJSON {
                buffer.append(decimal: UInt64(appearance))
                if let name = AssignedNumbers.appearance(appearance) {
                    buffer.append(",\"appearance\":\"")
                    escaped(name)
                    buffer.append(UInt8(ascii: "\""))
                }
            } else {
                writeAppearance(appearance)
            }
        // Keys of out-of-band pairing and of encrypted advertising data.
        case 0x10 where value.byteCount == 8: bytes(value)  // Device ID
        case 0x0E, 0x0F, 0x10, 0x1D, 0x1E, 0x22, 0x23, 0x2D: withheld()
        case 0xFF:
            if isJSON {
                bytes(value.rest(2))
                begin("Company", "company")
                company(value.uint16(0))
            } else {
                company(value.uint16(0))
                if value.byteCount > 2 {
                    buffer.append(UInt8(ascii: " "))
                    bytes(value.rest(2))
                }
            }
        default: bytes(value)
        }
    }

    mutating func writeAppearance(_ value: UInt16) {
        if let name = AssignedNumbers.appearance(value) {
            unsafe buffer.append(name.utf8)
            buffer.append(" (0x")
        } else {
            buffer.append("(0x")
        }
        buffer.append(hexadecimal: UInt64(value), digits: 4)
        buffer.append(UInt8(ascii: ")"))
    }

    private mutating func writeFlags(_ flags: UInt8) {
        let names: [5 of StaticString] = [
            "LE limited discoverable", "LE general discoverable", "BR/EDR not supported",
            "LE and BR/EDR (controller)", "LE and BR/EDR (host)",
        ]
        for bit in 0..<5 where flags >> UInt8(bit) & 1 == 1 {
            buffer.append(", ")
            buffer.append(names[bit])
        }
    }

    private mutating func writeUUIDs(_ value: RawSpan, width: Int) {
        if isJSON { buffer.append(UInt8(ascii: "[")) }
        var position = 0
        while position + width <= value.byteCount {
            if position > 0 { isJSON ? buffer.append(",") : buffer.append(", ") }
            uuid(value.part(position, width))
            position += width
        }
        if isJSON {
            buffer.append(UInt8(ascii: "]"))
        } else if position == 0 {
            buffer.append("(none)")
        }
    }

    private mutating func writeServiceData(_ value: RawSpan, width: Int) {
        if isJSON {
            bytes(value.rest(width))
            begin("UUID", "uuid")
            uuid(value.part(0, width))
        } else {
            uuid(value.part(0, width))
            buffer.append(UInt8(ascii: " "))
            bytes(value.rest(width))
        }
    }
}
