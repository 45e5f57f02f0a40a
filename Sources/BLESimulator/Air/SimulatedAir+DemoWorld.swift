import BLEPackets

extension SimulatedAir {
    /// The world of the transport `sim`: what there may be in a house.
    ///
    /// | device | does |
    /// |---|---|
    /// | `Jelling Heart` | a heart rate belt that is carried about: notifies a rate each second, has 512 octets to read and write |
    /// | `Lock 271828` | a lock: who wants to open it pairs with the passkey in its name |
    /// | `Kitchen` | a thermometer: BTHome v2, with other values every two seconds |
    /// | a RuuviTag | temperature, humidity, pressure and acceleration (RAWv2), carried about |
    /// | `Roof` | a weather station: BTHome v2 in an extended advertisement on LE 2M, too long for a legacy one |
    /// | an iBeacon, an Eddystone | always the same |
    public static func demoWorld(seed: UInt64 = 1) -> SimulatedAir {
        let air = SimulatedAir(seed: seed, configuration: SimulatedAirConfiguration(signalJitter: 3))
        air.addPeripheral(.jellingHeart)
        air.addBroadcaster(.iBeacon)
        air.addBroadcaster(.webBeacon)
        air.addPeripheral(.lock)
        air.addBroadcaster(.thermometer)
        air.addBroadcaster(.ruuviTag)
        air.addBroadcaster(.weatherStation)
        return air
    }
}

extension SimulatedPeripheral {
    /// A heart rate sensor with a battery, and a vendor-specific service with a long value.
    public static var jellingHeart: SimulatedPeripheral {
        var heart = SimulatedPeripheral(
            name: "Jelling Heart", address: DeviceAddress(value: 0xC0DE_0000_0001, kind: .random),
            services: [heartRate, battery, deviceInformation, longValue],
            advertisement: SimulatedAdvertisement(
                name: "Jelling Heart", serviceUUIDs: [BluetoothUUID(0x180D as UInt16), BluetoothUUID(0x180F as UInt16)]),
            appearance: 0x0341, rssi: -52)
        heart.motion = SimulatedMotion(decibels: 10, periodMicroseconds: 40_000_000)
        return heart
    }

    private static var heartRate: SimulatedService {
        SimulatedService(
            BluetoothUUID(0x180D as UInt16),
            characteristics: [
                // Flags: skin contact is supported and found, the rate has eight bits.
                SimulatedCharacteristic(
                    BluetoothUUID(0x2A37 as UInt16), [.notify], value: [0x06, 64], notifyEveryMicroseconds: 1_000_000,
                    notifiedValue: { count in [0x06, [64, 66, 69, 71, 70, 67, 65, 63][count % 8]] }),
                SimulatedCharacteristic(BluetoothUUID(0x2A38 as UInt16), [.read], value: [0x01]),
                // Only Reset Energy Expended is supported; other values get Control Point Not Supported.
                SimulatedCharacteristic(
                    BluetoothUUID(0x2A39 as UInt16), [.write], maximumLength: 1,
                    refuse: { $0 == [0x01] ? nil : .firstOfApplication }),
            ])
    }

    private static var battery: SimulatedService {
        SimulatedService(
            BluetoothUUID(0x180F as UInt16),
            characteristics: [SimulatedCharacteristic(BluetoothUUID(0x2A19 as UInt16), [.read, .notify], value: [87])])
    }

    private static var deviceInformation: SimulatedService {
        let texts: [(UInt16, String)] = [
            (0x2A29, "Jelling"), (0x2A24, "Heart 1"), (0x2A26, "1.0"), (0x2A25, "0001"),
        ]
        return SimulatedService(
            BluetoothUUID(0x180A as UInt16),
            characteristics: texts.map {
                SimulatedCharacteristic(BluetoothUUID($0.0), [.read], value: Array($0.1.utf8))
            })
    }

    private static var longValue: SimulatedService {
        SimulatedService(
            BluetoothUUID(high: 0x6A65_6C6C_696E_6700, low: 0x8000_0000_0000_0001),
            characteristics: [
                SimulatedCharacteristic(
                    BluetoothUUID(high: 0x6A65_6C6C_696E_6700, low: 0x8000_0000_0000_0002), [.read, .write],
                    value: (0..<512).map { UInt8(truncatingIfNeeded: $0) },
                    descriptors: [SimulatedDescriptor(BluetoothUUID(0x2901 as UInt16), value: Array("Long value".utf8))]
                ),
                SimulatedCharacteristic(
                    BluetoothUUID(high: 0x6A65_6C6C_696E_6700, low: 0x8000_0000_0000_0003),
                    [.writeWithoutResponse, .indicate], notifiesWrites: true),
            ])
    }
}
