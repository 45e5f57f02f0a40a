/// Converts messages to or from one form, field by field.
///
/// What follows are the few steps that differ between forms; messages use `field`, `choice`, `option` and `since`.
public protocol Coder {
    /// Whether it sets the values. Otherwise it reads them.
    static var reads: Bool { get }
    /// Whether every case of a choice is visited, whatever the value is.
    static var visitsAll: Bool { get }
    /// Whether a case of the present choice was coded.
    var isChosen: Bool { get set }
    /// What a form remembers while it codes a message in a field.
    associatedtype Place

    /// Whether there is a value for the field, which is coded next.
    /// - Parameter isSet: whether a writing coder has a value.
    mutating func hasField(
        _ number: Int, _ name: StaticString, _ presence: Presence, isSet: Bool
    ) throws(MessageError) -> Bool
    /// - Returns: what was read.
    mutating func scalar(
        _ number: Int, _ name: StaticString, _ bits: UInt64, _ type: ScalarType
    ) throws(MessageError) -> UInt64
    /// - Returns: what was read.
    mutating func octets(
        _ number: Int, _ name: StaticString, _ octets: [UInt8], isText: Bool
    ) throws(MessageError) -> ArraySlice<UInt8>

    mutating func begin(
        _ number: Int, _ name: StaticString, _ type: @autoclosure () -> String
    ) throws(MessageError) -> Place
    /// - Returns: whether the message is complete; otherwise its fields have to be coded once more.
    mutating func end(_ place: inout Place) throws(MessageError) -> Bool
    /// After an error in the fields.
    /// - Returns: whether they have to be coded once more.
    mutating func recover(_ place: inout Place) -> Bool

    mutating func beginList(_ number: Int, _ name: StaticString, _ type: ScalarType?, count: Int)
    mutating func endList()
    /// After a choice of which no case was coded.
    /// - Returns: whether its cases have to be coded once more.
    mutating func repeatsChoice() throws(MessageError) -> Bool
    /// Whether fields are coded that only recordings have.
    var isRecording: Bool { get }
    /// Fields that a revision of the protocol added.
    mutating func since(
        _ revision: UInt32, _ fields: (inout Self) throws(MessageError) -> Void) throws(MessageError)
}

extension Coder {
    @inline(__always) public static var visitsAll: Bool { false }
    @inline(__always) public mutating func recover(_ place: inout Place) -> Bool { false }
    @inline(__always) public mutating func beginList(
        _ number: Int, _ name: StaticString, _ type: ScalarType?, count: Int
    ) {}
    @inline(__always) public mutating func endList() {}
    @inline(__always) public mutating func repeatsChoice() -> Bool { false }
    @inline(__always)
    public mutating func since(
        _ revision: UInt32, _ fields: (inout Self) throws(MessageError) -> Void
    ) throws(MessageError) { try fields(&self) }
}

extension Coder {
    /// Fields that only recordings have, not the socket.
    @inline(__always)
    public mutating func recorded(_ fields: (inout Self) throws(MessageError) -> Void) throws(MessageError) {
        if isRecording { try fields(&self) }
    }

    /// A message in a field.
    @inline(__always)
    mutating func nested(
        _ number: Int, _ name: StaticString, _ type: @autoclosure () -> String,
        _ fields: (inout Self) throws(MessageError) -> Void
    ) throws(MessageError) {
        try code(begin(number, name, type()), fields)
    }

    @inline(__always)
    mutating func code(
        _ message: Place, _ fields: (inout Self) throws(MessageError) -> Void
    ) throws(MessageError) {
        var place = message
        while true {
            do throws(MessageError) {
                try fields(&self)
                if try end(&place) { return }
            } catch {
                guard recover(&place) else { throw error }
            }
        }
    }

    @inline(__always)
    public mutating func field<V: FieldValue>(
        _ number: Int, _ name: StaticString, _ value: inout V
    ) throws(MessageError) { try V.codeField(number, name, &value, &self) }

    /// A list of bounded length.
    public mutating func field<V: SingleValue>(
        _ number: Int, _ name: StaticString, _ values: inout [V], atMost limit: Int
    ) throws(MessageError) { try V.codeList(number, name, &values, &self, atMost: limit) }

    /// A field that is never absent: a number stands for `nil`.
    @inline(__always)
    public mutating func field<V: Scalar>(
        _ number: Int, _ name: StaticString, _ value: inout V?, nilAs none: UInt64
    ) throws(MessageError) {
        guard try hasField(number, name, .plain, isSet: Self.reads || (value?.bits ?? none) != 0) else { return }
        let bits = try scalar(number, name, Self.reads ? 0 : value?.bits ?? none, V.type)
        guard Self.reads else { return }
        value = V(bits: bits)
        if bits == none { value = nil } else if value == nil { throw .invalidField }
    }

    /// A number of fixed length, whatever its type has elsewhere.
    @inline(__always)
    public mutating func field<V: Scalar>(
        fixed number: Int, _ name: StaticString, _ value: inout V
    ) throws(MessageError) {
        guard try hasField(number, name, .plain, isSet: Self.reads || !value.isZero) else { return }
        let bits = try scalar(number, name, Self.reads ? 0 : value.bits, .fixed64)
        guard Self.reads else { return }
        guard let read = V(bits: bits) else { throw .invalidField }
        value = read
    }

    /// A number of which zero stands for another value.
    @inline(__always)
    public mutating func field<V: Scalar>(
        _ number: Int, _ name: StaticString, _ value: inout V, zeroAs other: V
    ) throws(MessageError) {
        try field(number, name, &value)
        if Self.reads, value.isZero { value = other }
    }

    /// A flag that the schema states the other way round.
    @inline(__always)
    public mutating func field(_ number: Int, _ name: StaticString, not value: inout Bool) throws(MessageError) {
        var opposite = !value
        try field(number, name, &opposite)
        if Self.reads { value = !opposite }
    }

    /// A setting of a recording: always written, and where a recording lacks it, unchanged.
    public mutating func setting<V: SingleValue>(
        _ number: Int, _ name: StaticString, _ value: inout V
    ) throws(MessageError) {
        guard try hasField(number, name, .optional, isSet: true) else { return }
        try V.codeValue(number, name, &value, &self)
    }

    /// The cases of a choice as fields of this message.
    @inline(__always)
    public mutating func choice<V: Choice>(_ value: inout V) throws(MessageError) {
        while try !hasCase(&value) {
            guard try repeatsChoice() else { throw .invalidField }
        }
    }

    /// The same, where one value has no field.
    @inline(__always)
    public mutating func choice<V: Choice>(_ value: inout V, else absent: V) throws(MessageError) {
        while try !hasCase(&value) {
            guard try repeatsChoice() else {
                if Self.reads { value = absent }
                return
            }
        }
    }

    @inline(__always)
    private mutating func hasCase<V: Choice>(_ value: inout V) throws(MessageError) -> Bool {
        let outer = isChosen
        isChosen = false
        defer { isChosen = outer }
        try V.options(&value, &self)
        return isChosen
    }
}
