import BLEDaemon
import BLEJSON
import FoundationEssentials
import Glibc
import Synchronization

/// The log on standard error: a line of text, or a JSON object, for each message.
final class LogOutput: Sendable {
    private struct Form {
        var format: DaemonSettings.LogFormat
        var level: DaemonSettings.LogLevel
    }

    private let form: Mutex<Form>

    init(_ settings: DaemonSettings) { form = Mutex(Form(format: settings.logFormat, level: settings.logLevel)) }

    func change(_ settings: DaemonSettings) {
        form.withLock { $0 = Form(format: settings.logFormat, level: settings.logLevel) }
    }

    /// - Parameter adapter: the adapter that the message is about, if there are several.
    func say(_ message: String, of adapter: String? = nil) { write(.info, message, adapter) }

    /// A message about what does not work.
    func warn(_ message: String, of adapter: String? = nil) { write(.warning, message, adapter) }

    private func write(_ level: DaemonSettings.LogLevel, _ message: String, _ adapter: String?) {
        let form = form.withLock { $0 }
        guard level == .warning || form.level == .info else { return }
        let line: String
        switch form.format {
        case .text: line = "bled: " + (adapter.map { "\($0): " } ?? "") + message
        case .json:
            var object: JSONValue = ["level": .string(level.rawValue), "message": .string(message)]
            if let adapter { object = object.adding("adapter", .string(adapter)) }
            line = object.adding("time", .string(Date().formatted(.iso8601))).text
        }
        let octets = Array((line + "\n").utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, octets, octets.count)
    }
}
