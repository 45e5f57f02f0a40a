/// Reads Protocol Buffers.
///
/// Every encoder writes the fields in the order of their numbers, so one walk is enough. A message in which they are
/// not is read once more, by a table of where each field is; of a field that is there twice, the last counts.
public struct ProtoReader: Coder {
    @inline(__always) public static var reads: Bool { true }

    let octets: ArraySlice<UInt8>
    public var isChosen = false
    public let isRecording: Bool
    /// Where the value of the next field begins.
    var at: Int
    /// The number of the next field; `Int.max` behind the last one, 0 in a message without order.
    var number = 0
    /// The wire type of the next field.
    var wireType: UInt8 = 0
    /// Whether the field that is coded next is not there, and counts as zero.
    private var isAbsent = false
    /// Where the numbers of a packed list end; 0 outside of one.
    var packedEnd = 0
    var scope: Scope
    /// Where the fields are of the present message and of those around it that have no order, the outermost first.
    var tables: [FieldTable] = []
    /// The highest number of a case that was looked for.
    var highestCase = 0

    /// The message whose fields are read.
    struct Scope {
        var begin: Int
        var end: Int
        var isOrdered = true
        /// Whether a field came after one with a greater number, or twice.
        var isDisordered = false
        /// Whether the elements of the present list may be packed.
        var isPackable = false
        /// The present list.
        var list = 0
        /// In a message without order, where the search for the next element begins.
        var elements = 0
        /// In a message without order, where the value of the present choice's case begins.
        var chosen = 0
        /// How many of `tables` are of this message and those around it.
        var tables = 0
    }

    /// A message in a field, and what surrounds it.
    public struct Place {
        fileprivate var begin: Int
        fileprivate var end: Int
        fileprivate var outer: Scope
        fileprivate var number: Int
        fileprivate var wireType: UInt8
        fileprivate var isAbsent: Bool
        /// Whether the fields are read once more, as they have no order.
        fileprivate var isSecondWalk = false
    }

    /// Whether no field is left.
    var isAtEnd: Bool { number == .max }

    init(_ octets: ArraySlice<UInt8>, isRecording: Bool = false) {
        self.isRecording = isRecording
        self.octets = octets
        at = octets.startIndex
        scope = Scope(begin: octets.startIndex, end: octets.endIndex)
    }

    @inline(__always)
    mutating func varint() throws(MessageError) -> UInt64 {
        guard at < scope.end else { throw .malformed }
        let first = octets[at]
        at += 1
        return first < 0x80 ? UInt64(first) : try longVarint(first)
    }

    private mutating func longVarint(_ first: UInt8) throws(MessageError) -> UInt64 {
        var (number, shift) = (UInt64(first & 0x7F), UInt64(7))
        while at < scope.end, shift < 64 {
            let octet = octets[at]
            at += 1
            number |= UInt64(octet & 0x7F) << shift
            if octet < 0x80 { return number }
            shift += 7
        }
        throw .malformed
    }

    /// Where the octets end whose length comes next.
    @inline(__always)
    mutating func lengthEnd() throws(MessageError) -> Int {
        guard wireType == 2 else { throw .malformed }
        let length = try varint()
        guard length <= UInt64(truncatingIfNeeded: scope.end - at) else { throw .malformed }
        return at + Int(truncatingIfNeeded: length)
    }

    /// Goes to the next field, after the value of one.
    @inline(never)
    mutating func advance() throws(MessageError) {
        guard scope.isOrdered else { return endElement() }
        guard at < scope.end else {
            number = .max
            return
        }
        let last = number
        try readKey()
        if number <= last, number != last || number != scope.list { scope.isDisordered = true }
    }

    @inline(__always)
    mutating func readKey() throws(MessageError) {
        let key = try varint()
        guard 1 << 3...UInt64(UInt32.max) ~= key else { throw .malformed }
        number = Int(truncatingIfNeeded: key >> 3)
        wireType = UInt8(truncatingIfNeeded: key & 7)
    }

    @inline(__always)
    public mutating func hasField(
        _ wanted: Int, _ name: StaticString, _ presence: Presence, isSet: Bool
    ) throws(MessageError) -> Bool {
        if presence == .repeated {
            isAbsent = false
            return try hasElement(of: wanted)
        }
        if presence == .option {
            // The cases of a choice may come in any order; what is before them is skipped afterwards.
            if number != wanted {
                if wanted > highestCase { highestCase = wanted }
                guard number == 0, try find(wanted) else { return false }
                // Of several cases the last one counts, as of several values of a field.
                guard !isChosen || at > scope.chosen else { return false }
                scope.chosen = at
            }
            isAbsent = false
            isChosen = true
            return true
        }
        let isThere = number >= wanted ? number == wanted : try find(wanted)
        isAbsent = !isThere
        return isThere || presence == .plain
    }

    @inline(never)
    public mutating func scalar(
        _ number: Int, _ name: StaticString, _ bits: UInt64, _ type: ScalarType
    ) throws(MessageError) -> UInt64 {
        if isAbsent { return 0 }
        var bits: UInt64
        if type == .fixed64 {
            guard packedEnd > 0 || wireType == 1 else { throw .malformed }
            bits = try fixed64()
        } else {
            guard packedEnd > 0 || wireType == 0 else { throw .malformed }
            bits = try varint()
            if type == .sint32 { bits = bits >> 1 ^ (0 &- (bits & 1)) }
        }
        if packedEnd == 0 { try advance() } else if at > packedEnd { throw .malformed }
        return bits
    }

    private mutating func fixed64() throws(MessageError) -> UInt64 {
        guard scope.end - at >= 8 else { throw .malformed }
        var bits: UInt64 = 0
        for place in (0..<8).reversed() { bits = bits << 8 | UInt64(octets[at + place]) }
        at += 8
        return bits
    }

    @inline(never)
    public mutating func octets(
        _ number: Int, _ name: StaticString, _ content: [UInt8], isText: Bool
    ) throws(MessageError) -> ArraySlice<UInt8> {
        if isAbsent { return [] }
        let end = try lengthEnd()
        let read = octets[at..<end]
        at = end
        try advance()
        return read
    }

    @inline(never)
    public mutating func begin(
        _: Int, _ name: StaticString, _ type: @autoclosure () -> String
    ) throws(MessageError) -> Place {
        let end = isAbsent ? at : try lengthEnd()
        var place = Place(
            begin: at, end: end, outer: scope, number: number, wireType: wireType, isAbsent: isAbsent)
        try enter(&place)
        return place
    }

    @inline(__always)
    private mutating func enter(_ place: inout Place) throws(MessageError) {
        scope = Scope(begin: place.begin, end: place.end, tables: place.outer.tables)
        if scope.tables > 0 {
            // The messages around it are read for the second time. One that needs two walks itself gets them by the table
            // at once: otherwise each level would double the work.
            place.isSecondWalk = walksAgain()
            if place.isSecondWalk { return }
            at = place.begin
        }
        number = 0
        try advance()
    }

    @inline(never)
    public mutating func end(_ place: inout Place) throws(MessageError) -> Bool {
        // A message that was read twice is not read again, whatever is wrong behind it.
        if scope.isOrdered, number != .max || scope.isDisordered, try needsSecondWalk() {
            place.isSecondWalk = true
            return false
        }
        at = place.end
        scope = place.outer
        number = place.number
        wireType = place.wireType
        if place.isAbsent { at = place.begin } else { try advance() }
        return true
    }

    public mutating func recover(_ place: inout Place) -> Bool {
        let isSecondWalk = place.isSecondWalk
        place.isSecondWalk = true
        scope = Scope(begin: place.begin, end: place.end, tables: place.outer.tables)
        (at, number, packedEnd) = (place.begin, 0, 0)
        return !isSecondWalk && walksAgain()
    }

    public mutating func beginList(_ number: Int, _ name: StaticString, _ type: ScalarType?, count: Int) {
        scope.list = number
        scope.isPackable = type != nil
        scope.elements = scope.begin
    }

    public mutating func endList() { scope.list = 0 }
}

extension Message {
    /// Reads the octets of a message in Protocol Buffers. Unknown fields are skipped.
    /// - Throws: `MessageError.malformed` or `invalidField`.
    public init(octets: ArraySlice<UInt8>, isRecording: Bool = false) throws(MessageError) {
        self = try Self.read(octets, isRecording: isRecording)
    }

    @inline(__always)
    static func read(_ octets: ArraySlice<UInt8>, isRecording: Bool = false) throws(MessageError) -> Self {
        var (reader, message) = (ProtoReader(octets, isRecording: isRecording), Self.blank)
        try reader.whole { c throws(MessageError) in try describe(&message, &c) }
        return message
    }
}

extension ProtoReader {
    @inline(__always)
    mutating func whole(_ fields: (inout Self) throws(MessageError) -> Void) throws(MessageError) {
        var place = Place(
            begin: at, end: scope.end, outer: scope, number: 0, wireType: 0, isAbsent: true)
        try enter(&place)
        try code(place, fields)
    }
}
