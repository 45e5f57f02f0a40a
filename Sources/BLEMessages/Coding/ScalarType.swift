/// What a number is in Protocol Buffers.
public enum ScalarType: Sendable {
    case uint32, uint64
    /// Of which small negative ones are short.
    case sint32
    case int64
    case fixed64
    case bool
}
