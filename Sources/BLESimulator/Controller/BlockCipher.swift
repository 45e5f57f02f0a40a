import BLEPackets

/// AES-128 of one block (FIPS 197), for the controller's own use: LE Encrypt and private addresses.
///
/// It protects nothing, because the air is simulated, and it does not run in constant time.
enum BlockCipher {
    /// The security function e (Core 5.4, Vol 3, Part H, 2.2.1).
    static func encrypt(_ block: UInt128, key: Key128) -> UInt128 {
        let keys = roundKeys(of: key.rawValue)
        // Octet 0 of FIPS 197 is the most significant one.
        var state = octets(of: block ^ keys[0])
        for round in 1...10 {
            var next = [UInt8](repeating: 0, count: 16)
            for index in 0..<16 {
                // Substitution, and each row turned by its number.
                next[index] = substitution[Int(state[(index + index % 4 * 4) % 16])]
            }
            if round < 10 { mixColumns(&next) }
            state = octets(of: number(of: next) ^ keys[round])
        }
        return number(of: state)
    }

    /// The hash of a resolvable private address (Core 5.4, Vol 3, Part H, 2.2.2).
    static func addressHash(key: Key128, random: UInt64) -> UInt64 {
        UInt64(truncatingIfNeeded: encrypt(UInt128(random & 0xFF_FFFF), key: key) & 0xFF_FFFF)
    }

    private static func mixColumns(_ state: inout [UInt8]) {
        for column in stride(from: 0, to: 16, by: 4) {
            let old = Array(state[column..<column + 4])
            for row in 0..<4 {
                state[column + row] =
                    double(old[row]) ^ double(old[(row + 1) % 4]) ^ old[(row + 1) % 4] ^ old[(row + 2) % 4]
                    ^ old[(row + 3) % 4]
            }
        }
    }

    private static func roundKeys(of key: UInt128) -> [UInt128] {
        var words = (0..<4).map { UInt32(truncatingIfNeeded: key >> (96 - 32 * UInt128($0))) }
        var constant: UInt8 = 1
        for index in 4..<44 {
            var word = words[index - 1]
            if index % 4 == 0 {
                word = word << 8 | word >> 24
                word = (0..<4).reduce(0) { result, octet in
                    let shift = UInt32(24 - 8 * octet)
                    return result | UInt32(substitution[Int(word >> shift & 0xFF)]) << shift
                }
                word ^= UInt32(constant) << 24
                constant = double(constant)
            }
            words.append(words[index - 4] ^ word)
        }
        return stride(from: 0, to: 44, by: 4).map { start in
            words[start..<start + 4].reduce(0) { $0 << 32 | UInt128($1) }
        }
    }

    /// A number times two in the field of AES.
    private static func double(_ value: UInt8) -> UInt8 { value << 1 ^ (value & 0x80 == 0 ? 0 : 0x1B) }

    /// The S-box: the inverse in the field, then an affine map (FIPS 197, 5.1.1).
    private static let substitution: [UInt8] = {
        var box = [UInt8](repeating: 0x63, count: 256)
        var (power, inverse) = (UInt8(1), UInt8(1))
        repeat {
            // 3 generates the field without zero; its inverse is 0xF6.
            power ^= double(power)
            inverse ^= inverse << 1
            inverse ^= inverse << 2
            inverse ^= inverse << 4
            if inverse & 0x80 != 0 { inverse ^= 0x09 }
            func turned(_ count: UInt8) -> UInt8 { inverse << count | inverse >> (8 - count) }
            box[Int(power)] = inverse ^ turned(1) ^ turned(2) ^ turned(3) ^ turned(4) ^ 0x63
        } while power != 1
        return box
    }()

    private static func octets(of number: UInt128) -> [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: number >> (120 - 8 * UInt128($0))) }
    }

    private static func number(of octets: [UInt8]) -> UInt128 { octets.reduce(0) { $0 << 8 | UInt128($1) } }
}
