extension Span where Element == UInt8 {
    /// The octets as raw bytes.
    ///
    /// The standard library has this for every bitwise-copyable element and calls it unsafe, as a value may hold padding
    /// that was never written. An octet has none.
    @inlinable
    package var bytes: RawSpan {
        @_lifetime(copy self) get { rawBytes(of: self) }
    }
}

/// Calls the standard library's property, which is hidden where the element is known to be an octet.
@_lifetime(copy span)
@inlinable
package func rawBytes<Element: BitwiseCopyable>(of span: Span<Element>) -> RawSpan { unsafe span.bytes }
