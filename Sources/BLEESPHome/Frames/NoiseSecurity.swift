/// What an encrypted connection begins with.
struct NoiseSecurity {
    let key: NoiseKey
    /// 32 octets of randomness for this connection.
    let ephemeral: [UInt8]
    /// The name that clients see before they have shown their key.
    let name: String
    /// Twelve hexadecimal digits in lower case.
    let address: String
}
