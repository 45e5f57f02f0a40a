import BLE
import BLESensors

/// What a heart rate sensor measured.
public struct HeartRateMeasurement: Hashable, Sendable {
    /// Beats per minute.
    public var beatsPerMinute: Int
    /// Whether the sensor touches the skin; `nil` if it cannot detect that.
    public var hasContact: Bool?
    /// Energy since the counter was reset, in kilojoules.
    public var energyExpended: Int?
    /// Times between beats in seconds, oldest first.
    public var intervals: [Double]

    init(_ fields: [SensorField], _ octets: [UInt8]) throws(BLEError) {
        guard let rate = fields.number("Heart Rate") else { throw .malformedValue(.heartRateMeasurement, octets) }
        beatsPerMinute = Int(rate.double)
        hasContact =
            switch fields.first(where: { $0.name == "Sensor Contact" })?.value {
            case .text("yes"), .boolean(true): true
            case .text("no"), .boolean(false): false
            default: nil
            }
        energyExpended = fields.number("Energy Expended").map { Int($0.double) }
        intervals = []
        if case .numbers(let numbers)? = fields.first(where: { $0.name == "RR-Interval" })?.value {
            intervals = numbers.map(\.double)
        }
    }
}

extension HeartRateMeasurement: CustomStringConvertible {
    /// Such as `72 beats per minute`.
    public var description: String { "\(beatsPerMinute) beats per minute" }
}

extension [SensorField] {
    fileprivate func number(_ name: String) -> DecimalNumber? {
        if case .number(let number)? = first(where: { $0.name == name })?.value { number } else { nil }
    }
}
