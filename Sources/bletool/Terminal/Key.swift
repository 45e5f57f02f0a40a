/// A key that was pressed.
enum Key: Equatable, Sendable {
    case character(Character)
    case up, down, left, right, home, end, pageUp, pageDown
    case enter, tab, backspace, delete, escape
    /// With the control key; the letter in lower case.
    case control(Character)
}

/// Makes keys of what a terminal sends.
struct KeyParser {
    private var pending: [UInt8] = []

    /// Takes octets as they come.
    /// - Returns: the keys that are whole.
    mutating func parse(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending += bytes
        var keys: [Key] = []
        while let (key, count) = next() {
            pending.removeFirst(count)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// Nothing more came for a moment: a single escape is that key.
    mutating func settle() -> [Key] {
        defer { pending = [] }
        return pending.first == 0x1B ? [.escape] : []
    }

    /// Whether the beginning of a key waits for its rest.
    var isWaiting: Bool { !pending.isEmpty }

    /// The next key, `nil` for a sequence that means none here, and the octets that it takes.
    private func next() -> (key: Key?, count: Int)? {
        guard let first = pending.first else { return nil }
        switch first {
        case 0x0D, 0x0A: return (.enter, 1)
        case 0x09: return (.tab, 1)
        case 0x7F, 0x08: return (.backspace, 1)
        case 0x1B: return sequence()
        case 0..<0x20: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
        default: return character(first)
        }
    }

    private func character(_ first: UInt8) -> (key: Key?, count: Int)? {
        let count =
            switch first {
            case 0..<0x80: 1
            case 0xC0..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF8: 4
            default: 0
            }
        guard count > 0 else { return (nil, 1) }
        guard pending.count >= count else { return nil }
        let text = String(decoding: pending[..<count], as: UTF8.self)
        guard text.unicodeScalars.count == 1, let letter = text.first, letter != "\u{FFFD}" else { return (nil, 1) }
        return (.character(letter), count)
    }

    private func sequence() -> (key: Key?, count: Int)? {
        guard pending.count >= 2 else { return nil }
        guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else { return (.escape, 1) }
        // Parameters, then one letter or `~`.
        guard let end = pending[2...].firstIndex(where: { $0 >= 0x40 }) else {
            return pending.count > 16 ? (nil, 2) : nil
        }
        let number = pending[2..<end].prefix { (0x30...0x39).contains($0) }.reduce(0) { $0 &* 10 &+ Int($1 - 0x30) }
        let key: Key? =
            switch pending[end] {
            case UInt8(ascii: "A"): .up
            case UInt8(ascii: "B"): .down
            case UInt8(ascii: "C"): .right
            case UInt8(ascii: "D"): .left
            case UInt8(ascii: "H"): .home
            case UInt8(ascii: "F"): .end
            case UInt8(ascii: "~"):
                switch number {
                case 1, 7: .home
                case 3: .delete
                case 4, 8: .end
                case 5: .pageUp
                case 6: .pageDown
                default: nil
                }
            default: nil
            }
        return (key, end + 1)
    }
}
