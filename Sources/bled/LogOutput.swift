import BLEDaemon
import BLEJSON
import BLEText
import FoundationEssentials
import Glibc
import Logging
import Synchronization

/// The log on standard error: a line of text, or a JSON object, for each message.
final class LogOutput: Sendable {
    fileprivate struct Form {
        var format: DaemonSettings.LogFormat
        var level: Logger.Level
    }

    fileprivate let form: Mutex<Form>
    /// systemd keeps the log, and reads the level of a line of text from `<N>` before it.
    private let isJournal: Bool

    init(_ settings: DaemonSettings) {
        form = Mutex(Form(settings))
        isJournal = unsafe getenv("JOURNAL_STREAM") != nil
    }

    func change(_ settings: DaemonSettings) { form.withLock { $0 = Form(settings) } }

    /// - Parameter adapter: the adapter that the messages are about, if there are several.
    func logger(of adapter: String? = nil) -> Logger {
        var logger = Logger(label: "bled") { _ in LogLines(output: self) }
        logger[metadataKey: LogLines.adapterKey] = adapter.map { "\($0)" }
        return logger
    }

    fileprivate func write(_ level: Logger.Level, _ message: String, _ adapter: String?) {
        let line: String
        switch form.withLock({ $0.format }) {
        case .text:
            let name = level == .info || level == .notice || level == .warning ? "" : "\(level.rawValue): "
            let text = "bled: " + (adapter.map { "\($0): " } ?? "") + name + message
            line = (isJournal ? "<\(level.journalNumber)>" : "") + text.printable
        case .json:
            var object: JSONValue = ["level": .string(level.rawValue), "message": .string(message)]
            if let adapter { object = object.adding("adapter", .string(adapter)) }
            line = object.adding("time", .string(Date().formatted(.iso8601))).text
        }
        let octets = Array((line + "\n").utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, octets, octets.count)
    }
}

extension LogOutput.Form {
    fileprivate init(_ settings: DaemonSettings) {
        format = settings.logFormat
        level = Logger.Level(settings.logLevel)
    }
}

/// Passes messages of a logger to the output, whose level applies to all loggers: `SIGHUP` may change it.
private struct LogLines: LogHandler {
    static let adapterKey = "adapter"

    let output: LogOutput
    var metadata = Logger.Metadata()
    var logLevel: Logger.Level {
        get { output.form.withLock { $0.level } }
        set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        output.write(event.level, "\(event.message)", metadata[Self.adapterKey].map { "\($0)" })
    }
}

extension Logger.Level {
    init(_ level: DaemonSettings.LogLevel) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }

    /// The level as syslog(3) counts.
    fileprivate var journalNumber: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
