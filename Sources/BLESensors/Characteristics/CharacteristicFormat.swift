import BLEAssignedNumbers
import BLEPackets

/// What the octets of an assigned characteristic or descriptor mean, by the GATT Specification Supplement.
///
///     let format = CharacteristicFormat(of: BluetoothUUID(0x2A19))
///     try format?.decode([0x57].span.bytes)        // Battery Level 87 %
///
/// The formats are a table of fields, not code; `Tools/AssignedNumbers/generate-characteristics` makes it and describes its
/// columns.
public struct CharacteristicFormat: Sendable {
    let fields: [CharacteristicField]

    /// The format of a characteristic or descriptor; `nil` where none is known.
    public init?(of uuid: BluetoothUUID) {
        guard let short = uuid.shortValue, let line = AssignedNumbers.line(of: short, in: Self.lines) else {
            return nil
        }
        self.init(line: line.description)
    }

    /// Reads the columns of a line.
    init?(line: String) {
        var fields: [CharacteristicField] = []
        for columns in line.split(separator: "|", omittingEmptySubsequences: false) {
            guard let field = CharacteristicField(columns: columns) else { return nil }
            fields.append(field)
        }
        self.fields = fields
    }

    /// Reads a value.
    ///
    /// - Returns: the fields that are there, in the order of their octets; those that only say what follows are left out.
    /// - Throws: `DecodingError.truncated` when a field is there by what the others say and its octets are not, and
    ///   `DecodingError.trailingBytes` when octets follow the last field.
    public func decode(_ octets: RawSpan) throws(DecodingError) -> [SensorField] {
        var reader = PacketReader(octets)
        var result: [SensorField] = []
        var flags: UInt64?
        var word: UInt64 = 0
        for field in fields where field.condition.holds(flags: flags ?? 0, octetsLeft: reader.remainingCount) {
            switch field.kind {
            case .word(let width):
                word = try reader.readInteger(width)
                if flags == nil { flags = word }
                if !field.name.isEmpty { result.append(field.with(field.value(of: word))) }
            case .bits(let first, let last):
                let bits = word >> UInt64(first) & (1 << UInt64(last - first + 1) - 1)
                let isFlag = first == last && field.choices.isEmpty
                result.append(field.with(isFlag ? .boolean(bits == 1) : field.value(of: bits)))
            default: result.append(field.with(try field.read(&reader)))
            }
        }
        try reader.expectEnd()
        return result
    }
}

extension CharacteristicFormat {
    /// Fields in a line for people: a single one without its name.
    public static func text(_ fields: [SensorField]) -> String {
        fields.count == 1 ? fields[0].valueText : fields.map(\.description).joined(separator: ", ")
    }
}
