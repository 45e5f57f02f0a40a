/// A value that is one of several: the `oneof` of a message, or a message that contains nothing but one.
public protocol Choice: Message {
    /// Lists the cases with `Coder.option`, in the order of their numbers.
    static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError)
}

extension Choice {
    @inline(__always)
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) { try c.choice(&it) }
}
