import ArgumentParser
import Glibc

/// Where the program begins and ends: 0 done, 1 failed, 2 wrong usage or settings.
@main
enum Program {
    static func main() async {
        // The queue and its log tell where devices are: they are for this user only.
        umask(0o077)
        do {
            guard var command = try GatewayCommand.parseAsRoot() as? any AsyncParsableCommand else { return }
            try await command.run()
        } catch {
            let status = GatewayCommand.exitCode(for: error)
            if status == .validationFailure {
                GatewayCommand.say("error: " + GatewayCommand.message(for: error))
                exit(2)
            }
            GatewayCommand.exit(withError: error)
        }
    }
}
