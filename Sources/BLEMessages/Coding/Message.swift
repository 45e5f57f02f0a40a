/// A value that crosses a boundary: the socket of `bled`, a recording, a replay in C.
///
/// `describe` lists the fields once, in the order of their numbers. A coder that writes reads them, a coder that reads
/// sets them: so one list is the encoder, the decoder, the JSON of a recording, and the schema.
public protocol Message: SingleValue {
    /// Its name in the schema, if it is not that of the type.
    static var schemaName: String { get }
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError)
}

extension Message {
    #if hasFeature(Embedded)
    public static var schemaName: String { "" }
    #else
    public static var schemaName: String { String(describing: Self.self) }
    #endif

    @inline(__always) public var isZero: Bool { false }
    @inline(__always) public static var scalarType: ScalarType? { nil }

    @inline(__always)
    public static func codeValue<C: Coder>(
        _ number: Int, _ name: StaticString, _ value: inout Self, _ coder: inout C
    ) throws(MessageError) {
        try coder.nested(number, name, schemaName) { c throws(MessageError) in try describe(&value, &c) }
    }
}
