import DelegateScanner
import FoundationEssentials

/// Reads Swift files and writes a `CBDelegateMethodTable` of the delegate methods that their classes add.
///
///     delegate-methods OUTPUT FILE…
///
/// The build plugin `DelegateMethods` runs it. It reads declarations only, so it needs no compiler and takes a few
/// milliseconds; what it cannot read, it leaves out or reports in the table. It never fails for what a source contains.
@main
enum DelegateMethodsTool {
    static func main() throws {
        guard let output = CommandLine.arguments.dropFirst().first else {
            print("usage: delegate-methods OUTPUT FILE…")
            return
        }
        var sources = DelegateSources()
        for path in CommandLine.arguments.dropFirst(2) {
            let file = try Data(contentsOf: URL(filePath: path))
            sources.read(String(decoding: file, as: UTF8.self))
        }
        try Data(sources.table.utf8).write(to: URL(filePath: output))
    }
}
