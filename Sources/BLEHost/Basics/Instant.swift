/// A moment on the engine's time line, in whole microseconds from a beginning that the caller chooses.
///
/// The engine never reads a clock: every moment comes in with an input, so that the same inputs give the same outputs.
public struct Instant: Hashable, Comparable, Sendable {
    /// Microseconds since the beginning of the time line.
    public let microseconds: Int64

    /// The moment that lies this number of microseconds after the beginning.
    @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

    /// The beginning of the time line.
    public static let zero = Instant(microseconds: 0)

    /// The moment that lies `span` later; saturates at the end of the time line.
    @inlinable
    public func advanced(by span: Microseconds) -> Instant {
        let (sum, isOver) = microseconds.addingReportingOverflow(span.rawValue)
        if isOver { return Instant(microseconds: span.rawValue < 0 ? .min : .max) }
        return Instant(microseconds: sum)
    }

    /// How much later `other` is; negative if it is earlier.
    @inlinable
    public func distance(to other: Instant) -> Microseconds {
        let (difference, isOver) = other.microseconds.subtractingReportingOverflow(microseconds)
        if isOver { return Microseconds(rawValue: other < self ? .min : .max) }
        return Microseconds(rawValue: difference)
    }

    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }
}

/// The earlier of two moments, each of which may be absent.
@inlinable
package func earliest(_ a: Instant?, _ b: Instant?) -> Instant? {
    guard let a else { return b }
    guard let b else { return a }
    return min(a, b)
}

/// The earliest of several moments, each of which may be absent; a moment at the end of the time line counts as absent.
struct EarliestInstant {
    private var microseconds = Int64.max

    @inline(__always)
    init(_ moment: Instant? = nil) { include(moment) }

    @inline(__always)
    mutating func include(_ moment: Instant?) {
        if let moment, moment.microseconds < microseconds { microseconds = moment.microseconds }
    }

    @inline(__always)
    var moment: Instant? { microseconds == .max ? nil : Instant(microseconds: microseconds) }
}

/// A span of time in whole microseconds.
public struct Microseconds: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: Int64

    @inlinable public init(rawValue: Int64) { self.rawValue = rawValue }

    /// A span of zero length.
    public static let zero = Microseconds(rawValue: 0)

    /// A span in microseconds.
    @inlinable public static func microseconds(_ count: Int64) -> Self { Self(rawValue: count) }
    /// A span in milliseconds.
    @inlinable public static func milliseconds(_ count: Int32) -> Self { Self(rawValue: Int64(count) &* 1000) }
    /// A span in seconds.
    @inlinable public static func seconds(_ count: Int32) -> Self { Self(rawValue: Int64(count) &* 1_000_000) }

    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

#if !hasFeature(Embedded)
extension Microseconds {
    /// The whole microseconds of `duration`; saturates if they do not fit.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isOverAgain) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        rawValue = isOver || isOverAgain ? (seconds < 0 ? .min : .max) : sum
    }
}
#endif
