import BLEScripts
import BLESensors

/// The key with which a beacon's data is encrypted: 32 hexadecimal digits.
struct BeaconKey: ExplainedArgument, Equatable, Sendable {
    let octets: [UInt8]

    init?(argument: String) {
        guard let octets = Hexadecimal.bytes(argument), octets.count == BTHomeFrame.keyByteCount else { return nil }
        self.octets = octets
    }

    /// Without anything of the text, which is a secret.
    static func mistake(in text: String) -> String {
        guard let octets = Hexadecimal.bytes(text) else {
            return "a key has 32 hexadecimal digits, and this has others, or they are not in pairs"
        }
        return "a key has 32 hexadecimal digits, and not \(2 * octets.count); ‘openssl rand -hex 16’ makes one"
    }
}
