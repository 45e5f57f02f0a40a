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
                GatewayCommand.say("error: " + withoutPassword(GatewayCommand.message(for: error)))
                exit(2)
            }
            GatewayCommand.exit(withError: error)
        }
    }

    /// What the parser says of a word that it cannot place, without the password of a broker in it.
    static func withoutPassword(_ message: String) -> String {
        guard let password = BrokerURL.password(in: message) else { return message }
        return message.replacing(password, with: "***")
    }
}
