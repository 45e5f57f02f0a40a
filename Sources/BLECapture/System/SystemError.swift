import BLEDecompression
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

    /// The compressed octets are damaged or cut.
    static let damagedArchive = Self(number: EBADMSG)
    /// zlib is not installed.
    static let noDecompressor = Self(number: ELIBACC)
    /// The archive has no capture.
    static let noCapture = Self(number: ENOENT)
    /// The log in a report is longer than is read here.
    static let longLog = Self(number: EFBIG)
    /// The archive has more files than are looked through here.
    static let longArchive = Self(number: E2BIG)

    init(_ error: InflatingError) {
        self =
            switch error {
            case .noDecompressor: .noDecompressor
            case .damaged: .damagedArchive
            }
    }

    /// The system's text, such as "No space left on device".
    public var description: String { systemErrorText(number) }
}
