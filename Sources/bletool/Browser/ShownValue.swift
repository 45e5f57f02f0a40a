import BLE
import BLEScripts
import BLESensors
import BLEText

/// What is known of an attribute's value, and what came before it while it was subscribed to.
struct ShownValue {
    /// Values that are kept for the plot.
    static let capacity = 160

    /// The last value; `nil` before the first.
    private(set) var octets: [UInt8]?
    /// The last values that were sent unasked, the latest at the end.
    private(set) var history: [[UInt8]] = []
    /// How many were sent.
    private(set) var arrivals = 0
    /// Why the last read, write or subscription failed.
    private(set) var trouble: String?
    /// Whether a request for it is under way.
    var isPending = false
    /// The form in which the user wants it; `nil` for that of its characteristic.
    var form: ValueForm?

    mutating func read(_ octets: [UInt8]) {
        self.octets = octets
        (trouble, isPending) = (nil, false)
    }

    mutating func notified(_ octets: [UInt8]) {
        self.octets = octets
        trouble = nil
        arrivals &+= 1
        if history.count >= Self.capacity { history.removeFirst() }
        history.append(octets)
    }

    mutating func failed(_ text: String) { (trouble, isPending) = (text, false) }

    mutating func settle() { (trouble, isPending) = (nil, false) }

    /// The value in words; `nil` before the first.
    func text(_ uuid: BluetoothUUID) -> String? {
        octets.map { ValueMeaning($0, uuid: uuid, form: form).text }
    }

    /// The value for a narrow column: the one number that it has, or what it means.
    func briefText(_ uuid: BluetoothUUID) -> String? {
        guard let octets else { return nil }
        let meaning = ValueMeaning(octets, uuid: uuid, form: form)
        let numbers = meaning.fields?.filter(Self.isNumeric) ?? []
        guard meaning.fault == nil, let words = meaning.meaning, !words.isEmpty else { return meaning.text }
        return numbers.count == 1 ? numbers[0].valueText.printable(limit: 256) : words
    }

    /// The first number of each of the last values; what has none is left out.
    func numbers(_ uuid: BluetoothUUID, last count: Int) -> [Double] {
        history.suffix(count).compactMap { Self.number($0, uuid, form) }
    }

    /// The numbers of the last values with their unit, such as `66 … 71 bpm`.
    func range(_ uuid: BluetoothUUID, last count: Int) -> String? {
        let numbers = numbers(uuid, last: count)
        guard let least = numbers.min(), let greatest = numbers.max(), let last = history.last else { return nil }
        let unit = Self.field(last, uuid, form)?.unit ?? ""
        return "\(Self.text(least)) … \(Self.text(greatest))" + (unit.isEmpty ? "" : " \(unit)")
    }

    private static func number(_ octets: [UInt8], _ uuid: BluetoothUUID, _ form: ValueForm?) -> Double? {
        switch field(octets, uuid, form)?.value {
        case .number(let number): number.double
        case .numbers(let numbers): numbers.first?.double
        default: nil
        }
    }

    private static func field(_ octets: [UInt8], _ uuid: BluetoothUUID, _ form: ValueForm?) -> SensorField? {
        ValueMeaning(octets, uuid: uuid, form: form).fields?.first(where: isNumeric)
    }

    private static func isNumeric(_ field: SensorField) -> Bool {
        switch field.value {
        case .number, .numbers: true
        default: false
        }
    }

    private static func text(_ number: Double) -> String { Int64(exactly: number).map(String.init) ?? String(number) }
}
