import BLECapture
import BLEStateFiles
import Glibc

/// Where a live capture goes: a pipe of Wireshark's, or a new file. It is opened once its source is.
final class CapturePipe {
    /// How often a wait for the reader checks its cancellation, in milliseconds.
    private static let slice: Int32 = 100

    private let path: String
    private let link: CaptureLink
    /// `nil` until it is opened.
    private var writer: CaptureWriter?
    private var descriptor: Int32 = -1

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
        do throws(StateFileError) { descriptor = try OutputPlace.open(path, isSecret: false).descriptor } catch {
            throw Failure(
                "\(path): \(error.code.map(systemErrorText) ?? error.outputCause)", code: .fileNotWritten)
        }
        do throws(CaptureError) { writer = try CaptureWriter(file: descriptor, format: .pcap, link: link) } catch {
            throw failure(error)
        }
    }

    /// - Returns: whether the pipe still has a reader.
    /// - Throws: `Failure`.
    func write(_ record: borrowing CaptureRecord) throws(Failure) -> Bool {
        guard awaitReader() else { return false }
        do throws(CaptureError) { try writer?.append(record) } catch {
            if case .cannotWrite(SystemError(number: EPIPE)) = error.reason { return false }
            throw failure(error)
        }
        return true
    }

    /// Waits until a pipe has room for a record: a write that blocks could not be cancelled.
    /// - Returns: `false` when the task is cancelled.
    private func awaitReader() -> Bool {
        var waited = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while !Task.isCancelled {
            if unsafe poll(&waited, 1, Self.slice) != 0 { return true }
        }
        return false
    }

    private func failure(_ error: CaptureError) -> Failure { Failure("\(path): \(error)", code: .fileNotWritten) }
}
