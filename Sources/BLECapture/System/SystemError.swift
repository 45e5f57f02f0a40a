import BLEStateFiles
import Glibc

/// An error of the operating system by its number.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `errno`, such as `ENOSPC`.
    public var number: Int32

    /// - Parameter number: `errno`.
    public init(number: Int32) { self.number = number }

    /// The `errno` of the last failed call on this thread.
    static var last: Self { Self(number: errno) }

    /// The system's text, such as "No space left on device".
    public var description: String { systemErrorText(number) }
}
