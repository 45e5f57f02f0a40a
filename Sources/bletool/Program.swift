import ArgumentParser
import Glibc

/// Where the program begins and ends.
@main
enum Program {
    /// The first thread waits for signals; the work is done by others, which it makes after it has blocked them.
    static func main() {
        let interruption = Interruption()
        interruption.prepare()
        let arguments = Array(CommandLine.arguments.dropFirst())
        Task.detached { exit(await run(arguments, interruption: interruption)) }
        interruption.serve()
    }

    /// - Returns: the exit status (`Failure.Status`), 0 when the command was carried out.
    static func run(_ arguments: [String], interruption: Interruption) async -> Int32 {
        let command: any ToolCommand
        do {
            var parsed = try BLETool.parseAsRoot(try ArgumentOrder.arranged(arguments))
            switch parsed {
            case let found as any ToolCommand: command = found
            case let group as any CommandGroupHelp: return explain(type(of: group))
            default:
                try parsed.run()  // help
                return 0
            }
        } catch {
            return end(with: error)
        }
        let console = Console(isJSON: command.global.json) { interruption.request() }
        let session = Session(command.global, console: console)
        let work = Task { try await command.run(in: session) }
        interruption.onRequest { work.cancel() }
        switch await work.result {
        case .success: return 0
        case .failure(let error):
            let failure = Failure(error)
            console.report(failure)
            return failure.status.rawValue
        }
    }

    /// A command that only holds others was called without one of them.
    private static func explain(_ group: any CommandGroupHelp.Type) -> Int32 {
        Console(isJSON: false).explain(BLETool.helpMessage(for: group))
        return Failure.Status.usage.rawValue
    }

    /// Help and version are no failures; all else is wrong usage.
    private static func end(with error: any Error) -> Int32 {
        let isWanted = BLETool.exitCode(for: error) == .success
        let message = BLETool.fullMessage(for: error)
        let console = Console(isJSON: false)
        if !message.isEmpty { isWanted ? console.printHelp(message) : console.explain(message) }
        return isWanted ? 0 : Failure.Status.usage.rawValue
    }
}
