import BLEPackets

/// Govee's meat thermometers: a row for each model.
enum GoveeProbes {
    private struct Model {
        var name: String
        var octets: Int
        var companies: [UInt16]
        var service: UInt16
        /// Behind the first eight octets; `A` and `B` are the numbers of the probes.
        var layout: OctetLayout
        /// Whether octet 6 selects which two of four probes are in the packet.
        var hasPages = false
    }

    private static let one = OctetLayout("temperature_probe_A~I16~°C~e-2|temperature_alarm_probe_A~I16~°C~e-2")
    private static let two = OctetLayout(
        "temperature_probe_A~I16~°C~e-2|temperature_alarm_probe_A~I16~°C~e-2|~u8|temperature_probe_B~I16~°C~e-2|temperature_alarm_probe_B~I16~°C~e-2"
    )

    private static let models = [
        Model(
            name: "H5181", octets: 14, companies: [0xF861, 0x388A, 0xEA42, 0xAAA2, 0xD14B], service: 0x8151, layout: one
        ),
        Model(name: "H5182", octets: 17, companies: [0x2730], service: 0x8251, layout: two),
        Model(name: "H5183", octets: 14, companies: [0x67DD, 0xE02F, 0xF79F], service: 0x8351, layout: one),
        Model(name: "H5184", octets: 17, companies: [0x1B36], service: 0x8451, layout: two, hasPages: true),
        Model(
            name: "H5185", octets: 20, companies: [0x4A32, 0x0332, 0x4C32], service: 0x8551,
            layout: OctetLayout(
                "temperature_probe_A~I16~°C~e-2|temperature_alarm_probe_A~I16~°C~e-2|~u16|temperature_probe_B~I16~°C~e-2|temperature_alarm_probe_B~I16~°C~e-2"
            )),
        Model(
            name: "H5191", octets: 20, companies: [0xAC63], service: 0x9151,
            layout: OctetLayout(
                "temperature_probe_A~I16~°C~e-2|temperature_alarm_probe_A~I16~°C~e-2|~u16|temperature~I16~°C~e-2")),
        Model(
            name: "H5198", octets: 20, companies: [0x3022], service: 0x9851,
            layout: OctetLayout(
                "temperature_probe_A~I16~°C~e-2|temperature_alarm_probe_A~I16~°C~e-2|low_temperature_alarm_probe_A~I16~°C~e-2|temperature_probe_B~I16~°C~e-2|temperature_alarm_probe_B~I16~°C~e-2|low_temperature_alarm_probe_B~I16~°C~e-2"
            ),
            hasPages: true),
    ]

    static func report(_ data: [UInt8], company: UInt16, in advertisement: SensorAdvertisement) -> SensorReport? {
        let model = models.first { model in
            model.octets == data.count
                && (advertisement.name.contains(model.name) || model.companies.contains(company)
                    || advertisement.data.serviceUUIDs.contains(BluetoothUUID(model.service)))
        }
        guard let model else {
            let isGrill = data.count == 20 && advertisement.data.serviceUUIDs.contains(BluetoothUUID(UInt16(0x5550)))
            return isGrill ? sixProbes(data) : nil
        }
        var first = 1
        if model.hasPages {
            guard [1, 2].contains(data[6] & 0x3F) else { return nil }
            first = Int(data[6] & 0x3F) * 2 - 1
        }
        let fields = (model.layout.fields(of: data[8...]) ?? []).map { field in
            var field = field
            if field.name.hasSuffix("_A") { field.name = field.name.dropLast() + "\(first)" }
            if field.name.hasSuffix("_B") { field.name = field.name.dropLast() + "\(first + 1)" }
            // Below zero means that there is no probe, or no alarm.
            if case .number(let number) = field.value, number.significand < 0 { field.value = .unknown }
            return field
        }
        return SensorReport("Govee", model: model.name, fields: fields)
    }

    /// H5055: two of six probes in a packet, in whole degrees; bits show which are plugged in.
    private static func sixProbes(_ data: [UInt8]) -> SensorReport? {
        let page = Int(data[3] >> 6)
        guard page < 3 else { return nil }
        var fields: [SensorField] = []
        for (index, start) in [5, 12].enumerated() {
            let probe = page * 2 + index + 1
            guard data[3] >> UInt8(probe - 1) & 1 == 1 else { continue }
            for (name, offset) in [("temperature", 0), ("temperature_alarm", 4), ("low_temperature_alarm", 2)] {
                let place = start + offset
                let value = Int16(bitPattern: UInt16(data[place]) | UInt16(data[place + 1]) << 8)
                guard offset == 0 || value >= 0 else { continue }
                fields.append(SensorField("\(name)_probe_\(probe)", .number(DecimalNumber(value)), unit: "°C"))
            }
        }
        fields.append(SensorField("battery", .number(DecimalNumber(data[2] & 0x7F)), unit: "%"))
        return SensorReport("Govee", model: "H5055", fields: fields)
    }
}
