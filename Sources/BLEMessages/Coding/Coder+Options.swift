/// The name of a field of a case. Its number is its place among the fields, if the key states none.
public struct FieldKey: ExpressibleByStringLiteral {
    let number: Int?
    let name: StaticString

    @inline(__always) public init(stringLiteral name: StaticString) { (number, self.name) = (nil, name) }
    @inline(__always) init(_ number: Int, _ name: StaticString) { (self.number, self.name) = (number, name) }
}

extension Coder {
    /// A case without a value; in the schema it is a message without fields.
    /// - Parameter isIt: whether a value is the case.
    @inline(__always)
    public mutating func option<T>(
        _ number: Int, _ name: StaticString, _ it: inout T, _ value: T, _ isIt: (T) -> Bool
    ) throws(MessageError) {
        guard try hasField(number, name, .option, isSet: !Self.reads && isIt(it)) else { return }
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
        guard try hasField(number, name, .option, isSet: set != nil) else { return }
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

    /// A field of a case.
    /// - Parameter place: its place among the fields.
    @inline(__always)
    private mutating func field<V: FieldValue>(_ key: FieldKey, _ place: Int, _ value: inout V) throws(MessageError) {
        try field(key.number ?? place, key.name, &value)
    }

    /// A case with one value that is the field of a message `type`.
    @inline(__always)
    public mutating func option<T, A: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A) throws(MessageError) -> T, _ a: FieldKey,
        from content: (T) -> A?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try hasField(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? A.blank
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a, 1, &value)
        }
        if Self.reads { it = try make(value) }
    }

    /// A case with two values that are the fields of a message `type`.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B) throws(MessageError) -> T, _ a: FieldKey, _ b: FieldKey,
        from content: (T) -> (A, B)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try hasField(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a, 1, &value.0)
            try coder.field(b, 2, &value.1)
        }
        if Self.reads { it = try make(value.0, value.1) }
    }

    /// A case with three values that are the fields of a message `type`.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: FieldValue, C: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B, C) throws(MessageError) -> T, _ a: FieldKey, _ b: FieldKey, _ c: FieldKey,
        from content: (T) -> (A, B, C)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try hasField(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank, C.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a, 1, &value.0)
            try coder.field(b, 2, &value.1)
            try coder.field(c, 3, &value.2)
        }
        if Self.reads { it = try make(value.0, value.1, value.2) }
    }

    /// A case with four values that are the fields of a message `type`.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: FieldValue, C: FieldValue, D: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B, C, D) throws(MessageError) -> T, _ a: FieldKey, _ b: FieldKey, _ c: FieldKey, _ d: FieldKey,
        from content: (T) -> (A, B, C, D)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try hasField(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank, C.blank, D.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a, 1, &value.0)
            try coder.field(b, 2, &value.1)
            try coder.field(c, 3, &value.2)
            try coder.field(d, 4, &value.3)
        }
        if Self.reads { it = try make(value.0, value.1, value.2, value.3) }
    }

    /// A case with five values that are the fields of a message `type`.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: FieldValue, C: FieldValue, D: FieldValue, E: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B, C, D, E) throws(MessageError) -> T, _ a: FieldKey, _ b: FieldKey, _ c: FieldKey, _ d: FieldKey,
        _ e: FieldKey,
        from content: (T) -> (A, B, C, D, E)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try hasField(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank, C.blank, D.blank, E.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a, 1, &value.0)
            try coder.field(b, 2, &value.1)
            try coder.field(c, 3, &value.2)
            try coder.field(d, 4, &value.3)
            try coder.field(e, 5, &value.4)
        }
        if Self.reads { it = try make(value.0, value.1, value.2, value.3, value.4) }
    }

    /// A case with six values that are the fields of a message `type`.
    @inline(__always)
    public mutating func option<
        T, A: FieldValue, B: FieldValue, C: FieldValue, D: FieldValue, E: FieldValue, F: FieldValue
    >(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B, C, D, E, F) throws(MessageError) -> T, _ a: FieldKey, _ b: FieldKey, _ c: FieldKey,
        _ d: FieldKey, _ e: FieldKey, _ f: FieldKey,
        from content: (T) -> (A, B, C, D, E, F)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try hasField(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank, C.blank, D.blank, E.blank, F.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a, 1, &value.0)
            try coder.field(b, 2, &value.1)
            try coder.field(c, 3, &value.2)
            try coder.field(d, 4, &value.3)
            try coder.field(e, 5, &value.4)
            try coder.field(f, 6, &value.5)
        }
        if Self.reads { it = try make(value.0, value.1, value.2, value.3, value.4, value.5) }
    }

    /// A case with a value, which is the first field of a message `type`, and a message whose fields are the rest of it.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: Message>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B) throws(MessageError) -> T, _ key: FieldKey, rest content: (T) -> (A, B)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try hasField(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(1, key.name, &value.0)
            try B.describe(&value.1, &coder)
        }
        if Self.reads { it = try make(value.0, value.1) }
    }
}
