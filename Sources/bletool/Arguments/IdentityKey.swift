import BLE
import BLEScripts

/// An identity resolving key of 32 hexadecimal digits, most significant first.
struct IdentityKey: ExplainedArgument, Equatable, Sendable {
    let key: Key128

    init?(argument: String) {
        guard let octets = Hexadecimal.bytes(argument), octets.count == 16,
            let key = Key128(mostSignificantFirst: octets)
        else { return nil }
        self.key = key
    }

    /// Without anything of the text, which is a secret.
    static func mistake(in text: String) -> String {
        guard let octets = Hexadecimal.bytes(text) else {
            return "a key has 32 hexadecimal digits, and this has others, or they are not in pairs"
        }
        return "a key has 32 hexadecimal digits, and not \(2 * octets.count)"
    }
}
