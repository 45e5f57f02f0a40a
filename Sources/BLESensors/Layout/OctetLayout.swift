import BLEPackets

/// The layout of octets: a list of fields, from a line of text.
///
/// `|` separates the fields and `~` their columns: name, type, unit, scale, condition, choices;
/// `Tools/AssignedNumbers/generate-characteristics` describes them. Here a type in upper case reads the most
/// significant octet first, `b8` and `n8` are an octet that is zero or not, and `+N` behind a scale is added before.
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

    /// A layout in the program; an invalid one has no fields, which the tests check.
    init(_ line: StaticString) { fields = OctetLayout(line: "\(line)")?.fields ?? [] }

    /// The total length of the fields in octets; `nil` if it depends on their values.
    var octetCount: Int? {
        var count = 0
        for field in fields {
            guard let width = field.kind.octetCount else { return nil }
            count += width
        }
        return count
    }

    /// Decodes the fields from the front of the octets.
    ///
    /// - Returns: the existing fields with a name, in the order of their octets.
    /// - Throws: `DecodingError.truncated` when octets of a field are missing.
    func decode(_ reader: inout PacketReader) throws(DecodingError) -> [SensorField] {
        var result: [SensorField] = []
        var flags: UInt64?
        var word: UInt64 = 0
        for field in fields where field.condition.applies(flags: flags ?? 0, octetsLeft: reader.remainingCount) {
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
