/// Draws values from octets, for tests and fuzzers: the same octets give the same message, any octets give one.
public struct ValueDrawer: Coder {
    public static var reads: Bool { true }
    public static var visitsAll: Bool { true }

    public var isChosen = false
    public let isRecording: Bool
    private var source: ArraySlice<UInt8>
    /// Elements that the present list still gets.
    private var elements = 0
    /// Messages that were drawn once more because their fields contradict each other.
    private var retries = 0

    public init(_ octets: ArraySlice<UInt8>, isRecording: Bool = false) {
        source = octets
        self.isRecording = isRecording
    }

    /// The next octet; 0 when there is none left.
    private mutating func next() -> UInt8 { source.popFirst() ?? 0 }

    private mutating func number(of octets: Int) -> UInt64 {
        var number: UInt64 = 0
        for _ in 0..<octets { number = number << 8 | UInt64(next()) }
        return number
    }

    public mutating func takes(_ number: Int, _ name: StaticString, _ presence: Presence, isSet: Bool) -> Bool {
        switch presence {
        case .plain: return true
        case .optional: return next() & 1 == 1
        case .repeated:
            elements -= 1
            return elements >= 0
        case .option:
            // Of the cases that are drawn, the last counts; a choice is drawn until there is one.
            guard next() & 31 == 0 else { return false }
            isChosen = true
            return true
        }
    }

    public mutating func scalar(_ number: Int, _ name: StaticString, _ bits: UInt64, _ type: ScalarType) -> UInt64 {
        switch type {
        case .bool: return UInt64(next() & 1)
        case .sint32: return UInt64(bitPattern: Int64(Int8(bitPattern: next())))
        case .int64, .uint64, .fixed64: return self.number(of: next() & 3 == 0 ? 6 : 1)
        case .uint32:
            let size = next() & 7
            return size < 4 ? UInt64(next() & 7) : self.number(of: size < 7 ? 1 : 2)
        }
    }

    public mutating func octets(
        _ number: Int, _ name: StaticString, _ content: [UInt8], isText: Bool
    ) -> ArraySlice<UInt8> {
        let size = next()
        let count = size < 128 ? [0, 2, 16, 32][Int(size & 3)] : Int(size & 63)
        return (0..<count).map { _ in isText ? next() & 0x7F : next() }[...]
    }

    public mutating func begin(_ number: Int, _ name: StaticString, _ type: @autoclosure () -> String) -> Int {
        elements
    }

    public mutating func end(_ outer: inout Int) -> Bool {
        elements = outer
        return true
    }

    public mutating func recover(_ outer: inout Int) -> Bool {
        retries += 1
        return retries < 1000 && !source.isEmpty
    }

    public mutating func looksFurther() -> Bool { true }

    public mutating func beginList(_ number: Int, _ name: StaticString, _ type: ScalarType?, count: Int) {
        elements = Int(next() & 3)
    }
}

extension Message {
    /// A message of these octets.
    /// - Throws: `MessageError.invalidField` if no values were found that go together.
    public static func drawn(from octets: ArraySlice<UInt8>, isRecording: Bool = false) throws(MessageError) -> Self {
        var (drawer, message) = (ValueDrawer(octets, isRecording: isRecording), blank)
        try drawer.nested(0, "", schemaName) { c throws(MessageError) in try describe(&message, &c) }
        return message
    }
}
