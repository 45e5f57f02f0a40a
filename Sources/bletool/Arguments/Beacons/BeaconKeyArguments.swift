import ArgumentParser
import BLE
import BLESensors

/// The key of a beacon that encrypts.
struct BeaconKeyArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Encrypt what --bthome says with this key of 32 digits. Other users can read it until this program has started, and a shell may keep it.",
            valueName: "key"))
    var key: Secret<BeaconKey>?

    @Option("A file with such a key, which no other user then sees; - is standard input.", "file", completion: .file())
    var keyFile: String?

    func validate() throws {
        try key?.check("--key <key>")
        if key != nil, keyFile != nil { throw ValidationError("--key and --key-file name two keys; give one") }
    }

    /// Whether a key was given.
    var isGiven: Bool { key != nil || keyFile != nil }

    /// The octets of the key; `nil` if none was given.
    /// - Throws: `Failure` when the file cannot be read or has no key.
    func octets() throws -> [UInt8]? {
        if let keyFile { return try SecretFile.value(of: keyFile, BeaconKey.self).octets }
        return key?.value?.octets
    }
}
