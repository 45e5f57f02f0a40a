import BLEText
import Foundation

/// The log of an app's misuse of the API: standard error, or a handler of the app or a test.
enum MisuseLog {
    private static let sink = Locked<(@Sendable (String) -> Void)?>(nil)

    static func redirect(to sink: (@Sendable (String) -> Void)?) { self.sink.with { $0 = sink } }

    static func write(_ line: String) {
        // Names of devices stand in it.
        let line = line.printable
        if let sink = sink.current { return sink(line) }
        FileHandle.standardError.write(Data("[CoreBluetooth] \(line)\n".utf8))
    }
}
