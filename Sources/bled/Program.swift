import ArgumentParser
import BLEServiceManager
import BLETransport

/// The entry point.
@main
enum Program {
    /// What the process ends with, as bletool does.
    private enum Status: Int32 {
        case failed = 1
        case usage = 2
        case transportNotOpened = 3
    }

    static func main() {
        do {
            var command = try Bled.parseAsRoot()
            try command.run()
        } catch {
            let isUsage = Bled.exitCode(for: error) == .validationFailure
            // Help and version are no failures: the parser prints them.
            guard isUsage || Bled.exitCode(for: error) != .success else { Bled.exit(withError: error) }
            let status: Status = isUsage ? .usage : error is TransportError ? .transportNotOpened : .failed
            Complaint(of: "bled", Bled.message(for: error), isUsage: isUsage).end(status: status.rawValue)
        }
    }
}
