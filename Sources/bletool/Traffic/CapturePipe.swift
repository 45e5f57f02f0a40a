import BLECapture
import Glibc

/// Where a live capture goes: a pipe of Wireshark's, or a new file. It is opened once its source is.
final class CapturePipe {
    private let path: String
    private let link: CaptureLink
    /// `nil` until it is opened.
    private var writer: CaptureWriter?

    /// - Throws: `Failure` for a file that has content, which must not be lost to a slip of the hand.
    init(path: String, link: CaptureLink) throws(Failure) {
        var status = stat()
        if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 {
            throw Failure(
                "‘\(path)’ is a file that has content: name a pipe, or a file that does not exist yet", status: .usage)
        }
        self.path = path
        self.link = link
    }

    /// Writes the header, for which the reader waits.
    /// - Throws: `Failure`.
    func open() throws(Failure) {
        do throws(CaptureError) { writer = try CaptureWriter(path: path, format: .pcap, link: link) } catch {
            throw failure(error)
        }
    }

    /// - Returns: whether somebody still reads.
    /// - Throws: `Failure`.
    func write(_ record: borrowing CaptureRecord) throws(Failure) -> Bool {
        do throws(CaptureError) { try writer?.append(record) } catch {
            if case .cannotWrite(SystemError(number: EPIPE)) = error.reason { return false }
            throw failure(error)
        }
        return true
    }

    private func failure(_ error: CaptureError) -> Failure { Failure("\(path): \(error)", code: .fileNotWritten) }
}
