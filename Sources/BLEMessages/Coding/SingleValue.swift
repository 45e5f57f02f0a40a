/// What can stand in a field once, and in a list several times.
public protocol SingleValue: FieldValue {
    /// Whether a field with this value is left out.
    var isZero: Bool { get }
    /// The number that it is on the wire; `nil` for what has a length.
    static var scalarType: ScalarType? { get }
    /// The maximum length of a list, where nothing else is said.
    static var listLimit: Int { get }
    /// Codes the value, where the coder already knows that it is there.
    static func codeValue<C: Coder>(
        _ number: Int, _ name: StaticString, _ value: inout Self, _ coder: inout C) throws(MessageError)
    /// Codes a list.
    static func codeList<C: Coder>(
        _ number: Int, _ name: StaticString, _ values: inout [Self], _ coder: inout C, atMost limit: Int
    ) throws(MessageError)
}

extension SingleValue {
    public static var listLimit: Int { .max }

    @inline(__always)
    public static func codeField<C: Coder>(
        _ number: Int, _ name: StaticString, _ value: inout Self, _ coder: inout C
    ) throws(MessageError) {
        guard try coder.hasField(number, name, .plain, isSet: C.reads || !value.isZero) else { return }
        try codeValue(number, name, &value, &coder)
    }

    public static func codeList<C: Coder>(
        _ number: Int, _ name: StaticString, _ values: inout [Self], _ coder: inout C, atMost limit: Int
    ) throws(MessageError) {
        if C.reads {
            values = []
            coder.beginList(number, name, scalarType, count: 0)
            while try coder.hasField(number, name, .repeated, isSet: false) {
                guard values.count < limit else { throw .invalidField }
                var value = blank
                try codeValue(number, name, &value, &coder)
                values.append(value)
            }
            coder.endList()
        } else if try coder.hasField(number, name, .repeated, isSet: !values.isEmpty) {
            coder.beginList(number, name, scalarType, count: values.count)
            // A coder that prints the schema needs a value.
            for var value in values.isEmpty ? [blank] : values { try codeValue(number, name, &value, &coder) }
            coder.endList()
        }
    }
}
