import ArgumentParser
import Glibc

/// The entry point. Exit status: 0 success, 1 failure, 2 wrong arguments or settings.
@main
enum Program {
    static func main() async {
        // The queue and its log reveal where devices are: only this user may read them.
        umask(0o077)
        do {
            var command = try GatewayCommand.parseAsRoot()
            // The help is a command of another kind.
            if var gateway = command as? any AsyncParsableCommand { try await gateway.run() } else { try command.run() }
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
