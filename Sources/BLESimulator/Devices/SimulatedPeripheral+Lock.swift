import BLEPackets

extension SimulatedPeripheral {
    /// A lock with a battery, whose passkey is in its name: who has not paired with it reads its state, and cannot open it.
    ///
    /// Its state is one octet: 0 for open, 1 for locked. Writing it without authentication is refused with Insufficient
    /// Authentication, other values with an error of the application.
    public static var lock: SimulatedPeripheral {
        var lock = SimulatedPeripheral(
            name: "Lock 271828", address: DeviceAddress(value: 0xC0DE_0000_0004, kind: .random),
            services: [
                SimulatedService(
                    identifier(0x11),
                    characteristics: [
                        SimulatedCharacteristic(
                            identifier(0x12), [.read, .write, .notify], value: [1],
                            permissions: [.read, .writeAuthenticated], maximumLength: 1,
                            descriptors: [
                                SimulatedDescriptor(
                                    BluetoothUUID(0x2901 as UInt16), value: Array("0 open, 1 locked".utf8))
                            ], notifiesWrites: true, refuse: { [[0], [1]].contains($0) ? nil : .firstOfApplication })
                    ]),
                SimulatedService(
                    BluetoothUUID(0x180F as UInt16),
                    characteristics: [
                        SimulatedCharacteristic(BluetoothUUID(0x2A19 as UInt16), [.read, .notify], value: [64])
                    ]),
            ],
            advertisement: SimulatedAdvertisement(
                name: "Lock 271828", serviceUUIDs: [identifier(0x11)], intervalMicroseconds: 150_000),
            // Generic door lock.
            appearance: 0x0708, rssi: -61)
        lock.link.pairing = SimulatedPairing(
            passkey: 271_828,
            longTermKey: SimulatedLongTermKey(
                key: Key128(rawValue: 0x4A65_6C6C_696E_6727_7320_6C6F_636B_2E31), randomNumber: 0x2718_2818_2845_9045,
                encryptedDiversifier: 0x2353))
        return lock
    }

    private static func identifier(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0x6A65_6C6C_696E_6700, low: 0x8000_0000_0000_0000 | number)
    }
}
