import BLECapture

/// Why a recording could not be written or repeated.
public enum RecordingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A file could not be made or written on.
    case cannotWrite(path: String, reason: String)
    /// What stands in the place of a file is not written into, as others may see what it gets: the cause and its remedy.
    case refused(path: String, cause: String)
    /// A file is missing or could not be read.
    case cannotRead(path: String, reason: String)
    /// A line of the inputs that is none, counted from 1.
    case malformedLine(path: String, line: Int, reason: String)
    /// The recording was made by a program that knows another form.
    case unknownVersion(Int)
    /// The packets are those of a capture that ends, or differs, before the inputs do.
    case missingPacket(path: String, number: UInt64)
    /// The capture beside the inputs cannot be read.
    case packets(path: String, CaptureError)

    public var description: String {
        switch self {
        case .cannotWrite(let path, let reason): "‘\(path)’ cannot be written: \(reason)"
        case .refused(let path, let cause): "‘\(path)’ \(cause)"
        case .cannotRead(let path, let reason): "‘\(path)’ cannot be read: \(reason)"
        case .malformedLine(let path, let line, let reason): "‘\(path)’, line \(line): \(reason)"
        case .unknownVersion(let version):
            "the recording has format version \(version); this program supports \(RecordingHeader.currentVersion)"
        case .missingPacket(let path, let number):
            "‘\(path)’ has no packet \(number) from the controller; it does not belong to these inputs"
        case .packets(let path, let error): "‘\(path)’: \(error)"
        }
    }
}
