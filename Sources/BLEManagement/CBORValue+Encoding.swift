extension CBORValue {
    /// The octets in the deterministic form of RFC 7049, 3.9: the shortest lengths, and maps with shorter keys first.
    public var encoded: [UInt8] {
        var octets: [UInt8] = []
        encode(into: &octets)
        return octets
    }

    private func encode(into octets: inout [UInt8]) {
        switch self {
        case .unsigned(let number): Self.head(0, number, &octets)
        case .negative(let number): Self.head(1, number, &octets)
        case .octets(let value):
            Self.head(2, UInt64(value.count), &octets)
            octets += value
        case .text(let value):
            let text = value.utf8
            Self.head(3, UInt64(text.count), &octets)
            octets += text
        case .array(let values):
            Self.head(4, UInt64(values.count), &octets)
            for value in values { value.encode(into: &octets) }
        case .map(let members):
            Self.head(5, UInt64(members.count), &octets)
            let ordered = members.map { (key: $0.key.encoded, value: $0.value) }.sorted {
                $0.key.count != $1.key.count ? $0.key.count < $1.key.count : $0.key.lexicographicallyPrecedes($1.key)
            }
            for member in ordered {
                octets += member.key
                member.value.encode(into: &octets)
            }
        case .boolean(let isTrue): octets.append(isTrue ? 0xF5 : 0xF4)
        case .float(let number):
            octets.append(0xFB)
            Self.append(number.bitPattern, count: 8, &octets)
        case .null: octets.append(0xF6)
        }
    }

    private static func head(_ type: UInt8, _ number: UInt64, _ octets: inout [UInt8]) {
        let start = type << 5
        switch number {
        case 0..<24: octets.append(start | UInt8(number))
        case 24...0xFF:
            octets.append(start | 24)
            append(number, count: 1, &octets)
        case 0x100...0xFFFF:
            octets.append(start | 25)
            append(number, count: 2, &octets)
        case 0x1_0000...0xFFFF_FFFF:
            octets.append(start | 26)
            append(number, count: 4, &octets)
        default:
            octets.append(start | 27)
            append(number, count: 8, &octets)
        }
    }

    private static func append(_ number: UInt64, count: Int, _ octets: inout [UInt8]) {
        for place in (0..<count).reversed() {
            octets.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place)))
        }
    }
}
