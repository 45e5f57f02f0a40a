/// The name of a field of a case. Its number is the next one, if the key states none; the first is 1.
public struct FieldKey<Value>: ExpressibleByStringLiteral {
    let number: Int
    let name: StaticString

    @inline(__always) public init(stringLiteral name: StaticString) { (number, self.name) = (0, name) }
    @inline(__always)
    init(_ number: Int, _ name: StaticString) { (self.number, self.name) = (number, name) }
}

extension Coder {
    /// A case without a value; in the schema it is a message without fields.
    /// - Parameter isIt: whether a value is the case.
    @inline(__always)
    public mutating func option<T>(
        _ number: Int, _ name: StaticString, _ it: inout T, _ value: T, _ isIt: (T) -> Bool
    ) throws(MessageError) {
        guard try takes(number, name, .option, isSet: !Self.reads && isIt(it)) else { return }
        try nested(number, name, "Nothing") { _ in }
        if Self.reads { it = value }
    }

    /// A case without a value, of a type whose values can be compared.
    @inline(__always)
    public mutating func option<T: Equatable>(
        _ number: Int, _ name: StaticString, _ it: inout T, _ value: T
    ) throws(MessageError) { try option(number, name, &it, value) { $0 == value } }

    /// A case with one value.
    /// - Parameter make: returns the case with a value.
    /// - Parameter content: the value, if it is the case.
    @inline(__always)
    public mutating func option<T, V: SingleValue>(
        _ number: Int, _ name: StaticString, _ it: inout T, _ make: (V) throws(MessageError) -> T,
        _ content: (T) -> V?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try takes(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? V.blank
        try V.codeValue(number, name, &value, &self)
        if Self.reads { it = try make(value) }
    }

    /// A case whose value is itself a choice, with the cases of that choice among those of this one.
    @inline(__always)
    public mutating func options<T, V: Choice>(
        _ it: inout T, _ make: (V) throws(MessageError) -> T, _ content: (T) -> V?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard Self.reads || Self.visitsAll || set != nil && !isChosen else { return }
        var value = set ?? V.blank
        let outer = isChosen
        isChosen = false
        try V.options(&value, &self)
        if Self.reads, isChosen { it = try make(value) }
        if outer { isChosen = true }
    }

    /// A case whose values are the fields of a message `type`.
    @inline(__always)
    public mutating func option<T, each V: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (repeat each V) throws(MessageError) -> T, _ keys: repeat FieldKey<each V>,
        from content: (T) -> (repeat each V)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try takes(number, name, .option, isSet: set != nil) else { return }
        var values = set ?? (repeat (each V).blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            var position = 0
            values = (repeat try coder.coded(each keys, each values, &position))
        }
        if Self.reads { it = try make(repeat each values) }
    }

    /// The value of a field of a case.
    /// - Parameter position: the number of the field before.
    @inline(__always)
    private mutating func coded<V: FieldValue>(
        _ key: FieldKey<V>, _ value: V, _ position: inout Int
    ) throws(MessageError) -> V {
        var value = value
        position = key.number > 0 ? key.number : position + 1
        try field(position, key.name, &value)
        return value
    }

    /// A case with a value, which is the first field of a message `type`, and a message whose fields are the rest of it.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: Message>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B) throws(MessageError) -> T, _ key: FieldKey<A>, rest content: (T) -> (A, B)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try takes(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(1, key.name, &value.0)
            try B.describe(&value.1, &coder)
        }
        if Self.reads { it = try make(value.0, value.1) }
    }
}
