/// What is wrong with octets that should be CBOR.
public enum CBORProblem: Error, Hashable, Sendable {
    /// The octets end within a value.
    case truncated
    /// Octets follow the value.
    case trailingOctets
    /// Arrays and maps are nested more deeply than `CBORReader.depthLimit`.
    case tooDeep
    /// There are more values than `CBORReader.valueLimit`.
    case tooManyValues
    /// An octet begins no value.
    case invalidHead(UInt8)
    /// A piece of a string without a length is not a string of the same kind.
    case invalidPiece
}

/// Decodes CBOR (RFC 8949), also arrays, maps and strings without a length. Tags are skipped: what they tag remains.
public struct CBORReader {
    /// How deeply arrays, maps and tags may be nested.
    public static let depthLimit = 16
    /// How many values there may be in all; more would take far more memory than octets.
    public static let valueLimit = 4096

    private let octets: ArraySlice<UInt8>
    private var place: Int
    private var valueCount = 0

    private init(_ octets: ArraySlice<UInt8>) {
        self.octets = octets
        place = octets.startIndex
    }

    /// The one value in the octets.
    public static func value(in octets: [UInt8]) throws(CBORProblem) -> CBORValue { try value(in: octets[...]) }

    /// The one value in the octets.
    public static func value(in octets: ArraySlice<UInt8>) throws(CBORProblem) -> CBORValue {
        var reader = CBORReader(octets)
        let value = try reader.value(depth: 0)
        guard reader.place == octets.endIndex else { throw .trailingOctets }
        return value
    }

    private mutating func octet() throws(CBORProblem) -> UInt8 {
        guard place < octets.endIndex else { throw .truncated }
        defer { place += 1 }
        return octets[place]
    }

    private mutating func number(_ count: Int) throws(CBORProblem) -> UInt64 {
        var number: UInt64 = 0
        for _ in 0..<count { number = number << 8 | UInt64(try octet()) }
        return number
    }

    private mutating func take(_ count: UInt64) throws(CBORProblem) -> ArraySlice<UInt8> {
        guard count <= UInt64(octets.endIndex - place) else { throw .truncated }
        defer { place += Int(count) }
        return octets[place..<place + Int(count)]
    }

    /// - Returns: the argument; `nil` for one without a length.
    private mutating func argument(_ head: UInt8) throws(CBORProblem) -> UInt64? {
        switch head & 0x1F {
        case let small where small < 24: return UInt64(small)
        case 24: return try number(1)
        case 25: return try number(2)
        case 26: return try number(4)
        case 27: return try number(8)
        case 31 where 2...5 ~= head >> 5: return nil
        default: throw .invalidHead(head)
        }
    }

    /// Whether a part without a length ends here; its last octet is consumed then.
    private mutating func isAtBreak() throws(CBORProblem) -> Bool {
        guard place < octets.endIndex else { throw .truncated }
        guard octets[place] == 0xFF else { return false }
        place += 1
        return true
    }

    private mutating func value(depth: Int) throws(CBORProblem) -> CBORValue {
        valueCount += 1
        guard valueCount <= Self.valueLimit else { throw .tooManyValues }
        guard depth < Self.depthLimit else { throw .tooDeep }
        let head = try octet()
        if head >> 5 == 7 { return try simple(head) }
        let argument = try argument(head)
        switch head >> 5 {
        case 0: return .unsigned(argument ?? 0)
        case 1: return .negative(argument ?? 0)
        case 2: return .octets(Array(try string(2, argument)))
        case 3: return .text(String(decoding: try string(3, argument), as: UTF8.self))
        case 4: return .array(try array(argument, depth))
        case 5: return .map(try map(argument, depth))
        default: return try value(depth: depth + 1)
        }
    }

    private mutating func simple(_ head: UInt8) throws(CBORProblem) -> CBORValue {
        switch head & 0x1F {
        case 20: return .boolean(false)
        case 21: return .boolean(true)
        case 22, 23: return .null
        case 25: return .float(Self.half(UInt16(try number(2))))
        case 26: return .float(Double(Float(bitPattern: UInt32(try number(4)))))
        case 27: return .float(Double(bitPattern: try number(8)))
        default: throw .invalidHead(head)
        }
    }

    /// A number of 16 bits (IEEE 754), which not every processor has.
    private static func half(_ bits: UInt16) -> Double {
        let exponent = Int(bits >> 10 & 0x1F)
        let fraction = Double(bits & 0x3FF)
        let magnitude: Double =
            switch exponent {
            case 0: fraction / 16_777_216
            case 31: fraction == 0 ? .infinity : .nan
            default: (1 + fraction / 1024) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
            }
        return bits & 0x8000 == 0 ? magnitude : -magnitude
    }

    private mutating func string(_ type: UInt8, _ length: UInt64?) throws(CBORProblem) -> ArraySlice<UInt8> {
        if let length { return try take(length) }
        var whole: ArraySlice<UInt8> = []
        while try !isAtBreak() {
            valueCount += 1
            guard valueCount <= Self.valueLimit else { throw .tooManyValues }
            let head = try octet()
            guard head >> 5 == type, let length = try argument(head) else { throw .invalidPiece }
            whole += try take(length)
        }
        return whole
    }

    private mutating func array(_ length: UInt64?, _ depth: Int) throws(CBORProblem) -> [CBORValue] {
        var values: [CBORValue] = []
        if let length {
            // Each value has at least one octet: a length that lies costs nothing.
            guard length <= UInt64(octets.endIndex - place) else { throw .truncated }
            for _ in 0..<length { values.append(try value(depth: depth + 1)) }
        } else {
            while try !isAtBreak() { values.append(try value(depth: depth + 1)) }
        }
        return values
    }

    private mutating func map(_ length: UInt64?, _ depth: Int) throws(CBORProblem) -> [CBORValue.Member] {
        var members: [CBORValue.Member] = []
        if let length {
            guard length <= UInt64(octets.endIndex - place) / 2 else { throw .truncated }
            for _ in 0..<length { members.append(try member(depth)) }
        } else {
            while try !isAtBreak() { members.append(try member(depth)) }
        }
        return members
    }

    private mutating func member(_ depth: Int) throws(CBORProblem) -> CBORValue.Member {
        let key = try value(depth: depth + 1)
        return CBORValue.Member(key, try value(depth: depth + 1))
    }
}
