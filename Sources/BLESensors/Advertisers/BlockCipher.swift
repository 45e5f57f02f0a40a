/// AES-128 backwards, one block (FIPS 197, 5.3), for devices that send the key with the data; what protects secrets is
/// the crypto provider of the host.
enum BlockCipher {
    /// - Parameters:
    ///   - block: 16 octets.
    ///   - key: 16 octets.
    /// - Returns: `nil` if one of them has another length.
    static func decrypt(_ block: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard block.count == 16, key.count == 16 else { return nil }
        let roundKeys = expanded(key)
        var state = block
        func addKey(_ round: Int) {
            for index in 0..<16 { state[index] ^= roundKeys[round * 16 + index] }
        }
        addKey(10)
        for round in (0..<10).reversed() {
            // Rows are moved back to the right, and substituted.
            var moved = state
            for column in 0..<4 {
                for row in 0..<4 { moved[(column + row) % 4 * 4 + row] = boxes.inverse[Int(state[column * 4 + row])] }
            }
            state = moved
            addKey(round)
            if round > 0 { unmixColumns(&state) }
        }
        return state
    }

    private static func unmixColumns(_ state: inout [UInt8]) {
        for start in stride(from: 0, to: 16, by: 4) {
            let column = Array(state[start..<start + 4])
            for row in 0..<4 {
                state[start + row] =
                    product(column[row], 14) ^ product(column[(row + 1) % 4], 11)
                    ^ product(column[(row + 2) % 4], 13) ^ product(column[(row + 3) % 4], 9)
            }
        }
    }

    /// The product in the field of AES (FIPS 197, 4.2).
    private static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var result: UInt8 = 0
        var shifted = a
        for bit in 0..<4 {
            if b >> UInt8(bit) & 1 == 1 { result ^= shifted }
            shifted = shifted << 1 ^ (shifted & 0x80 == 0 ? 0 : 0x1B)
        }
        return result
    }

    private static func expanded(_ key: [UInt8]) -> [UInt8] {
        var keys = key
        var constant: UInt8 = 1
        while keys.count < 176 {
            var word = Array(keys.suffix(4))
            if keys.count % 16 == 0 {
                word = [word[1], word[2], word[3], word[0]].map { boxes.forward[Int($0)] }
                word[0] ^= constant
                constant = constant << 1 ^ (constant & 0x80 == 0 ? 0 : 0x1B)
            }
            let start = keys.count - 16
            for index in 0..<4 { keys.append(keys[start + index] ^ word[index]) }
        }
        return keys
    }

    /// The substitution and its inverse (FIPS 197, 5.1.1), from the powers of 3 and their inverses.
    private static let boxes: (forward: [UInt8], inverse: [UInt8]) = {
        var forward = [UInt8](repeating: 0x63, count: 256)
        var inverse = [UInt8](repeating: 0, count: 256)
        var power: UInt8 = 1
        var inversePower: UInt8 = 1
        repeat {
            power ^= power << 1 ^ (power & 0x80 == 0 ? 0 : 0x1B)
            inversePower ^= inversePower << 1
            inversePower ^= inversePower << 2
            inversePower ^= inversePower << 4
            if inversePower & 0x80 != 0 { inversePower ^= 0x09 }
            var image = inversePower ^ 0x63
            for shift in 1..<5 as Range<UInt8> { image ^= inversePower << shift | inversePower >> (8 - shift) }
            forward[Int(power)] = image
        } while power != 1
        for (index, value) in forward.enumerated() { inverse[Int(value)] = UInt8(index) }
        return (forward, inverse)
    }()
}
