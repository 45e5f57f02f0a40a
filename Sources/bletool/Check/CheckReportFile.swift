import BLEStateFiles
import Glibc

/// The file of `--report`, which is opened before the check, so that a wrong path costs no time.
final class CheckReportFile {
    private let path: String
    private let isNew: Bool
    private var descriptor: Int32

    /// - Parameter permissions: of a new file.
    init(_ path: String, permissions: mode_t = 0o644) throws {
        self.path = path
        do throws(StateFileError) {
            (descriptor, isNew) = try OutputPlace.open(path, isSecret: false, permissions: permissions)
        } catch {
            let cause = "\(path): \(error.code.map(systemErrorText) ?? error.outputCause)"
            throw Failure(cause + (Self.remedy(error.code).map { "; " + $0 } ?? ""), code: .fileNotWritten)
        }
    }

    private static func remedy(_ code: Int32?) -> String? {
        switch code {
        case ENOENT, ENOTDIR: "make its folder first, or name another file"
        case EACCES, EPERM, EROFS, EISDIR: "name a file that you may write"
        default: nil
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// There is no report: a file that was made for it goes.
    func release() { if isNew { unsafe unlink(path) } }

    func write(_ text: String) throws { try write(Array(text.utf8)) }

    func write(_ octets: [UInt8]) throws {
        // A pipe cannot be truncated.
        ftruncate(descriptor, 0)
        if let code = Console.writeAll(descriptor, octets.span.bytes) {
            throw Failure("\(path): \(systemErrorText(code))", code: .fileNotWritten)
        }
    }
}
