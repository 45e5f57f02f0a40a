import ArgumentParser

/// A command that can be run.
protocol ToolCommand: ParsableCommand {
    var global: GlobalOptions { get }
    /// What can be tried where there is no adapter.
    static var trial: String { get }

    /// - Throws: `Failure`, or an error of the library.
    func run(in session: Session) async throws
}

extension ToolCommand {
    static var trial: String { "bletool -t sim lescan" }
}

extension GATTVerb {
    static var trial: String { "bletool -t sim gatt 'Jelling Heart' discover" }
}

extension Failure {
    /// Names what can be tried without an adapter, if that is what was missing.
    func naming(_ trial: String) -> Failure {
        guard [.noAdapter, .noBluetooth].contains(code) else { return self }
        var failure = self
        failure.message += ", or try it without: \(trial)"
        return failure
    }
}

/// A group of commands.
protocol CommandGroupHelp: ParsableCommand {}
