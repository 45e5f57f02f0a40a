import BLEPackets

/// BTHome version 2 (bthome.io): objects of a number and a value in service data of 0xFCD2, plain or by AES-CCM.
enum BTHome {
    /// Octets that may be asked for of a device's objects: an advertisement of today's radios has no more.
    static let objects: [OctetField?] = {
        var objects = [OctetField?](repeating: nil, count: 256)
        for line in "\(table)".split(separator: "\n") {
            guard let number = UInt8(line.prefix(2), radix: 16) else { continue }
            objects[Int(number)] = OctetField(columns: line.dropFirst(2))
        }
        return objects
    }()

    /// How many objects have a format; for the tests.
    static var objectCount: Int { objects.count { $0 != nil } }

    static func report(_ data: [UInt8], in advertisement: SensorAdvertisement) -> SensorReport? {
        guard let information = data.first, information >> 5 == 2 else { return nil }
        var report = SensorReport("BTHome v2", model: models[advertisement.name], fields: [])
        var payload = data[1...]
        var address = advertisement.addressOctets
        if information & 2 != 0 {
            guard payload.count >= 6 else { return nil }
            address = payload.prefix(6).reversed()
            payload = payload.dropFirst(6)
        }
        if information & 1 != 0 {
            guard payload.count >= 8 else { return nil }
            guard let keys = advertisement.keys, let key = keys.key(of: advertisement.address), let address else {
                report.encryption = .needsKey
                return report
            }
            let counter = payload.suffix(8).prefix(4)
            let plain = keys.open(
                payload.dropLast(8), key: key, nonce: address + [0xD2, 0xFC, information] + counter, additional: [],
                code: Array(payload.suffix(4)))
            guard let plain else {
                report.encryption = .wrongKey
                return report
            }
            report.encryption = .decrypted
            report.seal = SensorSeal(counter: counter, code: payload.suffix(4))
            payload = plain[...]
        }
        report.fields = numbered(fields(of: Array(payload)))
        return report
    }

    /// The objects up to the first malformed or unknown one, after which the next cannot be found.
    private static func fields(of payload: [UInt8]) -> [SensorField] {
        var fields: [SensorField] = []
        var reader = PacketReader(payload.span.bytes)
        do throws(DecodingError) {
            while !reader.isAtEnd {
                let number = try reader.read(UInt8.self)
                switch number {
                case 0x3A:
                    let event = try reader.read(UInt8.self)
                    fields.append(SensorField("button", .text(name(of: event, in: buttonEvents))))
                case 0x3B:
                    let count = Int(try reader.read(UInt8.self) & 0x1F)
                    let command = try reader.readBytes(1 + count).copied()
                    fields.append(SensorField("command", .octets(command)))
                case 0x3C:
                    let event = try reader.read(UInt8.self)
                    let steps = try reader.read(UInt8.self)
                    fields.append(SensorField("dimmer", .text(name(of: event, in: dimmerEvents))))
                    fields.append(SensorField("dimmer_steps", .number(DecimalNumber(steps))))
                case 0xF1, 0xF2:
                    let version = try reader.readBytes(number == 0xF1 ? 4 : 3).copied().reversed()
                    fields.append(SensorField("firmware", .text(version.map { "\($0)" }.joined(separator: "."))))
                default:
                    guard let object = objects[Int(number)] else { return fields }
                    switch object.kind {
                    case .text, .octets:
                        let octets = try reader.readBytes(Int(try reader.read(UInt8.self))).copied()
                        let isText = object.kind == .text
                        fields.append(
                            object.with(isText ? .text(String(decoding: octets, as: UTF8.self)) : .octets(octets)))
                    default: fields.append(object.with(try object.read(&reader)))
                    }
                }
            }
        } catch {
            // The objects before it are kept.
        }
        return fields
    }

    /// Several values of one kind are numbered, from 1.
    private static func numbered(_ fields: [SensorField]) -> [SensorField] {
        var fields = fields
        for index in fields.indices {
            let name = fields[index].name
            let same = fields.indices.filter { $0 >= index && fields[$0].name == name }
            guard same.count > 1 else { continue }
            for (number, place) in same.enumerated() { fields[place].name = "\(name)_\(number + 1)" }
        }
        return fields
    }

    private static func name(of event: UInt8, in names: [UInt8: String]) -> String { names[event] ?? "event \(event)" }

    static let buttonEvents: [UInt8: String] = [
        0x00: "none", 0x01: "press", 0x02: "double_press", 0x03: "triple_press", 0x04: "long_press",
        0x05: "long_double_press", 0x06: "long_triple_press", 0x80: "hold_press",
    ]
    private static let dimmerEvents: [UInt8: String] = [0x00: "none", 0x01: "rotate_left", 0x02: "rotate_right"]

    /// Devices that are recognised by their names.
    private static let models: [String: String] = [
        "SBBT-002C": "Shelly BLU Button1", "SBBT-102C": "Shelly BLU Button1 ZB", "SBDW-002C": "Shelly BLU Door/Window",
        "SBMO-003Z": "Shelly BLU Motion", "SBHT-003C": "Shelly BLU H&T", "SBHT-203C": "Shelly BLU H&T ZB",
        "SBHT-103C": "Shelly BLU H&T Display ZB", "SBBT-004CEU": "Shelly BLU Wall Switch 4",
        "SBBT-004CUS": "Shelly BLU RC Button 4", "SBTR-001AEU": "Shelly BLU TRV",
    ]

    /// Number of the object, and the columns of its value. Texts and octets have their length before them.
    private static let table: StaticString = """
        00packet_id~u8
        01battery~u8~%
        02temperature~i16~°C~e-2
        03humidity~u16~%~e-2
        04pressure~u24~hPa~e-2
        05illuminance~u24~lx~e-2
        06mass~u16~kg~e-2
        07mass~u16~lb~e-2
        08dew_point~i16~°C~e-2
        09count~u8
        0aenergy~u24~kWh~e-3
        0bpower~u24~W~e-2
        0cvoltage~u16~V~e-3
        0dpm25~u16~µg/m³
        0epm10~u16~µg/m³
        0fgeneric~b8
        10power_on~b8
        11opening~b8
        12carbon_dioxide~u16~ppm
        13volatile_organic_compounds~u16~µg/m³
        14moisture~u16~%~e-2
        15battery_low~b8
        16battery_charging~b8
        17carbon_monoxide_detected~b8
        18cold~b8
        19connectivity~b8
        1adoor~b8
        1bgarage_door~b8
        1cgas_detected~b8
        1dheat~b8
        1elight~b8
        1flock~b8
        20moisture_detected~b8
        21motion~b8
        22moving~b8
        23occupancy~b8
        24plug~b8
        25presence~b8
        26problem~b8
        27running~b8
        28safety~b8
        29smoke~b8
        2asound~b8
        2btamper~b8
        2cvibration~b8
        2dwindow~b8
        2ehumidity~u8~%
        2fmoisture~u8~%
        3dcount~u16
        3ecount~u32
        3frotation~i16~°~e-1
        40distance~u16~mm
        41distance~u16~m~e-1
        42duration~u24~s~e-3
        43current~u16~A~e-3
        44speed~u16~m/s~e-2
        45temperature~i16~°C~e-1
        46uv_index~u8~~e-1
        47volume~u16~L~e-1
        48volume~u16~mL
        49volume_flow_rate~u16~m³/h~e-3
        4avoltage~u16~V~e-1
        4bgas~u24~m³~e-3
        4cgas~u32~m³~e-3
        4denergy~u32~kWh~e-3
        4evolume~u32~L~e-3
        4fwater~u32~L~e-3
        50timestamp~time
        51acceleration~u16~m/s²~e-3
        52gyroscope~u16~°/s~e-3
        53text~s
        54raw~x
        55volume_storage~u32~L~e-3
        56conductivity~u16~µS/cm
        57temperature~i8~°C
        58temperature~i8~°C~35e-2
        59count~i8
        5acount~i16
        5bcount~i32
        5cpower~i32~W~e-2
        5dcurrent~i16~A~e-3
        5edirection~u16~°~e-2
        5fprecipitation~u16~mm~e-1
        60channel~u8
        61rotational_speed~u16~rpm
        62speed~i32~m/s~e-6
        63acceleration~i32~m/s²~e-6
        64light_level~u8
        65settings_revision~u8
        f0device_type~u16
        """
}
