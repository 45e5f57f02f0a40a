import ArgumentParser
import BLE
import BLESecurity
import BLESensors

/// Keys of sensors that encrypt what they say.
struct DeviceKeyArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The bind key of a sensor that encrypts (BTHome, MiBeacon, pvvx): 32 digits, behind ADDRESS= for that one device only; may be repeated.",
            valueName: "key"))
    var key: [DeviceKey] = []

    /// `nil` where no key was given.
    var sensorKeys: SensorKeys? {
        guard !key.isEmpty else { return nil }
        var keys = SensorKeys { key, block in
            guard case .octets(let octets) = CryptoToolbox().answer(.encrypt(key: key, block: block)) else {
                return nil
            }
            return octets
        }
        for key in key { keys.add(key.octets, for: key.address) }
        return keys
    }
}

/// A key, and the device that has it; `nil`: every device without a key of its own.
struct DeviceKey: ExpressibleByArgument, Equatable, Sendable {
    var address: DeviceAddress?
    var octets: [UInt8]

    init?(argument: String) {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let last = parts.last, let octets = Hexadecimal.bytes(last),
            [12, 16].contains(octets.count)
        else { return nil }
        if parts.count == 2 {
            guard let address = DeviceAddress(parts[0]) else { return nil }
            self.address = address
        }
        self.octets = octets
    }
}
