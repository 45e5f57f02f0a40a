extension SensorField {
    /// Home Assistant's device class of a field of a `SensorReport`; `nil` if there is none.
    ///
    /// Booleans belong to a `binary_sensor`, other values to a `sensor`.
    public var deviceClass: String? {
        // Several values of one kind are numbered.
        var key = name[...]
        if let mark = key.lastIndex(of: "_"), key[key.index(after: mark)...].allSatisfy(\.isNumber) {
            key = key[..<mark]
        }
        if case .boolean = value { return Self.binaryClasses[String(key)] }
        // Of a radio; Home Assistant's `power` is in watts.
        if key == "power", unit == "dBm" { return "signal_strength" }
        return Self.classes[String(key)]
    }

    private static let classes: [String: String] = [
        "battery": "battery", "carbon_dioxide": "carbon_dioxide", "conductivity": "conductivity",
        "current": "current", "dew_point": "temperature", "direction": "wind_direction", "distance": "distance",
        "duration": "duration", "energy": "energy", "gas": "gas", "humidity": "humidity",
        "illuminance": "illuminance", "mass": "weight", "mass_non_stabilized": "weight", "moisture": "moisture",
        "pm1": "pm1", "pm25": "pm25", "pm4": "pm4", "pm10": "pm10", "power": "power", "precipitation": "precipitation",
        "pressure": "pressure", "sound_pressure": "sound_pressure", "speed": "speed", "temperature": "temperature",
        "timestamp": "timestamp", "tx_power": "signal_strength", "voltage": "voltage", "volume": "volume",
        "volume_flow_rate": "volume_flow_rate", "volume_storage": "volume_storage", "water": "water",
        "temperature_probe": "temperature", "temperature_alarm_probe": "temperature",
        "low_temperature_alarm_probe": "temperature", "humidity_probe": "humidity",
        "volatile_organic_compounds": "volatile_organic_compounds",
    ]

    private static let binaryClasses: [String: String] = [
        "battery_low": "battery", "battery_charging": "battery_charging", "carbon_monoxide_detected": "carbon_monoxide",
        "cold": "cold", "connectivity": "connectivity", "door": "door", "garage_door": "garage_door",
        "gas_detected": "gas", "heat": "heat", "light": "light", "lock": "lock", "moisture_detected": "moisture",
        "motion": "motion", "moving": "moving", "occupancy": "occupancy", "opening": "opening", "plug": "plug",
        "power_on": "power", "presence": "presence", "problem": "problem", "running": "running", "safety": "safety",
        "smoke": "smoke", "sound": "sound", "tamper": "tamper", "vibration": "vibration", "window": "window",
        "leak": "moisture", "door_left_open": "problem",
    ]
}
