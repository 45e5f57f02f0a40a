extension Span where Element == UInt8 {
    /// The octets as raw bytes.
    ///
    /// The standard library has this for every bitwise-copyable element and marks it as unsafe, because a value may
    /// contain uninitialized padding. An octet has none.
    @inlinable
    package var bytes: RawSpan {
        @_lifetime(copy self) get { rawBytes(of: self) }
    }
}

/// Calls the standard library's property, which the property above shadows.
@_lifetime(copy span)
@inlinable
package func rawBytes<Element: BitwiseCopyable>(of span: Span<Element>) -> RawSpan { unsafe span.bytes }
