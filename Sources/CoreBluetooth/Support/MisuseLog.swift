import BLEText
import Foundation

/// Where complaints about an app's use of the API go: standard error, or whoever an app or a test names.
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
