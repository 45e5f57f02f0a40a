import BLESensors
import BLEText

/// A number with a unit that a device has sent, for the plots of a page.
struct Measure: Hashable {
    /// Such as `heart rate`.
    var name: String
    /// The symbol of the unit, such as `bpm`.
    var unit: String
    var value: Double
    /// The address of the advertiser, of 48 bits; `nil` for a value over a link.
    var address: UInt64?

    /// Strengths of signals have a plot of their own, and of what has no unit nobody knows whether it is a quantity.
    static func measures(in fields: [SensorField]) -> [Measure] {
        fields.compactMap { field in
            let number: DecimalNumber?
            switch field.value {
            case .number(let value): number = value
            case .numbers(let values): number = values.last
            default: number = nil
            }
            guard let value = number?.double, value.isFinite, !field.unit.isEmpty, field.unit != "dBm" else {
                return nil
            }
            let name = String(field.name.map { $0 == "_" ? " " : $0 }).printable(limit: 60)
            return Measure(name: name, unit: field.unit.printable(limit: 12), value: value)
        }
    }
}
