import BLECapture
import BLEMessages

/// Why a recording could not be written or replayed.
public enum RecordingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A file could not be created or written.
    case cannotWrite(path: String, reason: String)
    /// The existing file is refused, because others may see what is written: the cause and its remedy.
    case refused(path: String, cause: String)
    /// A file is missing or could not be read.
    case cannotRead(path: String, reason: String)
    /// A line of the inputs is malformed, counted from 1.
    case malformedLine(path: String, line: Int, reason: String)
    /// The recording has another version of the format.
    case unknownVersion(Int)
    /// The capture does not have the packet with this number: it ends early, or belongs to another recording.
    case missingPacket(path: String, number: UInt64)
    /// The capture of the recording cannot be read.
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
