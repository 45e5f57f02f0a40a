/// One decoded field: its name, its value and its unit.
public struct SensorField: Hashable, Sendable {
    /// The name of the quantity, such as `Battery Level`.
    public var name: String
    /// The value.
    public var value: SensorValue
    /// The symbol of the unit, such as `°C`; empty if it has none.
    public var unit: String

    public init(_ name: String, _ value: SensorValue, unit: String = "") {
        self.name = name
        self.value = value
        self.unit = unit
    }
}

extension SensorField: CustomStringConvertible {
    /// The value with its unit, such as `21.37 °C`.
    public var valueText: String {
        switch value {
        case .number, .numbers: unit.isEmpty ? "\(value)" : unit == "°" ? "\(value)°" : "\(value) \(unit)"
        default: "\(value)"
        }
    }

    /// Name and value, such as `Heart Rate 66 bpm`.
    public var description: String { name.isEmpty ? valueText : "\(name) \(valueText)" }
}
