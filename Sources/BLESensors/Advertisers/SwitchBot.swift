import BLEPackets

/// SwitchBot's devices: service data of 0xFD3D begins with the model, and manufacturer data of 0x0969 has the values of
/// newer devices.
enum SwitchBot {
    private static let models: [UInt8: String] = [
        0x48: "Bot", 0x54: "Meter", 0x69: "Meter Plus", 0x77: "Outdoor Meter", 0x34: "Meter Pro", 0x35: "Meter Pro CO2",
        0x64: "Contact Sensor", 0x73: "Motion Sensor", 0x63: "Curtain", 0x7B: "Curtain 3", 0x67: "Plug Mini",
        0x6A: "Plug Mini",
        0x76: "Hub 2", 0x25: "Hub Mini Matter", 0x26: "Leak Detector", 0x6F: "Lock", 0x24: "Lock Pro",
        0x65: "Humidifier",
    ]
    /// Model letters in another case while the device can be joined, or as a number.
    private static let others: [UInt8: UInt8] = [
        0x74: 0x54, 0x49: 0x69, 0x57: 0x77, 0x14: 0x34, 0x15: 0x35, 0x44: 0x64, 0x53: 0x73, 0x43: 0x63, 0x5B: 0x7B,
        0x47: 0x67, 0x4A: 0x6A, 0x56: 0x76, 0x05: 0x25, 0x06: 0x26, 0x4F: 0x6F, 0x04: 0x24, 0x45: 0x65, 0x58: 0x78,
        0x59: 0x79, 0x42: 0x62, 0x52: 0x72, 0x55: 0x75, 0x51: 0x71, 0x0C: 0x2C, 0x1F: 0x3F, 0x1C: 0x3C, 0x1B: 0x3B,
        0x1D: 0x3D, 0x1E: 0x3E, 0x07: 0x27, 0x0D: 0x2D,
    ]

    static func report(_ service: [UInt8], in advertisement: SensorAdvertisement) -> SensorReport? {
        guard let first = service.first else { return nil }
        let letter = first & 0x7F
        let kind = others[letter] ?? letter
        let entry = advertisement.data.manufacturerData.first { $0.company == 0x0969 }
        let maker: [UInt8] = if let entry { entry.data } else { [] }
        guard let model = models[kind] else {
            let model = SwitchBotDevices.letters[kind] ?? SwitchBotDevices.model(endOf: service)
            return model.map {
                SensorReport("SwitchBot", model: $0, fields: SwitchBotDevices.fields(of: $0, service, maker))
            }
        }
        var report = SensorReport("SwitchBot", model: model, fields: [])
        switch kind {
        case 0x48: report.fields = bot(service)
        case 0x54, 0x69, 0x77, 0x34: report.fields = meter(service, maker)
        case 0x35: report.fields = meter(service, maker) + carbonDioxide(maker)
        case 0x64: report.fields = contact(service, maker)
        case 0x73: report.fields = motion(service, maker)
        case 0x63, 0x7B: report.fields = curtain(service, maker)
        case 0x67 where maker.count >= 12, 0x6A where maker.count >= 12:
            let power = Int64(maker[10] & 0x7F) << 8 | Int64(maker[11])
            report.fields = [
                SensorField("on", .boolean(maker[7] == 0x80)),
                SensorField("power", .number(DecimalNumber(power, exponent: -1)), unit: "W"),
            ]
        case 0x76 where maker.count >= 16, 0x25 where maker.count >= 16:
            report.fields = climate(maker[13..<16])
            if kind == 0x76, !report.fields.isEmpty {
                report.fields.append(SensorField("light_level", .number(DecimalNumber(maker[12] & 0x1F))))
            }
        case 0x26 where maker.count >= 9:
            report.fields =
                battery(maker[7]) + [
                    SensorField("battery_low", .boolean(maker[7] & 0x80 != 0)),
                    SensorField("leak", .boolean(maker[8] & 1 != 0)),
                    SensorField("tamper", .boolean(maker[8] & 2 != 0)),
                ]
        case 0x6F where maker.count >= 9:
            report.fields =
                [lockState(maker[7] >> 4 & 7)] + [SensorField("door", .boolean(maker[7] & 4 != 0))]
                + (service.count >= 3 ? battery(service[2]) : [])
        case 0x24 where maker.count >= 12:
            report.fields =
                [lockState(maker[7] >> 3 & 15)] + [SensorField("door", .boolean(maker[8] & 0x10 != 0))]
                + battery(maker[9])
        case 0x65 where service.count >= 5:
            report.fields = [
                SensorField("on", .boolean(service[1] != 0)),
                SensorField("level", .number(DecimalNumber(service[4]))),
            ]
        default: break
        }
        return report
    }

    static func battery(_ octet: UInt8) -> [SensorField] {
        [SensorField("battery", .number(DecimalNumber(octet & 0x7F)), unit: "%")]
    }

    private static func bot(_ service: [UInt8]) -> [SensorField] {
        guard service.count >= 3 else { return [] }
        let isSwitch = service[1] & 0x80 != 0
        return [
            SensorField("switch_mode", .boolean(isSwitch)),
            SensorField("on", .boolean(isSwitch && service[1] & 0x40 == 0)),
        ] + battery(service[2])
    }

    /// Tenths, sign and whole degrees, humidity. All zero means that nothing was measured yet.
    static func climate(_ octets: ArraySlice<UInt8>) -> [SensorField] {
        let octets = Array(octets)
        let humidity = octets[2] & 0x7F
        guard octets[1] & 0x7F != 0 || octets[0] & 15 != 0 || humidity != 0 else { return [] }
        return [
            SwitchBotDevices.degrees("temperature", octets[1], tenths: octets[0] & 15),
            SensorField("humidity", .number(DecimalNumber(humidity)), unit: "%"),
        ]
    }

    private static func meter(_ service: [UInt8], _ maker: [UInt8]) -> [SensorField] {
        let level = service.count >= 3 ? battery(service[2]) : []
        if maker.count >= 11 {
            let fields = climate(maker[8..<11])
            return fields.isEmpty ? [] : fields + level
        }
        guard service.count >= 6 else { return [] }
        let fields = climate(service[3..<6])
        return fields.isEmpty ? [] : fields + level
    }

    private static func carbonDioxide(_ maker: [UInt8]) -> [SensorField] {
        guard maker.count >= 15 else { return [] }
        let value = UInt16(maker[13]) << 8 | UInt16(maker[14])
        // The sensor measures up to 9999; more is a fault of the device.
        return value > 9999
            ? [] : [SensorField("carbon_dioxide", .number(DecimalNumber(value)), unit: "ppm")]
    }

    private static func contact(_ service: [UInt8], _ maker: [UInt8]) -> [SensorField] {
        let flags: (motion: Bool, open: Bool, late: Bool, light: Bool, buttons: UInt8)
        if maker.count >= 13 {
            let state = maker[7]
            flags = (state & 0x80 != 0, state & 0x10 != 0, state & 0x20 != 0, state & 0x40 != 0, maker[12] & 15)
        } else if service.count >= 9 {
            let state = service[3]
            flags = (service[1] & 0x40 != 0, state & 2 != 0, state & 4 != 0, state & 1 != 0, service[8] & 15)
        } else {
            return []
        }
        return [
            SensorField("opening", .boolean(flags.open || flags.late)),
            SensorField("door_left_open", .boolean(flags.late)),
            SensorField("motion", .boolean(flags.motion)), SensorField("light", .boolean(flags.light)),
            SensorField("button_count", .number(DecimalNumber(flags.buttons))),
        ] + (service.count >= 3 ? battery(service[2]) : [])
    }

    private static func motion(_ service: [UInt8], _ maker: [UInt8]) -> [SensorField] {
        guard service.count >= 6 || maker.count >= 8 else { return [] }
        let isMaker = maker.count >= 8
        let motion = isMaker ? maker[7] & 0x40 != 0 : service[1] & 0x40 != 0
        let light = isMaker ? maker[7] & 0x20 != 0 : service[5] & 2 != 0
        return [SensorField("motion", .boolean(motion)), SensorField("light", .boolean(light))]
            + (service.count >= 6 ? battery(service[2]) : [])
    }

    private static func curtain(_ service: [UInt8], _ maker: [UInt8]) -> [SensorField] {
        let state: ArraySlice<UInt8>
        var level: UInt8?
        if maker.count >= 11 {
            state = maker[8..<11]
            level = maker.count >= 13 ? maker[12] : service.count >= 3 ? service[2] : nil
        } else if service.count >= 6 {
            state = service[3..<6]
            level = service[2]
        } else {
            return []
        }
        let octets = Array(state)
        let position = min(octets[0] & 0x7F, 100)
        return [
            SensorField("position", .number(DecimalNumber(100 - position)), unit: "%"),
            SensorField("moving", .boolean(octets[0] & 0x80 != 0)),
            SensorField("light_level", .number(DecimalNumber(octets[1] >> 4))),
        ] + (level.map(battery) ?? [])
    }

    static func lockState(_ state: UInt8) -> SensorField {
        let states = [
            "locked", "unlocked", "locking", "unlocking", "locking_stop", "unlocking_stop", "not_fully_locked",
            "half_locked",
        ]
        return SensorField("lock_state", .text(state < states.count ? states[Int(state)] : "state \(state)"))
    }
}
