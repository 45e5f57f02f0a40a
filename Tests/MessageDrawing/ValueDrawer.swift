import BLEMessages

/// Draws values from octets, for tests and fuzzers: the same octets give the same message, any octets give one.
public struct ValueDrawer: Coder {
    public static var reads: Bool { true }
    public static var visitsAll: Bool { true }

    public var isChosen = false
    public let isRecording: Bool
    private var source: ArraySlice<UInt8>
    /// Numbers that mean something, by the names of their fields: most numbers of these fields are drawn from them.
    private let known: [String: [UInt64]]
    private var state = Place()
    /// Messages that were drawn again because their fields contradict each other.
    private var retries = 0

    /// What belongs to one message.
    public struct Place {
        /// Elements that the present list still gets.
        fileprivate var elements = 0
        /// The cases of the present choice that were visited in this round, and the number of the drawn one, which is known
        /// from the second round on.
        fileprivate var visitedCases = 0
        fileprivate var drawnCase: Int?
    }

    public init(_ octets: ArraySlice<UInt8>, known: [String: [UInt64]] = [:], isRecording: Bool = false) {
        source = octets
        self.known = known
        self.isRecording = isRecording
    }

    /// The next octet; 0 when there is none left.
    private mutating func next() -> UInt8 { source.popFirst() ?? 0 }

    private mutating func number(of octets: Int) -> UInt64 {
        var number: UInt64 = 0
        for _ in 0..<octets { number = number << 8 | UInt64(next()) }
        return number
    }

    public mutating func hasField(_ number: Int, _ name: StaticString, _ presence: Presence, isSet: Bool) -> Bool {
        switch presence {
        case .plain: return true
        case .optional: return next() & 1 == 1
        case .repeated:
            state.elements -= 1
            return state.elements >= 0
        case .option:
            defer { state.visitedCases += 1 }
            guard state.visitedCases == state.drawnCase else { return false }
            isChosen = true
            return true
        }
    }

    public mutating func scalar(_ number: Int, _ name: StaticString, _ bits: UInt64, _ type: ScalarType) -> UInt64 {
        if let known = known[name.description], !known.isEmpty, next() & 7 != 0 {
            return known[Int(next()) % known.count]
        }
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

    public mutating func begin(_ number: Int, _ name: StaticString, _ type: @autoclosure () -> String) -> Place {
        defer { state = Place() }
        return state
    }

    public mutating func end(_ outer: inout Place) -> Bool {
        state = outer
        return true
    }

    public mutating func recover(_ outer: inout Place) -> Bool {
        retries += 1
        state = Place()
        return retries < 1000 && !source.isEmpty
    }

    /// Draws a case, after a round that has counted them.
    public mutating func repeatsChoice() -> Bool {
        state.drawnCase = Int(next()) % max(state.visitedCases, 1)
        state.visitedCases = 0
        return true
    }

    public mutating func beginList(_ number: Int, _ name: StaticString, _ type: ScalarType?, count: Int) {
        state.elements = Int(next() & 3)
    }
}

extension Message {
    /// A message of these octets.
    /// - Throws: `MessageError.invalidField` if no values were found that go together.
    public static func drawn(
        from octets: ArraySlice<UInt8>, known: [String: [UInt64]] = [:], isRecording: Bool = false
    ) throws(MessageError) -> Self {
        var (drawer, message) = (ValueDrawer(octets, known: known, isRecording: isRecording), blank)
        var outer = ValueDrawer.Place()
        while true {
            do throws(MessageError) {
                try describe(&message, &drawer)
                return message
            } catch {
                guard drawer.recover(&outer) else { throw error }
            }
        }
    }
}
