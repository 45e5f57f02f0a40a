/// What can stand in a field of a message: a number, octets, a text, a message, each of them optional, or a list.
public protocol FieldValue {
    /// The value before a coder that reads has set it.
    static var blank: Self { get }
    /// Codes the field, with its presence.
    static func codeField<C: Coder>(
        _ number: Int, _ name: StaticString, _ value: inout Self, _ coder: inout C) throws(MessageError)
}

extension Optional: FieldValue where Wrapped: SingleValue {
    public static var blank: Self { nil }

    @inline(__always)
    public static func codeField<C: Coder>(
        _ number: Int, _ name: StaticString, _ value: inout Self, _ coder: inout C
    ) throws(MessageError) {
        guard try coder.hasField(number, name, .optional, isSet: value != nil) else {
            if C.reads { value = nil }
            return
        }
        var content = (C.reads ? nil : value) ?? Wrapped.blank
        try Wrapped.codeValue(number, name, &content, &coder)
        if C.reads { value = content }
    }
}

/// A list; `[UInt8]` is a string of octets.
extension Array: FieldValue where Element: SingleValue {
    public static var blank: Self { [] }

    @inline(__always)
    public static func codeField<C: Coder>(
        _ number: Int, _ name: StaticString, _ value: inout Self, _ coder: inout C
    ) throws(MessageError) {
        try Element.codeList(number, name, &value, &coder, atMost: Element.listLimit)
    }
}
