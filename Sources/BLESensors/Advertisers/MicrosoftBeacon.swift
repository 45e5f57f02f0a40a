/// Microsoft's beacons, in manufacturer data of 0x0006: the kind of device of the Connected Devices Platform, and Swift
/// Pair.
enum MicrosoftBeacon {
    private static let devices: [UInt8: String] = [
        1: "Xbox One", 6: "Apple iPhone", 7: "Apple iPad", 8: "Android device", 9: "Windows 10 desktop",
        11: "Windows 10 phone", 12: "Linux device", 13: "Windows IoT", 14: "Surface Hub", 15: "Windows laptop",
        16: "Windows tablet",
    ]

    static func report(_ data: [UInt8]) -> SensorReport? {
        switch data.first {
        case 0x01 where data.count >= 4:
            let number = data[1] & 0x1F
            return SensorReport(
                "Microsoft", fields: [SensorField("device", .text(devices[number] ?? "device type \(number)"))])
        case 0x03: return SensorReport("Microsoft", fields: [SensorField("messages", .text("Swift Pair"))])
        default: return nil
        }
    }
}
