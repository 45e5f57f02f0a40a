import BLEHost
import BLESensors

extension HeardDevice {
    /// Whether the device has settings, or its identity is known.
    var isNamed: Bool { settings != nil || identity != nil || address.isResolved }

    var valuesByName: [String: SensorValue] {
        Dictionary(values.map { ($0.field.name, $0.field.value) }, uniquingKeysWith: { _, last in last })
    }

    /// The maximum number of values of a device, and of those that Home Assistant knows of it. Sensors have a dozen; a
    /// sender that numbers its values ever differently could have thousands.
    static let valueLimit = 64

    /// Adds the values of a packet. Devices send different values in turn, so older values stay for a while.
    /// - Returns: the number of values that were removed because there were more than `valueLimit`, the oldest first.
    mutating func merge(_ reports: [SensorReport], lifetime: Microseconds, at now: Instant) -> Int {
        // An event whose document waits is still to be reported.
        let isWaiting = due != nil
        values.removeAll { isEvent($0.field.name) && !isWaiting || $0.heard.advanced(by: lifetime) < now }
        for report in reports {
            for field in report.fields {
                let value = Value(field: field, format: report.format, heard: now)
                if let index = values.firstIndex(where: { $0.field.name == field.name }) {
                    values[index] = value
                } else {
                    values.append(value)
                }
            }
        }
        let excess = values.count - Self.valueLimit
        guard excess > 0 else { return 0 }
        // Of one packet the first values stay.
        let order = values.indices.sorted { (values[$0].heard, $1) < (values[$1].heard, $0) }
        for index in order.prefix(excess).sorted(by: >) { values.remove(at: index) }
        return excess
    }

    /// Removes events that have been reported.
    mutating func dropEvents() { values.removeAll { isEvent($0.field.name) } }

    /// Whether a value has changed by its threshold since the last document.
    func differs(thresholds: [String: Double]) -> Bool {
        if saysEvent { return true }
        for value in values where !isCounter(value.field.name) {
            guard let old = publishedValues[value.field.name] else { return true }
            if old == value.field.value { continue }
            guard let threshold = thresholds[value.field.name], case .number(let before) = old,
                case .number(let after) = value.field.value
            else { return true }
            if (after.double - before.double).magnitude >= threshold { return true }
        }
        return false
    }
}
