import BLEJSON
import BLESensors

/// An entity of Home Assistant: one value of a device.
struct HomeAssistantEntity {
    /// The type of the entity, a part of the discovery topic.
    enum Component: String {
        case sensor
        case binarySensor = "binary_sensor"
        case event
        case deviceTracker = "device_tracker"
    }

    var component: Component
    /// The name of the value.
    var key: String
    /// Keys of the payload that only this kind has.
    var members: [JSONValue.Member]

    /// The entity of a value; `nil` for values that are not worth watching.
    init?(_ field: SensorField, expireAfter: Int) {
        key = field.name
        guard !isCounter(field.name) else { return nil }
        let value = "value_json['values']['\(field.name)']"
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue) { members.append(.init(key: key, value: value)) }
        if isEvent(field.name) {
            guard case .text = field.value, let types = Self.eventTypes(field.name) else { return nil }
            component = .event
            add("event_types", .array(types.map { .string($0) }))
            // Devices also send that nothing was pressed; any other text would be an error.
            let list = types.map { "'\($0)'" }.joined(separator: ", ")
            add(
                "value_template",
                .string(
                    "{% set event = value_json['values'].get('\(field.name)') %}{% if event in [\(list)] %}"
                        + "{\"event_type\": \"{{ event }}\"}{% endif %}"))
            self.members = members
            return
        }
        let isThere = "{% if '\(field.name)' in value_json['values'] %}"
        switch field.value {
        case .boolean:
            component = .binarySensor
            let state = "{{ 'None' if \(value) is none else 'ON' if \(value) else 'OFF' }}"
            add("value_template", .string("\(isThere)\(state){% endif %}"))
            if let deviceClass = field.deviceClass { add("device_class", .string(deviceClass)) }
        case .number, .unknown, .invalid:
            component = .sensor
            let deviceClass = field.deviceClass.flatMap { Self.units[$0]?.contains(field.unit) == true ? $0 : nil }
            add("value_template", .string("\(isThere){{ \(value) }}{% endif %}"))
            if let deviceClass { add("device_class", .string(deviceClass)) }
            if !field.unit.isEmpty { add("unit_of_measurement", .string(field.unit)) }
            add("state_class", .string(Self.totals.contains(deviceClass ?? "") ? "total_increasing" : "measurement"))
        case .text:
            component = .sensor
            add("value_template", .string("\(isThere){{ \(value) }}{% endif %}"))
            if field.deviceClass == "timestamp" { add("device_class", "timestamp") }
        case .numbers, .octets:
            return nil
        }
        if expireAfter > 0 { add("expire_after", .integer(expireAfter)) }
        self.members = members
    }

    /// Whether a device is present.
    init(presenceTopic: String) {
        component = .deviceTracker
        key = "presence"
        members = [
            .init(key: "state_topic", value: .string(presenceTopic)),
            .init(key: "payload_home", value: "home"), .init(key: "payload_not_home", value: "not_home"),
            .init(key: "source_type", value: "bluetooth_le"),
        ]
    }

    /// The texts that events of this name have.
    private static func eventTypes(_ name: String) -> [String]? {
        if name.hasPrefix("button") {
            return [
                "press", "double_press", "triple_press", "long_press", "long_double_press", "long_triple_press",
                "hold_press",
            ]
        }
        guard name.hasPrefix("dimmer") else { return nil }
        return [
            "rotate_left", "rotate_right", "rotate_left_pressed", "rotate_right_pressed", "press", "long_press",
        ]
    }

    /// Classes that Home Assistant accepts for meters only.
    private static let totals: Set<String> = ["energy", "gas", "volume", "water"]

    /// The units that Home Assistant accepts for a class of sensors, of those that occur here.
    private static let units: [String: Set<String>] = [
        "battery": ["%"], "carbon_dioxide": ["ppm"], "conductivity": ["µS/cm"], "current": ["A", "mA"],
        "distance": ["mm", "m", "cm", "km"], "duration": ["s", "min", "h", "d"], "energy": ["kWh", "Wh"],
        "gas": ["m³"], "humidity": ["%"], "illuminance": ["lx"], "weight": ["kg", "g", "lb", "st", "oz"],
        "moisture": ["%"], "pm1": ["µg/m³"], "pm25": ["µg/m³"], "pm10": ["µg/m³"], "power": ["W", "kW"],
        "precipitation": ["mm"], "pressure": ["hPa", "Pa", "kPa", "mbar"], "sound_pressure": ["dB", "dBA"],
        "speed": ["m/s", "km/h"], "temperature": ["°C", "°F", "K"], "signal_strength": ["dBm", "dB"],
        "voltage": ["V", "mV"], "volume": ["L", "mL", "m³"], "volume_storage": ["L", "mL", "m³"],
        "volume_flow_rate": ["m³/h", "L/min"], "water": ["L", "m³"],
        "volatile_organic_compounds": ["µg/m³"],
    ]
}
