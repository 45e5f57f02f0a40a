import ArgumentParser
import BLE
import BLEScripts
import BLESecurity
import BLESensors

/// Keys of sensors that encrypt their data.
struct DeviceKeyArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The bind key of a sensor that encrypts (BTHome, MiBeacon, pvvx): 32 digits, for one device only as ADDRESS=KEY; may be repeated. Other users can read it until this program has started, and a shell may keep it.",
            valueName: "key"))
    var key: [Secret<DeviceKey>] = []

    @Option(
        "A file with such keys, one a line, which no other user then sees; - is standard input; may be repeated.",
        "file", completion: .file())
    var keyFile: [String] = []

    func validate() throws {
        for key in key { try key.check("--key <key>") }
    }

    /// The keys; `nil` if none was given.
    /// - Throws: `Failure` when a file of keys cannot be read or has a line that is none.
    func sensorKeys() throws -> SensorKeys? {
        let given = try key.compactMap(\.value) + keyFile.flatMap { try SecretFile.values(of: $0, DeviceKey.self) }
        guard !given.isEmpty else { return nil }
        var keys = SensorKeys { key, block in
            guard case .octets(let octets) = SwiftCryptoProvider().answer(.encrypt(key: key, block: block)) else {
                return nil
            }
            return octets
        }
        for key in given { keys.add(key.octets, for: key.address) }
        return keys
    }
}

/// A key and its device; `nil` for every device without its own key.
struct DeviceKey: ExplainedArgument, Equatable, Sendable {
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

    /// Without anything of the text, which is a secret.
    static func mistake(in text: String) -> String {
        let form = "use KEY, or ADDRESS=KEY for one device only, with 32 digits, or 24 with some sensors of MiBeacon"
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let key = parts.last else { return form }
        guard let octets = Hexadecimal.bytes(key) else { return "a key has pairs of hexadecimal digits only; " + form }
        guard [12, 16].contains(octets.count) else {
            return "a key has 32 digits, or 24 with some sensors of MiBeacon, and not \(2 * octets.count)"
        }
        return "what is before ‘=’ is not an address; use ADDRESS=KEY, such as C0:DE:00:00:00:01/random=KEY"
    }
}
