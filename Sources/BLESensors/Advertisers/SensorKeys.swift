import BLEPackets

/// Keys of devices that encrypt their data, and a function for the cryptography, which this module does not contain.
public struct SensorKeys: Sendable {
    /// Encrypts one block with AES-128, like `CryptoRequest.encrypt`: key and block have 16 octets; `nil` on failure.
    public typealias Encrypt = @Sendable (_ key: [UInt8], _ block: [UInt8]) -> [UInt8]?

    private var keys: [UInt64: [UInt8]] = [:]
    private var commonKey: [UInt8]?
    let encrypt: Encrypt

    public init(encrypt: @escaping Encrypt) { self.encrypt = encrypt }

    /// Adds the key of a device, whose address may be public or random; 16 octets, or 12 of the oldest Xiaomi devices.
    /// - Parameter address: the device; `nil` for every device without its own key.
    public mutating func add(_ key: [UInt8], for address: DeviceAddress?) {
        if let address { keys[address.value] = key } else { commonKey = key }
    }

    func key(of address: DeviceAddress?) -> [UInt8]? { address.flatMap { keys[$0.value] } ?? commonKey }

    /// Decrypts with AES-CCM (RFC 3610); the length field has 15 octets minus those of the nonce.
    ///
    /// - Parameters:
    ///   - nonce: 7 to 13 octets.
    ///   - code: the authentication code; `nil` does not check it.
    /// - Returns: `nil` if the code does not match, or the key or the nonce has a wrong length.
    package func open(
        _ ciphertext: some Collection<UInt8>, key: [UInt8], nonce: [UInt8], additional: [UInt8], code: [UInt8]?
    ) -> [UInt8]? {
        guard (7...13).contains(nonce.count), key.count == 16, ciphertext.count <= 255 else { return nil }
        let lengthWidth = 15 - nonce.count
        func counterBlock(_ number: Int) -> [UInt8] {
            [UInt8(lengthWidth - 1)] + nonce + [UInt8](repeating: 0, count: lengthWidth - 1) + [UInt8(number)]
        }
        var plaintext: [UInt8] = []
        var rest = Array(ciphertext)[...]
        var number = 1
        while !rest.isEmpty {
            guard let stream = encrypt(key, counterBlock(number)), stream.count == 16 else { return nil }
            plaintext += zip(rest.prefix(16), stream).map { $0 ^ $1 }
            rest = rest.dropFirst(16)
            number += 1
        }
        guard let code else { return plaintext }
        let right = authenticationCode(of: plaintext, key: key, nonce: nonce, additional: additional, count: code.count)
        return right == code ? plaintext : nil
    }

    /// Encrypts with AES-CCM (RFC 3610).
    /// - Parameters:
    ///   - plaintext: at most 255 octets.
    ///   - nonce: 7 to 13 octets, which this key has never had.
    /// - Returns: `nil` if the key, the nonce or the text has a wrong length.
    func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], codeByteCount: Int
    ) -> (ciphertext: [UInt8], code: [UInt8])? {
        // Both directions add the same stream.
        guard let ciphertext = open(plaintext, key: key, nonce: nonce, additional: [], code: nil),
            let code = authenticationCode(
                of: plaintext, key: key, nonce: nonce, additional: [], count: codeByteCount)
        else { return nil }
        return (ciphertext, code)
    }

    /// - Parameter count: the octets of the code, 4 to 16 and even.
    private func authenticationCode(
        of plaintext: [UInt8], key: [UInt8], nonce: [UInt8], additional: [UInt8], count: Int
    ) -> [UInt8]? {
        let lengthWidth = 15 - nonce.count
        let flags = (additional.isEmpty ? 0 : 0x40) | UInt8((count - 2) / 2) << 3 | UInt8(lengthWidth - 1)
        var message = [flags] + nonce + [UInt8](repeating: 0, count: lengthWidth - 1) + [UInt8(plaintext.count)]
        if !additional.isEmpty { message += Self.padded([0, UInt8(additional.count)] + additional) }
        message += Self.padded(plaintext)
        var sum = [UInt8](repeating: 0, count: 16)
        for start in stride(from: 0, to: message.count, by: 16) {
            guard let next = encrypt(key, zip(sum, message[start..<start + 16]).map { $0 ^ $1 }), next.count == 16
            else {
                return nil
            }
            sum = next
        }
        let counterBlock = [UInt8(lengthWidth - 1)] + nonce + [UInt8](repeating: 0, count: lengthWidth)
        guard let mask = encrypt(key, counterBlock) else { return nil }
        return Array(zip(sum, mask).map { $0 ^ $1 }.prefix(count))
    }

    private static func padded(_ octets: [UInt8]) -> [UInt8] {
        octets + [UInt8](repeating: 0, count: (16 - octets.count % 16) % 16)
    }
}

extension SensorKeys: CustomStringConvertible, CustomReflectable {
    /// How many keys there are; none of them.
    public var description: String { "sensor keys: \(keys.count + (commonKey == nil ? 0 : 1))" }
    /// Empty, so that code that prints the parts of a value never prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
