import BLECapture
import BLELinux
import BLEText
import Glibc

/// Reads a capture to its end, past damaged records, with its progress on a terminal.
struct CaptureReading: ~Copyable {
    /// How many errors of a file are printed individually.
    private static let maximumNoteCount = 10
    private static let recordsBetweenLooks = 50_000
    /// After so many looks, and after the first one, the pages of code that rare packets have brought in are released.
    private static let looksBetweenReleases = 20

    private var reader: CaptureReader
    private let console: Console
    private let path: String
    private let byteCount: UInt64?
    private var firstError: CaptureError?
    private var errorCount = 0

    var format: CaptureFormat { reader.format }
    var recordCount: UInt64 { reader.recordCount }
    /// Whether the file contains records of the Linux monitor.
    var holdsMonitorRecords: Bool { reader.holdsMonitorRecords }
    /// Records that contain no packet of HCI or of the link layer.
    var foreignRecordCount: UInt64 { reader.foreignRecordCount }

    /// - Parameter path: `-` is standard input.
    init(path: String, console: Console) throws {
        guard !path.isEmpty else { throw Failure("the name of the file is empty", status: .usage) }
        do throws(CaptureError) {
            let isCancelled: @Sendable () -> Bool = { Task.isCancelled }
            reader =
                path == "-"
                ? try CaptureReader(fileDescriptor: dup(0), isCancelled: isCancelled)
                : try CaptureReader(path: path, isCancelled: isCancelled)
        } catch {
            if Task.isCancelled { throw Failure.interrupted }
            throw Failure(
                "\(path): \(error)", status: error.isUnopened ? .usage : .operationFailed,
                code: error.isUnopened ? .usage : .fileDamaged)
        }
        self.path = path
        self.console = console
        if let name = reader.nameInArchive { console.note("\(path): reads \(name.printable)") }
        var status = stat()
        byteCount = unsafe console.showsProgress && stat(path, &status) == 0 ? UInt64(clamping: status.st_size) : nil
    }

    /// - Throws: `Failure` when the output is the same file as the input.
    static func checkDiffer(_ input: String, _ output: String) throws {
        var first = stat()
        var second = stat()
        let isKnown = unsafe (input == "-" ? fstat(0, &first) : stat(input, &first)) == 0 && stat(output, &second) == 0
        guard isKnown, first.st_mode & S_IFMT == S_IFREG else { return }
        if first.st_dev == second.st_dev, first.st_ino == second.st_ino {
            throw Failure("\(output) is the input file; choose another output")
        }
    }

    /// Calls `body` with each readable record. The first errors, and what was left out, are printed on standard error.
    mutating func readAll(_ body: (borrowing CaptureRecord) throws -> Void) throws {
        var countdown = Self.recordsBetweenLooks
        var looks = 0
        defer {
            console.showProgress("")
            // Whoever shows what was counted needs other code than the reader.
            clinux_release_code()
        }
        // Reading needs little of the code that has opened the file.
        clinux_release_code()
        while true {
            var ownError: (any Error)?
            do throws(CaptureError) {
                guard let record = try reader.next() else { return printOmission() }
                do { try body(record) } catch { ownError = error }
            } catch {
                if case .cannotRead(SystemError(number: ECANCELED)) = error.reason { throw Failure.interrupted }
                record(error)
                if error.isFinal { return printOmission() }
            }
            if let ownError { throw ownError }
            countdown -= 1
            if countdown == 0 {
                countdown = Self.recordsBetweenLooks
                if Task.isCancelled { throw Failure.interrupted }
                showProgress()
                if looks % Self.looksBetweenReleases == 0 { clinux_release_code() }
                looks += 1
            }
        }
    }

    /// A summary of what could not be read; `nil` if everything could be read.
    var damage: String? {
        guard let firstError else { return nil }
        let count = recordCount == 1 ? "1 record was read" : "\(recordCount) records were read"
        return "\(path) is damaged: \(firstError); \(count)"
    }

    /// - Throws: `Failure` when part of the file could not be read.
    func end() throws {
        if let damage { throw Failure(damage, code: .fileDamaged) }
    }

    private mutating func record(_ error: CaptureError) {
        errorCount += 1
        if firstError == nil {
            firstError = error
        } else if errorCount <= Self.maximumNoteCount {
            console.note("\(path): \(error)")
        }
    }

    private func printOmission() {
        if let omission = reader.omission { console.note("\(path): \(omission)") }
    }

    private func showProgress() {
        guard let byteCount, byteCount > 0 else { return }
        let percent = min(reader.fileByteOffset * 100 / byteCount, 100)
        console.showProgress("\(recordCount) records, \(percent) %")
    }
}
