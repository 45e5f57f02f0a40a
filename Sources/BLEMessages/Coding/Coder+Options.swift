/// The number and the name of a field.
public typealias FieldKey = (Int, StaticString)

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

    /// A case with one value that is the field of a message `type`.
    @inline(__always)
    public mutating func option<T, A: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A) throws(MessageError) -> T, _ a: FieldKey,
        _ content: (T) -> A?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try takes(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? A.blank
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a.0, a.1, &value)
        }
        if Self.reads { it = try make(value) }
    }

    /// A case with two values that are the fields of a message `type`.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B) throws(MessageError) -> T, _ a: FieldKey, _ b: FieldKey,
        _ content: (T) -> (A, B)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try takes(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a.0, a.1, &value.0)
            try coder.field(b.0, b.1, &value.1)
        }
        if Self.reads { it = try make(value.0, value.1) }
    }

    /// A case with three values that are the fields of a message `type`.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: FieldValue, C: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B, C) throws(MessageError) -> T, _ a: FieldKey, _ b: FieldKey, _ c: FieldKey,
        _ content: (T) -> (A, B, C)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try takes(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank, C.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a.0, a.1, &value.0)
            try coder.field(b.0, b.1, &value.1)
            try coder.field(c.0, c.1, &value.2)
        }
        if Self.reads { it = try make(value.0, value.1, value.2) }
    }

    /// A case with four values that are the fields of a message `type`.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: FieldValue, C: FieldValue, D: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B, C, D) throws(MessageError) -> T, _ a: FieldKey, _ b: FieldKey, _ c: FieldKey, _ d: FieldKey,
        _ content: (T) -> (A, B, C, D)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try takes(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank, C.blank, D.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a.0, a.1, &value.0)
            try coder.field(b.0, b.1, &value.1)
            try coder.field(c.0, c.1, &value.2)
            try coder.field(d.0, d.1, &value.3)
        }
        if Self.reads { it = try make(value.0, value.1, value.2, value.3) }
    }

    /// A case with five values that are the fields of a message `type`.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: FieldValue, C: FieldValue, D: FieldValue, E: FieldValue>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B, C, D, E) throws(MessageError) -> T, _ a: FieldKey, _ b: FieldKey, _ c: FieldKey, _ d: FieldKey,
        _ e: FieldKey,
        _ content: (T) -> (A, B, C, D, E)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try takes(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank, C.blank, D.blank, E.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a.0, a.1, &value.0)
            try coder.field(b.0, b.1, &value.1)
            try coder.field(c.0, c.1, &value.2)
            try coder.field(d.0, d.1, &value.3)
            try coder.field(e.0, e.1, &value.4)
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
        _ content: (T) -> (A, B, C, D, E, F)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try takes(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank, C.blank, D.blank, E.blank, F.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a.0, a.1, &value.0)
            try coder.field(b.0, b.1, &value.1)
            try coder.field(c.0, c.1, &value.2)
            try coder.field(d.0, d.1, &value.3)
            try coder.field(e.0, e.1, &value.4)
            try coder.field(f.0, f.1, &value.5)
        }
        if Self.reads { it = try make(value.0, value.1, value.2, value.3, value.4, value.5) }
    }

    /// A case with a value, which is the first field of a message `type`, and a message whose fields are the rest of it.
    @inline(__always)
    public mutating func option<T, A: FieldValue, B: Message>(
        _ number: Int, _ name: StaticString, as type: @autoclosure () -> String, _ it: inout T,
        _ make: (A, B) throws(MessageError) -> T, _ a: FieldKey, rest content: (T) -> (A, B)?
    ) throws(MessageError) {
        let set = Self.reads ? nil : content(it)
        guard try takes(number, name, .option, isSet: set != nil) else { return }
        var value = set ?? (A.blank, B.blank)
        try nested(number, name, type()) { coder throws(MessageError) in
            try coder.field(a.0, a.1, &value.0)
            try B.describe(&value.1, &coder)
        }
        if Self.reads { it = try make(value.0, value.1) }
    }
}
