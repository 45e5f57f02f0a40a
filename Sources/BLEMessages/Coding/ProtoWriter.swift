/// Writes Protocol Buffers.
public struct ProtoWriter: Coder {
    public static var reads: Bool { false }

    /// What is written.
    public internal(set) var octets: [UInt8]
    public var isChosen = false
    public let isRecording: Bool
    /// Where the octets of a list of numbers begin; 0 outside of one.
    private var packed = 0

    /// - Parameter header: octets that are zero, before the message.
    public init(header: Int = 0, reserving capacity: Int = 64, isRecording: Bool = false) {
        self.isRecording = isRecording
        octets = []
        octets.reserveCapacity(capacity)
        for _ in 0..<header { octets.append(0) }
    }

    /// Writes behind other octets.
    /// - Parameter header: octets that are zero, before the message.
    @inline(__always)
    init(behind octets: consuming [UInt8], header: Int) {
        isRecording = false
        self.octets = octets
        for _ in 0..<header { self.octets.append(0) }
    }

    @inline(__always)
    private mutating func varint(_ number: UInt64) {
        var number = number
        while number > 0x7F {
            octets.append(UInt8(truncatingIfNeeded: number) | 0x80)
            number >>= 7
        }
        octets.append(UInt8(truncatingIfNeeded: number))
    }

    @inline(__always)
    private mutating func key(_ number: Int, _ wireType: UInt64) {
        varint(UInt64(truncatingIfNeeded: number) << 3 | wireType)
    }

    @inline(__always)
    public mutating func hasField(_ number: Int, _ name: StaticString, _ presence: Presence, isSet: Bool) -> Bool {
        guard presence == .option else { return isSet }
        guard isSet, !isChosen else { return false }
        isChosen = true
        return true
    }

    @inline(never)
    public mutating func scalar(_ number: Int, _ name: StaticString, _ bits: UInt64, _ type: ScalarType) -> UInt64 {
        if packed == 0 { key(number, type == .fixed64 ? 1 : 0) }
        switch type {
        case .fixed64: append(fixed: bits)
        case .sint32: varint(bits << 1 ^ UInt64(bitPattern: Int64(bitPattern: bits) >> 63))
        default: varint(bits)
        }
        return 0
    }

    private mutating func append(fixed bits: UInt64) {
        for place in 0..<8 as Range<UInt64> { octets.append(UInt8(truncatingIfNeeded: bits >> (8 * place))) }
    }

    @inline(never)
    public mutating func octets(
        _ number: Int, _ name: StaticString, _ content: [UInt8], isText: Bool
    ) -> ArraySlice<UInt8> {
        key(number, 2)
        varint(UInt64(truncatingIfNeeded: content.count))
        octets += content
        return []
    }

    /// Writes the content behind one octet for its length.
    @inline(never)
    public mutating func begin(_ number: Int, _ name: StaticString, _ type: @autoclosure () -> String) -> Int {
        key(number, 2)
        octets.append(0)
        return octets.count
    }

    @inline(never)
    public mutating func end(_ place: inout Int) -> Bool {
        let length = octets.count - place
        if length <= 0x7F {
            octets[place - 1] = UInt8(truncatingIfNeeded: length)
        } else {
            widen(length, at: place)
        }
        return true
    }

    /// Makes room for a length of several octets.
    @inline(never)
    private mutating func widen(_ length: Int, at place: Int) {
        if length < 1 << 14 {
            octets[place - 1] = UInt8(truncatingIfNeeded: length) | 0x80
            return octets.insert(UInt8(truncatingIfNeeded: length >> 7), at: place)
        }
        var (head, rest): ([UInt8], Int) = ([], length)
        while rest > 0x7F {
            head.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        head.append(UInt8(truncatingIfNeeded: rest))
        octets.replaceSubrange(place - 1..<place, with: head)
    }

    public mutating func beginList(_ number: Int, _ name: StaticString, _ type: ScalarType?, count: Int) {
        if type != nil { packed = begin(number, name, "") }
    }

    public mutating func endList() {
        guard packed > 0 else { return }
        var place = packed
        packed = 0
        _ = end(&place)
    }
}

extension Message {
    /// - Parameter header: octets that are zero, before the message.
    /// - Throws: `MessageError.invalidField` for a value that the schema does not have.
    @inline(__always)
    func written(header: Int = 0, isRecording: Bool = false) throws(MessageError) -> [UInt8] {
        var writer = ProtoWriter(header: header, isRecording: isRecording)
        var copy = self
        try Self.describe(&copy, &writer)
        return writer.octets
    }

    /// The octets of the message in Protocol Buffers.
    /// - Throws: `MessageError.invalidField` for a value that the schema does not have.
    public func encoded(isRecording: Bool = false) throws(MessageError) -> [UInt8] {
        try written(isRecording: isRecording)
    }
}
