import ArgumentParser
import BLECapture
import BLESecurity
import BLESensors

/// Keys of encrypted connections that a sniffer captured.
struct LinkLayerKeyArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A long term key (LTK) of devices that a sniffer heard, 32 digits; may be repeated. Other users can read it until this program has started, and a shell may keep it.",
            valueName: "key"))
    var key: [Secret<LinkKey>] = []

    @Option(
        "A file with such keys, one a line, which no other user then sees; - is standard input; may be repeated.",
        "file", completion: .file())
    var keyFile: [String] = []

    func validate() throws {
        for key in key { try key.check("--key <key>") }
    }

    /// The keys; `nil` if none was given.
    /// - Throws: `Failure` when a file of keys cannot be read or has a line that is none.
    func linkLayerKeys() throws -> LinkLayerKeys? {
        let given = try key.compactMap(\.value) + keyFile.flatMap { try SecretFile.values(of: $0, LinkKey.self) }
        guard !given.isEmpty else { return nil }
        let encrypt: LinkLayerKeys.Encrypt = { key, block in
            guard case .octets(let octets) = SwiftCryptoProvider().answer(.encrypt(key: key, block: block)) else {
                return nil
            }
            return octets
        }
        let cipher = SensorKeys(encrypt: encrypt)
        var keys = LinkLayerKeys(encrypt: encrypt) { text, key, nonce, additional, code in
            cipher.open(text, key: key, nonce: nonce, additional: additional, code: code)
        }
        for key in given {
            guard keys.add(key.octets) else {
                throw Failure("at most \(LinkLayerKeys.maximumCount) keys can be tried", status: .usage)
            }
        }
        return keys
    }
}

/// A long term key, most significant octet first.
struct LinkKey: ExplainedArgument, Equatable, Sendable {
    var octets: [UInt8]

    init?(argument: String) {
        guard let key = IdentityKey(argument: argument) else { return nil }
        octets = key.key.octets.reversed()
    }

    static func mistake(in text: String) -> String { IdentityKey.mistake(in: text) }
}
