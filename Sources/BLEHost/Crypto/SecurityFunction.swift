import BLEPackets

/// One of the Security Manager's functions in progress: what to ask the crypto provider next, and what to do with its
/// answer (Core 5.4, Vol 3, Part H, 2.2).
///
///     var function = SecurityFunction.c1(…)
///     ask(function.request) ── octets ──▶ function.receive(octets) ── .ask ──▶ ask(function.request) …
///                                                               └── .done(result)
///
/// The most significant octet comes first everywhere.
struct SecurityFunction {
    enum Outcome: Equatable {
        /// Ask the crypto provider `request` now.
        case ask
        case done([UInt8])
        /// The crypto provider returned a wrong number of octets.
        case broken
    }

    private enum Rest {
        case none
        /// The last octets of the answer are the result; this is their number.
        case last(Int)
        /// The answer is combined with these octets by XOR and encrypted again.
        case mixAndEncrypt([UInt8], key: [UInt8])
        /// The answer is the key of an authentication code for this message.
        case code(message: [UInt8])
        /// The answer is the key of two authentication codes, which together are the result.
        case twoCodes(first: [UInt8], second: [UInt8])
        case secondCode(key: [UInt8], message: [UInt8])
        /// These octets precede the answer in the result.
        case behind([UInt8])
    }

    private(set) var request: CryptoRequest
    private var rest: Rest

    private init(_ request: CryptoRequest, _ rest: Rest = .none) {
        self.request = request
        self.rest = rest
    }

    mutating func receive(_ octets: [UInt8]) -> Outcome {
        guard octets.count == 16 else { return .broken }
        switch rest {
        case .none: return .done(octets)
        case .last(let count): return .done([UInt8](octets.suffix(count)))
        case .mixAndEncrypt(let other, let key):
            self = SecurityFunction(.encrypt(key: key, block: mixed(octets, other)))
            return .ask
        case .code(let message):
            self = SecurityFunction(.authenticationCode(key: octets, message: message))
            return .ask
        case .twoCodes(let first, let second):
            self = SecurityFunction(
                .authenticationCode(key: octets, message: first), .secondCode(key: octets, message: second))
            return .ask
        case .secondCode(let key, let message):
            self = SecurityFunction(.authenticationCode(key: key, message: message), .behind(octets))
            return .ask
        case .behind(let first): return .done(first + octets)
        }
    }

    // MARK: Legacy pairing

    /// Confirm values (2.2.3).
    /// - Parameters:
    ///   - request: the whole Pairing Request as a number, that is, last octet first; `response` likewise.
    static func c1(
        key: [UInt8], random: [UInt8], request: [UInt8], response: [UInt8], initiator: DeviceAddress,
        responder: DeviceAddress
    ) -> SecurityFunction {
        let types: [UInt8] = [responder.isRandom ? 1 : 0, initiator.isRandom ? 1 : 0]
        let first = response + request + types
        let second = [0, 0, 0, 0] + initiator.mostSignificantOctets + responder.mostSignificantOctets
        return SecurityFunction(.encrypt(key: key, block: mixed(random, first)), .mixAndEncrypt(second, key: key))
    }

    /// The short term key (2.2.4).
    static func s1(key: [UInt8], responderRandom: [UInt8], initiatorRandom: [UInt8]) -> SecurityFunction {
        SecurityFunction(
            .encrypt(key: key, block: [UInt8](responderRandom.suffix(8)) + [UInt8](initiatorRandom.suffix(8))))
    }

    // MARK: Secure Connections

    /// Confirm values (2.2.6).
    static func f4(_ u: [UInt8], _ v: [UInt8], key: [UInt8], _ z: UInt8) -> SecurityFunction {
        SecurityFunction(.authenticationCode(key: key, message: u + v + [z]))
    }

    /// Two keys from a Diffie-Hellman key (2.2.7): 16 octets of MacKey, then 16 octets of the long term key.
    static func f5(
        _ secret: [UInt8], initiatorNonce: [UInt8], responderNonce: [UInt8], initiator: DeviceAddress,
        responder: DeviceAddress
    ) -> SecurityFunction {
        let salt: [UInt8] = [
            0x6C, 0x88, 0x83, 0x91, 0xAA, 0xF5, 0xA5, 0x38, 0x60, 0x37, 0x0B, 0xDB, 0x5A, 0x60, 0x83, 0xBE,
        ]
        let keyID: [UInt8] = [0x62, 0x74, 0x6C, 0x65]
        let length: [UInt8] = [0x01, 0x00]
        let message = keyID + initiatorNonce + responderNonce + initiator.typedOctets + responder.typedOctets + length
        return SecurityFunction(
            .authenticationCode(key: salt, message: secret), .twoCodes(first: [0] + message, second: [1] + message))
    }

    /// DHKey check values (2.2.8).
    /// - Parameter features: of the sender: AuthReq, OOB data flag, IO capability.
    static func f6(
        key: [UInt8], _ n1: [UInt8], _ n2: [UInt8], _ r: [UInt8], features: PairingFeatures, _ a1: DeviceAddress,
        _ a2: DeviceAddress
    ) -> SecurityFunction {
        let capabilities = [
            features.authentication.rawValue, features.hasOutOfBandData ? 1 : 0, features.ioCapability.rawValue,
        ]
        return SecurityFunction(
            .authenticationCode(key: key, message: n1 + n2 + r + capabilities + a1.typedOctets + a2.typedOctets))
    }

    /// The number that users compare: the last four octets of the result (2.2.9).
    static func g2(_ u: [UInt8], _ v: [UInt8], key: [UInt8], _ y: [UInt8]) -> SecurityFunction {
        SecurityFunction(.authenticationCode(key: key, message: u + v + y), .last(4))
    }

    // MARK: Other keys

    /// A key from a key and a keyID of four octets (2.2.10).
    static func h6(_ key: [UInt8], keyID: [UInt8]) -> SecurityFunction {
        SecurityFunction(.authenticationCode(key: key, message: keyID))
    }

    /// A key derived from a key and a salt (2.2.11).
    static func h7(salt: [UInt8], _ key: [UInt8]) -> SecurityFunction {
        SecurityFunction(.authenticationCode(key: salt, message: key))
    }

    /// Derives the BR/EDR link key from the LE long term key, or the reverse with another salt and keyID (2.4.2.4 and
    /// 2.4.2.5).
    /// - Parameter usesH7: whether both sides set CT2.
    static func crossTransportKey(from key: [UInt8], salt: [UInt8], keyID: [UInt8], usesH7: Bool) -> SecurityFunction {
        let padded = [UInt8](repeating: 0, count: 12) + salt
        let first = usesH7 ? h7(salt: padded, key) : h6(key, keyID: salt)
        return SecurityFunction(first.request, .code(message: keyID))
    }

    /// The link key that is derived from a long term key.
    static func linkKey(from longTermKey: [UInt8], usesH7: Bool) -> SecurityFunction {
        crossTransportKey(
            from: longTermKey, salt: [0x74, 0x6D, 0x70, 0x31], keyID: [0x6C, 0x65, 0x62, 0x72], usesH7: usesH7)
    }

    /// The long term key that is derived from a link key.
    static func longTermKey(from linkKey: [UInt8], usesH7: Bool) -> SecurityFunction {
        crossTransportKey(
            from: linkKey, salt: [0x74, 0x6D, 0x70, 0x32], keyID: [0x62, 0x72, 0x6C, 0x65], usesH7: usesH7)
    }

    /// The hash in a resolvable private address, three octets (2.2.2).
    /// - Parameter random: three octets.
    static func ah(key: [UInt8], random: [UInt8]) -> SecurityFunction {
        SecurityFunction(.encrypt(key: key, block: [UInt8](repeating: 0, count: 13) + random), .last(3))
    }

    /// The whole authentication code of a signed PDU; its first eight octets are the signature
    /// (2.4.5).
    /// - Parameter message: opcode and parameters as they are sent; the counter follows them.
    static func signature(key: [UInt8], message: [UInt8], counter: UInt32) -> SecurityFunction {
        let octets = (0..<4).map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
        return SecurityFunction(.authenticationCode(key: key, message: [UInt8]((message + octets).reversed())))
    }
}

/// XOR octet by octet, as long as the shorter operand.
private func mixed(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(16)
    for index in 0..<min(a.count, b.count) { result.append(a[index] ^ b[index]) }
    return result
}

/// Compares secrets in a time that depends only on their lengths.
func isEqualInConstantTime(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for index in a.indices { difference |= a[index] ^ b[index] }
    return difference == 0
}

extension Key128 {
    /// The octets, most significant first.
    var mostSignificantOctets: [UInt8] { [UInt8](octets.reversed()) }

    /// The key reduced to a size in octets; the most significant octets beyond it are zero (Core 5.4, Vol 3, Part H,
    /// 2.3.4).
    func shortened(to size: UInt8) -> Key128 {
        guard size < 16 else { return self }
        return Key128(rawValue: rawValue & (UInt128(1) << (8 * UInt128(size)) - 1))
    }
}

extension DeviceAddress {
    /// The octets, most significant first, without the address type.
    var mostSignificantOctets: [UInt8] { [UInt8](octets.reversed()) }

    /// Preceded by the address type, as the functions need it (Core 5.4, Vol 3, Part H, 2.2.7).
    var typedOctets: [UInt8] { [isRandom ? 1 : 0] + mostSignificantOctets }
}
