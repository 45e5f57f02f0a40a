import BLEHost
import BLEPackets
import BLESecurity

/// A sensor that encrypts its temperature as BTHome version 2 says, by AES-CCM.
struct SealedPackets {
    static let address = "54:48:E6:8F:80:A5"
    static let key = Bench().octets("231d39c1d7cc1ab1aee224cd096db932")

    /// Advertising data in hexadecimal.
    static func temperature(_ degrees: Int, counter: UInt32, key: [UInt8] = key) -> String {
        let value = UInt16(bitPattern: Int16(degrees * 100))
        return packet([0x02, UInt8(value & 255), UInt8(value >> 8)], counter: counter, key: key)
    }

    static func press(counter: UInt32) -> String { packet([0x3A, 0x01], counter: counter, key: key) }

    private static func packet(_ plain: [UInt8], counter: UInt32, key: [UInt8]) -> String {
        let count = (0..<4).map { UInt8(truncatingIfNeeded: counter >> UInt32(8 * $0)) }
        let nonce = Bench().octets("5448e68f80a5d2fc41") + count
        let length = UInt8(plain.count)
        let padding = [UInt8](repeating: 0, count: 16 - plain.count)
        let first = encrypt([0x09] + nonce + [0, length], key)
        let code = encrypt(exclusiveOr(first, plain + padding), key)
        let stream = encrypt([0x01] + nonce + [0, 1], key)
        let mask = encrypt([0x01] + nonce + [0, 0], key)
        let octets =
            [0x16, 0xD2, 0xFC, 0x41] + exclusiveOr(plain, stream) + count + exclusiveOr(code, mask).prefix(4)
        return Bench.hex([UInt8(octets.count)] + octets)
    }

    private static func exclusiveOr(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] { zip(a, b).map { $0 ^ $1 } }

    private static func encrypt(_ block: [UInt8], _ key: [UInt8]) -> [UInt8] {
        guard case .octets(let octets) = SwiftCryptoProvider().answer(.encrypt(key: key, block: block)) else {
            return []
        }
        return octets
    }
}
