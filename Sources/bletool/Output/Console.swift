import BLEJSON
import BLEStateFiles
import BLEText
import Glibc
import Synchronization

/// The output of the program: results line by line on standard output, everything else on standard error.
///
/// Each line is written in one call, so that a reader sees whole lines. If the reader has closed the pipe, or a line
/// cannot be written, the work ends as with ^C. A reader that stops reading blocks the work until it is interrupted;
/// soon afterwards the output counts as ended.
///
/// What is printed may contain what others have sent. On a terminal every line, note and question loses here whatever a
/// terminal would obey; only `write` and `setInput`, which draw, are as they are given. Programs get everything
/// unchanged.
final class Console: Sendable {
    let isJSON: Bool
    /// Whether progress may be shown: standard error is a terminal and standard output is not read by a program.
    let showsProgress: Bool
    /// Whether results go to a terminal.
    let isTerminal: Bool
    /// Whether results may have colours: on a terminal, unless `NO_COLOR` forbids it.
    let showsColours: Bool
    private let output: PatientWriter
    private let errors: PatientWriter
    private let errorsDescriptor: Int32
    private let errorsAreOnTerminal: Bool
    private let interruption: Interruption
    private let state = Mutex(State())

    private struct State {
        var progress = ""
        var adapter: String?
        /// Shows the last note on a screen that the program draws, for whose end the notes wait; `nil` without a screen.
        var showNote: (@Sendable () -> Void)?
        var heldNotes: [String] = []
        /// Why standard output takes nothing more.
        var outputError: Int32?
        /// Whether the last octets of a peer left the terminal within a line.
        var isWithinLine = false
    }

    /// - Parameter interruption: requested when standard output is closed on its other side or cannot be written;
    ///   itself it ends the wait for readers.
    init(isJSON: Bool, output: Int32 = 1, errors: Int32 = 2, interruption: Interruption = Interruption()) {
        self.isJSON = isJSON
        self.output = PatientWriter(output, interruption: interruption)
        self.errors = PatientWriter(errors, interruption: interruption)
        errorsDescriptor = errors
        self.interruption = interruption
        isTerminal = isatty(output) == 1
        errorsAreOnTerminal = isatty(errors) == 1
        showsProgress = !isJSON && isTerminal && errorsAreOnTerminal
        // An empty value says nothing (https://no-color.org).
        let forbidsColours = unsafe getenv("NO_COLOR").map { unsafe $0.pointee != 0 } ?? false
        showsColours = !isJSON && isTerminal && !forbidsColours
    }

    /// Prints octets that a peer has sent: on a terminal as text that it does not obey, elsewhere as they are.
    /// - Parameter sieve: what is known of the octets before these.
    func writeForeign(_ octets: [UInt8], through sieve: inout OctetSieve) {
        guard isTerminal else { return write(octets.span.bytes) }
        showForeign(sieve.text(of: octets))
    }

    /// Prints the rest of what a peer has sent, when no more follows.
    func endForeign(through sieve: inout OctetSieve) {
        showForeign(sieve.end())
    }

    private func showForeign(_ text: String) {
        let octets = Array(text.utf8)
        write(octets.span.bytes)
        guard let last = octets.last, isTerminal else { return }
        state.withLock { $0.isWithinLine = last != UInt8(ascii: "\n") }
    }

    /// Prints octets that are lines already, or draw on the terminal.
    func write(_ lines: RawSpan) {
        let hasEnded = state.withLock { state -> Bool in
            guard state.outputError == nil, lines.byteCount > 0 else { return false }
            state.outputError = output.write(lines)
            return state.outputError != nil
        }
        if hasEnded { interruption.request() }
    }

    /// Whether standard output has ended, so that further results are lost.
    var outputHasEnded: Bool { state.withLock { $0.outputError != nil } }

    /// Whether the person at the terminal has ended the work, not a limit of time.
    var isInterrupted: Bool { interruption.requestTime != nil }

    /// Prints a result: the object with `--json`, otherwise the text.
    func print(_ object: @autoclosure () -> JSONValue, text: @autoclosure () -> String) {
        isJSON ? line(stamped(object()).text) : line(text())
    }

    /// The adapter that is in use, for events; `nil` where none is.
    var adapter: String? {
        get { state.withLock { $0.adapter } }
        set { state.withLock { $0.adapter = newValue } }
    }

    /// An event with what every event has.
    private func stamped(_ event: JSONValue) -> JSONValue {
        event.adding("time", .string(Timestamp.text(unixMicroseconds: Timestamp.now)))
            .adding("adapter", JSONValue(adapter))
    }

    /// Prints requested information: help, a version, a completion script.
    func printHelp(_ text: String) { line(text) }

    /// Reports wrong usage to the calling program.
    func printUsageError(_ text: String) { line(stamped(Failure(text, status: .usage).event).text) }

    /// Says something that is no result.
    func note(_ text: String) { writeError("bletool: \(text.printable)\n") }

    /// Says something in lines that this program has laid out: their spaces remain, each word is cleaned.
    func note(lines: some Sequence<Substring>) {
        let clean = lines.map { line in
            line.split(separator: " ", omittingEmptySubsequences: false).map { String($0).printable }
                .joined(separator: " ")
        }
        writeError("bletool: " + clean.joined(separator: "\n") + "\n")
    }

    /// Says how the program is used.
    func explain(_ text: String) { writeError(text + "\n") }

    /// Prints a question to the person at the terminal; the answer follows on the same line.
    func ask(_ question: String) { writeError(question) }

    /// Reports why the work failed: as text on standard error, and as an event with `--json`.
    func report(_ failure: Failure) {
        writeError("bletool: error: \(failure.message.printable)\n")
        if isJSON, !failure.isInOutput { line(stamped(failure.event).text) }
    }

    /// Shows the progress of long work, on a terminal only; an empty text removes it.
    /// - Parameter shorter: what is shown where the terminal has no room for the text, the longest first. A line that
    ///   wraps could not be removed.
    func showProgress(_ text: String, orShorter shorter: String...) {
        guard showsProgress else { return }
        let room = (TerminalMode.columns(of: errorsDescriptor) ?? 80) - 1
        let texts = ([text] + shorter).map(\.printable)
        let shown = texts.first { $0.displayWidth <= room } ?? (texts.last ?? "").fitted(to: room)
        state.withLock { state in
            // A screen that is drawn has a place of its own for what goes on.
            guard state.progress != shown, state.showNote == nil else { return }
            state.progress = shown
            write(errors, "\r\u{1B}[K" + shown)
        }
    }

    /// Shows the line that is being typed, with the way back to its cursor; `nil` takes it away.
    func setInput(_ text: String?) {
        state.withLock { state in
            state.progress = text ?? ""
            write(errors, "\r\u{1B}[K" + (text ?? ""))
        }
    }

    /// What was lost of the results; `nil` when all were written, and when the reader wanted no more of them.
    var outputFailure: Failure? {
        guard let number = state.withLock({ $0.outputError }), number != EPIPE else { return nil }
        if number == ETIMEDOUT { return Failure("the reader of standard output stopped reading", code: .outputFailed) }
        return Failure("cannot write to standard output: \(systemErrorText(number))", code: .outputFailed)
    }

    private func line(_ text: String) {
        let hasEnded = state.withLock { state -> Bool in
            guard state.outputError == nil else { return false }
            if !state.progress.isEmpty { write(errors, "\r\u{1B}[K") }
            state.outputError = write(output, (isTerminal ? text.safeForTerminal : text) + "\n")
            if !state.progress.isEmpty { write(errors, state.progress) }
            return state.outputError != nil
        }
        if hasEnded { interruption.request() }
    }

    /// Notes wait from now on, because a screen is drawn over them; the last few of them are printed afterwards.
    /// - Parameter show: called when there is another `lastHeldNote`; `nil` ends it.
    func holdNotes(_ show: (@Sendable () -> Void)?) {
        let held = state.withLock { state in
            state.showNote = show
            defer { state.heldNotes = [] }
            return state.heldNotes
        }
        for text in held { writeError(text) }
    }

    /// The last note that waits.
    var lastHeldNote: String {
        state.withLock { state in
            let line = (state.heldNotes.last ?? "").prefix { $0 != "\n" }
            return String(line.hasPrefix("bletool: ") ? line.dropFirst(9) : line)
        }
    }

    private func writeError(_ given: String) {
        let text = errorsAreOnTerminal ? given.safeForTerminal : given
        let show = state.withLock { state -> (@Sendable () -> Void)? in
            if let show = state.showNote {
                state.heldNotes.append(text)
                if state.heldNotes.count > 8 { state.heldNotes.removeFirst() }
                return show
            }
            // What this program says must not continue a line of a peer's.
            let start = state.isWithinLine && errorsAreOnTerminal ? "\n" : ""
            state.isWithinLine = false
            _ = write(errors, start + (state.progress.isEmpty ? "" : "\r\u{1B}[K") + text + state.progress)
            return nil
        }
        show?()
    }

    /// - Returns: the error of the system; `nil` if the whole text was written.
    @discardableResult
    private func write(_ writer: PatientWriter, _ text: String) -> Int32? {
        writer.write(Array(text.utf8).span.bytes)
    }

    /// - Returns: the error of the system; `nil` if all octets were written.
    static func writeAll(_ descriptor: Int32, _ bytes: RawSpan) -> Int32? {
        unsafe bytes.withUnsafeBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
                let count = unsafe Glibc.write(descriptor, piece.baseAddress, piece.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    if errno == EAGAIN {
                        var waited = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                        _ = unsafe poll(&waited, 1, -1)
                        continue
                    }
                    return errno
                }
                unsafe rest = rest.dropFirst(count)
            }
            return nil
        }
    }
}
