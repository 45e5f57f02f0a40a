import Foundation

@testable import bletool

#if canImport(Glibc)
import Glibc
#endif

/// A run of the program that goes on beside the test, and is interrupted when nobody holds it any more.
final class ToolTask: Sendable {
    /// A text that was not printed.
    struct Missing: Error {
        let text: String
        let printed: String
    }

    private let folder: TestFolder
    private let interruption: Interruption
    private let task: Task<Int32, Never>

    convenience init(_ arguments: String...) throws { try self.init(list: arguments) }

    init(list arguments: [String]) throws {
        let folder = try TestFolder()
        let interruption = Interruption()
        let outputFile = try folder.open("output")
        let errorFile = try folder.open("errors")
        self.folder = folder
        self.interruption = interruption
        task = Task {
            let status = await Program.run(
                ["--state", folder.path] + arguments, interruption: interruption, output: outputFile, errors: errorFile)
            close(outputFile)
            close(errorFile)
            return status
        }
    }

    deinit { interruption.request() }

    /// Presses ^C.
    func interrupt() { interruption.request() }

    /// The exit status, when the run has ended.
    var status: Int32 { get async { await task.value } }

    var output: String { get throws { try folder.read("output") } }
    var errors: String { get throws { try folder.read("errors") } }

    /// Waits until a text was printed, on either output, for as long as a busy machine may need.
    func prints(_ text: String) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while true {
            let printed = try output + errors
            if printed.contains(text) { return }
            guard ContinuousClock.now < end else { throw Missing(text: text, printed: printed) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
