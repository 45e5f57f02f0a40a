import ArgumentParser

/// A command that does something.
protocol ToolCommand: ParsableCommand {
    var global: GlobalOptions { get }

    /// - Throws: `Failure`, or an error of the library.
    func run(in session: Session) async throws
}

/// A command that only holds others.
protocol CommandGroupHelp: ParsableCommand {}
