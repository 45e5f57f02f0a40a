import ArgumentParser

/// A command that can be run.
protocol ToolCommand: ParsableCommand {
    var global: GlobalOptions { get }

    /// - Throws: `Failure`, or an error of the library.
    func run(in session: Session) async throws
}

/// A group of commands.
protocol CommandGroupHelp: ParsableCommand {}
