import ArgumentParser
import BLEServiceManager
import Glibc

/// The entry point.
@main
enum Program {
    static func main() {
        do {
            var command = try BledBlueZ.parseAsRoot()
            try command.run()
        } catch let failure as Failure {
            Complaint(of: Notes.program, failure.message, isUsage: failure.status == .usage).end(
                status: failure.status.rawValue)
        } catch {
            // Help and version are no failures: the parser prints them.
            guard BledBlueZ.exitCode(for: error) != .success else { BledBlueZ.exit(withError: error) }
            Complaint(of: Notes.program, BledBlueZ.message(for: error), isUsage: true).end(
                status: Failure.Status.usage.rawValue)
        }
    }
}

/// Why the process ends.
struct Failure: Error {
    enum Status: Int32 {
        case noBus = 1
        case usage = 2
        case nameTaken = 3
    }

    var status: Status
    /// For people.
    var message: String
}

/// The log, on standard error.
enum Notes {
    static let program = "bled-bluez"

    static func write(_ text: String) {
        let octets = [UInt8]("\(program): \(text)\n".utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, octets, octets.count)
    }
}
