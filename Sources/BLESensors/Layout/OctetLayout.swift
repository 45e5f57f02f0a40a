import BLEPackets

/// How octets are to be read: a row of fields, from a line of text.
///
/// `|` parts the fields and `~` their columns: name, type, unit, scale, condition, choices;
/// `Tools/AssignedNumbers/generate-characteristics`
/// tells what stands in them. Here a type in upper case reads the most significant octet first, `b8` and `n8` are an octet
/// that is zero or not, and `+N` behind a scale is added before.
struct OctetLayout: Sendable {
    let fields: [OctetField]

    /// - Returns: `nil` for what is no layout.
    init?(line: String) {
        var fields: [OctetField] = []
        for columns in line.split(separator: "|", omittingEmptySubsequences: false) {
            guard let field = OctetField(columns: columns) else { return nil }
            fields.append(field)
        }
        self.fields = fields
    }

    /// A layout that stands in the program; one with a mistake has no fields, which the tests look for.
    init(_ line: StaticString) { fields = OctetLayout(line: "\(line)")?.fields ?? [] }

    /// Octets that the fields have together; `nil` where that depends on what they hold.
    var octetCount: Int? {
        var count = 0
        for field in fields {
            guard let width = field.kind.octetCount else { return nil }
            count += width
        }
        return count
    }

    /// Reads the fields from the front of the octets.
    ///
    /// - Returns: those that are there, in the order of their octets; what has no name is left out.
    /// - Throws: `DecodingError.truncated` when a field is there by what the others say and its octets are not.
    func decode(_ reader: inout PacketReader) throws(DecodingError) -> [SensorField] {
        var result: [SensorField] = []
        var flags: UInt64?
        var word: UInt64 = 0
        for field in fields where field.condition.holds(flags: flags ?? 0, octetsLeft: reader.remainingCount) {
            switch field.kind {
            case .word(let width, let isBigEndian):
                word = try reader.readInteger(width, isBigEndian: isBigEndian)
                if flags == nil { flags = word }
                if !field.name.isEmpty { result.append(field.with(field.value(of: word))) }
            case .bits(let first, let last):
                let bits = word >> UInt64(first) & (1 << UInt64(last - first + 1) - 1)
                let isFlag = first == last && field.choices.isEmpty
                result.append(field.with(isFlag ? .boolean(bits == 1) : field.value(of: bits)))
            default:
                let value = try field.read(&reader)
                if !field.name.isEmpty { result.append(field.with(value)) }
            }
        }
        return result
    }

    /// Reads the fields from the front of octets; what follows them does not matter.
    /// - Returns: `nil` when they are too short.
    func fields(of octets: some Sequence<UInt8>) -> [SensorField]? {
        let octets = Array(octets)
        do throws(DecodingError) {
            var reader = PacketReader(octets.span.bytes)
            return try decode(&reader)
        } catch {
            return nil
        }
    }
}
