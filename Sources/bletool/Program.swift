import ArgumentParser
import BLELinux
import Glibc

/// Where the program begins and ends.
@main
enum Program {
    /// The first thread waits for signals; the work is done by others, which it makes after it has blocked them.
    static func main() {
        // What the loader and the language's start have used is not needed again; below, what the parser has used.
        clinux_release_code()
        openStandardDescriptors()
        let interruption = Interruption()
        interruption.prepare()
        let given = CommandLine.arguments
        SecretArguments.hide(given)
        let arguments = Array(given.dropFirst())
        Task.detached { exit(await run(arguments, interruption: interruption)) }
        interruption.serve()
    }

    /// The number of a closed descriptor would go to the next opened file, and output would be written into that file.
    /// The placeholder accepts nothing, so that a loss is reported.
    private static func openStandardDescriptors() {
        for (number, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", mode)
        }
    }

    /// - Parameters:
    ///   - output: the descriptor for results.
    ///   - errors: the descriptor for everything else.
    /// - Returns: the exit status (`Failure.Status`), 0 on success.
    static func run(
        _ arguments: [String], interruption: Interruption, output: Int32 = 1, errors: Int32 = 2
    ) async -> Int32 {
        let help = Console(isJSON: false, output: output, errors: errors, interruption: interruption)
        let command: any ToolCommand
        let (arguments, wantsAll) = HelpText.parserArguments(arguments)
        do {
            let arranged = try ArgumentOrder.arranged(
                arguments, isInteractive: output == 1 && TerminalMode.isPossible)
            clinux_release_code()
            var parsed = try CommandTable.parse(arranged)
            switch parsed {
            case let found as any ToolCommand: command = found
            case let group as any CommandGroupHelp: return explain(type(of: group), on: help)
            default:
                try parsed.run()  // help
                return 0
            }
        } catch {
            return end(withParsing: error, of: arguments, showsAll: wantsAll, on: help)
        }
        clinux_release_code()
        let console = Console(
            isJSON: command.global.json, output: output, errors: errors, interruption: interruption)
        let session = Session(command.global, console: console)
        let trial = type(of: command).trial
        let work = Task { try await command.run(in: session) }
        interruption.onRequest { work.cancel() }
        let result = await work.result
        // The work was ended because of this: its own error would only repeat it.
        if let lost = console.outputFailure { return end(with: lost, on: console) }
        switch result {
        case .success: return 0
        case .failure(let error):
            let failure = Failure(error).naming(trial)
            // The reader wanted no more: nothing has failed or was interrupted.
            if console.outputHasEnded, failure.code == .interrupted { return 0 }
            return end(with: failure, on: console)
        }
    }

    private static func end(with failure: Failure, on console: Console) -> Int32 {
        console.report(failure)
        return failure.status.rawValue
    }

    /// A group of commands was called without a subcommand.
    private static func explain(_ group: any CommandGroupHelp.Type, on console: Console) -> Int32 {
        console.explain(HelpText.arranged(BLETool.helpMessage(for: group), showsAll: false))
        return Failure.Status.usage.rawValue
    }

    /// Help and version are no failures; all else is wrong usage.
    private static func end(
        withParsing error: any Error, of arguments: [String], showsAll: Bool, on console: Console
    ) -> Int32 {
        let isWanted = BLETool.exitCode(for: error) == .success
        let message = BLETool.fullMessage(for: error)
        if isWanted {
            if !message.isEmpty { console.printHelp(HelpText.arranged(message, showsAll: showsAll)) }
        } else {
            let complaint = HelpText.complaint(HelpText.withoutKeys(message, arguments), of: arguments)
            console.explain(HelpText.shown(complaint))
            if arguments.contains("--json") { console.printUsageError(HelpText.cause(of: complaint)) }
        }
        if let lost = console.outputFailure { return end(with: lost, on: console) }
        return isWanted ? 0 : Failure.Status.usage.rawValue
    }
}
