/// SwitchBot's devices around the house: covers, relays, remotes, lamps, and those whose service data ends in a number
/// of four octets instead of beginning with a letter.
enum SwitchBotDevices {
    static let letters: [UInt8: String] = [
        0x78: "Blind Tilt", 0x2C: "Roller Shade", 0x3F: "Plug Mini EU", 0x3C: "Relay Switch 1PM",
        0x3B: "Relay Switch 1", 0x3D: "Relay Switch 2PM", 0x3E: "Garage Door Opener", 0x27: "Universal Remote",
        0x62: "Remote", 0x79: "Keypad", 0x2D: "Lock Lite", 0x75: "Color Bulb", 0x72: "Light Strip",
        0x71: "Ceiling Light",
    ]

    private static let numbers: [UInt32: String] = [
        0x0010_B940: "Hub 3", 0x0010_CCC8: "Presence Sensor", 0x0010_53B0: "Weather Station",
        0x0010_F3D8: "Climate Panel", 0x0011_3640: "Radiator Thermostat", 0x0010_A5B8: "Lock Ultra",
        0x0010_FF90: "Lock Pro Wifi",
    ]

    /// The model of the number at the end of the service data.
    static func model(endOf service: [UInt8]) -> String? {
        guard service.count > 5 else { return nil }
        for end in [service.count, service.count - 1] {
            // The first octet says only whether it can be joined.
            let number = service[(end - 3)..<end].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            if service[end - 4] <= 1, let model = numbers[number] { return model }
        }
        return nil
    }

    /// - Parameters:
    ///   - service: service data with at least one octet.
    ///   - maker: manufacturer data: the address, a counter, and the state from the eighth octet.
    static func fields(of model: String, _ service: [UInt8], _ maker: [UInt8]) -> [SensorField] {
        let level = service.count >= 3 ? SwitchBot.battery(service[2]) : []
        switch model {
        case "Remote": return level
        case "Universal Remote" where maker.count >= 8:
            return SwitchBot.battery(maker[7]) + [flag("battery_charging", maker[7] & 0x80)]
        case "Keypad" where maker.count >= 7: return level
        case "Blind Tilt" where maker.count >= 10:
            return [
                percent("tilt", min(maker[8] & 0x7F, 100)), flag("moving", maker[8] & 0x80),
                number("light_level", maker[9] >> 4),
            ] + level
        case "Roller Shade" where maker.count >= 10:
            return [
                percent("position", 100 - min(maker[8] & 0x7F, 100)), flag("moving", maker[7] & 6),
                number("light_level", maker[9] >> 4),
            ] + level
        case "Relay Switch 1" where maker.count >= 8: return [flag("on", maker[7] & 0x80)]
        case "Plug Mini EU" where maker.count >= 12, "Relay Switch 1PM" where maker.count >= 12:
            return [flag("on", maker[7] & 0x80), power("power", maker[10], maker[11])]
        case "Relay Switch 2PM" where maker.count >= 14:
            return [
                flag("on_1", maker[7] & 0x80), power("power_1", maker[10], maker[11]), flag("on_2", maker[7] & 0x40),
                power("power_2", maker[12], maker[13]),
            ]
        case "Garage Door Opener" where maker.count >= 8:
            return [flag("on", maker[7] & 0x80), SensorField("garage_door", .boolean(maker[7] & 0x20 == 0))]
        case "Lock Lite" where maker.count >= 9: return [SwitchBot.lockState(maker[7] >> 4 & 7)] + level
        case "Lock Ultra" where maker.count >= 12, "Lock Pro Wifi" where maker.count >= 12:
            return [SwitchBot.lockState(maker[7] >> 3 & 15), flag("door", maker[8] & 0x10)]
                + SwitchBot.battery(maker[9])
        case "Color Bulb" where maker.count >= 11, "Light Strip" where maker.count >= 9:
            return [flag("on", maker[7] & 0x80), percent("brightness", maker[7] & 0x7F)]
        case "Ceiling Light" where maker.count >= 11:
            return [flag("on", maker[10] & 0x80), percent("brightness", maker[7] & 0x7F)]
        default: return climate(of: model, service, maker)
        }
    }

    /// What measures temperature, presence or light.
    private static func climate(of model: String, _ service: [UInt8], _ maker: [UInt8]) -> [SensorField] {
        switch model {
        case "Hub 3" where maker.count >= 17:
            return SwitchBot.climate(maker[13..<16])
                + [number("light_level", maker[12] & 15), flag("motion", maker[16] & 0x80)]
        case "Presence Sensor" where maker.count >= 12:
            return [flag("motion", maker[7] & 0x40), number("light_level", maker[11] & 0x1F)]
                + (service.count >= 3 ? SwitchBot.battery(service[2]) : [])
        case "Weather Station" where maker.count >= 11:
            let fields = SwitchBot.climate(maker[8..<11])
            return fields.isEmpty ? [] : fields + SwitchBot.battery(maker[7])
        case "Climate Panel" where maker.count >= 16:
            return SwitchBot.climate(maker[8..<11]) + [
                flag("on", maker[7] & 0x80), flag("motion", maker[15] & 0x80),
                SensorField("light", .boolean(maker[15] >> 1 & 3 == 2)),
            ] + SwitchBot.battery(maker[7])
        case "Radiator Thermostat" where maker.count >= 13:
            let mode = maker[11] & 7
            let modes = ["schedule", "manual", "off", "eco", "comfort", "boost"]
            return [
                degrees("temperature", maker[9], tenths: maker[8] & 15),
                degrees("target_temperature", maker[10], tenths: maker[8] >> 4),
                flag("on", maker[7] & 0x80), flag("window", maker[12] & 1),
                SensorField("mode", .text(mode < modes.count ? modes[Int(mode)] : "mode \(mode)")),
            ] + SwitchBot.battery(maker[7])
        default: return []
        }
    }

    private static func flag(_ name: String, _ bits: UInt8) -> SensorField { SensorField(name, .boolean(bits != 0)) }

    private static func number(_ name: String, _ value: UInt8) -> SensorField {
        SensorField(name, .number(DecimalNumber(value)))
    }

    private static func percent(_ name: String, _ value: UInt8) -> SensorField {
        SensorField(name, .number(DecimalNumber(value)), unit: "%")
    }

    private static func power(_ name: String, _ high: UInt8, _ low: UInt8) -> SensorField {
        SensorField(name, .number(DecimalNumber(UInt16(high) << 8 | UInt16(low))), unit: "W")
    }

    /// Whole degrees with a bit for above zero, and tenths.
    static func degrees(_ name: String, _ octet: UInt8, tenths: UInt8) -> SensorField {
        let magnitude = Int64(octet & 0x7F) * 10 + Int64(tenths)
        let value = DecimalNumber(octet & 0x80 != 0 ? magnitude : -magnitude, exponent: -1)
        return SensorField(name, .number(value), unit: "°C")
    }
}
