import BLEPackets
import BLESensors
import BLEText

/// What the values of assigned characteristics mean, as text.
///
/// Devices repeat their values: what was read lately is kept, in bounded memory, because reading it takes longer than the
/// rest of a packet.
struct ValueTexts {
    /// So many that the values of some subscriptions seldom meet in one place.
    private static let count = 256
    /// So many characters of a text are shown.
    private static let limit = 512

    struct Known {
        fileprivate var type: UInt16 = 0
        fileprivate var value: [UInt8] = []
        /// UTF-8 without characters that could harm a terminal; empty if the value has no meaning.
        var text: [UInt8] = []
        /// Whether it is more than a text of the device.
        var isNumeric = false
        var measures: [Measure] = []
    }

    private var known: [Known] = []
    /// Of the assigned characteristics that were met.
    private var formats: [UInt16: CharacteristicFormat] = [:]

    /// The meaning of a value; `nil` if its type has no format, or it does not fit it.
    mutating func meaning(of value: RawSpan, type: UInt16) -> Known? {
        guard let format = format(of: type) else { return nil }
        if known.isEmpty { known = Array(repeating: Known(), count: Self.count) }
        let place = Int(SensorTexts.hash(value, from: UInt64(type)) % UInt64(Self.count))
        if known[place].type != type || !SensorTexts.areSame(known[place].value, value) {
            known[place] = Self.read(value, type, format)
        }
        return known[place].text.isEmpty ? nil : known[place]
    }

    private mutating func format(of type: UInt16) -> CharacteristicFormat? {
        if let format = formats[type] { return format }
        let format = CharacteristicFormat(of: BluetoothUUID(type))
        if let format { formats[type] = format }
        return format
    }

    private static func read(_ value: RawSpan, _ type: UInt16, _ format: CharacteristicFormat) -> Known {
        var known = Known(type: type, value: value.copied())
        guard let fields = try? format.decode(value), !fields.isEmpty else { return known }
        known.text = Array(CharacteristicFormat.text(fields).printable(limit: limit).utf8)
        known.isNumeric = fields.contains { if case .text = $0.value { false } else { true } }
        known.measures = Measure.measures(in: fields)
        return known
    }
}
