import BLEPackets

/// Beacons and sensors of the demo world.
extension SimulatedBroadcaster {
    /// An iBeacon: type, length, a UUID, two numbers, the power at one metre.
    public static var iBeacon: SimulatedBroadcaster {
        let identifier: [UInt8] = [
            0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0,
        ]
        return SimulatedBroadcaster(
            address: DeviceAddress(value: 0xC0DE_0000_0002, kind: .random),
            advertisement: SimulatedAdvertisement(
                name: nil, manufacturerData: (0x004C, [0x02, 0x15] + identifier + [0, 1, 0, 2, 0xC5]),
                isConnectable: false, isScannable: false),
            rssi: -68)
    }

    /// A proximity beacon in the manner of `iBeacon`, at its address, of the company 0xFFFF, which is for tests.
    public static var testBeacon: SimulatedBroadcaster {
        var beacon = iBeacon
        beacon.advertisement = SimulatedAdvertisement(
            name: nil, manufacturerData: (0xFFFF, [0x02, 0x15] + (1...16).map { UInt8($0) } + [0, 1, 0, 2, 0xC5]),
            isConnectable: false, isScannable: false)
        return beacon
    }

    /// A beacon with an Eddystone URL: frame type, power, `https://`, the rest.
    public static var webBeacon: SimulatedBroadcaster {
        let uuid = BluetoothUUID(0xFEAA as UInt16)
        return SimulatedBroadcaster(
            address: DeviceAddress(value: 0xC0DE_0000_0003, kind: .random),
            advertisement: SimulatedAdvertisement(
                name: nil, serviceUUIDs: [uuid],
                serviceData: (uuid, [0x10, 0xEE, 0x03] + Array("jelling".utf8) + [0x08]), isConnectable: false,
                isScannable: false),
            rssi: -74)
    }

    /// A thermometer that sends battery, temperature and humidity as BTHome v2.
    public static var thermometer: SimulatedBroadcaster {
        let sent: @Sendable (Int) -> [UInt8] = { number in
            data(
                name: "Kitchen",
                measurements: [0x01, 91] + [0x02] + octets(2140 + 9 * swing(number, 8), 2)
                    + [0x03] + octets(4710 - 23 * swing(number, 8), 2), number: number)
        }
        var thermometer = SimulatedBroadcaster(
            address: DeviceAddress(value: 0xC0DE_0000_0005, kind: .random),
            advertisement: SimulatedAdvertisement(
                data: sent(0), intervalMicroseconds: 300_000, isConnectable: false, isScannable: false), rssi: -57)
        thermometer.changingData = SimulatedChangingData(everyMicroseconds: 2_000_000, data: sent)
        return thermometer
    }

    /// A RuuviTag with its data format 5 (RAWv2).
    public static var ruuviTag: SimulatedBroadcaster {
        let address = DeviceAddress(value: 0xC0DE_0000_0006, kind: .random)
        let sent: @Sendable (Int) -> [UInt8] = { number in
            // In steps of 0.005 °C, 0.0025 %, 1 Pa above 50,000, 0.001 g.
            let climate = [4380 + 4 * swing(number, 10), 19_240 - 12 * swing(number, 6), 51_325 + swing(number, 14)]
            let acceleration = [[12, -20, 1_004], [-208, 96, 972], [344, -52, 940]][number % 3]
            // 2,977 mV above 1,600 in eleven bits, +4 dBm above −40 in steps of 2.
            let power = (2_977 - 1_600) << 5 | (4 + 40) / 2
            let numbers = climate + acceleration + [power]
            let values = numbers.flatMap { octets($0, 2).reversed() } + [UInt8(number / 3 % 255)]
            return structure(0x01, [0x06])
                + structure(
                    0xFF,
                    [0x99, 0x04, 0x05] + values + octets(number % 65_535, 2).reversed()
                        + (0..<6).map { UInt8(truncatingIfNeeded: address.value >> (40 - 8 * $0)) })
        }
        var tag = SimulatedBroadcaster(
            address: address,
            advertisement: SimulatedAdvertisement(
                data: sent(0), scanResponse: structure(0x09, Array("Ruuvi 0006".utf8)), intervalMicroseconds: 400_000,
                isConnectable: false), rssi: -48)
        tag.motion = SimulatedMotion(decibels: 24, periodMicroseconds: 60_000_000)
        tag.changingData = SimulatedChangingData(everyMicroseconds: 1_000_000, data: sent)
        return tag
    }

    /// A weather station whose values are too long for a legacy advertisement: BTHome v2 in an extended one.
    public static var weatherStation: SimulatedBroadcaster {
        let sent: @Sendable (Int) -> [UInt8] = { number in
            let wind = 310 + 70 * swing(number, 5)
            let measurements: [(id: UInt8, value: Int, length: Int)] = [
                (0x01, 78, 1), (0x02, 870 + 3 * swing(number, 20), 2), (0x03, 7_900 - 5 * swing(number, 20), 2),
                (0x04, 101_480 + 2 * swing(number, 40), 3), (0x05, 1_240_000 + 3_100 * swing(number, 30), 3),
                (0x08, 540, 2), (0x44, wind, 2), (0x46, 12, 1), (0x5E, 24_000 + 450 * swing(number, 7), 2),
                (0x5F, 14, 2),
            ]
            return data(
                name: "Roof", measurements: measurements.flatMap { [$0.id] + octets($0.value, $0.length) },
                number: number)
        }
        var advertisement = SimulatedAdvertisement(
            data: sent(0), intervalMicroseconds: 500_000, isConnectable: false, isScannable: false)
        (advertisement.isExtended, advertisement.secondaryPHY) = (true, .le2M)
        advertisement.advertisingSetIdentifier = 3
        var station = SimulatedBroadcaster(
            address: DeviceAddress(value: 0xC0DE_0000_0007, kind: .random), advertisement: advertisement, rssi: -79)
        station.changingData = SimulatedChangingData(everyMicroseconds: 4_000_000, data: sent)
        return station
    }

    /// Flags, the measurements of BTHome v2 with their packet's number, and the name.
    private static func data(name: String, measurements: [UInt8], number: Int) -> [UInt8] {
        structure(0x01, [0x06])
            + structure(0x16, [0xD2, 0xFC, 0x40, 0x00, UInt8(truncatingIfNeeded: number)] + measurements)
            + structure(0x09, Array(name.utf8))
    }

    private static func structure(_ type: UInt8, _ content: [UInt8]) -> [UInt8] {
        [UInt8(content.count + 1), type] + content
    }

    /// Least significant first.
    private static func octets(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// From 0 to `height` and back, one step a number.
    private static func swing(_ number: Int, _ height: Int) -> Int {
        let place = number % (2 * height)
        return min(place, 2 * height - place)
    }
}
