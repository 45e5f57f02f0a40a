import BLEAssignedNumbers

/// The objects of MiBeacon: most are a row of a table, some depend on the model or have several values.
enum MiBeaconObject {
    /// - Returns: empty if the object is unknown or has a wrong length.
    static func fields(_ number: UInt16, _ octets: [UInt8], model: String) -> [SensorField] {
        if let fields = special(number, octets, model) { return fields }
        guard let line = AssignedNumbers.line(of: number, in: table), let layout = OctetLayout(line: line.description),
            layout.octetCount == octets.count
        else { return [] }
        return layout.fields(of: octets) ?? []
    }

    private static func special(_ number: UInt16, _ octets: [UInt8], _ model: String) -> [SensorField]? {
        guard let first = octets.first else { return isPress(number) ? press(number, 0, model) : [] }
        func flag(_ name: String, _ isSo: Bool) -> SensorField { SensorField(name, .boolean(isSo)) }
        switch number {
        case 0x0003: return [flag("motion", true)]
        case 0x0006 where octets.count == 5: return [flag("fingerprint", octets[4] == 0)]
        case 0x0007: return door(first)
        case 0x0008: return [flag("armed", first & 1 == 0)]
        case 0x000B where octets.count == 9: return lock(octets, model)
        case 0x000F where octets.count == 3:
            let light = Int64(octets[0]) | Int64(octets[1]) << 8 | Int64(octets[2]) << 16
            let isLamp = ["MJYD02YL", "RTCGQ02LM"].contains(model)
            let value =
                isLamp
                ? flag("light", light >= 100) : SensorField("illuminance", .number(DecimalNumber(light)), unit: "lx")
            return [flag("motion", true), value]
        case 0x0010:
            let value =
                octets.count > 1
                ? [SensorField(first == 0 ? "counter" : "score", .number(DecimalNumber(octets[1])))] : []
            return [flag("toothbrush", first == 0)] + value
        case 0x1001 where octets.count == 3: return button(octets, model)
        case 0x1007 where octets.count == 3 && ["MJYD02YL", "MCCGQ02HL"].contains(model):
            return [flag("light", octets == [100, 0, 0])]
        case 0x1017 where octets.count == 4, 0x4818 where octets.count == 2:
            let seconds = octets.reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
            return [
                flag("motion", seconds <= 30), SensorField("idle_time", .number(DecimalNumber(seconds)), unit: "s"),
            ]
        case 0x1019:
            switch first {
            case 0: return [flag("opening", true)]
            case 1: return [flag("opening", false), flag("door_left_open", false)]
            case 2: return [flag("opening", true), flag("door_left_open", true)]
            default: return []
            }
        case 0x4804, 0x4A12:
            switch first {
            case 1: return [flag("opening", true)]
            case 2:
                return [flag("opening", false), flag("door_left_open", false), flag("device_forcibly_removed", false)]
            default: return []
            }
        case 0x4A0F: return first == 1 ? [flag("opening", true), flag("device_forcibly_removed", true)] : []
        case 0x4A1A: return first == 1 ? [flag("opening", true), flag("door_left_open", true)] : []
        case 0x480C: return first < 2 ? [flag("opening", first == 0)] : []
        case 0x4806 where octets.count == 1 && ["SJWS02LM", "zhiee.flood.sj01"].contains(model):
            return [flag("bottom_submersion", first > 0)]
        case 0x484E: return [flag("occupancy", model == "XMOSB01XS" ? first == 1 : first > 0)]
        case 0x4E16 where octets.count == 9:
            let weight = octets[1..<5].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
            guard weight > 0 else { return [] }
            let mass = DecimalNumber(weight, exponent: -2)
            return [
                SensorField("mass", .number(mass), unit: "kg"), flag("stabilized", true),
                SensorField("profile", .number(DecimalNumber(first))),
            ]
        case 0x6E16 where octets.count == 9: return bodyScale(octets)
        case 0x4A0C, 0x4A0D, 0x4A0E, 0x4E0C, 0x4E0D, 0x4E0E, 0x560C, 0x560D, 0x560E, 0x4A13:
            return press(number, first, model)
        default: return nil
        }
    }

    private static func door(_ state: UInt8) -> [SensorField]? {
        let states: [(isOpen: Bool, more: String?, isSo: Bool)] = [
            (true, nil, false), (false, "door_left_open", false), (true, "door_left_open", true),
            (false, "knock_on_the_door", true), (true, "pry_the_door", true), (false, "door_stuck", true),
        ]
        guard state < states.count else { return [] }
        let entry = states[Int(state)]
        let more = entry.more.map { [SensorField($0, .boolean(entry.isSo))] } ?? []
        return [SensorField("door", .boolean(entry.isOpen))] + more
    }

    private static func lock(_ octets: [UInt8], _ model: String) -> [SensorField] {
        let actions: [UInt8: (isOpen: Bool, part: String, text: String)] = [
            0: (true, "lock", "unlock_outside_the_door"), 1: (false, "lock", "locked"),
            2: (false, "antilock", "turn_on_antilock"), 3: (true, "antilock", "release_the_antilock"),
            4: (true, "lock", "unlock_inside_the_door"), 5: (false, "lock", "lock_inside_the_door"),
            6: (false, "childlock", "turn_on_child_lock"), 7: (true, "childlock", "turn_off_child_lock"),
            8: (false, "lock", "lock_outside_the_door"), 15: (true, "lock", "abnormal"),
        ]
        let methods = [
            "bluetooth", "password", "biometrics", "key_method", "turntable_method", "nfc_method", "one_time_password",
            "two_step_verification", "coercion_method", "homekit", "manual", "automatic",
        ]
        let method = Int(octets[0] >> 4)
        guard let action = actions[octets[0] & 15], method < methods.count || method == 15 else { return [] }
        let key = octets[1..<5].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return [
            SensorField(model == "ZNMS17LM" ? action.part : "lock", .boolean(action.isOpen)),
            SensorField("lock_action", .text(action.text)),
            SensorField("lock_method", .text(method == 15 ? "abnormal" : methods[method])),
            SensorField("key_id", .number(DecimalNumber(key))),
        ]
    }

    /// The button, how far it was turned, and how it was pressed.
    private static func button(_ octets: [UInt8], _ model: String) -> [SensorField] {
        let kinds = ["press", "double_press", "long_press"]
        switch octets[2] {
        case 0, 1, 2:
            let isSwitch = model.hasPrefix("K9B")
            let kind = isSwitch ? ["press", "long_press", "double_press"][Int(octets[2])] : kinds[Int(octets[2])]
            return [
                SensorField("button", .text(kind)), SensorField("button_number", .number(DecimalNumber(octets[0]))),
            ]
        case 3: return dimmer(octets[0] == 0 ? "press" : "long_press", octets[1])
        case 4:
            let isPressed = octets[0] != 0
            let turn = isPressed ? octets[0] : octets[1]
            let direction = turn <= 127 ? "rotate_right" : "rotate_left"
            return dimmer(direction + (isPressed ? "_pressed" : ""), turn <= 127 ? turn : 0 &- turn)
        case 5, 6: return [SensorField("button", .text(octets[2] == 5 ? "press" : "long_press"))]
        default: return []
        }
    }

    private static func dimmer(_ event: String, _ count: UInt8) -> [SensorField] {
        [SensorField("dimmer", .text(event)), SensorField("dimmer_steps", .number(DecimalNumber(count)))]
    }

    private static func isPress(_ number: UInt16) -> Bool {
        [0x4A00, 0x4E00, 0x5600].contains(number & 0xFF00) && [0x0C, 0x0D, 0x0E].contains(number & 0xFF)
    }

    private static func press(_ number: UInt16, _ which: UInt8, _ model: String) -> [SensorField] {
        let kinds: [UInt16: String] = [0x0C: "press", 0x0D: "double_press", 0x0E: "long_press"]
        var kind = kinds[number & 0xFF] ?? "press"
        if model == "K9BB-1BTN" { kind = which == 8 ? "long_press" : which == 15 ? "double_press" : "press" }
        guard number != 0x4A13 || which == 1 else { return [] }
        return [SensorField("button", .text(kind)), SensorField("button_number", .number(DecimalNumber(which)))]
    }

    /// Mass in 11 bits, heart rate in 7, impedance in 14.
    private static func bodyScale(_ octets: [UInt8]) -> [SensorField] {
        let bits = octets[1..<5].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let mass = bits & 0x7FF == 0x7FF ? 0 : bits & 0x7FF
        let rate = bits >> 11 & 0x7F
        let impedance = bits >> 18
        var fields = [SensorField("profile", .number(DecimalNumber(octets[0])))]
        if mass > 0 { fields.append(SensorField("mass", .number(DecimalNumber(mass, exponent: -1)), unit: "kg")) }
        if rate > 0, rate < 127 {
            fields.append(SensorField("heart_rate", .number(DecimalNumber(rate + 50)), unit: "bpm"))
        }
        let isHigh = mass == 0 && rate == 0
        if impedance > 0 {
            let value = SensorValue.number(DecimalNumber(impedance, exponent: -1))
            fields.append(SensorField(isHigh ? "impedance_high" : "impedance_low", value, unit: "Ω"))
        }
        let isStable = isHigh ? impedance > 0 : impedance == 0
        fields.append(SensorField("stabilized", .boolean(isStable)))
        return fields
    }

    /// Numbers of objects, in order, and the layouts of their values.
    private static let table: StaticString = """
        000atemperature~i16~°C~e-2
        1004temperature~i16~°C~e-1
        1005power_on~b8|temperature~u8~°C
        1006humidity~u16~%~e-1
        1007illuminance~u24~lx
        1008moisture~u8~%
        1009conductivity~u16~µS/cm
        100abattery~u8~%
        100dtemperature~i16~°C~e-1|humidity~u16~%~e-1
        1010formaldehyde~u16~mg/m³~e-2
        1012power_on~b8
        1013consumable~u8~%
        1014moisture_detected~b8
        1015smoke~b8
        1018light~b8
        2000skin_temperature~i16~°C~e-2|ambient_temperature~i16~°C~e-2|battery~u8~%
        4801temperature~r32~°C
        4802humidity~u8~%
        4803battery~u8~%
        4805illuminance~r32~lx
        4806moisture_detected~b8
        4808humidity~r32~%
        483coccupancy~b8
        483dpressure_present_duration~u32~s
        483epressure_not_present_duration~u32~s
        4851duration_detected~u8~min
        4852duration_cleared~u8~min
        487btop_splash~b8
        4a01battery_low~b8
        4c01temperature~r32~°C
        4c02humidity~u8~%
        4c03battery~u8~%
        4c08humidity~r32~%
        4e01battery_low~b8
        5003battery~u8~%
        5422charging_state~u8~~~~0=Charging,1=Not Charging,2=Full
        5810asleep~n8
        6461wearing~n8

        """
}
