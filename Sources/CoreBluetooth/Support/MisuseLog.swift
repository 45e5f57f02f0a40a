import BLEText
import Foundation

/// Writes messages about misuse of the API to standard error, or to a handler of the app or a test.
enum MisuseLog {
    private static let sink = Locked<(@Sendable (String) -> Void)?>(nil)

    static func redirect(to sink: (@Sendable (String) -> Void)?) { self.sink.with { $0 = sink } }

    static func write(_ line: String) {
        // The line may contain names of devices.
        let line = line.printable
        if let sink = sink.current { return sink(line) }
        FileHandle.standardError.write(Data("[CoreBluetooth] \(line)\n".utf8))
    }
}
