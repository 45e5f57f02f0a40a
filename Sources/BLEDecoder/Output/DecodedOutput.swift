import BLEAssignedNumbers
import BLEText

/// The form of decoded packets.
public enum DecodingStyle: Sendable, Equatable {
    /// Lines of text; `isColoured` for a terminal.
    case text(isColoured: Bool)
    /// One JSON object per line.
    case json
}

/// Writes fields with their values, as text or as JSON: the same calls give both.
struct DecodedOutput: ~Copyable {
    enum Colour: UInt8 {
        case command = 0x36  // the digit after 3: cyan
        case event = 0x33  // yellow
        case data = 0x32  // green
        case note = 0x35  // magenta
        case bad = 0x31  // red
    }

    /// The maximum octets of a value in text; JSON has all of them.
    private static let shownByteCount = 256

    var buffer = TextBuffer()
    var names = RecentNames()
    var sensors = SensorTexts()
    var values = ValueTexts()
    /// Numbers of the last packet, if they are wanted.
    var measures: [Measure] = []
    var keepsMeasures = false
    let isJSON: Bool
    let isColoured: Bool
    private var depth = 0
    private var needsComma = false
    /// Whether the next field is the first of a group, which is marked with a dash.
    private var beginsGroup = false

    init(_ style: DecodingStyle) {
        isJSON = style == .json
        isColoured = style == .text(isColoured: true)
    }

    // MARK: Structure

    /// Begins the fields after the headline.
    mutating func beginFields() {
        if isJSON {
            buffer.append(",\"fields\":{")
        } else {
            buffer.append(UInt8(ascii: "\n"))
        }
        depth = 1
        needsComma = false
        beginsGroup = false
    }

    /// Ends the fields, if the packet has any.
    mutating func endFields() {
        if isJSON { buffer.append(UInt8(ascii: "}")) }
        depth = 0
    }

    mutating func beginGroups(_ name: Name) {
        guard isJSON else { return }
        comma()
        // The name of a list is short: its key is built here, once per packet.
        buffer.append(UInt8(ascii: "\""))
        let octets = unsafe name.utf8
        for index in octets.indices {
            let octet = unsafe octets[index]
            if octet != 0x20 && octet != 0x3A { buffer.append(index == 0 ? octet | 0x20 : octet) }
        }
        buffer.append("\":[")
        needsComma = false
    }

    mutating func beginGroups(_ key: StaticString) {
        guard isJSON else { return }
        comma()
        buffer.append(UInt8(ascii: "\""))
        buffer.append(key)
        buffer.append("\":[")
        needsComma = false
    }

    /// - Parameter isPlain: whether text shows it like the fields around it.
    mutating func beginGroup(isPlain: Bool = false) {
        if isJSON {
            comma()
            buffer.append(UInt8(ascii: "{"))
            needsComma = false
        } else if !isPlain {
            depth += 1
            beginsGroup = true
        }
    }

    mutating func endGroup(isPlain: Bool = false) {
        if isJSON {
            buffer.append(UInt8(ascii: "}"))
        } else if !isPlain {
            depth -= 1
            beginsGroup = false
        }
        needsComma = true
    }

    @inline(__always)
    private mutating func indentation() {
        if beginsGroup {
            buffer.append(spaces: 2 + depth * 2)
            buffer.append("- ")
            beginsGroup = false
        } else {
            buffer.append(spaces: 4 + depth * 2)
        }
    }

    mutating func endGroups() {
        if isJSON { buffer.append(UInt8(ascii: "]")) }
        needsComma = true
    }

    @inline(__always)
    private mutating func comma() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    // MARK: Names

    @inline(__always)
    mutating func begin(_ field: PacketTables.Field) {
        if isJSON {
            comma()
            unsafe buffer.append(field.key.utf8)
        } else {
            indentation()
            unsafe buffer.append(field.text.utf8)
        }
    }

    @inline(__always)
    mutating func begin(_ name: StaticString, _ key: StaticString) {
        if isJSON {
            comma()
            buffer.append(UInt8(ascii: "\""))
            buffer.append(key)
            buffer.append("\":")
        } else {
            indentation()
            buffer.append(name)
            buffer.append(": ")
        }
    }

    @inline(__always)
    mutating func end() {
        if !isJSON { buffer.append(UInt8(ascii: "\n")) }
    }

    // MARK: Values

    @inline(__always)
    mutating func number(_ value: UInt64) { buffer.append(decimal: value) }

    mutating func signed(_ value: Int64) { buffer.append(signed: value) }

    mutating func hexadecimal(_ value: UInt64, width: Int) {
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
        buffer.append("0x")
        buffer.append(hexadecimal: value, digits: width * 2)
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
    }

    /// A number with a name: `public (0x00)`; in JSON the number, followed by the name under the key `nameKey`.
    mutating func named(_ value: UInt64, width: Int, _ name: Name?, key nameKey: Name) {
        if isJSON {
            buffer.append(decimal: value)
            guard let name else { return }
            buffer.append(UInt8(ascii: ","))
            unsafe buffer.append(nameKey.utf8)
            quoted(name)
        } else {
            if let name {
                unsafe buffer.append(name.utf8)
                buffer.append(" (0x")
            } else {
                buffer.append("0x")
            }
            buffer.append(hexadecimal: value, digits: width * 2)
            if name != nil { buffer.append(UInt8(ascii: ")")) }
        }
    }

    /// The type of a channel's option; the top bit marks a hint, which a receiver may ignore.
    mutating func option(_ type: UInt8, _ name: Name?) {
        begin("Option", "option")
        if isJSON {
            number(UInt64(type))
            if let name {
                buffer.append(",\"optionName\":")
                quoted(name)
            }
        } else {
            if let name {
                unsafe buffer.append(name.utf8)
                buffer.append(" (")
            }
            hexadecimal(UInt64(type), width: 1)
            if name != nil { buffer.append(UInt8(ascii: ")")) }
            if type & 0x80 != 0 { buffer.append(", hint") }
        }
        end()
    }

    mutating func quoted(_ name: Name) {
        buffer.append(UInt8(ascii: "\""))
        unsafe buffer.append(name.utf8)
        buffer.append(UInt8(ascii: "\""))
    }

    /// Writes a fixed word, in quotation marks in JSON.
    mutating func word(_ text: StaticString) {
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
        buffer.append(text)
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
    }

    /// A time in milliseconds.
    mutating func milliseconds(microseconds: UInt64) {
        buffer.append(decimal: microseconds / 1000)
        let rest = microseconds % 1000
        if rest > 0 {
            buffer.append(UInt8(ascii: "."))
            if rest % 10 > 0 {
                buffer.append(decimal: rest, digits: 3)
            } else if rest % 100 > 0 {
                buffer.append(decimal: rest / 10, digits: 2)
            } else {
                buffer.append(decimal: rest / 100, digits: 1)
            }
        }
        if !isJSON { buffer.append(" ms") }
    }

    mutating func address(_ value: UInt64) {
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
        buffer.append(address: value)
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
    }

    mutating func bytes(_ bytes: RawSpan) {
        if isJSON {
            buffer.append(UInt8(ascii: "\""))
            buffer.append(hexadecimal: bytes)
            buffer.append(UInt8(ascii: "\""))
            return
        }
        if bytes.byteCount == 0 {
            buffer.append("(empty)")
            return
        }
        buffer.append(hexadecimal: bytes.part(0, Self.shownByteCount))
        if bytes.byteCount > Self.shownByteCount {
            buffer.append("… (")
            buffer.append(decimal: UInt64(bytes.byteCount))
            buffer.append(" octets)")
        }
    }

    /// Writes foreign text without characters that could harm a terminal or a document. For programs that read the
    /// JSON, the text is the same.
    mutating func text(_ bytes: RawSpan) {
        buffer.append(UInt8(ascii: "\""))
        var sieve = TextSieve()
        /// The last character, if it is ASCII and the sieve has not seen it.
        var before: UInt8 = 0
        var index = 0
        while index < bytes.byteCount {
            let octet = bytes.octet(index)
            let length = Self.characterByteCount(bytes, index)
            if length > 1, let scalar = Self.character(bytes, index, length) {
                if (0x20..<0x7F).contains(before) { _ = sieve.passes(Unicode.Scalar(before)) }
                before = 0
                if isJSON ? !TextSieve.isHidden(scalar) : sieve.passes(scalar) {
                    buffer.append(bytes.part(index, length))
                } else {
                    for unit in Character(scalar).utf16 {
                        buffer.append("\\u")
                        buffer.append(hexadecimal: UInt64(unit), digits: 4)
                    }
                }
                index += length
                continue
            }
            before = octet
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                buffer.append(UInt8(ascii: "\\"))
                buffer.append(octet)
            case 0x20..<0x7F: buffer.append(octet)
            case 0x00..<0x20, 0x7F:
                buffer.append("\\u00")
                buffer.append(hexadecimal: UInt64(octet), digits: 2)
            default: buffer.append("\u{FFFD}")
            }
            index += 1
        }
        buffer.append(UInt8(ascii: "\""))
    }

    /// The length of the character at `index` of well-formed UTF-8; 1 for ASCII and for invalid octets.
    private static func characterByteCount(_ bytes: RawSpan, _ index: Int) -> Int {
        let first = bytes.octet(index)
        let count: Int
        switch first {
        case 0xC2...0xDF: count = 2
        case 0xE0...0xEF: count = 3
        case 0xF0...0xF4: count = 4
        default: return 1
        }
        guard index + count <= bytes.byteCount else { return 1 }
        for offset in 1..<count where bytes.octet(index + offset) & 0xC0 != 0x80 { return 1 }
        let second = bytes.octet(index + 1)
        switch first {
        case 0xE0 where second < 0xA0, 0xED where second > 0x9F, 0xF0 where second < 0x90, 0xF4 where second > 0x8F:
            return 1
        default: return count
        }
    }

    /// A character of well-formed UTF-8.
    private static func character(_ bytes: RawSpan, _ index: Int, _ length: Int) -> Unicode.Scalar? {
        var value = UInt32(bytes.octet(index)) & (0x7F >> UInt32(length))
        for offset in 1..<length { value = value << 6 | UInt32(bytes.octet(index + offset) & 0x3F) }
        return Unicode.Scalar(value)
    }

    /// Writes a placeholder for octets that must not be shown.
    mutating func withheld() { word("(withheld)") }

    /// A UUID of two, four or sixteen octets, with the name that it has.
    /// - Parameter isAttribute: whether it is the type of an attribute, which no service's name suits.
    mutating func uuid(_ bytes: RawSpan, isAttribute: Bool = false) {
        let type = AttributeType(bytes)
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
        type.write(into: &buffer)
        if isJSON {
            buffer.append(UInt8(ascii: "\""))
        } else if let name = isAttribute ? names.attributeName(of: type) : names.name(of: type) {
            buffer.append(UInt8(ascii: " "))
            unsafe buffer.append(name.utf8)
        }
    }

    /// Writes a company's identifier and name.
    mutating func company(_ value: UInt16) {
        if isJSON {
            buffer.append(decimal: UInt64(value))
            guard let name = names.name(ofCompany: value) else { return }
            buffer.append(",\"companyName\":\"")
            escaped(name)
            buffer.append(UInt8(ascii: "\""))
        } else {
            if let name = names.name(ofCompany: value) {
                unsafe buffer.append(name.utf8)
                buffer.append(UInt8(ascii: " "))
            }
            buffer.append("(0x")
            buffer.append(hexadecimal: UInt64(value), digits: 4)
            buffer.append(UInt8(ascii: ")"))
        }
    }

    /// Writes a name of the tables as a JSON string.
    mutating func escaped(_ name: AssignedName) {
        let octets = unsafe name.utf8
        for index in octets.indices {
            let octet = unsafe octets[index]
            if octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") { buffer.append(UInt8(ascii: "\\")) }
            buffer.append(octet)
        }
    }

    // MARK: Colours

    @inline(__always)
    mutating func colour(_ colour: Colour) {
        if isColoured { escape("3", colour.rawValue) }
    }

    @inline(__always)
    mutating func dim() {
        if isColoured { escape("", UInt8(ascii: "2")) }
    }

    @inline(__always)
    mutating func bold() {
        if isColoured { escape("", UInt8(ascii: "1")) }
    }

    @inline(__always)
    mutating func plain() {
        if isColoured { escape("", UInt8(ascii: "0")) }
    }

    @inline(never)
    private mutating func escape(_ group: StaticString, _ digit: UInt8) {
        buffer.append("\u{1B}[")
        buffer.append(group)
        buffer.append(digit)
        buffer.append(UInt8(ascii: "m"))
    }
}
