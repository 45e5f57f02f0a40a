/// Keys of encrypted connections, and functions for the cryptography, which this module does not contain.
public struct LinkLayerKeys: Sendable {
    /// Encrypts one block with AES-128: key and block have 16 octets, the most significant first; `nil` on failure.
    public typealias Encrypt = @Sendable (_ key: [UInt8], _ block: [UInt8]) -> [UInt8]?
    /// Deciphers with AES-CCM (RFC 3610): `nil` if the code is not that of the text.
    public typealias Open =
        @Sendable (
            _ ciphertext: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ additional: [UInt8], _ code: [UInt8]
        ) -> [UInt8]?

    /// The most keys that are tried.
    public static let maximumCount = 64

    private(set) var keys: [[UInt8]] = []
    let encrypt: Encrypt
    let open: Open

    public init(encrypt: @escaping Encrypt, open: @escaping Open) {
        self.encrypt = encrypt
        self.open = open
    }

    /// Adds a long term key of 16 octets, the most significant first; all are tried at every connection.
    /// - Returns: `false` if it has another length, or there are `maximumCount` keys.
    @discardableResult
    public mutating func add(_ key: [UInt8]) -> Bool {
        guard key.count == 16, keys.count < Self.maximumCount else { return false }
        if !keys.contains(key) { keys.append(key) }
        return true
    }
}
