import BLEText
import Glibc
import Logging

/// Writes log lines to standard error, like the other programs of this project; systemd reads the level from `<N>`.
struct StandardErrorLog: LogHandler {
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.info
    private let isJournal: Bool

    init() { isJournal = unsafe getenv("JOURNAL_STREAM") != nil }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let prefix: String
        if isJournal {
            let number =
                switch event.level {
                case .trace, .debug: 7
                case .info: 6
                case .notice: 5
                case .warning: 4
                case .error: 3
                case .critical: 2
                }
            prefix = "<\(number)>"
        } else {
            prefix = event.level >= .warning ? "jelling-gateway: \(event.level): " : "jelling-gateway: "
        }
        let line = Array((prefix + "\(event.message)".printable + "\n").utf8)
        _ = unsafe write(2, line, line.count)
    }
}
