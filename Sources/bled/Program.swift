import ArgumentParser
import BLETransport
import Glibc

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
            let complaint = Bled.message(for: error)
            let second = complaint.dropFirst().first
            let isSentence = complaint.first?.isUppercase == true && (second == " " || second?.isLowercase == true)
            let message =
                "bled: error: " + (isSentence ? complaint.prefix(1).lowercased() + complaint.dropFirst() : complaint)
                + (isUsage ? "\n  See ‘bled --help’\n" : "\n")
            let octets = [UInt8](message.utf8)
            _ = unsafe write(STDERR_FILENO, octets, octets.count)
            exit(status.rawValue)
        }
    }
}
