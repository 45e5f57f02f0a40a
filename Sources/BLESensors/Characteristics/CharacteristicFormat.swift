import BLEAssignedNumbers
import BLEPackets

/// The meaning of the octets of an assigned characteristic or descriptor, by the GATT Specification Supplement.
///
///     let format = CharacteristicFormat(of: BluetoothUUID(0x2A19))
///     try format?.decode([0x57].span.bytes)        // Battery Level 87 %
///
/// The formats are a table of fields, not code; `Tools/AssignedNumbers/generate-characteristics` makes it and describes
/// its columns.
public struct CharacteristicFormat: Sendable {
    let layout: OctetLayout

    /// The format of a characteristic or descriptor; `nil` if it is unknown.
    public init?(of uuid: BluetoothUUID) {
        guard let short = uuid.shortValue, let line = AssignedNumbers.line(of: short, in: Self.lines),
            let layout = OctetLayout(line: line.description)
        else { return nil }
        self.layout = layout
    }

    /// Decodes a value.
    ///
    /// - Returns: the existing fields, in the order of their octets, without those that only describe others.
    /// - Throws: `DecodingError.truncated` when octets of a field are missing, and `DecodingError.trailingBytes` when
    ///   octets follow the last field.
    public func decode(_ octets: RawSpan) throws(DecodingError) -> [SensorField] {
        var reader = PacketReader(octets)
        let fields = try layout.decode(&reader)
        try reader.expectEnd()
        return fields
    }

    /// Fields in a line of text: a single one without its name.
    public static func text(_ fields: [SensorField]) -> String {
        fields.count == 1 ? fields[0].valueText : fields.map(\.description).joined(separator: ", ")
    }
}
